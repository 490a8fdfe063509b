"""Lower bounds of expressions with quotients of variables."""

from __future__ import annotations

import pytest

from weft.uop.symbolic.quotient_bounds import least_value
from weft.uop.symbolic.sint import Variable, evaluate_sint, fold

N = Variable("n", 2, 33)
M = Variable("m", 1, 9)


def windows(length, size, step):
    return fold((length - size) // step + 1)


def behind(length, size, step):
    """Elements that are behind the last of all steps."""
    return fold(length + step - 1 - windows(length, size, step) * step)


EXACT = {
    "rest": N - N // 2 * 2,
    "rest of a sum": N + 3 - (N + 3) // 4 * 4,
    "behind windows": behind(N + 2, 3, 2),
    "behind windows of windows": behind(windows(N + 2, 3, 2) + 2, 3, 2),
    "windows of a quotient": behind(windows(windows(N, 3, 2), 2, 2) + 2, 3, 2),
    "a rest that shrinks": N // 2 * 2 - N - N // 3,
    "quotients of several divisors": N - N // 2 - N // 3,
    "a negative numerator": N + (N - 5) // 2 - N // 2 * 3,
}
OTHERS = {
    "no quotient": N - 5,
    "a product": N * M - N // 2,
    "two variables": N - N // 2 * 2 + M - M // 3 * 3,
    "many values": N - N // 31 // 33 * 5 - N // 2,
    "a variable as divisor": N - N // M * M,
}


def smallest(value):
    values = ({N: n, M: m} for n in range(2, 34) for m in range(1, 10))
    return min(evaluate_sint(value, each) for each in values)


@pytest.mark.parametrize("name", EXACT)
def test_least_value_of_a_rest(name):
    value = fold(EXACT[name])
    assert least_value(value) == smallest(value) > value.vmin


@pytest.mark.parametrize("name", OTHERS)
def test_it_is_a_bound(name):
    value = fold(OTHERS[name])
    assert value.vmin <= least_value(value) <= smallest(value)


def test_numbers_and_bound_variables():
    assert least_value(7) == 7
    n = N.bind(5)
    assert least_value(fold(n - n // 2 * 2)) == 0
