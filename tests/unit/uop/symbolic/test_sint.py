"""int | UOp: folding, extremes, decisions, binding."""

import pytest

from weft.base.errors import ArgumentError
from weft.uop.symbolic.sint import (
    Variable,
    as_node,
    evaluate_sint,
    fold,
    high_of,
    low_of,
    resolve,
    smax,
    smin,
    sprod,
    unbind_sint,
    variables_of,
)

n, m = Variable("n", 1, 10), Variable("m", 0, 3)


def test_fold_gives_ints_where_there_is_one_value():
    assert fold(3) == 3 and type(fold(n - n + 2)) is int and fold(n - n + 2) == 2
    assert fold(n + 0) is n
    assert fold(True) == 1 and type(fold(True)) is int


def test_equal_sizes_are_equal():
    assert fold(n * 4 + 2 * m) is fold(m * 2 + 4 * n)
    assert fold((n + 1) * m) is fold(m * n + m)


def test_extremes():
    assert smax(1, 5, 3) == 5 and smin(1, 5, 3) == 1
    assert smax(n, 0) is n and smin(n, 20) == fold(n) and smin(n, 0) == 0
    assert smax(n, n + 1) is fold(n + 1) and smin(n, n + 1) is n
    both = smax(n, 4)
    assert (low_of(both), high_of(both)) == (4, 10)
    least = smin(n, m, 2)
    assert [evaluate_sint(least, {n: i, m: j}) for i, j in ((1, 3), (5, 3), (5, 1))] == [1, 2, 1]


def test_products():
    assert sprod(()) == 1 and sprod((2, 3)) == 6
    assert sprod((2, n, 3)) is fold(n * 6) and sprod((n, 0)) == 0


def test_resolve():
    assert resolve(True) and not resolve(False)
    assert resolve(n < 11) and not resolve(n < 1)
    assert resolve(n < 5) and not resolve(n < 5, default=False)
    assert resolve(n.eq(n)) and not resolve(n.ne(n))


def test_bounds_of_either():
    assert low_of(4) == high_of(4) == 4 and (low_of(n), high_of(n)) == (1, 10)


def test_binding():
    value = n.bind(4) * 2 + m.bind(0)
    free, values = unbind_sint(value)
    assert free is fold(n * 2 + m) and values == {n: 4, m: 0}
    assert unbind_sint(7) == (7, {}) and unbind_sint(n) == (n, {})
    assert variables_of(value) == {n, m} and variables_of(3) == set()


def test_evaluation():
    assert evaluate_sint(n * 3 + 1, {n: 2}) == 7 and evaluate_sint(5, {}) == 5
    assert evaluate_sint(n.bind(4) * 2, {}) == 8
    with pytest.raises(ArgumentError):
        evaluate_sint(n + m, {n: 2})


def test_as_node():
    assert as_node(n) is n and as_node(3).arg == 3
