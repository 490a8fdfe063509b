"""Literal printing: write the shortest literal that gives back the exact value, in every dtype.

Source: Steele and White, "How to Print Floating-Point Numbers Accurately", PLDI 1990.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weft.base.dtype import DType, dtypes
from weft.base.scalars import Scalar, truncate

if TYPE_CHECKING:
    from weft.render.dialect import CDialect


def literal(dialect: CDialect, value: Scalar, dtype: DType) -> str:
    """A scalar constant in this dialect; `value` is rounded or wrapped to the dtype first."""
    if value.__class__ is not int or not (dtypes.is_int(dtype) and dtype.min <= value <= dtype.max):
        value = truncate(value, dtype)
    if dtypes.is_float(dtype):
        return _float(dialect, float(value), dtype)
    if dtypes.is_bool(dtype):
        return "1" if value else "0"
    return _integer(dialect, int(value), dtype)


def _float(dialect: CDialect, value: float, dtype: DType) -> str:
    if dtype is not dtypes.float64 and dtype is not dtypes.float32:
        # Every narrow float is a float32 as well, so the conversion is exact.
        return f"(({dialect.type_name(dtype)}){_float(dialect, value, dtypes.float32)})"
    if math.isnan(value):
        return dialect.nans[dtype]
    if math.isinf(value):
        spelt = dialect.infinities[dtype]
        return spelt if value > 0 else f"(-{spelt})"
    text = f"{shortest(value, dtype)}{dialect.suffixes.get(dtype, '')}"
    return f"({text})" if text.startswith("-") else text


def shortest(value: float, dtype: DType) -> str:
    """The decimal with the fewest digits that rounds to this float32 or float64, with a point."""
    text = repr(value)
    if dtype is dtypes.float32:
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if truncate(float(text), dtype) == value:
                break
    if "e" in text:
        digits, _, exponent = text.partition("e")
        text = f"{digits}e{int(exponent)}"
        return text if "." in digits else f"{digits}.0e{int(exponent)}"
    return text if "." in text else f"{text}.0"


def _integer(dialect: CDialect, value: int, dtype: DType) -> str:
    suffix = dialect.suffixes.get(dtype, "")
    if value == dtype.min and value < -(1 << 30):
        # C has no negative literals, and the positive one would not fit.
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"
