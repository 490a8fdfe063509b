"""One recorded run of a function, as `jit` records it."""

from weft import Tensor
from weft.tensor.jit.signature import Signature
from weft.tensor.jit.state import State
from weft.tensor.jit.trace import record_trace


def run(function, *args):
    """The trace of a call whose tensors are realized first."""
    for tensor in args:
        if isinstance(tensor, Tensor):
            tensor.realize()
    state = State([function], lambda value: False)
    return record_trace(function, args, {}, Signature(args, {}), state, "it")
