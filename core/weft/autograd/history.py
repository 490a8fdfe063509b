"""How the value in a memory came about: the way back that is left when a graph has been computed.

Computing a value puts memory in the place of its graph. Where gradients are to flow through it,
the graph is kept beside the memory, reaching as far down as the next memory that has one itself;
nothing but the walk of gradients looks at it, so that no later schedule is the larger for it. It
lives as long as the memory's node.

    remember(memory, value)     value, of the memory's flat shape, is what stands in it
    way_back(node)              that graph, or None
    overwritten(memory)         from now on graphs that were kept before do not mean what is in it

in:  BUFFER and MULTI nodes, spec.tensor      out: spec.tensor
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from weakref import ref

from weft.base.weak import WeakKeys, WeakMembers
from weft.device import binding
from weft.uop import Ops, UOp
from weft.uop.node import memo_slot


@dataclass(frozen=True, slots=True)
class _Past:
    """value: how what is in the memory came about; None where that is not known. when: since when.
    before: the same of what was there before the last write. ever: whether anything ever had one.
    """

    value: UOp | None
    when: int
    before: _Past | None = None
    ever: bool = True


_HOLDS = frozenset({Ops.BUFFER, Ops.MULTI})
_set_history = memo_slot("_history")
_clock = itertools.count(1)
_written: WeakKeys[UOp, int] = WeakKeys()
_remembering: WeakMembers[UOp] = WeakMembers()
_former: WeakKeys[UOp, ref[UOp]] = WeakKeys()


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
    _set_history(memory, _Past(value, now, before))
    _remembering.add(memory)


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
    value, when = past.value, past.when
    changed: dict[UOp, UOp] = {}
    for used in _memories(value):
        below = storage(used)
        if _written.get(below, 0) > when:
            changed[used] = old_value(below, when)
        elif used is not below:
            changed[used] = below if _is_filled(below) else used
    if any(new is not old for old, new in changed.items()):
        value = value.substitute(changed)
        _set_history(memory, _Past(value, when, past.before))
    return value


def former(node: UOp) -> UOp | None:
    """The memory of a node that stands for what was in it before."""
    found = _former.get(node)
    return None if found is None else found()


def is_lost(node: UOp) -> bool:
    """Whether what stands in a memory, or did before, came about in a way that is not known."""
    past = _past(node)
    return past is not None and past.value is None and past.ever


def old_value(memory: UOp, when: int | None = None) -> UOp:
    """A node that stands for what was in `memory` before: nothing else is, and it has no bytes.

    It knows how that came about, if that was known at the time `when`.
    """
    parts = {}
    for node in _buffers(memory):
        unique = UOp(Ops.UNIQUE, arg=("former", next(_clock)))
        parts[node] = UOp(Ops.BUFFER, node.dtype, (node.src[0], unique), node.arg)
    made = memory.substitute(parts)
    for node, old in [*parts.items(), (memory, made)]:
        _former[old] = ref(node)
        past = _past(node)
        if past is not None:
            known = past if past.value is not None and _is_before(past, when) else past.before
            known = known if known is not None and _is_before(known, when) else None
            _set_history(old, known or _Past(None, past.when))
    return made


def _is_before(past: _Past, when: int | None) -> bool:
    return when is None or past.when <= when


def _memories(value: UOp) -> list[UOp]:
    """The memory that a graph reads; of what kernels are about to fill the node that says so."""
    order = value.toposort(gate=lambda node: storage(node) is node)
    return [node for node in order if storage(node) is not node or node.op in _HOLDS]


def _is_filled(memory: UOp) -> bool:
    return binding.is_bound(memory) and binding.buffer_of(memory).is_allocated


def _past(node: UOp) -> _Past | None:
    return getattr(node, "_history", None)


def _buffers(memory: UOp) -> list[UOp]:
    return [node for node in memory.toposort() if node.op is Ops.BUFFER]
