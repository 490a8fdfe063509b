"""How the value in a memory came about: the way back that is left when a graph has been computed.

Computing a value puts memory in the place of its graph. Where gradients are to flow through it,
the graph is kept beside the memory, reaching as far down as the next memory that has one itself;
nothing but the walk of gradients looks at it, so that no later schedule is the larger for it. It
lives as long as the memory's node.

    remember(memory, value)     value, of the memory's flat shape, is what stands in it
    way_back(node)              that graph, or None
    overwritten(memory)         from now on graphs that were kept before do not mean what is in it
    carried_out(write)          from now on what a kernel is to write, in such graphs, is there
    computed(leaf, value)       from now on a leaf that waited, in such graphs, is that value
    leave(memory, owner)        from now on memory is not the owner's any more; in such graphs it is

in:  BUFFER and MULTI nodes, spec.tensor      out: spec.tensor
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from weft.base.weak import WeakKeys, WeakMembers
from weft.uop import Ops, UOp
from weft.uop.node import memo_slot
from weft.uop.sharding import sharding_seen


@dataclass(frozen=True, slots=True)
class _Past:
    """value: how what is in the memory came about; None where that is not known. when: since when.
    before: the same of what was there before the last write. ever: whether anything ever had one.
    settled: of several memories that kernels are to fill what they are once these have run.
    """

    value: UOp | None
    when: int
    before: _Past | None = None
    ever: bool = True
    settled: UOp | None = None


Identity: TypeAlias = tuple[Any, ...]

_HOLDS = frozenset({Ops.BUFFER, Ops.MULTI})
_set_history = memo_slot("_history")
_clock = itertools.count(1)
_written: WeakKeys[UOp, int] = WeakKeys()
_carried: WeakKeys[UOp, int] = WeakKeys()
# writes of kernels that wait, in graphs that are kept, and what they are now that some of what they
# are computed of is there
_awaited: WeakMembers[UOp] = WeakMembers()
_forms: WeakKeys[UOp, UOp] = WeakKeys()
_computed: WeakKeys[UOp, UOp] = WeakKeys()
_remembering: WeakMembers[UOp] = WeakMembers()
_former: WeakKeys[UOp, Identity] = WeakKeys()
_left: WeakKeys[UOp, dict[Identity, list[tuple[Any, int]]]] = WeakKeys()

owners: WeakKeyDictionary[UOp, list[Any]] = WeakKeyDictionary()
"""By node whose value it was: kept for `weft.tensor.leaf_identities`."""


def remember(memory: UOp, value: UOp) -> None:
    """`value` is how what stands in `memory` came about."""
    now = next(_clock)
    used = _memories(value)
    own = [node for node in used if storage(node) is memory]
    if own:
        # it was computed of what stood there before, or is a mark upon the value itself
        old = old_value(memory, now)
        value = value.substitute({node: node for node in used} | dict.fromkeys(own, old))
    past = _past(memory)
    before = past.before if past is not None and past.value is None else None
    waiting = {} if memory.op is Ops.BUFFER else {u: b for u, b in _parts(memory) if u is not b}
    settled = memory.substitute(waiting) if waiting else None
    for node in used:
        _await(node)
    for node, filled in ((memory, settled), (settled, None)):
        if node is not None:
            _set_history(node, _Past(value, now, before, settled=filled))
            _remembering.add(node)


def forget(memory: UOp) -> None:
    """What stands in `memory` is a value without a past."""
    if _past(memory) is not None:
        _set_history(memory, None)
        _remembering.discard(memory)


def settle(memory: UOp) -> None:
    """Where nothing is remembered of it, have its slot say so: an empty one answers by an
    exception, which is slow."""
    if _past(memory) is None:
        _set_history(memory, None)


def overwritten(memory: UOp) -> None:
    """Something else is in `memory` now."""
    if not in_use():
        return  # there is nothing that could be wrong from now on
    now = next(_clock)
    below = () if memory.op is Ops.BUFFER else _buffers(memory)
    for node in {memory: None, **dict.fromkeys(below)}:
        _written[node] = now
        past = _past(node)
        if past is not None:
            before = None if past.value is None else _Past(past.value, past.when)
            _set_history(node, _Past(None, now, before))


def follow(becomes: Mapping[UOp, UOp]) -> list[UOp]:
    """Nodes are about to be replaced in all graphs: gives what becomes of values on several devices
    that remember something, part by part. Hold it until the graphs do."""
    changed: list[UOp] = []
    if not becomes:
        return changed
    for write in _awaited:
        form = _forms.get(write, write)
        if (new := form.substitute(becomes)) is not form:
            _forms[write] = new
    if sharding_seen():
        for memory in _remembering:
            if memory.op is Ops.MULTI and any(node is not below for node, below in _parts(memory)):
                new = memory.substitute(becomes)
                if new is not memory and new.op is Ops.MULTI and _past(new) is None:
                    _set_history(new, _past(memory))
                    _remembering.add(new)
                changed.append(new)
    return changed


def _await(memory: UOp) -> None:
    """A graph that is kept reads this memory, which kernels may still have to fill."""
    for node, below in _parts(memory):
        if node is not below and node not in _carried:
            _awaited.add(node)


def computed(leaf: UOp, value: UOp) -> None:
    """A leaf that waited to be computed, and that graphs may have been kept of, is `value` now."""
    if in_use() and leaf.op is Ops.CONTIGUOUS:
        _computed[leaf] = value
        for memory in _memories(value):
            _await(memory)


def carried_out(write: UOp) -> None:
    """The kernel of ASSIGN(memory, KERNEL) has run: its value is in the memory now."""
    now = next(_clock)
    for node in _awaited:
        if _forms.get(node, node) is write:
            _carried[node] = now
            _awaited.discard(node)


def leave(memory: UOp, owner: Any) -> None:
    """`owner`, any object, has its value elsewhere from now on."""
    found = buffers(memory)
    if not found:
        return
    own = identity(memory)
    if found[0] not in _left:
        _left[found[0]] = {}
    known = _left[found[0]].get(own, [])
    _left[found[0]][own] = [*(k for k in known if k[0] is not owner), (owner, next(_clock))]
    for old, of in _former.items():
        if of == own:
            owners[old] = [*(k for k in owners.get(old, ()) if k is not owner), owner]


def has_left() -> bool:
    """Whether any owner has its value elsewhere than before."""
    return len(_left) > 0


def in_use() -> bool:
    """Whether any memory remembers anything."""
    return len(_remembering) > 0


def storage(node: UOp) -> UOp:
    """The memory of a node that a kernel is about to fill; else the node."""
    if node.op is Ops.ASSIGN and node.src[1].op is Ops.KERNEL:
        return storage(node.src[0])
    return node


def way_back(node: UOp) -> UOp | None:
    """How what stands in a memory came about, in its flat shape; None where that is not known.

    Memory that has been overwritten since is another node in it, one that stands for the old value
    (see `former`).
    """
    memory = storage(node)
    past = _past(memory)
    if past is None or past.value is None:
        return None
    value, when = _with_computed_leaves(past.value), past.when
    changed = {used: _as_it_is_now(used, when) for used in _memories(value)}
    if any(new is not old for old, new in changed.items()):
        value = value.substitute(changed)
        for new in changed.values():
            _await(new)  # the graph holds on to what a write is now, not to what it was
    if value is not past.value:
        _set_history(memory, replace(past, value=value))
    return value


def _with_computed_leaves(value: UOp) -> UOp:
    """A graph over the memory of leaves that waited when it was kept."""
    if not len(_computed):
        return value
    order = value.toposort(gate=lambda node: storage(node) is node)
    changed = {node: _computed[node] for node in order if node in _computed}
    return value.substitute(changed) if changed else value


def _as_it_is_now(used: UOp, when: int) -> UOp:
    """What a memory in a graph that was kept at the time `when` is now: the memory, a node that
    stands for what was in it, or the same node where a kernel is still to fill it."""
    parts = [(used, storage(used))] if used.op is not Ops.MULTI else _parts(used)
    since = [when if node is below else _carried.get(node, 0) for node, below in parts]
    if not all(since):
        waiting = [node for (node, _), time in zip(parts, since) if not time]
        return used.substitute({node: _forms.get(node, node) for node in waiting})
    memory = used.substitute({node: below for node, below in parts if node is not below})
    if any(_written.get(below, 0) > time for (_, below), time in zip(parts, since)):
        return old_value(memory, min(since))
    return memory


def former(node: UOp) -> Identity | None:
    """The `identity` of the memory of which a node stands for what was in it before."""
    return _former.get(node)


def identity(memory: UOp) -> Identity:
    """What tells a memory from all others, whether or not kernels have filled it."""
    return (memory.op, *(node.src[1].arg for node in buffers(memory)))


def is_lost(node: UOp) -> bool:
    """Whether what stands in a memory, or did before, came about in a way that is not known."""
    past = _past(node)
    return past is not None and past.value is None and past.ever


def now() -> int:
    """A time after all that has been told until now, and before all that follows."""
    return next(_clock)


def old_value(memory: UOp, when: int | None = None, left_since: int | None = None) -> UOp:
    """A node that stands for what was in `memory` before: nothing else is, and it has no bytes.

    It knows how that came about, if that was known at the time `when`. It is the value of those who
    have left the memory since the time `left_since`, which is `when` by default.
    """
    left_since = when if left_since is None else left_since
    parts = {}
    for node in _buffers(memory):
        unique = UOp(Ops.UNIQUE, arg=("former", next(_clock)))
        parts[node] = UOp(Ops.BUFFER, node.dtype, (node.src[0], unique), node.arg)
    made = memory.substitute(parts)
    for node, old in [*parts.items(), (memory, made)]:
        _former[old] = identity(node)
        if whose := _owners_since(node, left_since):
            owners[old] = whose
        past = _past(node)
        if past is not None:
            known = past if past.value is not None and _is_before(past, when) else past.before
            known = known if known is not None and _is_before(known, when) else None
            _set_history(old, known or _Past(None, past.when))
    return made


def _owners_since(memory: UOp, when: int | None) -> list[Any]:
    """Who has left a memory since a time."""
    if when is None:
        return []
    first = next(iter(buffers(memory)), memory)
    known = _left.get(first, {}).get(identity(memory), ())
    return [who for who, until in known if when < until]


def _is_before(past: _Past, when: int | None) -> bool:
    return when is None or past.when <= when


def _memories(value: UOp) -> list[UOp]:
    """The memory that a graph reads; of what kernels are about to fill the node that says so."""
    order = value.toposort(gate=lambda node: storage(node) is node and node.op not in _HOLDS)
    return [node for node in order if storage(node) is not node or node.op in _HOLDS]


def buffers(memory: UOp) -> list[UOp]:
    """The buffers in which a value stands, or will stand once kernels have run."""
    return [below for _, below in _parts(memory)]


def _parts(memory: UOp) -> list[tuple[UOp, UOp]]:
    """The buffers of which a value on several devices consists, each with its `storage`."""
    order = memory.toposort(gate=lambda node: storage(node) is node)
    return [(node, below) for node in order if (below := storage(node)).op is Ops.BUFFER]


def _past(node: UOp) -> _Past | None:
    return getattr(node, "_history", None)


def _buffers(memory: UOp) -> list[UOp]:
    return [node for node in memory.toposort() if node.op is Ops.BUFFER]
