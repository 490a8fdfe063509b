"""How the value in a memory came about: the way back that is left when a graph has been computed.

Computing a value puts memory in the place of its graph. Where gradients are to flow through it, the
graph is kept beside the memory, reaching as far down as the next memory that has one itself; nothing
but the walk of gradients looks at it, so that no later schedule is the larger for it. It lives as
long as the memory's node.

    remember(memory, value)     value, of the memory's flat shape, is what stands in it
    way_back(node)              that graph, or None
    overwritten(memory)         from now on graphs that were kept before do not mean what is in it

in:  BUFFER and MULTI nodes, spec.tensor      out: spec.tensor
"""

from __future__ import annotations

import itertools
from weakref import WeakKeyDictionary, ref

from weft.uop import Ops, UOp
from weft.uop.node import memo_slot

_set_history = memo_slot("_history")
_clock = itertools.count(1)
_written: WeakKeyDictionary[UOp, int] = WeakKeyDictionary()
_former: WeakKeyDictionary[UOp, tuple[ref[UOp], bool]] = WeakKeyDictionary()


def remember(memory: UOp, value: UOp) -> None:
    """`value` is how what stands in `memory` came about."""
    if memory in value.toposort():
        # it was computed of what stood there before
        value = value.substitute({memory: old_value(memory)})
    _set_history(memory, (value, next(_clock)))


def forget(memory: UOp) -> None:
    """What stands in `memory` is a value without a past."""
    if hasattr(memory, "_history"):
        _set_history(memory, None)


def overwritten(memory: UOp) -> None:
    """Something else is in `memory` now."""
    now = next(_clock)
    for node in {memory: None, **dict.fromkeys(_buffers(memory))}:
        _written[node] = now
        forget(node)


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
    kept = getattr(storage(node), "_history", None)
    if kept is None:
        return None
    value, when = kept
    if _written:
        old = {u: old_value(u) for u in value.toposort() if _written.get(u, 0) > when}
        if old:
            value = value.substitute(old)
            _set_history(storage(node), (value, when))
    return value


def former(node: UOp) -> tuple[UOp, bool] | None:
    """(memory, whether that had a past) of a node that stands for what was in a memory before."""
    found = _former.get(node)
    memory = None if found is None else found[0]()
    return None if memory is None else (memory, found[1])


def old_value(memory: UOp) -> UOp:
    """A node that stands for what was in `memory` before: nothing else is, and it has no bytes."""
    parts = {}
    for node in _buffers(memory):
        unique = UOp(Ops.UNIQUE, arg=("former", next(_clock)))
        parts[node] = UOp(Ops.BUFFER, node.dtype, (node.src[0], unique), node.arg)
    made = memory.substitute(parts)
    for node, old in [*parts.items(), (memory, made)]:
        _former[old] = (ref(node), getattr(node, "_history", None) is not None)
    return made


def _buffers(memory: UOp) -> list[UOp]:
    return [node for node in memory.toposort() if node.op is Ops.BUFFER]
