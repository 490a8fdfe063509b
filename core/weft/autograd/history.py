"""Autograd history: the graph of a realized value, saved beside its memory for `backward`.
Also: saved tensors, version counter.

Realizing a value replaces its graph by memory. If gradients may flow through it, the graph is saved
beside the memory; it reaches down to the next memory that has a saved graph itself. Only the
traversal of gradients reads it, so no schedule grows. It lives as long as the node of the memory.

    save_graph(memory, value)      `value`, of the flat shape of the memory, is what is in it
    saved_graph(node)              that graph, or None
    bump_version(memory)           the memory was written: graphs saved before mean the old version
    write_executed(write)          a kernel that saved graphs wait for has run
    leaf_realized(leaf, value)     a leaf in saved graphs has memory now
    owner_moved(memory, owner)     `owner` has its value elsewhere; saved graphs mean the memory

in:  BUFFER and MULTI nodes, spec.tensor      out: spec.tensor

Source: PyTorch, saved tensors with version counters.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from weft.base.deferred_dataclass import dataclass
from weft.base.weak import WeakKeys, WeakMembers
from weft.uop import Ops, UOp, memo_slot, sharding_seen


@dataclass(frozen=True, slots=True)
class _SavedGraph:
    """value: the graph of the content of a memory; None if it is not known. when: the time it was
    saved. before: the same of the version before the last write. ever: whether any version had one.
    settled: for several buffers that kernels are about to fill, the node once these have run.
    """

    value: UOp | None
    when: int
    before: _SavedGraph | None = None
    ever: bool = True
    settled: UOp | None = None


Identity: TypeAlias = tuple[Any, ...]

_HOLDS = frozenset({Ops.BUFFER, Ops.MULTI})
_set_history = memo_slot("_history")
_clock = itertools.count(1)
_written_at: WeakKeys[UOp, int] = WeakKeys()
_executed_at: WeakKeys[UOp, int] = WeakKeys()
# pending writes of kernels in saved graphs, and their nodes after parts of them were realized
_awaited_writes: WeakMembers[UOp] = WeakMembers()
_any_awaited = False  # whether there has been one; asking it takes less than the length
_current_forms: WeakKeys[UOp, UOp] = WeakKeys()
_realized_leaves: WeakKeys[UOp, UOp] = WeakKeys()
_with_graph: WeakMembers[UOp] = WeakMembers()
_old_identities: WeakKeys[UOp, Identity] = WeakKeys()
_moved_owners: WeakKeys[UOp, dict[Identity, list[tuple[Any, int]]]] = WeakKeys()

owners: WeakKeyDictionary[UOp, list[Any]] = WeakKeyDictionary()
"""By node the former owners of its value: for `weft.tensor.leaf_identities`."""


def save_graph(memory: UOp, value: UOp) -> None:
    """Save `value` as the graph of the content of `memory`."""
    now = next(_clock)
    used = _memory_read(value)
    own = [node for node in used if storage(node) is memory]
    if own:
        # it was computed of the old version, or is a marker op on the value itself
        old = old_version(memory, now)
        value = value.substitute({node: node for node in used} | dict.fromkeys(own, old))
    saved = _saved(memory)
    before = saved.before if saved is not None and saved.value is None else None
    waiting = {} if memory.op is Ops.BUFFER else {u: b for u, b in _parts(memory) if u is not b}
    settled = memory.substitute(waiting) if waiting else None
    for node in used:
        _await_writes(node)
    for node, filled in ((memory, settled), (settled, None)):
        if node is not None:
            _set_history(node, _SavedGraph(value, now, before, settled=filled))
            _with_graph.add(node)


def clear_graph(memory: UOp) -> None:
    """Drop the saved graph of a memory."""
    if _saved(memory) is not None:
        _set_history(memory, None)
        _with_graph.discard(memory)


def mark_without_graph(memory: UOp) -> None:
    """Store None in an empty slot: reading an empty slot raises, which is slow."""
    if _saved(memory) is None:
        _set_history(memory, None)


def bump_version(memory: UOp) -> None:
    """Note a write to `memory`: its saved graph belongs to the old version."""
    if not is_tracking():
        return  # no saved graph can become stale
    now = next(_clock)
    below = () if memory.op is Ops.BUFFER else _buffers(memory)
    for node in {memory: None, **dict.fromkeys(below)}:
        _written_at[node] = now
        saved = _saved(node)
        if saved is not None:
            before = None if saved.value is None else _SavedGraph(saved.value, saved.when)
            _set_history(node, _SavedGraph(None, now, before))


def follows_nodes() -> bool:
    """Whether there is anything that `replace_nodes` may have to change."""
    return (_any_awaited and len(_awaited_writes) > 0) or sharding_seen()


def replace_nodes(becomes: Mapping[UOp, UOp]) -> list[UOp]:
    """Follow a replacement of nodes in all graphs. Returns the new nodes of sharded values with
    saved graphs; the caller references them until the graphs do."""
    changed: list[UOp] = []
    if not becomes:
        return changed
    for write in _awaited_writes:
        form = _current_forms.get(write, write)
        if (new := form.substitute(becomes)) is not form:
            _current_forms[write] = new
    if sharding_seen():
        for memory in _with_graph:
            if memory.op is Ops.MULTI and any(node is not below for node, below in _parts(memory)):
                new = memory.substitute(becomes)
                if new is not memory and new.op is Ops.MULTI and _saved(new) is None:
                    _set_history(new, _saved(memory))
                    _with_graph.add(new)
                changed.append(new)
    return changed


def _await_writes(memory: UOp) -> None:
    """Watch the pending writes of memory that a saved graph reads."""
    global _any_awaited
    for node, below in _parts(memory):
        if node is not below and node not in _executed_at:
            _any_awaited = True
            _awaited_writes.add(node)


def leaf_realized(leaf: UOp, value: UOp) -> None:
    """Replace a pending leaf in saved graphs by its realized `value`."""
    if is_tracking() and leaf.op is Ops.CONTIGUOUS:
        _realized_leaves[leaf] = value
        for memory in _memory_read(value):
            _await_writes(memory)


def write_executed(write: UOp) -> None:
    """Note that the kernel of ASSIGN(memory, KERNEL) has run."""
    now = next(_clock)
    for node in _awaited_writes:
        if _current_forms.get(node, node) is write:
            _executed_at[node] = now
            _awaited_writes.discard(node)


def owner_moved(memory: UOp, owner: Any) -> None:
    """Note that `owner`, any object, has its value in other memory from now on."""
    found = buffers(memory)
    if not found:
        return
    own = identity(memory)
    if found[0] not in _moved_owners:
        _moved_owners[found[0]] = {}
    known = _moved_owners[found[0]].get(own, [])
    _moved_owners[found[0]][own] = [*(k for k in known if k[0] is not owner), (owner, next(_clock))]
    for old, of in _old_identities.items():
        if of == own:
            owners[old] = [*(k for k in owners.get(old, ()) if k is not owner), owner]


def has_moved_owners() -> bool:
    """Whether any owner has moved."""
    return len(_moved_owners) > 0


def is_tracking() -> bool:
    """Whether any memory has a saved graph."""
    return len(_with_graph) > 0


def storage(node: UOp) -> UOp:
    """The memory of a pending ASSIGN of a kernel; any other node itself."""
    if node.op is Ops.ASSIGN and node.src[1].op is Ops.KERNEL:
        return storage(node.src[0])
    return node


def saved_graph(node: UOp) -> UOp | None:
    """The graph of the content of a memory, in its flat shape; None if it is not known.

    Memory that was overwritten since then appears in it as a placeholder of the old version.
    """
    memory = storage(node)
    saved = _saved(memory)
    if saved is None or saved.value is None:
        return None
    value, when = _with_realized_leaves(saved.value), saved.when
    changed = {used: _current_version(used, when) for used in _memory_read(value)}
    if any(new is not old for old, new in changed.items()):
        value = value.substitute(changed)
        for new in changed.values():
            _await_writes(new)  # the graph references the current node of a write
    if value is not saved.value:
        _set_history(memory, replace(saved, value=value))
    return value


def _with_realized_leaves(value: UOp) -> UOp:
    """A saved graph with pending leaves replaced by their memory."""
    if not len(_realized_leaves):
        return value
    order = value.toposort(gate=lambda node: storage(node) is node)
    changed = {node: _realized_leaves[node] for node in order if node in _realized_leaves}
    return value.substitute(changed) if changed else value


def _current_version(used: UOp, when: int) -> UOp:
    """The node for a memory in a graph that was saved at `when`: the memory, a placeholder of its
    old version, or the same node if a kernel still has to fill it."""
    parts = [(used, storage(used))] if used.op is not Ops.MULTI else _parts(used)
    since = [when if node is below else _executed_at.get(node, 0) for node, below in parts]
    if not all(since):
        waiting = [node for (node, _), time in zip(parts, since) if not time]
        return used.substitute({node: _current_forms.get(node, node) for node in waiting})
    memory = used.substitute({node: below for node, below in parts if node is not below})
    if any(_written_at.get(below, 0) > time for (_, below), time in zip(parts, since)):
        return old_version(memory, min(since))
    return memory


def old_identity(node: UOp) -> Identity | None:
    """The `identity` of the memory of which a node is the old version; None for other nodes."""
    return _old_identities.get(node)


def identity(memory: UOp) -> Identity:
    """A key of a memory, the same before and after kernels fill it."""
    return (memory.op, *(node.src[1].arg for node in buffers(memory)))


def is_graph_lost(node: UOp) -> bool:
    """Whether the content of a memory had a saved graph and lost it by a write."""
    saved = _saved(node)
    return saved is not None and saved.value is None and saved.ever


def timestamp() -> int:
    """A timestamp after all earlier notes and before all later ones."""
    return next(_clock)


def old_version(memory: UOp, when: int | None = None, left_since: int | None = None) -> UOp:
    """A placeholder of the old version of `memory`: a new node without bytes.

    It has the graph that the memory had at `when`. Its owners are those that have left the memory
    since `left_since`, which is `when` by default.
    """
    left_since = when if left_since is None else left_since
    parts = {}
    for node in _buffers(memory):
        unique = UOp(Ops.UNIQUE, arg=("former", next(_clock)))
        parts[node] = UOp(Ops.BUFFER, node.dtype, (node.src[0], unique), node.arg)
    made = memory.substitute(parts)
    for node, old in [*parts.items(), (memory, made)]:
        _old_identities[old] = identity(node)
        if whose := _owners_since(node, left_since):
            owners[old] = whose
        saved = _saved(node)
        if saved is not None:
            known = saved if saved.value is not None and _is_before(saved, when) else saved.before
            known = known if known is not None and _is_before(known, when) else None
            _set_history(old, known or _SavedGraph(None, saved.when))
    return made


def _owners_since(memory: UOp, when: int | None) -> list[Any]:
    """The owners that have left a memory since a time."""
    if when is None:
        return []
    first = next(iter(buffers(memory)), memory)
    known = _moved_owners.get(first, {}).get(identity(memory), ())
    return [who for who, until in known if when < until]


def _is_before(saved: _SavedGraph, when: int | None) -> bool:
    return when is None or saved.when <= when


def _memory_read(value: UOp) -> list[UOp]:
    """The memory that a graph reads; pending memory as the ASSIGN of its kernel."""
    found: list[UOp] = []
    seen = {value}
    stack = [value]
    pop, push = stack.pop, stack.append
    while stack:
        node = pop()
        op = node.op
        if op in _HOLDS or (op is Ops.ASSIGN and node.src[1].op is Ops.KERNEL):
            found.append(node)
            continue
        for source in node.src:
            if source not in seen:
                seen.add(source)
                push(source)
    return found


def buffers(memory: UOp) -> list[UOp]:
    """The buffers of a value, also those that kernels still have to fill."""
    return [below for _, below in _parts(memory)]


def _parts(memory: UOp) -> list[tuple[UOp, UOp]]:
    """(node, its `storage`) of each buffer of a value on several devices."""
    order = memory.toposort(gate=lambda node: storage(node) is node)
    return [(node, below) for node in order if (below := storage(node)).op is Ops.BUFFER]


def _saved(node: UOp) -> _SavedGraph | None:
    return getattr(node, "_history", None)


def _buffers(memory: UOp) -> list[UOp]:
    return [node for node in memory.toposort() if node.op is Ops.BUFFER]
