"""Reductions, positions of extremes, and prefix scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor

Axes = tuple[int, ...]
Reduction = Callable[[Tensor, Axes, bool], Tensor]


def _sum(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.sum(axes, keep)


def _mean(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    if dtypes.is_float(x.dtype):
        return x.mean(axes, keep)
    return x.sum(axes, keep).idiv(_count(x, axes))


def _count(x: Tensor, axes: Axes) -> Any:
    """Number of elements that are reduced to one."""
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    return count


def _extreme(
    x: Tensor, axes: Axes, keep: bool, method: Callable[..., Tensor], empty: Any
) -> Tensor:
    """Maximum or minimum; `empty` where there are no elements."""
    if not any(isinstance(x.shape[axis], int) and x.shape[axis] == 0 for axis in axes):
        return method(x, axes, keep)
    shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
    kept = shape if keep else [size for i, size in enumerate(shape) if i not in axes]
    return Tensor.full(tuple(kept), empty, dtype=x.dtype, device=x.device)


def _max(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _extreme(x, axes, keep, Tensor.max, x.dtype.min)


def _min(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _extreme(x, axes, keep, Tensor.min, x.dtype.max)


def _prod(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.prod(axes, keep)


def _l1(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _wide(x.abs()).sum(axes, keep)


def _l2(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _in_floats(_wide(x).square().sum(axes, keep)).sqrt()


def _sum_of_squares(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _wide(x).square().sum(axes, keep)


def _log_sum(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _in_floats(_wide(x).sum(axes, keep)).log()


def _log_sum_exp(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    if _count(x, axes) == 0:
        return _in_floats(x).exp().sum(axes, keep).log()
    return _in_floats(x).logsumexp(axes, keep)


def _wide(x: Tensor) -> Tensor:
    """In float32 where a float is shorter: the result is rounded once."""
    return x.cast(dtypes.float32) if dtypes.is_float(x.dtype) and x.dtype.itemsize < 4 else x


def _in_floats(x: Tensor) -> Tensor:
    """In float64 where x has integers."""
    return x if dtypes.is_float(x.dtype) else x.cast(dtypes.float64)


_REDUCTIONS: dict[str, Reduction] = {
    "ReduceSum": _sum, "ReduceMean": _mean, "ReduceMax": _max, "ReduceMin": _min,
    "ReduceProd": _prod, "ReduceL1": _l1, "ReduceL2": _l2, "ReduceSumSquare": _sum_of_squares,
    "ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp,
}  # fmt: skip


def _register(name: str, reduction: Reduction) -> None:
    """Register a reduction with its axes as an input, and with its axes as an attribute."""

    @operator(name, since=13 if name == "ReduceSum" else 18, host_inputs=("axes",))
    def reduce(
        node: Node,
        x: Tensor,
        axes: np.ndarray | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Tensor:
        chosen = [] if axes is None else list(node.ints(axes))
        return _reduced(x, chosen, bool(keepdims), bool(noop_with_empty_axes), reduction)

    @operator(name)
    def reduce_by_attribute(
        node: Node, x: Tensor, *, axes: list[int] | None = None, keepdims: int = 1
    ) -> Tensor:
        return _reduced(x, list(axes or ()), bool(keepdims), False, reduction)


def _reduced(x: Tensor, axes: list[int], keep: bool, noop: bool, reduction: Reduction) -> Tensor:
    """The reduction over the axes, over all for none of them; in the dtype of x."""
    chosen = tuple(axis % x.ndim for axis in axes) if x.ndim else ()
    if not axes and not noop:
        chosen = tuple(range(x.ndim))
    return reduction(x, chosen, keep).cast(x.dtype)


for _name, _reduction in _REDUCTIONS.items():
    _register(_name, _reduction)


# ---- positions of extremes --------------------------------------------------------------------


def _position(
    x: Tensor, axis: int, keepdims: int, select_last_index: int, method: Callable[..., Tensor]
) -> Tensor:
    """Position of an extreme along an axis: the first one, or the last one."""
    keep = bool(keepdims)
    if not select_last_index:
        return method(x, axis, keep).cast(dtypes.int64)
    last = x.shape[axis] - 1
    return last - method(x.flip(axis), axis, keep).cast(dtypes.int64)


@operator("ArgMax")
def argmax(
    node: Node, x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
) -> Tensor:
    """Position of the maximum along an axis."""
    return _position(x, axis, keepdims, select_last_index, Tensor.argmax)


@operator("ArgMin")
def argmin(
    node: Node, x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
) -> Tensor:
    """Position of the minimum along an axis."""
    return _position(x, axis, keepdims, select_last_index, Tensor.argmin)


# ---- prefix scans -----------------------------------------------------------------------------


def _scanned(
    x: Tensor, axis: int, exclusive: int, reverse: int, scan: Callable[..., Tensor], start: int
) -> Tensor:
    """Prefix scan along an axis; an exclusive one begins with `start` and omits the last term."""
    terms = x.flip(axis) if reverse else x
    if exclusive and terms.shape[axis] != 0:
        terms = terms.narrow(axis, 0, x.shape[axis] - 1)
        before = tuple((1, 0) if i == axis % x.ndim else None for i in range(x.ndim))
        terms = terms.pad(before, value=start)
    found = scan(terms, axis).cast(x.dtype)
    return found.flip(axis) if reverse else found


@operator("CumSum", since=11, host_inputs=("axis",))
def cumsum(
    node: Node, x: Tensor, axis: np.ndarray, *, exclusive: int = 0, reverse: int = 0
) -> Tensor:
    """Prefix sum along an axis."""
    return _scanned(x, node.ints(axis)[0], exclusive, reverse, Tensor.cumsum, 0)


@operator("CumProd", since=26, host_inputs=("axis",))
def cumprod(
    node: Node, x: Tensor, axis: np.ndarray, *, exclusive: int = 0, reverse: int = 0
) -> Tensor:
    """Prefix product along an axis."""
    return _scanned(x, node.ints(axis)[0], exclusive, reverse, Tensor.cumprod, 1)
