"""In-place writes of a replay: copy the old value for readers outside of the captured function
(write-after-read hazards).

in:  the memory that is written, the tensors of the call and the state
out: other readers of that memory, moved to copies
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from weft.device import binding
from weft.schedule.structural_key import traversal
from weft.tensor.alias import base_of, invalidate_views, is_view
from weft.tensor.jit.state import State, states, states_epoch
from weft.tensor.live_tensors import is_settled, live_tensors, set_node
from weft.tensor.protocol import TensorBase
from weft.tensor.realize import realize_tensors
from weft.uop import Ops, UOp

_ONE_OWNER = next(map(sys.getrefcount, [object()])) - 1


class MemoryMoved(Exception):
    """Realizing a reader has moved a tensor of the call, or of the state, to other memory."""


class ReaderCounts:
    """Reference counts of the nodes of a state over memory that is written.

    A new reader has to reference one of these nodes. While the counts are those of the known owners
    there is no hidden reader, and the live tensors need no scan. With any other owner, for instance
    a saved graph, the counts prove nothing: it may release a node when a reader takes one.
    """

    __slots__ = ("_counts", "_epoch", "_nodes")

    def __init__(self, state: State, written: set[UOp]) -> None:
        found: dict[UOp, int] = {}
        for tensor in state.tensors:
            below = traversal(tensor._uop)
            if not written.isdisjoint(below):
                found.update((node, _ONE_OWNER) for node in below if node.src)
        state.watch_nodes(list(found))
        self._nodes, self._epoch = state.watched, states_epoch()
        above = [source for node in self._nodes for source in node.src]
        shown = [tensor._uop for tensor in state.tensors]
        for node in [*above, *shown, *(node for each in states() for node in each.held_nodes())]:
            if node in found:
                found[node] += 1
        self._counts = list(found.values())

    def has_no_readers(self) -> bool:
        """Whether only the known owners reference the nodes."""
        return list(map(sys.getrefcount, self._nodes)) == self._counts and not self.is_stale()

    def is_stale(self) -> bool:
        """Whether states, which are known owners, were added or removed since."""
        return states_epoch() != self._epoch


def copy_hidden_readers(nodes: set[UOp], known: Iterable[TensorBase]) -> None:
    """Move live tensors that read `nodes` to copies, before `known` are written there. Tensors that
    share a base with one of `known` stay.

    :raises MemoryMoved: if a pending write of a reader went to that memory, so that one of `known`
        has its value elsewhere now.
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
        # a contiguous part may be a window of the same memory
        if not nodes.isdisjoint(below) or any(map(binding.is_shared, below)):
            copy = tensor.detach().clone().realize()
            set_node(tensor, copy._uop)
            invalidate_views(tensor)
    if any(tensor._uop is not node for tensor, node in zip(known, before)):
        raise MemoryMoved
