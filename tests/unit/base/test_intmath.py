"""Integer arithmetic against exact fractions and C's rules."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.errors import ArgumentError
from weft.base.intmath import cdiv, ceildiv, cmod, round_up

integers = st.integers(-(1 << 70), 1 << 70) | st.integers(-9, 9)
nonzero = integers.filter(bool)


@given(integers, nonzero)
def test_division_truncates_and_the_remainder_completes_it(a: int, b: int) -> None:
    assert cdiv(a, b) == math.trunc(Fraction(a, b))
    assert cdiv(a, b) * b + cmod(a, b) == a
    assert cmod(a, b) == 0 or (cmod(a, b) < 0) == (a < 0)
    assert ceildiv(a, b) == math.ceil(Fraction(a, b))


@given(integers, st.integers(1, 1000))
def test_round_up_is_the_next_multiple(value: int, multiple: int) -> None:
    up = round_up(value, multiple)
    assert up % multiple == 0 and 0 <= up - value < multiple


def test_signs() -> None:
    assert [cdiv(7, 2), cdiv(-7, 2), cdiv(7, -2), cdiv(-7, -2)] == [3, -3, -3, 3]
    assert [cmod(7, 2), cmod(-7, 2), cmod(7, -2), cmod(-7, -2)] == [1, -1, 1, -1]


def test_zero_divisors_are_refused() -> None:
    for call in (lambda: cdiv(1, 0), lambda: cmod(1, 0), lambda: round_up(1, 0)):
        with pytest.raises(ArgumentError):
            call()


@given(st.integers(0, 100), st.integers(1, 9))
def test_rounding_up_with_truncating_division(a: int, b: int) -> None:
    class Truncating:
        def __init__(self, value: int) -> None:
            self.value = value

        def __add__(self, other: int) -> Truncating:
            return Truncating(self.value + other)

        def __floordiv__(self, other: int) -> Truncating:
            return Truncating(cdiv(self.value, other))

    assert ceildiv(Truncating(a), b).value == ceildiv(a, b)
