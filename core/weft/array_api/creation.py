"""Making arrays. All are lazy; constants and ranges take no memory until they are computed."""

from __future__ import annotations

import math
from typing import Any

from weft.array_api.array import Array, as_array
from weft.base.arguments import too_deep
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError, DTypeError
from weft.tensor import Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Array:
    """An array of a number, nested lists, an array of another library, or an array.

    Integers that the default dtype cannot hold become int64 or uint64.

    :param copy: True: memory of its own; False: never copied (an error where it would have to be);
        None: copied where needed.
    :raises DTypeError: for what an array cannot be made of.
    :raises OutOfRange: for numbers that the dtype, or any, cannot represent.
    :raises ArgumentError: if `copy` is False and a copy is needed.
    """
    kind = None if dtype is None else to_dtype(dtype)
    if isinstance(obj, Tensor):
        return _of_array(as_array(obj), kind, device, copy)
    if copy is False and isinstance(obj, (bool, int, float, complex, list, tuple)):
        raise ArgumentError(
            "numbers and lists are copied into an array",
            asked="asarray(..., copy=False)",
            try_="copy=None",
        )
    if isinstance(obj, (list, tuple)):
        try:
            obj = _plain(obj)
        except RecursionError as error:
            raise too_deep(obj, "nested lists", error) from None
    if isinstance(obj, memoryview) and obj.format != "B":
        import numpy

        obj = numpy.asarray(obj)  # of numbers, where a tensor takes the bytes
    if copy is False:
        made = Array.from_dlpack(obj, copy=False)
        return _of_array(made, kind, device, False)
    if _is_negative_nan(obj):
        return Array([obj], dtype=kind, device=device).reshape(())
    return Array(obj, dtype=kind, device=device)


def _is_negative_nan(number: Any) -> bool:
    """Whether this is a NaN with a sign, which constants do not keep."""
    return isinstance(number, float) and number != number and math.copysign(1.0, number) < 0


def _of_array(x: Array, kind: DType | None, device: Any, copy: bool | None) -> Array:
    moves = (device is not None and x.to(device).uop is not x.uop) or kind not in (None, x.dtype)
    if copy is False and moves:
        raise ArgumentError(
            "this array cannot be had without a copy",
            asked=f"asarray of {x.dtype!r} on {x.device}, dtype={kind!r}, device={device!r}, "
            "copy=False",
            try_="copy=None",
        )
    made = x if kind is None or kind is x.dtype else x.cast(kind)
    made = made if device is None else made.to(device)
    return made.clone() if copy and not moves else made


def _plain(obj: Any) -> Any:
    """Lists whose leaves are Python numbers; 0-d arrays in them give up their value."""
    if isinstance(obj, (list, tuple)):
        return [_plain(each) for each in obj]
    if isinstance(obj, Tensor):
        return obj.tolist()
    return obj


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array over another library's memory by DLPack; see `Tensor.from_dlpack`."""
    return Array.from_dlpack(x, device=device, copy=copy)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Storage with uninitialized values."""
    return Array.empty(_extents(shape), dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros."""
    return Array.zeros(_extents(shape), dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones."""
    return Array.ones(_extents(shape), dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """`fill_value` everywhere, in the dtype of its kind unless one is given."""
    if _is_negative_nan(fill_value):
        fill_value = asarray(fill_value, dtype=dtype, device=device)
    return Array.full(_extents(shape), fill_value, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Storage of the shape, dtype and device of x, sharded as it is."""
    return as_array(x).empty_like(**_given(dtype=dtype, device=device))


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros of the shape, dtype and device of x, sharded as it is."""
    return as_array(x).zeros_like(**_given(dtype=dtype, device=device))


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones of the shape, dtype and device of x, sharded as it is."""
    return as_array(x).ones_like(**_given(dtype=dtype, device=device))


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """`fill_value` everywhere, in the shape, dtype and place of x, sharded as it is."""
    return as_array(x).full_like(fill_value, **_given(dtype=dtype, device=device))


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """start, start + step, ... before stop; from 0 with one argument."""
    return Array.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: bool = True,
) -> Array:  # fmt: skip
    """`num` numbers from start to stop, the latter left out without `endpoint`."""
    if endpoint or num == 0:
        return Array.linspace(start, stop, num, dtype=dtype, device=device)
    whole = Array.linspace(start, stop, num + 1, dtype=dtype, device=device)
    return whole[:num]


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Array:
    """Ones on the k-th diagonal of a matrix of zeros."""
    n_cols = n_rows if n_cols is None else n_cols
    kind = dtypes.default_float if dtype is None else to_dtype(dtype)
    rows = Array.arange(n_rows, device=device).reshape(n_rows, 1)
    return (rows + k == Array.arange(n_cols, device=device)).cast(kind)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Grids of coordinates from 1-d arrays. :raises ArgumentError: for another indexing."""
    if not arrays:
        return ()
    parts = [as_array(x) for x in arrays]
    if len({x.dtype for x in parts}) > 1:
        raise DTypeError(
            "the axes of a grid have one dtype",
            asked=f"meshgrid of {', '.join(repr(x.dtype) for x in parts)}",
            try_="astype(x, ...)",
        )
    first, *rest = parts
    return first.meshgrid(*rest, indexing=indexing)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Zeros above the k-th diagonal of every matrix."""
    return as_array(x).tril(k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Zeros below the k-th diagonal of every matrix."""
    return as_array(x).triu(k)


def _extents(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
