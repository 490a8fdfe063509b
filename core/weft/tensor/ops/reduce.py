"""Reductions: sums, extremes, means, and what is built of them.

`axis` is an int, several, or None for all; `keepdim` leaves reduced axes as size one. Of no
elements a sum is 0, a product 1, a mean NaN; a maximum or minimum of none is a ShapeError.
"""

from __future__ import annotations

from typing import Any, Self

from weft.base.arguments import real
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_float, sum_acc_dtype, sum_dtype
from weft.base.sequences import prod
from weft.tensor.autocast import answered_in
from weft.tensor.ops import prefix_scans, statistics
from weft.tensor.ops.operators import cast_node, known_facts
from weft.tensor.ops.prefix_scans import accumulator
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import Axes, DTypeLike
from weft.uop import Ops, Reduce

_FAR, _POSITIONS = 1 << 18, 4096  # elements of an axis to be searched in blocks, and of a block


class ReduceMixin(TensorBase):
    """Methods that make one element of many."""

    __slots__ = ()

    def _reduce(self, op: Ops, axis: Any, keepdim: bool) -> Any:
        u = self._uop
        shape, device = u.shape, u.device
        axes = tuple(range(len(shape))) if axis is None else tuple(sorted(self._resolve_dims(axis)))
        # an axis of size one is reduced already
        moved = tuple([a for a in axes if shape[a].__class__ is not int or shape[a] != 1])
        node = u
        if moved:
            node = record(Ops.REDUCE_AXIS, u.dtype, (u,), Reduce(op, moved))
            known_facts(node, tuple([1 if i in moved else s for i, s in enumerate(shape)]), device)
        if not keepdim and axes:
            rest = () if axis is None else tuple([s for i, s in enumerate(shape) if i not in axes])
            node = known_facts(record(Ops.RESHAPE, u.dtype, (node,), rest), rest, device)
        return self._wrap(node)

    def sum(
        self, axis: Axes | None = None, keepdim: bool = False, dtype: DTypeLike | None = None
    ) -> Self:
        """Sum. Of bool and signed integers it is int64, of unsigned ones uint64, as in NumPy.

        Short floats accumulate in float32 and are rounded once. With `dtype` it accumulates in
        that dtype, which is also the dtype of the result.

        >>> Tensor([[1, 2], [3, 4]]).sum().item()
        10
        >>> Tensor([[1, 2], [3, 4]]).sum(axis=0).tolist()
        [4, 6]
        >>> Tensor.ones(300, dtype=dtypes.uint8).sum().item()
        300
        """
        own = self._uop.dtype
        wide = accumulator(own) if dtype is None else to_dtype(dtype)
        summed = self if wide is own else self._wrap(cast_node(self._uop, wide))
        total = summed._reduce(Ops.ADD, axis, keepdim)
        if wide is own or dtype is not None or not dtypes.is_float(own):
            return total
        return total.cast(answered_in(own))

    def prod(
        self, axis: Axes | None = None, keepdim: bool = False, dtype: DTypeLike | None = None
    ) -> Self:
        """Product, of the dtype that `sum` has; short floats multiply in float32.

        >>> Tensor([2, 3, 4]).prod().item()
        24
        >>> Tensor([200, 2], dtype=dtypes.uint8).prod().item()
        400
        """
        own = sum_dtype(self._uop.dtype) if dtype is None else to_dtype(dtype)
        wide = accumulator(own) if dtypes.is_float(own) else own
        own = answered_in(own) if dtype is None else own
        return self._wrap(cast_node(self._uop, wide))._reduce(Ops.MUL, axis, keepdim).cast(own)

    def max(self, axis: Axes | None = None, keepdim: bool = False) -> Self:
        """Maximum; NaN where there is one. The gradient is shared between ties.

        With a tensor in place of the axis the greater of each two elements, as by `maximum`.

        :raises ShapeError: if a reduced axis has no elements.

        >>> Tensor([[1, 5], [9, 2]]).max().item()
        9
        >>> Tensor([[1, 5], [9, 2]]).max(axis=1, keepdim=True).tolist()
        [[5], [9]]
        >>> Tensor([1, 5]).max(Tensor([3, 3])).tolist()
        [3, 5]
        """
        if isinstance(axis, TensorBase):
            return self.maximum(axis)
        self._check_not_empty("maximum", axis)
        return self._reduce(Ops.MAX, axis, keepdim)

    def min(self, axis: Axes | None = None, keepdim: bool = False) -> Self:
        """Minimum; NaN where there is one. The gradient is shared between ties.

        With a tensor in place of the axis the less of each two elements, as by `minimum`.

        :raises ShapeError: if a reduced axis has no elements.

        >>> Tensor([[1, 5], [9, 2]]).min().item()
        1
        >>> Tensor([[1, 5], [9, 2]]).min(axis=0).tolist()
        [1, 2]
        """
        if isinstance(axis, TensorBase):
            return self.minimum(axis)
        self._check_not_empty("minimum", axis)
        if dtypes.is_float(self._uop.dtype):
            return -((-self)._reduce(Ops.MAX, axis, keepdim))
        return ~((~self)._reduce(Ops.MAX, axis, keepdim))

    def _check_not_empty(self, what: str, axis: Any) -> None:
        """:raises ShapeError: if an axis to be reduced has no elements."""
        shape = self._uop.shape
        if 0 not in shape:
            return
        empty = [a for a in self._resolve_dims(axis) if isinstance(shape[a], int) and not shape[a]]
        if empty:
            raise ShapeError(
                f"there is no {what} of no elements",
                asked=f"the {what} of shape {shape} over axis {empty[0]}",
                because=f"axis {empty[0]} has size 0, and a {what} has no initial value",
                try_="look at x.shape first, or append an initial value: x.cat(initial)",
            )

    def any(self, axis: Axes | None = None, keepdim: bool = False) -> Self:
        """Whether one is not zero, as bool.

        >>> Tensor([[0, 1], [0, 0]]).any().item()
        True
        >>> Tensor([[0, 1], [0, 0]]).any(axis=1).tolist()
        [True, False]
        """
        return self.cast(dtypes.bool)._reduce(Ops.MAX, axis, keepdim)

    def all(self, axis: Axes | None = None, keepdim: bool = False) -> Self:
        """Whether none is zero, as bool.

        >>> Tensor([[1, 1], [1, 0]]).all().item()
        False
        >>> Tensor([[1, 1], [1, 0]]).all(axis=1).tolist()
        [True, False]
        """
        return ~((~self.cast(dtypes.bool))._reduce(Ops.MAX, axis, keepdim))

    def _count(self, axis: Any) -> Any:
        return prod(self.shape[a] for a in self._resolve_dims(axis))

    def mean(self, axis: Axes | None = None, keepdim: bool = False) -> Self:
        """Average; integers give the default float.

        >>> Tensor([[1, 2], [3, 6]]).mean().item()
        3.0
        >>> Tensor([[1, 2], [3, 6]]).mean(axis=1).tolist()
        [1.5, 4.5]
        """
        own = least_upper_float(self._uop.dtype)
        wide = sum_acc_dtype(own)
        total = self.cast(wide)._reduce(Ops.ADD, axis, keepdim)
        return (total / self._divisor(self._count(axis), total)).cast(answered_in(own))

    def _divisor(self, count: Any, like: Any) -> Any:
        if isinstance(count, int):
            return float(count)
        return self._from_node(count).cast(like._uop.dtype)

    def var(
        self,
        axis: Axes | None = None,
        keepdim: bool = False,
        correction: float | None = 1,
        *,
        unbiased: bool | None = None,
    ) -> Self:
        """Variance: the mean square distance from the mean, over n - correction.

        `unbiased` is another word for a correction of 1, or not unbiased of 0; None is 1 as well.

        >>> Tensor([2.0, 4.0, 6.0]).var().item()
        4.0
        >>> Tensor([[1.0, 3.0], [2.0, 2.0]]).var(axis=1).tolist()
        [2.0, 0.0]
        >>> Tensor([1.0, 3.0]).var(unbiased=False).item()
        1.0
        """
        return self.var_mean(axis, keepdim, correction, unbiased=unbiased)[0]

    def var_mean(
        self,
        axis: Axes | None = None,
        keepdim: bool = False,
        correction: float | None = 1,
        *,
        unbiased: bool | None = None,
    ) -> tuple[Self, Self]:
        """Variance and mean. See `var`.

        >>> spread, middle = Tensor([2.0, 4.0, 6.0]).var_mean()
        >>> spread.item(), middle.item()
        (4.0, 4.0)
        """
        axis, correction = axis_and_correction(axis, correction, unbiased)
        own = least_upper_float(self._uop.dtype)
        x = self.cast(sum_acc_dtype(own))
        mean = x.mean(axis, True)
        squares = (x - mean).square()._reduce(Ops.ADD, axis, keepdim)
        count = self._count(axis)
        if isinstance(count, int):
            variance = squares / float(max(count - correction, 0))
        else:
            n = self._from_node(count).cast(x._uop.dtype)
            variance = squares / (n - correction).maximum(0)
        if not keepdim:
            mean = mean.reshape(squares.shape)
        own = answered_in(own)
        return variance.cast(own), mean.cast(own)

    def std(
        self,
        axis: Axes | None = None,
        keepdim: bool = False,
        correction: float | None = 1,
        *,
        unbiased: bool | None = None,
    ) -> Self:
        """Standard deviation. See `var`.

        >>> Tensor([2.0, 4.0, 6.0]).std().item()
        2.0
        >>> Tensor([2.0, 4.0]).std(correction=0).item()
        1.0
        """
        return self.var(axis, keepdim, correction, unbiased=unbiased)._deviation()

    def std_mean(
        self,
        axis: Axes | None = None,
        keepdim: bool = False,
        correction: float | None = 1,
        *,
        unbiased: bool | None = None,
    ) -> tuple[Self, Self]:
        """Standard deviation and mean. See `var`.

        >>> spread, middle = Tensor([2.0, 4.0, 6.0]).std_mean()
        >>> spread.item(), middle.item()
        (2.0, 4.0)
        """
        variance, mean = self.var_mean(axis, keepdim, correction, unbiased=unbiased)
        return variance._deviation(), mean

    def _deviation(self) -> Any:
        """The square root of a variance, with gradient 0 at variance 0."""
        root = self.sqrt()
        return root._wrap(
            record(Ops.CUSTOM_VJP, root.dtype, (root._uop, self._uop), ("deviation",))
        )

    # ---- exponentials -------------------------------------------------------------------------

    def _shifted(self, axis: Any, dtype: Any = None) -> tuple[Any, DType]:
        """self minus its maximum, in float32 at least, and the dtype to answer in: of many small
        shares a short float does not hold the sum."""
        own = least_upper_float(self._uop.dtype) if dtype is None else to_dtype(dtype)
        x = self.cast(sum_acc_dtype(own)) if dtypes.is_float(own) else self.cast(own)
        shifted = x - x.detach()._reduce(Ops.MAX, axis, True)
        return shifted, answered_in(own) if dtype is None else own

    def softmax(self, axis: Axes | None = -1, dtype: DTypeLike | None = None) -> Self:
        """exp(x) / sum of exp(x) along an axis, shifted so that nothing overflows.

        >>> Tensor([[0.0, 1.0], [5.0, 5.0]]).softmax().tolist()
        [[0.2689, 0.7311], [0.5, 0.5]]
        """
        shifted, own = self._shifted(axis, dtype)
        powers = shifted.exp()
        return (powers / powers.sum(axis, True)).cast(own)

    def log_softmax(self, axis: Axes | None = -1, dtype: DTypeLike | None = None) -> Self:
        """log of softmax, without computing it.

        >>> Tensor([0.0, 1.0]).log_softmax().tolist()
        [-1.3133, -0.3133]
        """
        shifted, own = self._shifted(axis, dtype)
        return (shifted - shifted.exp().sum(axis, True).log()).cast(own)

    def logsumexp(self, axis: Axes | None = None, keepdim: bool = False) -> Self:
        """log of the sum of exp(x), shifted so that nothing overflows.

        >>> Tensor([0.0, 0.0]).logsumexp().item()
        0.6931
        >>> Tensor([1000.0, 1000.0]).logsumexp().item()
        1000.6932
        """
        own = least_upper_float(self._uop.dtype)
        x = self.cast(sum_acc_dtype(own))
        own = answered_in(own)
        top = x.detach()._reduce(Ops.MAX, axis, True)
        # of infinite maxima nothing is subtracted: inf - inf would be NaN
        top = top.isfinite().where(top, 0)
        result = (x - top).exp().sum(axis, True).log() + top
        if keepdim:
            return result.cast(own)
        return result.reshape(x._reduce(Ops.MAX, axis, False).shape).cast(own)

    # ---- positions ----------------------------------------------------------------------------

    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """Index (int32) of the first maximum; NaN counts as one. Of all elements for axis None.

        :raises ShapeError: for an axis of no elements.

        >>> Tensor([[1, 5], [9, 2]]).argmax().item()
        2
        >>> Tensor([[1, 5], [9, 2]]).argmax(axis=1).tolist()
        [1, 0]
        """
        if axis is None:
            self._check_not_empty("maximum", None)
            found = self.flatten().argmax(0)
            return found.reshape((1,) * len(self.shape)) if keepdim else found
        at = self._resolve_dim(axis)
        if not self.shape:
            return self.zeros_like(dtype=dtypes.int32)
        size = self.shape[at]
        self._check_not_empty("maximum", at)
        x = self.detach()
        if isinstance(size, int) and size >= _FAR and isinstance(self.device, str):
            found = x._position_by_blocks(at)
            return found if keepdim else found.squeeze(at)
        top = x.max(at, True)
        hits = x == top
        if dtypes.is_float(x._uop.dtype):
            hits = hits | x.isnan()
        shape = tuple(-1 if i == at else 1 for i in range(len(self.shape)))
        # complemented positions: the maximum is the first hit, and every row has a hit
        reversed_order = ~self.__class__.arange(size, device=self.device).reshape(shape)
        found = ~hits.where(reversed_order, dtypes.int32.min)._reduce(Ops.MAX, at, keepdim)
        return found.cast(dtypes.int32)

    def _position_by_blocks(self, at: int) -> Any:
        """`argmax` along a long axis, which is kept: the maxima of blocks, and then one block.

        The axis is too long for a cache to hold what a second look for the maximum needs.
        """
        size = self.shape[at]
        block = next((b for b in range(2 * _POSITIONS, _POSITIONS // 4, -16) if not size % b), 0)
        block = block or _POSITIONS
        rest = size % block

        def part(first: int, last: int) -> Any:
            return self.shrink(tuple((first, last) if i == at else None for i in range(self.ndim)))

        blocks = part(0, size - rest).unflatten(at, (size // block, block))
        tops = blocks.max(at + 1)
        first = tops.argmax(at, True)
        picked = (first == self.__class__.arange(size // block, device=self.device).reshape(
            tuple(-1 if i == at else 1 for i in range(self.ndim))
        )).unsqueeze(at + 1).where(blocks, 0)._reduce(Ops.ADD, at, False)  # fmt: skip
        found = first * block + picked.argmax(at, True)
        if not rest:
            return found
        top, last = tops.max(at, True), part(size - rest, size)
        later = last.max(at, True)
        beyond = later > top
        if dtypes.is_float(self._uop.dtype):
            beyond = (beyond | later.isnan()) & ~top.isnan()
        return beyond.where(last.argmax(at, True) + (size - rest), found)

    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """Index (int32) of the first minimum; NaN counts as one.

        >>> Tensor([[1, 5], [9, 2]]).argmin(axis=1).tolist()
        [0, 1]
        """
        dtype: DType = self._uop.dtype
        reversed_order = -self if dtypes.is_float(dtype) else ~self
        return reversed_order.argmax(axis, keepdim)

    # ---- order statistics, counts, norms ------------------------------------------------------

    amax = statistics.amax
    amin = statistics.amin
    aminmax = statistics.aminmax
    cummin = statistics.cummin
    _extremes_with_indices = statistics._extremes_with_indices
    kthvalue = statistics.kthvalue
    median = statistics.median
    nanmedian = statistics.nanmedian
    quantile = statistics.quantile
    nanquantile = statistics.nanquantile
    count_nonzero = statistics.count_nonzero
    bincount = statistics.bincount
    histc = statistics.histc
    nansum = statistics.nansum
    nanmean = statistics.nanmean
    cov = statistics.cov
    corrcoef = statistics.corrcoef
    diff = statistics.diff
    norm = statistics.norm
    dist = statistics.dist
    normalize = statistics.normalize

    cumsum = prefix_scans.cumsum
    cumprod = prefix_scans.cumprod
    cummax = prefix_scans.cummax
    logcumsumexp = prefix_scans.logcumsumexp


def axis_and_correction(
    axis: Any, correction: Any, unbiased: bool | None
) -> tuple[Any, int | float]:
    """The axis of a variance, and the correction of the number of elements, given by either
    parameter. Alone, a bool in place of the axis says whether it is unbiased, as in PyTorch."""
    if isinstance(axis, bool):
        axis, unbiased = None, axis
    found = 1 if correction is None else real(correction, "correction")
    if unbiased is None:
        return axis, found
    if found not in (1, 1 if unbiased else 0):
        raise ArgumentError(
            "'correction' and 'unbiased' are the same",
            asked=f"correction={found}, unbiased={unbiased}",
            try_="one of them",
        )
    return axis, 1 if unbiased else 0
