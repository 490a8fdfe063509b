"""Sorting: a radix sort on one processor, a bitonic network elsewhere, counting for short rows.
Also: bitonic sorting network, rank sort.

Sorting is stable, with NaN last. In a short row, each element counts the elements before it.

Source: K. Batcher, "Sorting Networks and their Applications" (AFIPS 1968).
"""

from __future__ import annotations

import math
from typing import Any, Self

from weft.base.arguments import whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.intmath import ceildiv
from weft.device import registry
from weft.tensor.ops import radix_sort, sets
from weft.tensor.ops.radix_sort import DIGITS
from weft.tensor.protocol import TensorBase
from weft.tensor.return_types import ValuesIndices
from weft.uop import Ops

_COUNTED = 512
"""Rows up to this length are sorted by counting: n * n comparisons, in two kernels."""
_MANY = 1 << 24
"""Comparisons from which a sorting network in the cache is faster on one processor."""
_FEW, _SHARE = 64, 8
"""Longer rows: the k largest are searched in blocks if the row has this many times k elements."""


def _has_long(device: Any) -> bool:
    """Whether a device computes with integers of 64 bits by itself."""
    devices = (device,) if isinstance(device, str) else device
    computes = [registry.capabilities(one).compute for one in devices]
    return all(one is not None and dtypes.int64 in one.dtypes for one in computes)


class SortingMixin(TensorBase):
    """Methods that order."""

    __slots__ = ()

    def sort(
        self, dim: int = -1, descending: bool = False, *, stable: bool = True
    ) -> ValuesIndices[Self]:
        """The sorted elements along an axis, and their old indices (int32). Always stable.

        >>> values, places = Tensor([3, 1, 2]).sort()
        >>> values.tolist(), places.tolist()
        ([1, 2, 3], [1, 2, 0])
        >>> Tensor([3, 1, 2]).sort(descending=True).values.tolist()
        [3, 2, 1]
        """
        if not self.shape or 0 in self.shape:
            return ValuesIndices(self._wrap(self._uop), self.zeros_like(dtype=dtypes.int32))
        at = self._resolve_dim(dim)
        order = [i for i in range(len(self.shape)) if i != at] + [at]
        back = self._inverse(tuple(order))
        rows = self.permute(*order)
        size = rows.shape[-1]
        index = self.__class__.arange(size, device=self.device)
        compared = size * self.numel()
        if size >= DIGITS and isinstance(compared, int) and radix_sort.counts(self.device):
            places = rows.detach()._places_by_digits(descending)
        elif size <= _COUNTED and not self._is_long_counted(compared):
            places = rows.detach()._counted_places(index, descending)
        else:
            places = rows.detach()._bitonic(descending)
        values = rows.gather(-1, places)
        return ValuesIndices(values.permute(*back), places.permute(*back))

    def argsort(self, dim: int = -1, descending: bool = False, *, stable: bool = True) -> Self:
        """The indices (int32) that sort an axis. Always stable.

        >>> Tensor([3, 1, 2]).argsort().tolist()
        [1, 2, 0]
        """
        return self.sort(dim, descending)[1]

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> ValuesIndices[Self]:
        """The k largest (or smallest) along an axis, in order, and their places (int32).

        :raises ArgumentError: if the axis has fewer than k elements.

        >>> values, places = Tensor([3, 9, 5]).topk(2)
        >>> values.tolist(), places.tolist()
        ([9, 5], [1, 2])
        """
        at = self._resolve_dim(dim)
        size = self.shape[at] if self.shape else 1
        if not self.shape and k == 1:
            return ValuesIndices(self._wrap(self._uop), self.zeros_like(dtype=dtypes.int32))
        k = whole(k, "k")
        if not 0 <= k <= size:
            raise ArgumentError(
                f"there are no {k} elements along axis {dim}",
                asked=f"topk({k}) of shape {self.shape}",
            )
        if size < _SHARE * k or size <= _FEW or not k or 0 in self.shape:
            values, places = self.sort(at, largest)
            window = tuple((0, k) if i == at else None for i in range(len(self.shape)))
            return ValuesIndices(values.shrink(window), places.shrink(window))
        order = [i for i in range(len(self.shape)) if i != at] + [at]
        back = self._inverse(tuple(order))
        rows = self.permute(*order)
        places = rows.detach()._sort_keys(largest)._first_places(k)
        return ValuesIndices(rows.gather(-1, places).permute(*back), places.permute(*back))

    def _first_places(self, k: int) -> Any:
        """Places of the k smallest of each row, in order; of equal ones the first.

        All of them are in the k blocks with the smallest minima, of equal ones the first: an
        element elsewhere has k minima before it. So two short rows are sorted.
        """
        size = self.shape[-1]
        if size < _SHARE * k or size <= _FEW:
            places = self.sort(-1)[1]
            return places.shrink((*(None for _ in self.shape[:-1]), (0, k)))
        length = max(4, 1 << round(math.log2(size / k) / 2))
        count = ceildiv(size, length)
        fill = (*(None for _ in self.shape[:-1]), (0, count * length - size))
        # what fills up comes after everything that is as large, since its place is larger
        blocks = self.pad(fill, value=self._uop.dtype.max).unflatten(-1, (count, length))
        chosen = blocks.min(-1).contiguous()._first_places(k).sort(-1)[0].contiguous()
        inside = blocks.gather(-2, chosen.unsqueeze(-1)._expanded((*chosen.shape, length)))
        places = inside.flatten(-2).contiguous()._first_places(k).contiguous()
        return chosen.gather(-1, places // length) * length + places % length

    def _counted_places(self, index: Any, descending: bool) -> Any:
        """The inverse of each element's rank: how many come before it."""
        size = self.shape[-1]
        keys = self._sort_keys(descending)
        mine, others = keys.unsqueeze(-1), keys.unsqueeze(-2)
        first = (others < mine) | ((others == mine) & (index < index.unsqueeze(-1)))
        rank = first.cast(dtypes.int32)._reduce(Ops.ADD, -1, True)
        hits = rank == index
        return (
            hits.where(index.unsqueeze(-1), 0)
            ._reduce(Ops.ADD, -2, False)
            .reshape((*self.shape[:-1], size))
        )

    def _is_long_counted(self, compared: Any) -> bool:
        return isinstance(compared, int) and compared > _MANY and radix_sort.counts(self.device)

    def _places_by_digits(self, descending: bool) -> Any:
        dtype, keys = self._uop.dtype, self._sort_keys(descending)
        bits = 1 if dtype is dtypes.bool else 8 * keys._uop.dtype.itemsize
        if dtypes.is_float(dtype) and dtype.itemsize < 4:
            # of what float32 holds beside them the lowest bits are zero
            dropped = 13 if dtype is dtypes.float16 else 16
            keys, bits = keys >> dropped, bits - dropped
        first = 0 if dtypes.is_unsigned(keys._uop.dtype) else -(1 << (bits - 1))
        return radix_sort.places_by_digits(keys, bits, first)

    def _sort_keys(self, descending: bool) -> Any:
        """Integers in the order of the elements, equal ones for ties; NaN is the largest."""
        dtype = self._uop.dtype
        if not dtypes.is_float(dtype):
            keys = self.cast(dtypes.uint8) if dtype is dtypes.bool else self
            return ~keys if descending else keys
        wide = self if dtype is dtypes.float64 else self.cast(dtypes.float32)
        whole = dtypes.int64 if dtype is dtypes.float64 else dtypes.int32
        # of negative numbers the larger magnitude is the smaller number; -0 is 0
        bits = (wide == 0).where(0, wide.bitcast(whole))
        keys = wide.isnan().where(whole.max, (bits < 0).where(bits ^ whole.max, bits))
        return ~keys if descending else keys

    def _bitonic(self, descending: bool) -> Any:
        """Places by a network over the next power of two; what fills it up goes last.

        Every bit of a place is an axis of its own, so that a step reads nothing outside of the
        block of places that it orders: steps over small blocks share their kernels.
        """
        size = self.shape[-1]
        stages = (size - 1).bit_length()
        front = self.shape[:-1]
        shape = (*front, *(2,) * stages)
        keys = self._sort_keys(descending)
        fill = (*(None for _ in front), (0, (1 << stages) - size))
        if keys._uop.dtype.itemsize < 8 and _has_long(self.device):
            return keys._bitonic_at_once(shape, fill)
        x = keys.pad(fill, value=keys._uop.dtype.max).reshape(shape).contiguous()
        # what fills up comes after everything that is as large, since its place is larger
        i = self.__class__.arange(1 << stages, device=self.device)
        i = i.reshape((*(1,) * len(front), *shape[len(front) :]))._expanded(shape).contiguous()
        for stage in range(stages):
            for distance in range(stage, -1, -1):
                x, i = x._exchanged(i, distance, distance == stage)
        i = i.reshape((*front, 1 << stages))
        return i.shrink((*(None for _ in front), (0, size)))

    def _bitonic_at_once(self, shape: tuple[int, ...], fill: Any) -> Any:
        """The same for keys of 32 bits: one number of a key and its place is half of the work."""
        front, stages, size = self.shape[:-1], len(shape) - len(self.shape) + 1, self.shape[-1]
        places = self.__class__.arange(size, dtype=dtypes.int64, device=self.device)
        below = 1 << 31 if dtypes.is_unsigned(self._uop.dtype) else 0
        both = (self.cast(dtypes.int64) - below) * (1 << 32) + places
        x = both.pad(fill, value=dtypes.int64.max).reshape(shape).contiguous()
        second = self.__class__.arange(2, device=self.device).cast(dtypes.bool)
        for stage in range(stages):
            for distance in range(stage, -1, -1):
                axis = len(shape) - 1 - distance
                other = x.flip(tuple(range(axis, len(shape))) if distance == stage else (axis,))
                # each of a pair finds by itself which of the two it becomes
                own = (x < other) != second.reshape((2, *(1,) * distance))
                x = own.where(x, other).contiguous()
        i = (x & dtypes.int32.max).cast(dtypes.int32).reshape((*front, 1 << stages))
        return i.shrink((*(None for _ in front), (0, size)))

    def _exchanged(self, i: Any, distance: int, mirrored: bool) -> tuple[Any, Any]:
        """Pairs 2**distance apart (`mirrored`: within blocks of twice that) sorted."""
        axis = len(self.shape) - 1 - distance
        axes = tuple(range(axis, len(self.shape))) if mirrored else (axis,)
        x, j = self.flip(axes), i.flip(axes)
        second = self.__class__.arange(2, device=self.device).cast(dtypes.bool)
        second = second.reshape((2, *(1,) * distance))
        # each of a pair finds by itself which of the two it becomes
        own = ((self < x) | ((self == x) & (i < j))) != second
        return own.where(self, x).contiguous(), own.where(i, j).contiguous()

    unique = sets.unique
    searchsorted = sets.searchsorted
    isin = sets.isin
