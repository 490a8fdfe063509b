"""Host calls of LAPACK: record linear algebra as HOST_CALL nodes where the host sees the memory.

in:  tensors of matrices, and the name of a function in `weft.engine.lapack`
out: tensors over the results, which are windows of one value
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
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
    node = matrices[0]._uop
    device = node.device
    if node.dtype not in _DTYPES or not isinstance(device, str) or not settings.HOST_CALLS:
        return False
    for each in matrices:
        own = each._uop
        if own is not node and own.device != device:
            return False
        for size in own.shape:
            if size.__class__ is not int or not size:
                return False
    return registry.capabilities(device).memory.host_visible


def host_call(name: str, given: Sequence[Any], outputs: Sequence[Shape], **parameters: Any) -> Any:
    """The results of a host function, one tensor for each shape in `outputs`.

    :param given: matrices of one dtype on one device. :param parameters: other arguments.
    """
    node, call = _recorded(name, given, outputs, parameters)
    return [_from(given, part) for part in parts(node, call)]


def host_value(name: str, given: Sequence[Any], outputs: Sequence[Shape]) -> tuple[Any, HostCall]:
    """All results of a host function as one flat tensor, and the call, which has their places."""
    node, call = _recorded(name, given, outputs, {})
    return _from(given, node), call


_call = lru_cache(maxsize=1024)(HostCall)


def _recorded(
    name: str, given: Sequence[Any], outputs: Sequence[Shape], parameters: Mapping[str, Any]
) -> tuple[UOp, HostCall]:
    shapes = tuple([each._uop.shape for each in given])
    call = _call(name, shapes, tuple(outputs), tuple(sorted(parameters.items())))
    sources = tuple(
        [each.contiguous()._uop.reshape((prod(shape),)) for each, shape in zip(given, shapes)]
    )
    return record(Ops.HOST_CALL, sources[0].dtype, sources, call), call


def _from(given: Sequence[Any], node: UOp) -> Any:
    """A tensor computed from the arguments."""
    first, *others = given
    return first._wrap_with(node, *others) if others else first._wrap(node)


def parts(value: UOp, call: HostCall) -> list[UOp]:
    """Each result of a call, from its flat value."""
    if len(call.outputs) == 1:
        return [value.reshape(call.outputs[0])]
    pairs = zip(call.windows, call.outputs)
    return [value.shrink((window,)).reshape(shape) for window, shape in pairs]
