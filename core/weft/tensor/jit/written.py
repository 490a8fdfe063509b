"""What a captured function writes in place: who else reads that memory.

in:  the memory that is written, what is known of it      out: readers out of sight on copies
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from weft.device import binding
from weft.schedule.structural_key import traversal
from weft.tensor.alias import base_of, changed, is_view
from weft.tensor.jit.state import State, states, states_epoch
from weft.tensor.live_tensors import is_settled, live_tensors
from weft.tensor.protocol import TensorBase
from weft.tensor.realize import realize_tensors
from weft.uop import Ops, UOp

_OF_NOBODY = next(map(sys.getrefcount, [object()])) - 1


class Moved(Exception):
    """Computing what was pending gave a tensor of the call, or of the state, other memory."""


class Watch:
    """The nodes of a state under which memory stands that is written.

    A view can only be made by holding on to one of them. So while nobody holds on to them but those
    that are known there is no reader out of sight, and not all tensors need to be looked at.
    Whoever else does, a graph that is kept for its gradients for instance, might let go of one when
    a reader comes: then nothing can be told from numbers.
    """

    __slots__ = ("_counts", "_epoch", "_nodes")

    def __init__(self, state: State, written: set[UOp]) -> None:
        found: dict[UOp, int] = {}
        for tensor in state.tensors:
            below = traversal(tensor._uop)
            if not written.isdisjoint(below):
                found.update((node, _OF_NOBODY) for node in below if node.src)
        state.watch(list(found))
        self._nodes, self._epoch = state.watched, states_epoch()
        above = [source for node in self._nodes for source in node.src]
        shown = [tensor._uop for tensor in state.tensors]
        for node in [*above, *shown, *(node for each in states() for node in each.held())]:
            if node in found:
                found[node] += 1
        self._counts = list(found.values())

    def sees_nobody(self) -> bool:
        """Whether nobody else holds on to them."""
        return list(map(sys.getrefcount, self._nodes)) == self._counts and not self.is_stale()

    def is_stale(self) -> bool:
        """Whether states have come or gone, which are known to hold on to some."""
        return states_epoch() != self._epoch


def protect(nodes: set[UOp], known: Iterable[TensorBase]) -> None:
    """Those out of sight that read `nodes` and share their value with none of `known`, which are
    about to be written there, get memory of their own.

    :raises Moved: where a reader was to be written into that memory. It is now, and `known` have
        the old value elsewhere.
    """
    known = list(known)
    before = [tensor._uop for tensor in known]
    readers = []
    sharing = {id(base_of(tensor)) for tensor in known}
    for tensor in live_tensors():
        if id(tensor) in sharing:
            continue
        base = tensor._uop.base
        if base in nodes or (base.op is not Ops.BUFFER and not nodes.isdisjoint(traversal(base))):
            if not is_view(tensor):  # a view follows its base
                readers.append(tensor)
    for tensor in readers:
        if not is_settled(tensor._uop):
            realize_tensors([tensor])
        below = traversal(tensor._uop)
        # a contiguous part is computed as a window of the same memory
        if not nodes.isdisjoint(below) or any(map(binding.is_shared, below)):
            copy = tensor.detach().clone().realize()
            tensor._uop = copy._uop
            changed(tensor)
    if any(tensor._uop is not node for tensor, node in zip(known, before)):
        raise Moved
