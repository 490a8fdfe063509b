"""Quotients and remainders of index arithmetic."""

import pytest

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, Variable

r, q, s = UOp.range(16, 0), UOp.range(4, 1), UOp.range(3, 2)
neg, n = Variable("neg", -9, 9), Variable("n", 2, 8)
low = Variable("low", -9, -1)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (r // 16, "0"),
        (r % 16, "r0"),
        ((r * 4) // 4, "r0"),
        ((r * 4 + q) // 4, "r0"),
        ((r * 4 + q) % 4, "r1"),
        ((r * 4 + q) // 8, "(r0//2)"),
        ((r * 4 + q) % 8, "(((r0%2)*4)+r1)"),
        (r // 2 // 2, "(r0//4)"),
        ((r // 2 + 1) // 2, "((r0+2)//4)"),
        ((r % 8) % 4, "(r0%4)"),
        ((r % 8) // 2 % 4, "((r0%8)//2)"),
        (r // 4 * 4 + r % 4, "r0"),
        (r // 4 % 2 * 4 + r % 4, "(r0%8)"),
        (r // 8 * 8 + r // 2 % 4 * 2, "((r0//2)*2)"),
        ((15 - r) // 16, "0"),
        ((q * 4 + 3 - s) // 4, "r1"),
        ((q * 4 + 3 - s) % 4, "((r2*-1)+3)"),
        ((q * 4 - 20) // 4, "(r1-5)"),
        (low // 3, "(((low*-1)//3)*-1)"),
        ((neg * 6) // 3, "(neg*2)"),
        ((neg * 6) % 3, "0"),
        ((neg * 6) % 4, "(((neg*3)%2)*2)"),
        (neg // 10, "0"),
        (neg % 10, "neg"),
        (r // -4, "((r0//4)*-1)"),
        (r % -4, "(r0%4)"),
        ((n * 4) // n, "4"),
        ((n * r + s) // Variable("k", 4, 8), "(((n*r0)+r2)//k)"),
    ],
)
def test_laws(node, text):
    assert node.simplify().render(False) == text


def test_symbolic_divisors():
    k = Variable("k", 4, 8)
    assert ((k * r + s) // k).simplify() is r
    assert ((k * r + s) % k).simplify() is s
    assert (k // k).simplify().arg == 1 and (k % k).simplify().arg == 0


def test_divisions_that_may_wrap_do_not_change():
    big = Variable("big", 0, dtypes.int.max)
    node = (big * 4) // 4
    assert node.simplify().op is Ops.IDIV
    assert ((big * 4) % 4).simplify().op is Ops.MOD


def test_division_by_zero_is_zero_or_unchanged():
    assert (r // 0).simplify().op in (Ops.IDIV, Ops.CONST)
    assert (UOp.const(dtypes.int, 5) % 0).simplify().arg == 0


def test_coefficients_that_would_overflow_the_rest():
    x = Variable("x", 0, 1 << 20)
    node = ((1 << 30) - x) // (1 << 20)
    simple = node.simplify()
    for value in (0, 1, 1 << 19, 1 << 20):
        bound = UOp.const(dtypes.int, value)
        expected = ((1 << 30) - value) // (1 << 20)
        assert simple.substitute({x: bound}).simplify().arg == expected


def test_long_index_arithmetic():
    wide = r.cast(dtypes.long) * (1 << 40) + q.cast(dtypes.long)
    assert (wide // (1 << 40)).simplify() is r.cast(dtypes.long)
    assert (wide % (1 << 40)).simplify() is q.cast(dtypes.long)


def test_quotients_of_overlapping_windows_are_distinct():
    """24 places of a channel, 2 of a window, 6 columns: each is found again in their sum."""
    c, k, x = Variable("c", 0, 23), Variable("k", 0, 1), Variable("x", 0, 4)
    place = c - 72 * k + 96 * x + 96  # 24 k + 48 * 2 (x - k + 1)
    assert (place % 24).simplify() is c
    assert ((place // 24) % 2).simplify() is (k % 2).simplify()
    column = ((place // 24) // 2 // 2).simplify()
    for turn in range(2):
        for at in range(5):
            bound = {k: UOp.const(dtypes.int, turn), x: UOp.const(dtypes.int, at)}
            assert column.substitute(bound).simplify().arg == at - turn + 1
    assert column.op is not Ops.IDIV
