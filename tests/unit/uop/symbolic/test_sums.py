"""Linear forms."""

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, Variable
from weft.uop.symbolic.sums import (
    Linear,
    divide_by_term,
    is_index,
    linear_of,
    linear_terms,
    multiply,
    node_of,
    order_of,
)

a, b, n = Variable("a", 0, 9), Variable("b", -3, 3), Variable("n", 1, 8)
r, q = UOp.range(4, 0), UOp.range(6, 1)


def test_reading_and_writing():
    form = linear_of(a * 2 - (b - 3) + 4 * (a + 1))
    assert (form.terms, form.const) == ({a: 6, b: -1}, 7)
    assert linear_of(node_of(form)).terms == form.terms
    assert node_of(Linear()) is UOp.const(dtypes.int, 0)


def test_terms_that_cancel_are_gone():
    assert linear_of(a * 3 - a * 3).terms == {}
    assert (a - a).simplify() is UOp.const(dtypes.int, 0)


def test_outer_loops_come_first():
    gidx = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 4),), "gidx0")
    total = (q + 1 + r * 2 + gidx * 3 + a).simplify()
    assert total.render(False) == "((((a+(gidx0*3))+(r0*2))+r1)+1)"
    assert order_of(r) < order_of(q)


def test_bounds_are_those_of_unbounded_integers():
    form = linear_of(a * 2 - b)
    assert form.bounds() == (-3, 21)
    assert form.bounds(lambda term: (0, 1)) == (-1, 2)
    assert form.fits(dtypes.int) and not form.scaled(1 << 30).fits(dtypes.int)


def test_scaling_and_adding():
    form = linear_of(a + 1)
    assert form.scaled(0).terms == {} and form.scaled(3).const == 3
    other = form.copy().add(form, -1)
    assert other.terms == {} and other.const == 0 and form.const == 1


def test_products_distribute_and_commute():
    assert ((a + 1) * (n + 2)).simplify() is (n * a + 2 * a + n + 2).simplify()
    assert (a * n * b).simplify() is (b * (n * a)).simplify()
    assert multiply(linear_of(a + 2), Linear(const=3), dtypes.int).const == 6


def test_products_of_many_terms_stay_products():
    wide = linear_of(a + b + n + r + q)
    assert multiply(wide, wide, dtypes.int) is None
    node = (a + b + n + r + q) * (a + b + n + r + q + 1)
    assert node.simplify().op is Ops.MUL


def test_division_by_a_symbol():
    quotient, rest = divide_by_term(linear_of((n * 4 * a + n + b).simplify()), n)
    assert quotient.const == 1 and rest.terms == {b: 1}
    assert node_of(quotient) is (a * 4 + 1).simplify()


def test_terms_of_a_sum():
    assert linear_terms((r * 4 + q + 2).simplify()) == {r: 4, q: 1}


def test_values_from_memory_keep_their_order():
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), (), 0)
    loaded = UOp(Ops.LOAD, dtypes.int, (pointer.index(r),))
    assert is_index(r * 4 + a) and not is_index(loaded + r)
    assert not is_index(r.cast(dtypes.float))
    node = (loaded + 3) * (loaded + r)
    assert node.simplify() is node
    assert (loaded + 3 + 4).simplify() is loaded + 7


def test_sums_wrap_where_the_dtype_does():
    big = Variable("big", 0, dtypes.int.max)
    assert (big * 65536 * 65536).simplify() is UOp.const(dtypes.int, 0)
