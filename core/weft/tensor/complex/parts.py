"""Operands of complex arithmetic: a real part, an imaginary part if there is one, and a dtype.

A real operand has no imaginary part, so that nothing is multiplied by its zeros. The parts of a
Python number are numbers, which are weak.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.base.dtype import DType, dtypes
from weft.base.promotion import least_upper_dtype, promote_with_scalar


class Parts(NamedTuple):
    """The parts of an operand, in the dtype of the parts of the result."""

    real: Any
    imag: Any
    """None: it is real."""


def result_dtype(x: Any, other: Any) -> DType:
    """The complex dtype of an operation on a complex tensor and another operand."""
    if isinstance(other, (bool, int, float, complex)):
        return promote_with_scalar(x.dtype, other)
    return dtypes.complex_dtype(least_upper_dtype(x.dtype, other.dtype))


def parts_of(x: Any, dtype: DType) -> Parts:
    """The parts of a complex tensor, a real tensor or a Python number, for a result of `dtype`."""
    part = dtypes.real_dtype(dtype)
    if isinstance(x, complex):
        return Parts(x.real, x.imag)
    if isinstance(x, (bool, int, float)):
        return Parts(float(x), None)
    if x._interleaved is None:
        return Parts(x.cast(part), None)
    whole = x._interleaved
    whole = whole if whole.dtype is part else whole.cast(part)
    return Parts(lane(whole, 0), lane(whole, 1))


def lane(whole: Any, number: int) -> Any:
    """One element of the last axis: a value, no view."""
    node = whole._uop
    shape = node.shape
    window = (*((0, size) for size in shape[:-1]), (number, number + 1))
    return whole._wrap(node.shrink(window).reshape(shape[:-1]))
