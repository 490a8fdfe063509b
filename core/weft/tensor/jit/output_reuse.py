"""Output-buffer reuse: a replay writes results of the last one that are no longer referenced.

A result that was dropped, and a gradient that is about to be replaced, need no other memory, no
other node and, where it is a gradient, no other tensor. Whether anybody could tell is a matter of
how many hold on to a tensor, to the nodes it stands over and to the memory behind them: no more
than those that are known says that there is no view, no window and no graph of it.

in:  the new tensors of a replay      out: the next time, those of them that stand as they are
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any
from weakref import getweakrefcount

from weft.autograd import history
from weft.device import Buffer, binding
from weft.tensor.jit.pytree import NewLeaf, TensorSpec, TreeNode, has_existing
from weft.tensor.jit.state import State
from weft.tensor.jit.trace import StoreGrad, Trace
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp

MAX_BYTES = 1 << 20
"""Of a result: more than that is not kept for the next replay when it is dropped. With new memory a
call takes 9 us more (of 256 KB: 20 us where it takes 11)."""

GENERATIONS = 2
"""Of a result: in `y = step(x)` the last one is dropped when the next one is there."""

PATIENCE = 16
"""What was seen at so many replays is looked at no more."""

_counted = sys.getrefcount
_ONE = next(map(_counted, [object()]))
"""What is counted of something that one list holds."""


class PastOutput:
    """What a spec_of became: its nodes from the top down to the BUFFER, buffer and memory, and how
    many hold on to each when nobody looks at it: the node above, and for a gradient the state."""

    __slots__ = ("counts", "number", "objects", "tensor")

    def __init__(self, made: TensorBase, number: int = -1) -> None:
        """number: that of a gradient in the state; negative: it is a result."""
        node, of_state = made._uop, int(number >= 0)
        self.number = number
        self.tensor = [made] * of_state
        self.objects: list[Any] = [node]
        self.counts = [_ONE + 2 * of_state]  # tensor, state
        while node.op is not Ops.BUFFER:
            node = node.src[0]
            self.objects.append(node)
            self.counts.append(_ONE + 1)
        self.counts[-1] += of_state
        history.settle(node)
        buffer = binding.buffer_of(node)
        self.objects += (buffer, buffer._memory)
        self.counts += (_ONE + 1, _ONE + 1)

    def is_unreferenced(self, state: State) -> bool:
        """Whether nobody else holds on to it."""
        objects = self.objects
        if list(map(_counted, objects)) != self.counts:
            return False
        node, buffer, memory = objects[-3:]
        if node._buffer is not buffer or buffer._memory is not memory or memory is None:
            return False
        if node._history is not None:
            return False
        if binding.is_shared(node):
            return False
        return not self.tensor or self._is_gradient(state)

    def _is_gradient(self, state: State) -> bool:
        # held by this list, the tensor whose gradient it is, and twice by the state
        if list(map(_counted, self.tensor)) != [_ONE + 3]:
            return False
        tensor = self.tensor[0]
        return (
            state.is_tensor_at(self.number, tensor, self.objects[0])
            and tensor.grad is None
            and getweakrefcount(tensor) == 1
        )


class OutputReuse:
    """Of a recording over some state: which specs may stand as they did.

    :ivar misses: by spec_of, how often in a row it could not stand as it did.
    :ivar is_whole: whether all new memory is there again, and with it what stands over it.
    :ivar returns_existing: whether tensors that were there before are in the result.
    """

    def __init__(self, trace: Trace, state: State, before: int) -> None:
        """before: how many memories are passed in ahead of those of the state."""
        self.trace, self.state = trace, state
        self._given = before + len(state.signature.nodes)
        # by spec_of the output that it stands over; of no meaning where it is no candidate
        self._places = [(*how.memory, 0)[0] - self._given for how in trace.specs]
        self._candidates = _candidates(trace, state, before)
        self._last: dict[int, list[PastOutput]] = {}  # by spec_of, the newest first
        self._rows: list[tuple[int, list[PastOutput]]] = []  # the same
        self.is_whole = False
        self.misses: dict[int, int] = {}
        self.returns_existing = has_existing(trace.tree)
        self._nothing: list[Any] = [None] * len(trace.specs)

    def reusable(self) -> tuple[list[Buffer | None] | None, list[UOp | None], list[Any]]:
        """(memory, nodes, tensors): by output, the memory that is to be written again, None where
        there is none at all; by spec_of, what it stands for again and the gradient that it is
        again, None for those that are made anew. Who asks lets go of them before the next time."""
        self.is_whole = False
        found: list[Buffer | None] | None = None
        nodes = tensors = self._nothing
        left = len(self.trace.outputs)
        for place, several in self._rows:
            for one in several:
                if one.is_unreferenced(self.state):
                    break
            else:
                self._missed(place, several)
                continue
            if one is not several[0]:
                several.reverse()  # there are two
            if found is None:
                found = [None] * len(self.trace.outputs)
                nodes, tensors = [*self._nothing], [*self._nothing]
            found[self._places[place]] = one.objects[-2]
            nodes[place] = one.objects[0]
            if one.tensor:
                tensors[place] = one.tensor[0]
            if place in self.misses:
                del self.misses[place]
            left -= 1
        self.is_whole = not left
        return found, nodes, tensors

    def _missed(self, place: int, several: list[PastOutput]) -> None:
        """Who keeps every result does not let go of the next one either."""
        self.misses[place] = misses = self.misses.get(place, 0) + 1
        if misses >= PATIENCE:
            self._candidates = [one for one in self._candidates if one[0] != place]
            del self._last[place]
            self._rows = [*self._last.items()]
        elif several and several[0].tensor:
            several.clear()  # it is the state's no more

    def record(self, new: Sequence[TensorBase], nodes: Sequence[UOp | None]) -> None:
        """What the specs became this time. nodes: those that they stand for again."""
        for place, number in self._candidates:
            if nodes[place] is None:
                if place not in self._last:
                    self._last[place] = []
                    self._rows = [*self._last.items()]
                several = self._last[place]
                several.insert(0, PastOutput(new[place], number))
                del several[GENERATIONS:]

    def only_result(self) -> list[PastOutput] | None:
        """What the only spec_of became, where that is a result and stands over the only new
        memory: the list that is kept up to date."""
        if self._candidates != [(0, -1)] or len(self._nothing) > 1 or len(self.trace.outputs) > 1:
            return None
        return self._last.get(0)


def is_applied(effect: Any, tensors: Sequence[Any]) -> bool:
    """Whether an effect has been taken before: its gradient is where it was."""
    return _is_gradient(effect) and tensors[effect.tree.number] is not None


def _candidates(trace: Trace, state: State, before: int) -> list[tuple[int, int]]:
    """(spec_of, number in the state of what it replaces): gradients that replace others, and, with
    -1, small results. They stand alone over memory of their own."""
    given = before + len(state.signature.nodes)
    over = [number for how in trace.specs for number in how.memory]
    shown = _new_in(trace.tree)
    used = {*trace.replay.read, *trace.replay.written}  # type: ignore[union-attr]
    replaced = {place: number for number, place in trace.swaps or ()}
    gradients = {effect.tree.number for effect in trace.effects if _is_gradient(effect)}
    others = [effect for effect in trace.effects if not _is_gradient(effect)]
    over += [number for effect in others for number in _memory_in(effect)]
    put = {number for effect in others for number in _new_in(getattr(effect, "tree", None))}
    found = []
    for place, how in enumerate(trace.specs):
        if place in put or not _is_alone(how, trace, over, given):
            continue
        if place in gradients:
            number = replaced.get(place, -1)
            if (
                place not in shown
                and number >= 0
                and before + state.memory_number(number) not in used
            ):
                found.append((place, number))
        elif trace.nbytes(how.memory[0] - given) <= MAX_BYTES:
            found.append((place, -1))
    return found


def _is_alone(how: TensorSpec, trace: Trace, over: list[int], given: int) -> bool:
    """Whether it is all there is of a memory that is new at every replay."""
    if how.moves is None or how.memory[0] < given or over.count(how.memory[0]) > 1:
        return False
    return trace.replay.is_whole(how.memory[0] - given)  # type: ignore[union-attr]


def _is_gradient(effect: Any) -> bool:
    return isinstance(effect, StoreGrad) and isinstance(effect.tree, NewLeaf)


def _memory_in(effect: Any) -> tuple[int, ...]:
    how = getattr(effect, "how", None)
    return how.memory if how is not None else ()


def _new_in(tree: Any) -> set[int]:
    """The numbers of the new tensors in a tree."""
    if isinstance(tree, NewLeaf):
        return {tree.number}
    return (
        {n for item in tree.items for n in _new_in(item)} if isinstance(tree, TreeNode) else set()
    )
