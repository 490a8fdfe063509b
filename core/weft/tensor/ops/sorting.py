"""Sorting, by a bitonic network of compare-and-exchange steps (Batcher, 1968), stable and with NaN
last; short rows by counting how many elements come before each."""

from __future__ import annotations

from typing import Any, Self

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.tensor.protocol import TensorBase
from weft.uop import Ops

_COUNTED = 512
"""Rows up to this length are sorted by counting: n * n comparisons, in two kernels."""


class SortingMixin(TensorBase):
    """Methods that order."""

    __slots__ = ()

    def sort(self, dim: int = -1, descending: bool = False) -> tuple[Self, Self]:
        """The elements in order along an axis, and the places (int32) they come from. Stable."""
        if not self.shape or 0 in self.shape:
            return self._wrap(self._uop), self.zeros_like(dtype=dtypes.int32)
        at = self._resolve_dim(dim)
        order = [i for i in range(len(self.shape)) if i != at] + [at]
        back = self._inverse(tuple(order))
        rows = self.permute(*order)
        size = rows.shape[-1]
        index = self.__class__.arange(size, device=self.device)
        if size <= _COUNTED:
            places = rows.detach()._counted_places(index, descending)
        else:
            places = rows.detach()._bitonic(index._expanded(rows.shape), descending)
        values = rows.gather(-1, places)
        return values.permute(*back), places.permute(*back)

    def argsort(self, dim: int = -1, descending: bool = False) -> Self:
        """The places (int32) that put an axis in order. Stable."""
        return self.sort(dim, descending)[1]

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True
    ) -> tuple[Self, Self]:
        """The k largest (or smallest) along an axis, in order, and their places (int32).

        :raises ArgumentError: if the axis has fewer than k elements.
        """
        at = self._resolve_dim(dim)
        if not isinstance(k, int) or not 0 <= k <= self.shape[at]:
            raise ArgumentError(
                f"there are no {k} elements along axis {dim}",
                asked=f"topk({k}) of shape {self.shape}",
            )
        values, places = self.sort(at, largest)
        window = tuple((0, k) if i == at else None for i in range(len(self.shape)))
        return values.shrink(window), places.shrink(window)

    def _before(self, other: Any, descending: bool) -> Any:
        """Whether self comes strictly before other; NaN comes last (first where descending)."""
        a, b = (other, self) if descending else (self, other)
        less = a < b
        if dtypes.is_float(self._uop.dtype):
            return less | (b.isnan() & ~a.isnan())
        return less

    def _counted_places(self, index: Any, descending: bool) -> Any:
        """The inverse of each element's rank: how many come before it."""
        size = self.shape[-1]
        mine, others = self.unsqueeze(-1), self.unsqueeze(-2)
        first = others._before(mine, descending)
        later = mine._before(others, descending)
        tie = ~first & ~later & (index < index.unsqueeze(-1))
        rank = (first | tie).cast(dtypes.int32)._reduce(Ops.ADD, -1, True)
        hits = rank == index
        return (
            hits.where(index.unsqueeze(-1), 0)
            ._reduce(Ops.ADD, -2, False)
            .reshape((*self.shape[:-1], size))
        )

    def _bitonic(self, index: Any, descending: bool) -> Any:
        """Places by a network over the next power of two; what fills it up goes last."""
        size = self.shape[-1]
        full = 1 << (size - 1).bit_length()
        front = tuple(None for _ in self.shape[:-1])
        pads = (*front, (0, full - size))
        x = self.pad(pads).contiguous()
        # where nothing was, places from `size` on: they come after everything
        i = index.pad(pads, value=size).contiguous()
        stages = full.bit_length() - 1
        for stage in range(stages):
            for distance in range(stage, -1, -1):
                x, i = x._exchange(i, size, distance, stage, distance == stage, descending)
        return i.shrink((*front, (0, size)))

    def _exchange(
        self, i: Any, size: int, distance: int, stage: int, flip: bool, descending: bool
    ) -> tuple[Any, Any]:
        """Pairs 2**distance apart (mirrored, in the first step of a stage) put in order."""
        block = 2 << distance
        front = self.shape[:-1]

        def halves(t: Any) -> tuple[Any, Any]:
            t = t.reshape((*front, -1, 2, block // 2))
            a, b = t[..., 0, :], t[..., 1, :]
            return a, b.flip(-1) if flip else b

        a, b = halves(self)
        ia, ib = halves(i)
        fill_a, fill_b = ia == size, ib == size
        tie = ~a._before(b, descending) & ~b._before(a, descending) & (ib < ia)
        swap = ((b._before(a, descending) | tie) & ~fill_b) | (fill_a & ~fill_b)

        def joined(first: Any, second: Any) -> Any:
            second = second.flip(-1) if flip else second
            return first.stack(second, dim=-2).reshape(self.shape).contiguous()

        return (
            joined(swap.where(b, a), swap.where(a, b)),
            joined(swap.where(ib, ia), swap.where(ia, ib)),
        )
