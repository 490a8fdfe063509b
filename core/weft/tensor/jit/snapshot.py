"""Snapshot: the tensors and buffers that exist before a run, to compare with those after it."""

from __future__ import annotations

from weakref import ref

from weft.device import binding
from weft.tensor.jit.signature import Signature
from weft.tensor.jit.state import State
from weft.tensor.live_tensors import live_tensors
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp


class Snapshot:
    """The tensors before a run: those passed in or reached, and all other live ones."""

    def __init__(self, arguments: Signature, state: State) -> None:
        self.tensors: list[TensorBase] = []
        self.number: dict[int, int] = {}
        for tensor in [*arguments.tensors, *state.tensors]:
            if id(tensor) not in self.number:
                self.number[id(tensor)] = len(self.tensors)
                self.tensors.append(tensor)
        self.fields = [(t._uop, t.grad, t._requires_grad, t.is_leaf) for t in self.tensors]
        self.live = [(ref(t), t._uop) for t in live_tensors() if id(t) not in self.number]
        graph = UOp(Ops.SINK, src=tuple(dict.fromkeys([uop for _, uop in self.live])))
        # a reference to the nodes keeps the ids of their buffers valid
        self.nodes = [u for u in graph.toposort() if u.op is Ops.BUFFER and binding.is_bound(u)]
        self.bound = {id(binding.buffer_of(u)): u for u in self.nodes}
