"""Output-buffer reuse: a replay writes to outputs of an earlier replay without other references.
Also: buffer donation.

A result that was dropped, and a gradient that is about to be replaced, keep their buffer, their
node and (gradients) their tensor. Reference counts of the tensor, of the nodes below it and of the
memory decide: without references other than those of the known owners there is no view, no window
and no graph over it.

in:  the new tensors of a replay      out: at the next one those that can be written again

Source: XLA, buffer donation; PyTorch, CUDA graph trees (liveness of outputs by reference counts).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any
from weakref import getweakrefcount

from weft.autograd import history
from weft.device import Buffer, binding
from weft.tensor.jit.effects import StoreGrad
from weft.tensor.jit.pytree import NewLeaf, TensorSpec, TreeNode
from weft.tensor.jit.state import State
from weft.tensor.jit.trace import Trace
from weft.tensor.protocol import TensorBase
from weft.uop import Ops

MAX_BYTES = 1 << 20
"""The largest result that is kept for the next replay when it is dropped."""

GENERATIONS = 2
"""Results kept per output: `y = step(x)` drops the last one after the next one is made."""

PATIENCE = 16
"""An output that was referenced at so many replays in a row is no longer checked."""

_counted = sys.getrefcount
_ONE = next(map(_counted, [object()]))
"""The count of an object that is referenced by one list alone, as `map` sees it."""


class PastOutput:
    """An output of an earlier replay.

    objects: its nodes from the top down to the BUFFER, the buffer, the memory. counts: how many
    references each of them has without other users: the node above, for a gradient the state.
    tensor: the gradient in a list, empty for a result.
    """

    __slots__ = ("counts", "number", "objects", "tensor")

    def __init__(self, made: TensorBase, number: int = -1) -> None:
        """number: that of a gradient in the state; negative for a result."""
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
        history.mark_without_graph(node)
        buffer = binding.buffer_of(node)
        self.objects += (buffer, buffer._memory)
        self.counts += (_ONE + 1, _ONE + 1)

    def is_unreferenced(self, state: State) -> bool:
        """Whether only the known owners reference it."""
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
        # referenced by this list, by the tensor whose gradient it is, and twice by the state
        if list(map(_counted, self.tensor)) != [_ONE + 3]:
            return False
        tensor = self.tensor[0]
        return (
            state.is_tensor_at(self.number, tensor, self.objects[0])
            and tensor.grad is None
            and getweakrefcount(tensor) == 1
        )


class OutputReuse:
    """The past outputs of a trace over a state.

    :ivar misses: by spec, how often in a row its past outputs were referenced.
    """

    def __init__(self, trace: Trace, state: State) -> None:
        self._state = state
        self._outputs: list[Buffer | None] = [None] * len(trace.outputs)
        inputs = trace.inputs + len(state.signature.nodes)
        self._none: list[PastOutput | None] = [None] * len(trace.specs)
        self._candidates = _candidates(trace, state)
        self._output_of = {n: trace.specs[n].memory[0] - inputs for n, _ in self._candidates}
        self._past: dict[int, list[PastOutput]] = {}  # by spec, the newest first
        self._rows: list[tuple[int, int, list[PastOutput]]] = []  # spec, output, its past outputs
        self.misses: dict[int, int] = {}

    def take(self) -> tuple[list[PastOutput | None], list[Buffer | None]]:
        """What the next replay writes again: by spec the past output, by output its buffer; None
        for a new one. The caller drops them before the next call."""
        past, buffers, state = self._none.copy(), self._outputs.copy(), self._state
        for place, output, several in self._rows:
            for one in several:
                if one.is_unreferenced(state):
                    past[place] = one
                    buffers[output] = one.objects[-2]
                    if one is not several[0]:
                        several.reverse()  # there are two
                    if self.misses:
                        self.misses.pop(place, None)
                    break
            else:
                self._missed(place, several)
        return past, buffers

    def _missed(self, place: int, several: list[PastOutput]) -> None:
        """Give up an output whose results the caller keeps."""
        self.misses[place] = misses = self.misses.get(place, 0) + 1
        if misses >= PATIENCE:
            self._candidates = [one for one in self._candidates if one[0] != place]
            del self._past[place]
            self._list_rows()
        elif several and several[0].tensor:
            several.clear()  # it is no gradient of the state any more

    def _list_rows(self) -> None:
        self._rows = [(n, self._output_of[n], several) for n, several in self._past.items()]

    def record(self, new: Sequence[TensorBase], past: Sequence[PastOutput | None]) -> None:
        """Keep the tensors of this replay. past: what it has written again."""
        for place, number in self._candidates:
            if past[place] is None:
                if place not in self._past:
                    self._past[place] = []
                    self._list_rows()
                several = self._past[place]
                several.insert(0, PastOutput(new[place], number))
                del several[GENERATIONS:]


def is_applied(effect: Any, past: Sequence[PastOutput | None]) -> bool:
    """Whether an effect stores a gradient that is in its place already."""
    if not _is_gradient(effect):
        return False
    one = past[effect.tree.number]
    return one is not None and bool(one.tensor)


def _candidates(trace: Trace, state: State) -> list[tuple[int, int]]:
    """(spec, number in the state of the tensor that it replaces) of gradients that replace others,
    and of small results, with -1. Each of them is alone over memory of its own."""
    given = trace.inputs + len(state.signature.nodes)
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
                and trace.inputs + state.memory_number(number) not in used
            ):
                found.append((place, number))
        elif trace.nbytes(how.memory[0] - given) <= MAX_BYTES:
            found.append((place, -1))
    return found


def _is_alone(how: TensorSpec, trace: Trace, over: list[int], given: int) -> bool:
    """Whether it is the only tensor over a new buffer, and all of it."""
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
