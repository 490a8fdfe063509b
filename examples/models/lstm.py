"""A sequence read by long short-term memory, one element after the other."""

from __future__ import annotations

from weft import Tensor
from weft.nn import Linear, LSTMCell


class SequenceLSTM:
    """(batch, length, features) to (batch, length, outputs)."""

    def __init__(self, features: int, hidden: int, outputs: int) -> None:
        self.cell = LSTMCell(features, hidden)
        self.last = Linear(hidden, outputs)

    def __call__(self, x: Tensor) -> Tensor:
        state = None
        seen = []
        for place in range(x.shape[1]):
            # Each step's input, and the gradient of its output, in memory of its own: then
            # all steps are the same kernels, which are built once.
            state = self.cell(x[:, place].contiguous(), state)
            seen.append(state[0].contiguous_backward())
        return self.last(seen[0].stack(*seen[1:], dim=1))
