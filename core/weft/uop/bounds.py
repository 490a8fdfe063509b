"""Interval analysis: the least and greatest value of a node.
Also: interval arithmetic, value range analysis.

Intervals cover integers and booleans. An operation that may overflow has the whole range of its
dtype, because it wraps. Floats have bounds only if constant. A bound variable counts as free: one
kernel serves every value.

Source: P. Cousot, R. Cousot, 'Abstract interpretation' (POPL 1977): intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from weft.base.dtype import DType, PtrDType, dtypes
from weft.base.intmath import cdiv
from weft.uop.analyses import provide
from weft.uop.analysis import analysis
from weft.uop.node import UOp
from weft.uop.ops import Ops

Bounds: TypeAlias = tuple[Any, Any]

_UNKNOWN: Bounds = (-math.inf, math.inf)
_EITHER: Bounds = (False, True)


def whole_range(dtype: DType) -> Bounds:
    """The bounds of a dtype; infinities if it is not an integer dtype."""
    if dtype.scalar() is dtypes.bool:
        return _EITHER
    if isinstance(dtype, PtrDType) or not dtypes.is_int(dtype.scalar()):
        return _UNKNOWN
    return (dtype.min, dtype.max)


def _mul(a: Bounds, b: Bounds) -> Bounds:
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(corners), max(corners)


def _idiv(a: Bounds, b: Bounds) -> Bounds:
    if b[0] <= 0 <= b[1]:
        # the magnitude of a quotient is at most that of its dividend; x // 0 is 0
        far = max(abs(a[0]), abs(a[1]))
        return (0 if a[0] >= 0 and b[0] >= 0 else -far), far
    corners = (cdiv(a[0], b[0]), cdiv(a[0], b[1]), cdiv(a[1], b[0]), cdiv(a[1], b[1]))
    return min(corners), max(corners)


def _mod(a: Bounds, b: Bounds) -> Bounds:
    if b[0] == b[1] > 0 and a[0] >= 0 and a[0] // b[0] == a[1] // b[0]:
        return a[0] % b[0], a[1] % b[0]
    most = max(abs(b[0]), abs(b[1]), 1) - 1
    return (0 if a[0] >= 0 else max(a[0], -most)), (0 if a[1] <= 0 else min(a[1], most))


def _differ(a: Bounds, b: Bounds) -> Bounds:
    apart = a[1] < b[0] or b[1] < a[0]
    same = a[0] == a[1] == b[0] == b[1]
    return apart, not same


def _equal(a: Bounds, b: Bounds) -> Bounds:
    low, high = _differ(a, b)
    return not high, not low


def _and(a: Bounds, b: Bounds) -> Bounds | None:
    if a[0] >= 0 and b[0] >= 0:
        return 0, min(a[1], b[1])
    if a[0] >= 0 or b[0] >= 0:
        return 0, (a if a[0] >= 0 else b)[1]
    return None


def _or(a: Bounds, b: Bounds) -> Bounds | None:
    if a[0] < 0 or b[0] < 0:
        return None
    return max(a[0], b[0]), (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


def _xor(a: Bounds, b: Bounds) -> Bounds | None:
    if a[0] < 0 or b[0] < 0:
        return None
    return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


def _shift_left(a: Bounds, b: Bounds) -> Bounds | None:
    if not 0 <= b[0] == b[1] < 63:
        return None
    return a[0] << b[0], a[1] << b[0]


def _shift_right(a: Bounds, b: Bounds) -> Bounds | None:
    if not 0 <= b[0] == b[1] < 64:
        return None
    return a[0] >> b[0], a[1] >> b[0]


_BINARY: dict[Ops, Callable[[Bounds, Bounds], Bounds | None]] = {
    Ops.ADD: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    Ops.SUB: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    Ops.MAX: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    Ops.CMPLT: lambda a, b: (a[1] < b[0], a[0] < b[1]),
    Ops.MUL: _mul, Ops.IDIV: _idiv, Ops.MOD: _mod, Ops.CMPNE: _differ, Ops.CMPEQ: _equal,
    Ops.AND: _and, Ops.OR: _or, Ops.XOR: _xor, Ops.SHL: _shift_left, Ops.SHR: _shift_right,
}  # fmt: skip


def _is_exact(dtype: DType) -> bool:
    scalar = dtype.scalar()
    return scalar is dtypes.bool or (
        not isinstance(dtype, PtrDType) and bool(dtypes.is_int(scalar))
    )


@analysis("_bounds")
def bounds_of(node: UOp) -> Bounds:
    """(least, greatest) value of `node`, over every lane of a vector; never narrower than true."""
    op, dtype, src = node.op, node.dtype, node.src
    if op is Ops.CONST:
        return (node.arg, node.arg) if node.arg == node.arg else _UNKNOWN
    if not _is_exact(dtype):
        return _UNKNOWN
    if op is Ops.VCONST:
        return min(node.arg), max(node.arg)
    if op is Ops.DEFINE_VAR:
        return node.arg.low, node.arg.high
    if op is Ops.RANGE or op is Ops.SPECIAL:
        return 0, max(0, bounds_of(src[0])[1] - 1)
    if op is Ops.BIND or op is Ops.GEP:
        return bounds_of(src[0])
    found = _interval(node)
    if found is None:
        return whole_range(dtype)
    if dtype.scalar() is dtypes.bool:
        return bool(found[0]), bool(found[1])
    low, high = found
    return (low, high) if low >= dtype.min and high <= dtype.max else whole_range(dtype)


def may_leave(node: UOp, dtype: DType) -> bool:
    """Whether the exact result of an integer operation may lie outside of `dtype`."""
    found = _interval(node)
    return found is None or found[0] < dtype.min or found[1] > dtype.max


def _interval(node: UOp) -> Bounds | None:
    """The interval before any wrapping; None where nothing is known."""
    op, src = node.op, node.src
    combine = _BINARY.get(op)
    if combine is not None:
        if not (_is_exact(src[0].dtype) and _is_exact(src[1].dtype)):
            return None
        if node.dtype.scalar() is dtypes.bool and op in (Ops.ADD, Ops.SUB, Ops.IDIV, Ops.MOD):
            return None
        return combine(bounds_of(src[0]), bounds_of(src[1]))
    if op is Ops.NEG and node.dtype.scalar() is not dtypes.bool:
        low, high = bounds_of(src[0])
        return -high, -low
    if op is Ops.WHERE:
        chosen = bounds_of(src[0])
        if chosen[0] == chosen[1]:
            return bounds_of(src[1] if chosen[0] else src[2])
        a, b = bounds_of(src[1]), bounds_of(src[2])
        return min(a[0], b[0]), max(a[1], b[1])
    if op is Ops.CAST and _is_exact(src[0].dtype):
        low, high = bounds_of(src[0])
        if node.dtype.scalar() is dtypes.bool:
            return low > 0 or high < 0, low != 0 or high != 0
        return int(low), int(high)
    if op is Ops.VECTORIZE or op is Ops.CAT:
        pairs = [bounds_of(source) for source in src]
        return min(p[0] for p in pairs), max(p[1] for p in pairs)
    return None


provide("bounds", bounds_of)
