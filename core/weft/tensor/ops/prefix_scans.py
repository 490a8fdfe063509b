"""Prefix scans: inclusive sums, products, maxima and logarithms of sums along an axis.
Also: prefix sum, cumulative sum.

Source: G. Blelloch, "Prefix Sums and Their Applications" (CMU-CS-90-190, 1990).
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.intmath import ceildiv, round_up
from weft.base.promotion import least_upper_float, sum_acc_dtype, sum_dtype
from weft.tensor.ops.sliding_windows import sliding_windows
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import DTypeLike
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import fold, high_of

# Elements that one step combines, and elements of a row that is scanned at once.
_BLOCK = 16
_SCANNED_ROW = 4096
# logcumsumexp: elements that one kernel handles, and the block beyond that.
_LOG_WINDOWS, _LOG_BLOCK = 64, 16


def _scan(self: TensorBase, op: Ops, axis: int, start: Any, wide: DType | None = None) -> Any:
    """Inclusive scan along an axis in the dtype `wide` (that of self), with `start` as the
    initial value."""
    kind = self._uop.dtype if wide is None else wide
    if not self.shape:
        self._resolve_dims(axis)
        return self.cast(kind)
    at = self._resolve_dim(axis)
    return self.cast(kind) if 0 in self.shape else _scanned(self, op, at, start, kind)


def _scanned(self: TensorBase, op: Ops, at: int, start: Any, wide: DType, own: int = 1) -> Any:
    """Within blocks, upon what comes before each block; `own` as in `_scan_block`.

    Values are converted where they are combined: converted before, they would be stored.

    Blocks are short, since every element looks at all of its block; a long axis is cut in rows
    first, each of which is scanned in one go.
    """
    size = self.shape[at]
    most = high_of(size)  # one way for all values of a variable
    if most <= _BLOCK:
        return _scan_block(self, op, at, start, wide, own)
    if most <= _SCANNED_ROW:
        return _scan_blocks(self, op, at, start, _BLOCK, wide, own)
    if isinstance(size, UOp):
        return _scan_blocks(self, op, at, start, _SCANNED_ROW, wide, own)
    length = round_up(ceildiv(size, ceildiv(size, _SCANNED_ROW)), _BLOCK)
    return _scan_blocks(self, op, at, start, length, wide, own)


def _scan_blocks(
    self: TensorBase, op: Ops, at: int, start: Any, block: int, wide: DType, own: int
) -> Any:
    """Each block scanned by itself, and upon the totals of the blocks before."""
    size = self.shape[at]
    count = fold(ceildiv(size, block))

    def along(x: Any, first: int, last: Any) -> Any:
        return tuple((first, last) if axis == at else None for axis in range(x.ndim))

    cut = self
    if isinstance(size, UOp) or size % block:
        cut = self.pad(along(self, 0, count * block - size), value=start)
    cut = cut.unflatten(at, (count, block))
    before = _scanned(cut.cast(wide)._reduce(op, at + 1, False), op, at, start, wide, 0)
    before, inside = before.unsqueeze(at + 1), _scanned(cut, op, at + 1, start, wide, own)
    if op is Ops.MUL:
        whole = before * inside
    else:
        whole = before + inside if op is Ops.ADD else before.maximum(inside)
    whole = whole.flatten(at, at + 1)
    return whole.shrink(along(whole, 0, size))


def _scan_block(self: TensorBase, op: Ops, at: int, start: Any, wide: DType, own: int = 1) -> Any:
    """Every element looks at all before it (`own`: and at itself)."""
    size = self.shape[at]
    places = self.__class__.arange(size, device=self.device)
    seen = places < places.unsqueeze(-1) + own
    seen = seen.reshape((size, size, *(1,) * (self.ndim - at - 1)))
    return seen.where(self.unsqueeze(at), start).cast(wide)._reduce(op, at + 1, False)


def cumsum(self: TensorT, axis: int = 0, *, dtype: DTypeLike | None = None) -> TensorT:
    """Running sum (inclusive scan), of the dtype that `sum` has unless `dtype` is given.

    >>> Tensor([1, 2, 3]).cumsum().tolist()
    [1, 3, 6]
    >>> Tensor([[1, 2], [3, 4]]).cumsum(axis=1).tolist()
    [[1, 3], [3, 7]]
    """
    own = self._uop.dtype
    if dtype is not None:
        return _scan(self, Ops.ADD, axis, 0, to_dtype(dtype))
    total = _scan(self, Ops.ADD, axis, 0, accumulator(own))
    return total.cast(own) if dtypes.is_float(own) else total


def cumprod(self: TensorT, axis: int = 0, *, dtype: DTypeLike | None = None) -> TensorT:
    """Running product (inclusive scan), of the dtype that `sum` has unless `dtype` is given.

    >>> Tensor([1, 2, 3, 4]).cumprod().tolist()
    [1, 2, 6, 24]
    """
    own = sum_dtype(self._uop.dtype) if dtype is None else to_dtype(dtype)
    wide = accumulator(own) if dtypes.is_float(own) else own
    return _scan(self, Ops.MUL, axis, 1, wide).cast(own)


def cummax(self: TensorT, axis: int = 0) -> TensorT:
    """Running maximum.

    >>> Tensor([1, 3, 2, 4]).cummax().tolist()
    [1, 3, 3, 4]
    """
    return _scan(self, Ops.MAX, axis, self._uop.dtype.min)


def logcumsumexp(self: TensorT, axis: int = 0) -> TensorT:
    """Running log of the sum of exp(x), shifted so that nothing overflows.

    >>> Tensor([0.0, 0.0, 1000.0]).logcumsumexp().tolist()
    [0.0, 0.6931, 1000.0]
    """
    own = least_upper_float(self._uop.dtype)
    x = self.cast(sum_acc_dtype(own))  # some short floats have no infinity
    if not x.shape or 0 in x.shape:
        return x.cast(own)
    at = x._resolve_dim(axis)
    order = [i for i in range(len(x.shape)) if i != at] + [at]
    found = _running_logs(x.permute(*order))
    return found.permute(*self._inverse(tuple(order))).cast(own)


def _running_logs(self: TensorBase) -> Any:
    """`logcumsumexp` along the last axis: in a block each window has its own maximum, and the
    blocks before come to it as one term."""
    size = self.shape[-1]

    def along(first: Any, last: Any) -> tuple[Any, ...]:
        return (*(None for _ in self.shape[:-1]), (first, last))

    if isinstance(size, UOp) or size <= _LOG_WINDOWS:
        padded = self.pad(along(size - 1, 0), value=-math.inf)
        return sliding_windows(padded, (size,), (1,), (1,)).logsumexp(-1)
    count = ceildiv(size, _LOG_BLOCK)
    cut = self.pad(along(0, count * _LOG_BLOCK - size), value=-math.inf)
    cut = cut.unflatten(-1, (count, _LOG_BLOCK))
    before = _running_logs(cut.logsumexp(-1)).shrink(along(0, count - 1))
    before = before.pad(along(1, 0), value=-math.inf).unsqueeze(-1)
    return before.logaddexp(_running_logs(cut)).flatten(-2).shrink(along(0, size))


def accumulator(dtype: DType) -> DType:
    """The dtype in which sums and products of elements of `dtype` are computed."""
    return sum_acc_dtype(dtype) if dtypes.is_float(dtype) else sum_dtype(dtype)
