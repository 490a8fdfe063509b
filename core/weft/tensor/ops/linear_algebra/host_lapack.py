"""Host calls of LAPACK: record linear algebra as HOST_CALL nodes where the host sees the memory.

in:  tensors of matrices, and the name of a function in `weft.engine.lapack`
out: tensors over the results, which are windows of one value
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.device import registry
from weft.tensor.protocol import record
from weft.uop import HostCall, Ops, UOp

Shape = tuple[int, ...]

_DTYPES = frozenset({dtypes.float32, dtypes.float64})


def computes_on_host(*matrices: Any) -> bool:
    """Whether LAPACK computes a function of these matrices.

    The host can access their memory, they have known sizes and elements, and HOST_CALLS is on.
    """
    if not settings.HOST_CALLS or matrices[0].dtype not in _DTYPES:
        return False
    device = matrices[0].device
    if not isinstance(device, str) or any(each.device != device for each in matrices):
        return False
    if not all(isinstance(size, int) and size for each in matrices for size in each.shape):
        return False
    return registry.capabilities(device).memory.host_visible


def host_call(name: str, given: Sequence[Any], outputs: Sequence[Shape], **parameters: Any) -> Any:
    """The results of a host function, one tensor for each shape in `outputs`.

    :param given: matrices of one dtype on one device. :param parameters: other arguments.
    """
    value, call = host_value(name, given, outputs, **parameters)
    return [value._wrap(part) for part in parts(value._uop, call)]


def host_value(
    name: str, given: Sequence[Any], outputs: Sequence[Shape], **parameters: Any
) -> tuple[Any, HostCall]:
    """All results of a host function as one flat tensor, and the call, which has their places."""
    shapes = tuple([tuple(each.shape) for each in given])
    call = HostCall(name, shapes, tuple(outputs), tuple(sorted(parameters.items())))
    sources = tuple(
        [each.contiguous()._uop.reshape((prod(shape),)) for each, shape in zip(given, shapes)]
    )
    first, *others = given
    return first._wrap_with(record(Ops.HOST_CALL, first.dtype, sources, call), *others), call


def parts(value: UOp, call: HostCall) -> list[UOp]:
    """Each result of a call, from its flat value."""
    if len(call.outputs) == 1:
        return [value.reshape(call.outputs[0])]
    pairs = zip(call.windows, call.outputs)
    return [value.shrink((window,)).reshape(shape) for window, shape in pairs]
