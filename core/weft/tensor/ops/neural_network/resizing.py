"""Resizing of the last axes: nearest neighbour and linear interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.autograd import RECOMPUTE
from weft.base.arguments import choice
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor.ops.sliding_windows import per_axis
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase, TensorT


def interpolate(
    self: TensorT, size: Sequence[int], mode: str = "linear", align_corners: bool = False
) -> TensorT:
    """The last axes resized: mode "linear" (over each axis), "nearest" or "nearest-exact".

    :raises ArgumentError: for another mode.

    >>> Tensor([[[0.0, 2.0]]]).interpolate((4,)).tolist()
    [[[0.0, 0.5, 1.5, 2.0]]]
    >>> Tensor([[[0.0, 2.0]]]).interpolate((4,), mode="nearest").tolist()
    [[[0.0, 0.0, 2.0, 2.0]]]
    """
    choice(mode, "mode", ("linear", "nearest", "nearest-exact"))
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    sizes = per_axis(sizes, len(sizes), "size")
    if len(sizes) > len(self.shape) or 0 in self.shape[-len(sizes) :]:
        raise ShapeError(
            "axes of at least one element are resized, and as many as there are sizes",
            asked=f"interpolate of shape {self.shape} to size={sizes}",
        )
    x = self
    for axis, new in reversed(list(zip(range(-len(sizes), 0), sizes))):
        x = resized_axis(x, axis, new, mode, align_corners)
    return x


def resized_axis(
    self: TensorBase, axis: int, new: int, mode: str, align_corners: bool,
    step: float | None = None,
) -> Any:  # fmt: skip
    """One axis, counted from the end, resized to `new` elements.

    :param step: elements of the input for one of the output; None: the ratio of the sizes.
    """
    old = self.shape[axis]
    own = self._uop.dtype
    wide = dtypes.float64 if own is dtypes.float64 else dtypes.float32
    at = self.__class__.arange(new, device=self.device).cast(wide)
    shape = tuple(new if i == len(self.shape) + axis else 1 for i in range(len(self.shape)))
    full = tuple(new if i == len(self.shape) + axis else s for i, s in enumerate(self.shape))

    def ratio(one: Any, other: Any) -> Any:
        if step is not None:
            return step
        if isinstance(one, int) and isinstance(other, int):
            return one / other
        parts = [self.__class__(n, device=self.device).cast(wide) for n in (one, other)]
        return parts[0] / parts[1]  # computed, so that one program serves all values

    def picked(index: Any) -> Any:
        return self.gather(axis, index.reshape(shape)._expanded(full))

    is_whole = step is None and isinstance(old, int) and isinstance(new, int) and not new % old
    if mode != "linear" and is_whole:
        # each element several times over: a view, and the gradient a sum of neighbours
        axis += len(self.shape)
        before, behind = self.shape[:axis], self.shape[axis + 1 :]
        x = self.reshape((*before, old, 1, *behind))
        return x._expanded((*before, old, new // old, *behind)).reshape((*before, new, *behind))
    if mode != "linear":
        half = 0.5 if mode == "nearest-exact" else 0.0
        place = ((at + half) * ratio(old, new)).floor().clamp(0, old - 1)
        # in memory, so that the gradient adds what goes to a place: see `codegen/scatter`
        return picked(place.cast(dtypes.int32).contiguous())
    scale = ratio(old - 1, max(new - 1, 1)) if align_corners else ratio(old, new)
    half = 0.0 if align_corners else 0.5
    where = ((at + half) * scale - half).clamp(0, old - 1)
    low = where.floor()
    share = (where - low).reshape(shape)
    high = (low + 1).clamp(0, old - 1).cast(dtypes.int32)
    low = low.cast(dtypes.int32)
    left, right = picked(low), picked(high)
    if dtypes.is_float(own):
        mixed = left.cast(wide).lerp(right.cast(wide), share)
        if all(isinstance(size, int) for size in (*self.shape, new)):
            again = _of_neighbours(self, axis % len(self.shape), low.cat(high), share)
            mixed = value_with_derivative(mixed, again, RECOMPUTE)
        return mixed.cast(own)
    # whole numbers are blended by shares that fit 15 bits, and halves go up
    apart = (old - 1) / max(new - 1, 1) if align_corners else old / new if step is None else step
    places = [min(max((i + half) * apart - half, 0), old - 1) for i in range(new)]
    bits = 14 if any(place % 1 == 0 for place in places) else 15
    shares = [((s * (1 << bits)) + 0.5).floor().cast(dtypes.int64) for s in (1 - share, share)]
    blend = left.cast(dtypes.int64) * shares[0] + right.cast(dtypes.int64) * shares[1]
    return ((blend + (1 << (bits - 1))) >> bits).cast(own)


def _of_neighbours(self: TensorBase, at: int, places: Any, share: Any) -> Any:
    """The same as one sum of two parts, whose gradient is one sum where `places` say: those of
    all that is before an element, and of all that is behind."""
    before, behind, new = self.shape[:at], self.shape[at + 1 :], places.shape[0] // 2
    index = places.contiguous().reshape((2 * new, *(1,) * len(behind)))
    found = self.gather(at, index._expanded((*before, 2 * new, *behind))).cast(share.dtype)
    parts = found * (1 - share).cat(share, dim=at)
    return parts.reshape((*before, 2, new, *behind)).sum(at)
