"""Literals give back the exact value."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.render.constants import literal, shortest
from weft.render.dialect import PLAIN_C


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_float32_comes_back(value):
    text = shortest(value, dtypes.float32)
    assert truncate(float(text), dtypes.float32) == value
    assert math.copysign(1, float(text)) == math.copysign(1, value)
    assert "." in text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float64_comes_back(value):
    text = shortest(value, dtypes.float64)
    assert float(text) == value
    assert "." in text


@given(st.integers(-(1 << 63), (1 << 64) - 1))
def test_integers_come_back(value):
    for dtype in dtypes.ints:
        text = literal(PLAIN_C, value, dtype).strip("()")
        for suffix in ("ull", "ll", "u"):
            text = text.replace(suffix, "")
        first, _, second = text.partition(" - ")
        assert int(first) - int(second or 0) == truncate(value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, dtypes.float32, "0.1f"),
        (-0.0, dtypes.float32, "(-0.0f)"),
        (1e30, dtypes.float32, "1.0e30f"),
        (math.inf, dtypes.float32, "__builtin_inff()"),
        (-math.inf, dtypes.float64, "(-__builtin_inf())"),
        (math.nan, dtypes.float64, '__builtin_nan("")'),
        (1 / 3, dtypes.float64, "0.3333333333333333"),
        (1.5, dtypes.float16, "((_Float16)1.5f)"),
        (1e6, dtypes.float16, "((_Float16)__builtin_inff())"),
        (True, dtypes.bool, "1"),
        (-(1 << 31), dtypes.int32, "(-2147483647 - 1)"),
        (-(1 << 63), dtypes.int64, "(-9223372036854775807ll - 1)"),
        ((1 << 64) - 1, dtypes.uint64, "18446744073709551615ull"),
        (-128, dtypes.int8, "(-128)"),
        (7, dtypes.uint32, "7u"),
    ],
)
def test_spelling(value, dtype, text):
    assert literal(PLAIN_C, value, dtype) == text
