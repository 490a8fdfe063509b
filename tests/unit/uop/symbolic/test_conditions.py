"""Comparisons, conjunctions, choices, and what holds under them."""

import pytest

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, Variable
from weft.uop.symbolic.conditions import (
    FALSE,
    TRUE,
    all_of,
    any_of,
    bounds_given,
    conjuncts,
    less_than,
    negation,
    simplify_given,
)
from weft.uop.symbolic.sums import linear_of

r, q = UOp.range(16, 0), UOp.range(4, 1)
a, neg = Variable("a", 0, 9), Variable("neg", -9, 9)
unknown = UOp(Ops.LOAD, dtypes.bool, (UOp(Ops.DEFINE_GLOBAL, dtypes.bool.ptr(4), (), 0).index(q),))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (r < 16, "True"),
        (r < 0, "False"),
        (r + 3 < 10, "(r0<7)"),
        (3 < r, "(r0>=4)"),
        (-r < -3, "(r0>=4)"),
        (r * 4 < 10, "(r0<3)"),
        (r * 4 + q < 8, "(r0<2)"),
        (r * 4 + q < 9, "(((r0*4)+r1)<9)"),
        (r < q, "((r0+(r1*-1))<0)"),
        (q < r, "((r0+(r1*-1))>=1)"),
        (r // 4 < 2, "(r0<8)"),
        (neg // 4 < 2, "(neg<8)"),
        (r // 4 >= 2, "(r0>=8)"),
        (r.ne(20), "True"),
        ((r * 2).eq(3), "False"),
        ((r * 2 + 1).eq(7), "(r0==3)"),
        (r.ne(r), "False"),
        ((r + 1).eq(q), "((r0+(r1*-1))==-1)"),
        ((r < 5) & (r < 3), "(r0<3)"),
        ((r < 5) & (r >= 5), "False"),
        ((r < 5) & (r < 5), "(r0<5)"),
        ((r < 5) | (r >= 5), "True"),
        ((r < 5) | (r < 7), "(r0<7)"),
        ((r < 5).logical_not().logical_not(), "(r0<5)"),
        ((r < 5).where(r, r), "r0"),
        ((r < 20).where(r, q), "r0"),
        ((r < 5).logical_not().where(r, q), "(r1 if (r0<5) else r0)"),
        ((r < 5).where((r < 5).where(r, q), a), "(r0 if (r0<5) else a)"),
        (r.maximum(20), "20"),
        (r.maximum(-1), "r0"),
        ((r + 1).maximum(r), "(r0+1)"),
    ],
)
def test_laws(node, text):
    assert node.simplify().render(False) == text


def test_nested_choices_of_one_alternative_join():
    node = (r < 5).where((q < 2).where(r, a), a)
    simple = node.simplify()
    assert simple.op is Ops.WHERE and set(conjuncts(simple.src[0])) == {
        (r < 5).simplify(), (q < 2).simplify()
    }  # fmt: skip


def test_conjunctions_in_any_order_are_one_node():
    parts = [(r < 5), (q < 2).logical_not(), unknown]
    assert all_of([p.simplify() for p in parts]) is all_of([p.simplify() for p in parts[::-1]])
    assert all_of([]) is TRUE and all_of([TRUE, FALSE]) is FALSE
    assert all_of([unknown, negation(unknown)]) is FALSE
    assert any_of([unknown, negation(unknown)]) is TRUE
    assert any_of([FALSE, unknown]) is unknown


def test_comparisons_that_may_wrap_do_not_change():
    big = Variable("big", 0, dtypes.int.max)
    assert (big + 1 < 5).simplify().op is Ops.CMPLT
    assert (big + 1 < 5).simplify().src[0].op is Ops.ADD


def test_less_than_on_a_form():
    assert less_than(linear_of(r + 3), 10) is (r < 7).simplify()
    assert less_than(linear_of(r + 3), 100) is TRUE
    assert less_than(linear_of(r), 8, bounds=lambda t: (0, 3)) is TRUE


def test_truth_values_as_choices():
    yes, no = UOp.const(dtypes.bool, True), UOp.const(dtypes.bool, False)
    assert unknown.where(yes, no).simplify() is unknown
    assert unknown.where(no, yes).simplify() is negation(unknown)


def test_bounds_given_a_condition():
    condition = ((r < 5) & (r >= 2)).simplify()
    assert bounds_given(condition)[r] == (2, 4)
    assert bounds_given((r + q < 4).simplify())[r] == (0, 3)
    assert bounds_given((r + q >= 17).simplify())[r] == (14, 15)
    assert bounds_given((q - r < -12).simplify())[r] == (13, 15)
    assert bounds_given(None) == {} and bounds_given(unknown) == {}


def test_simplifying_given_a_condition():
    assert simplify_given((r < 4).simplify(), r % 4) is r
    assert simplify_given((r < 4).simplify(), r // 4).arg == 0
    assert simplify_given((neg >= 0).simplify(), (neg * 4 + q) // 4) is neg
    assert simplify_given(None, r + 0) is r
    assert simplify_given(unknown, r + 0) is r


def test_a_sum_that_wraps_without_its_constant_keeps_it():
    big, small = Variable("big", 0, dtypes.int.max), Variable("small", 0, 5)
    node = big + small - 5 < 3
    simple = node.simplify()
    for i, j in ((dtypes.int.max, 5), (dtypes.int.max, 0), (7, 0), (8, 0), (3, 5)):
        values = {big: big.const_like(i), small: small.const_like(j)}
        assert simple.substitute(values).simplify().arg == (i + j - 5 < 3)
