"""Host calls of LAPACK: record linear algebra as HOST_CALL nodes where the host sees the memory.

in:  tensors of matrices, and the name of a function in `weft.engine.lapack`
out: tensors over the results, which are windows of one value

Complex matrices are computed by LAPACK alone: there are no kernels for them. Their interleaved
parts are the arguments of the call; where the host does not see the memory they are copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.device import numpy_dtype, registry
from weft.engine import HOST_FUNCTIONS
from weft.shape.movement import say_shape
from weft.tensor.protocol import record
from weft.uop import HostCall, Ops, UOp

Shape = tuple[int, ...]

_DTYPES = frozenset({dtypes.float32, dtypes.float64})

REAL_RESULTS = {
    "svd": (1,), "svdvals": (0,), "eigh": (0,), "eigvalsh": (0,), "slogdet": (1,),
    "lstsq": (1, 2, 3), "matrix_rank": (0,),
}  # fmt: skip
"""Which results of a function of complex matrices are real."""


def computes_on_host(*matrices: Any) -> bool:
    """Whether LAPACK computes a function of these matrices.

    The host can access their memory, they have known sizes and elements, and HOST_CALLS is on.
    LAPACK computes all functions of complex matrices.
    """
    if matrices[0]._interleaved is not None:
        return True
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
    if given[0]._interleaved is not None:
        return _complex_host_call(name, given, outputs, parameters)
    node, call = _recorded(name, given, outputs, parameters)
    return [_from(given, part) for part in parts(node, call)]


def host_call_of_copies(
    name: str, given: Sequence[Any], outputs: Sequence[Shape], **parameters: Any
) -> Any:
    """`host_call` for any device: where the host does not see its memory, arguments and results
    are copied."""
    device = given[0].device
    if registry.capabilities(device).memory.host_visible:
        return host_call(name, given, outputs, **parameters)
    staged = [each.contiguous().to(registry.staging()) for each in given]
    return [each.to(device) for each in host_call(name, staged, outputs, **parameters)]


def _complex_host_call(
    name: str, given: Sequence[Any], outputs: Sequence[Shape], parameters: Mapping[str, Any]
) -> Any:
    """The results of a host function of complex matrices, which is called with their parts.

    :raises ShapeError: for sizes that are not known, and matrices on several devices.
    """
    sizes = [size for each in given for size in each.shape]
    if not isinstance(given[0].device, str) or any(size.__class__ is not int for size in sizes):
        raise ShapeError(
            "LAPACK computes matrices of known sizes on one device",
            asked=f"{name} of {given[0].dtype!r} {say_shape(given[0].shape)}",
            because=f"there are no kernels for complex matrices; they are on {given[0].device}",
            try_="x.to(...) one device, and bound sizes",
        )
    flags = are_complex(name, len(outputs))
    if not all(sizes):
        return _results_of_nothing(name, given, outputs, parameters)
    shapes = [(*shape, 2) if flag else tuple(shape) for shape, flag in zip(outputs, flags)]
    pairs = [each._interleaved for each in given]
    found = host_call_of_copies(name, pairs, shapes, interleaved=True, **parameters)
    return [given[0]._over(each) if flag else each for each, flag in zip(found, flags)]


def are_complex(name: str, count: int) -> list[bool]:
    """Whether each result of a function of complex matrices is complex."""
    return [place not in REAL_RESULTS.get(name, ()) for place in range(count)]


def _results_of_nothing(
    name: str, given: Sequence[Any], outputs: Sequence[Shape], parameters: Mapping[str, Any]
) -> Any:
    """The results for matrices without elements, which are constants."""
    import numpy

    first, flags = given[0], are_complex(name, len(outputs))
    kind, part = first.dtype.name, numpy_dtype(dtypes.real_dtype(first.dtype))
    results = [numpy.zeros(shape, kind if flag else part) for shape, flag in zip(outputs, flags)]
    HOST_FUNCTIONS[name]([numpy.zeros(each.shape, kind) for each in given], results, **parameters)
    return [first._real_class(each, device=first.device) for each in results]


_call = lru_cache(maxsize=1024)(HostCall)


def _recorded(
    name: str, given: Sequence[Any], outputs: Sequence[Shape], parameters: Mapping[str, Any]
) -> tuple[UOp, HostCall]:
    shapes = tuple([each._uop.shape for each in given])
    call = _call(name, shapes, tuple(outputs), tuple(sorted(parameters.items())))
    sources = tuple(
        [_row_major(each).reshape((prod(shape),)) for each, shape in zip(given, shapes)]
    )
    return record(Ops.HOST_CALL, sources[0].dtype, sources, call), call


def _row_major(matrix: Any) -> UOp:
    """The node of a matrix in row-major memory."""
    node: UOp = matrix._uop
    plain = node.src[0] if node.op is Ops.RESHAPE else node
    return node if plain.op is Ops.BUFFER else matrix.contiguous()._uop


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
