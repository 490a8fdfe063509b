"""Movement, indexing and joining of complex tensors, by the same move of the interleaved numbers.

The last axis, of the two parts, stays where it is. Views are views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import IndexingError
from weft.base.promotion import least_upper_dtype
from weft.shape.movement import reshape_arg
from weft.tensor.ops.argument_lists import all_of, as_tuple
from weft.tensor.protocol import TensorBase


def reshape(self: Any, shape: Any, *args: Any) -> Any:
    """The same elements, row-major, in another shape; one extent may be -1, None keeps one."""
    new = reshape_arg(tuple(self.shape), as_tuple(shape, args))
    return self._over(self._interleaved.reshape((*new, 2)))


def view(self: Any, shape: Any, *args: Any) -> Any:
    """Alias of reshape. :raises DTypeError: for a dtype, see `view_as_real`."""
    if isinstance(shape, (DType, str)):
        raise self._refused(f"view({shape!r})")
    return reshape(self, shape, *args)


def expand(self: Any, shape: Any, *args: Any) -> Any:
    """Axes of size one repeated, new axes in front; -1 keeps an extent."""
    new = as_tuple(shape, args)
    return self._over(self._interleaved.reshape(*_ranked(self, len(new)), 2).expand(*new, 2))


def _ranked(self: Any, rank: int) -> tuple[int, ...]:
    return (1,) * (rank - self.ndim) + tuple(self.shape)


def permute(self: Any, order: Any = (), *args: Any) -> Any:
    """Axis i of the result is axis order[i] of self."""
    axes = [self._resolve_dim(a) for a in as_tuple(order, args)]
    return self._over(self._interleaved.permute(*axes, self.ndim))


def flip(self: Any, axis: Any, *args: Any) -> Any:
    """The given axes backwards."""
    axes = tuple(self._resolve_dim(a) for a in as_tuple(axis, args))
    return self._over(self._interleaved.flip(axes)) if axes else self._over(self._interleaved)


def shrink(self: Any, arg: Any) -> Any:
    """The window [start, stop) of each axis; None keeps an axis whole."""
    return self._over(self._interleaved.shrink((*arg, None)))


def pad(self: Any, padding: Any, mode: str = "constant", value: Any = 0.0) -> Any:
    """Padded as `Tensor.pad`; what is added is `value`, which may be complex."""
    real, imag = self._real_part(), self._imag_part()
    value = complex(value)
    return self._of_parts(real.pad(padding, mode, value.real), imag.pad(padding, mode, value.imag))


def squeeze(self: Any, dim: Any = None) -> Any:
    """Without axes of size one: all of them, or the given ones."""
    given = range(self.ndim) if dim is None else (dim if isinstance(dim, (tuple, list)) else (dim,))
    axes = {self._resolve_dim(a) for a in given}
    kept = [n for a, n in enumerate(self.shape) if a not in axes or n != 1]
    return reshape(self, tuple(kept))


def unsqueeze(self: Any, dim: int) -> Any:
    """With a new axis of size one at `dim`."""
    return self._over(self._interleaved.unsqueeze(self._resolve_dim(dim, extra=1)))


def transpose(self: Any, dim0: int = 1, dim1: int = 0) -> Any:
    """Two axes change places."""
    first, second = self._resolve_dim(dim0), self._resolve_dim(dim1)
    return self._over(self._interleaved.transpose(first, second))


def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim` as one."""
    if not self.ndim:
        return reshape(self, (1,))
    first, last = self._resolve_dim(start_dim), self._resolve_dim(end_dim)
    return self._over(self._interleaved.flatten(first, last))


def unflatten(self: Any, dim: int, sizes: Any) -> Any:
    """One axis as several."""
    return self._over(self._interleaved.unflatten(self._resolve_dim(dim), sizes))


def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two axes, as the last axis."""
    first, second = self._resolve_dim(dim1), self._resolve_dim(dim2)
    return self._over(self._interleaved.diagonal(offset, first, second).transpose(-1, -2))


def get_item(self: Any, index: Any) -> Any:
    """The part that `index` names."""
    return self._over(self._interleaved[_index(self, index)])


def set_item(self: Any, index: Any, value: Any) -> None:
    """Write `value`, which broadcasts, into the part that `index` names."""
    place, target = _index(self, index), self._interleaved
    given = self._other(value)
    whole = self._constant_operand(given, self.dtype)
    if whole.dtype is not self.dtype and not _fits(whole.dtype, self.dtype):
        raise self._refused(f"a write of {whole.dtype!r} to {self.dtype!r}")
    target[place] = whole._interleaved.cast(target.dtype)


def _fits(source: DType, target: DType) -> bool:
    return source.is_complex or source is target


def _index(self: Any, index: Any) -> tuple[Any, ...]:
    """The index of the interleaved numbers: both parts of what `index` names."""
    items = index if isinstance(index, tuple) else (index,)
    if any(getattr(item, "_interleaved", None) is not None for item in items):
        raise IndexingError("complex numbers are no indices", asked=f"x[{shown(index)}]")
    if not any(item is Ellipsis for item in items if not isinstance(item, TensorBase)):
        items = (*items, Ellipsis)
    return (*items, slice(None))


def cat(self: Any, *args: Any, dim: int = 0) -> Any:
    """self and others one after another along an axis; dtypes promote."""
    return joined(self.__class__, all_of(self, args, "cat"), dim)


def joined(cls: Any, parts: list[Any], dim: int) -> Any:
    """`cat` of tensors of which one is complex."""
    kind = next(p for p in parts if p._interleaved is not None)
    dtype = dtypes.complex_dtype(least_upper_dtype(*(p.dtype for p in parts)))
    axis = kind._resolve_dim(dim)
    whole = [kind._constant_operand(p, dtype)._interleaved for p in parts]
    return cls._over(whole[0].cat(*whole[1:], dim=axis))


def where(condition: Any, x: Any, y: Any) -> Any:
    """`condition.where(x, y)` of choices of which one is complex."""
    kind = next(z for z in (x, y) if getattr(z, "_interleaved", None) is not None)
    other = y if kind is x else x
    dtype = (
        dtypes.complex_dtype(least_upper_dtype(kind.dtype, other.dtype))
        if isinstance(other, TensorBase)
        else kind.dtype
    )
    rank = max(condition.ndim, *(getattr(z, "ndim", 0) for z in (x, y)))
    wide = []
    for z in (x, y):
        whole = kind._constant_operand(z, dtype)
        pair = whole._interleaved.cast(dtypes.real_dtype(dtype))
        wide.append(pair.reshape((*_ranked(whole, rank), 2)))
    mask = condition.reshape((1,) * (rank - condition.ndim) + (*condition.shape, 1))
    return kind._over(mask.where(*wide))


def _by_parts(name: str) -> Callable[..., Any]:
    """The method of that name, of each part: it moves elements, and computes nothing."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        real = getattr(self._real_part(), name)(*args, **kwargs)
        imag = getattr(self._imag_part(), name)(*args, **kwargs)
        if isinstance(real, tuple):
            return tuple(self._of_parts(a, b) for a, b in zip(real, imag))
        return self._of_parts(real, imag)

    method.__name__ = name
    method.__doc__ = f"`Tensor.{name}` of the real and the imaginary part."
    return method


BY_PARTS = {
    name: _by_parts(name)
    for name in (
        "tril triu diag trace roll repeat tile repeat_interleave unfold gather take take_along_dim "
        "take_along_axis index_select rot90 tensor_split masked_select pixel_shuffle "
        "pixel_unshuffle"
    ).split()
}
"""Methods of each part."""

METHODS = (
    "cat diagonal expand flatten flip pad permute reshape shrink squeeze transpose unflatten "
    "unsqueeze view"
).split()
"""The functions here that are methods of complex tensors."""
