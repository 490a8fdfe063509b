"""Addresses and gates that go round, and products that are gated as a whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.analysis.affine import affine
from weft.codegen.indexing import predicate_simplification
from weft.uop import AxisKind, Ops, UOp

OUT = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4096), (), 0)
IN = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4096), (), 1)
OTHER = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4096), (), 2)
ZERO = UOp.const(dtypes.float, 0.0)


def loop(extent, number):
    return UOp.range(extent, number, AxisKind.LOOP)


def load(pointer, at, gate):
    return UOp(Ops.LOAD, dtypes.float, (pointer.index(at, gate), ZERO))


def index_of(value):
    """What `run` makes of the one load of a kernel."""
    x = loop(1, 99)
    sink = predicate_simplification.run(UOp.sink(OUT.index(x).store(value)))
    return next(u for u in sink.toposort() if u.op is Ops.LOAD).src[0]


def numbers(expression, turns):
    made = {loop: UOp.const(loop.dtype, turn) for loop, turn in turns.items()}
    return expression.substitute(made).simplify().arg


@pytest.mark.parametrize(
    ("least", "most", "plain"), [(1, 29, True), (0, 28, False), (1, 30, False)]
)
def test_conditions_that_bound_a_remainder_remove_it(least, most, plain):
    """(x + k + 27) // 28 and % 28, where least <= x + k < most: one row, as far as that says so."""
    x, k = loop(28, 0), loop(4, 1)
    place = x + k
    number = place + 27
    gate = (place < least).alu(Ops.CMPNE, UOp.const(dtypes.bool, True)) & (place < most)
    index = index_of(load(IN, number // 28 * 100 + number % 28, gate))
    assert (not any(u.op in (Ops.MOD, Ops.IDIV) for u in index.src[1].toposort())) is plain
    for turns in itertools.product(range(28), range(4)):
        known = dict(zip((x, k), turns))
        assert numbers(index.src[2], known) == (least <= sum(turns) < most)
        if least <= sum(turns) < most:
            found = sum(turns) + 27
            assert numbers(index.src[1], known) == found // 28 * 100 + found % 28


@pytest.mark.parametrize(
    ("least", "most", "plain"), [(2, 21, True), (1, 21, False), (2, 22, False), (None, 21, False)]
)
def test_conditions_on_a_quotient_bound_the_remainder_of_a_stride(least, most, plain):
    """(2 x + k + 35) // 38 and % 38, where least <= x + (k + 1) // 2 < most: a window of 7 with
    stride 2 over 37 elements."""
    x, k = loop(21, 0), loop(7, 1)
    place = x + (k + 1) // 2
    number = x * 2 + k + 35
    gate = place < most
    if least is not None:
        gate = gate & (place < least).alu(Ops.CMPNE, UOp.const(dtypes.bool, True))
    index = index_of(load(IN, number // 38 * 100 + number % 38, gate))
    assert (not any(u.op in (Ops.MOD, Ops.IDIV) for u in index.src[1].toposort())) is plain
    for turns in itertools.product(range(21), range(7)):
        known = dict(zip((x, k), turns))
        passes = (least or 0) <= turns[0] + (turns[1] + 1) // 2 < most
        assert numbers(index.src[2], known) == passes
        if passes:
            found = 2 * turns[0] + turns[1] + 35
            assert numbers(index.src[1], known) == found // 38 * 100 + found % 38


@pytest.mark.parametrize(
    ("width", "parts", "size", "bound"),
    [(58, 3, 59, 56), (30, 2, 31, 29), (16, 5, 17, 12), (7, 3, 8, 5)],
)
def test_the_gradient_of_a_window_has_affine_addresses(width, parts, size, bound):
    """(x + width k) % size < bound, and the address that goes with it."""
    x, k = loop(width, 0), loop(parts, 1)
    number = x + k * width
    gate = number % size < bound
    index = index_of(load(IN, number % size * 3 + number // size, gate))
    terms, constant = affine(index.src[1])
    assert (terms, constant) == ({x: 3, k: -2}, 0)  # 3 (x - k) + k
    for turns in itertools.product(range(width), range(parts)):
        place = turns[0] + width * turns[1]
        opened = place % size < bound
        assert numbers(index.src[2], dict(zip((x, k), turns))) == opened
        if opened:
            found = numbers(index.src[1], dict(zip((x, k), turns)))
            assert found == place % size * 3 + place // size


@pytest.mark.parametrize(
    ("width", "parts", "size", "bound"),
    [
        (58, 3, 59, 58),  # what went round is not closed out
        (58, 3, 40, 30),  # it goes round more than once
        (58, 3, 5, 4),
    ],
)
def test_a_gate_that_admits_wrapping_changes_nothing(width, parts, size, bound):
    x, k = loop(width, 0), loop(parts, 1)
    number = x + k * width
    gate = number % size < bound
    before = IN.index(number % size, gate)
    assert index_of(UOp(Ops.LOAD, dtypes.float, (before, ZERO))) is before


def product(a, b):
    x = loop(1, 99)
    sink = predicate_simplification.run(UOp.sink(OUT.index(x).store(a * b)))
    return sink.src[0].src[1]


def test_a_product_has_one_gate_and_one_unconditional_load():
    x = loop(64, 0)
    gate = x < 50
    value = product(load(IN, x - 3, gate), load(OTHER, x * 2, gate))
    assert value.op is Ops.WHERE and value.src[0] is gate
    first, second = value.src[1].src
    assert (len(first.src[0].src), len(second.src[0].src)) == (3, 2)
    assert second.src[0].src[0] is OTHER  # the other one would be read before its buffer


@pytest.mark.parametrize("case", ["other gates", "no zero", "far"])
def test_products_without_a_common_gate_do_not_change(case):
    x = loop(64, 0)
    gate = x < 50
    a, b = load(IN, x - 3, gate), load(OTHER, x - 3, gate)
    if case == "other gates":
        b = load(OTHER, x, x < 51)
    elif case == "no zero":
        b = UOp(Ops.LOAD, dtypes.float, (OTHER.index(x, gate), UOp.const(dtypes.float, 1.0)))
    value = product(a, b)
    assert value.op is Ops.MUL


def test_masked_infinities_do_not_count():
    """0 * inf is not added, though the factor is read: the product is chosen, not multiplied."""
    x = Tensor([1.0, 2.0], device="REF").realize()
    y = Tensor([float("inf"), 3.0], device="REF").realize()
    padded = (x.pad(((1, 0),)) * y.pad(((1, 0),))).numpy()
    np.testing.assert_array_equal(padded, [0.0, np.inf, 6.0])
    total = (x.shrink(((1, 2),)).pad(((1, 0),)) * y.shrink(((1, 2),)).pad(((1, 0),))).sum()
    assert total.item() == 6.0


@pytest.mark.parametrize("swapped", [False, True])
def test_the_gate_of_one_factor_simplifies_the_other_address(swapped):
    """A remainder in an address without a gate, under the gate of the other factor."""
    x, k = loop(58, 0), loop(3, 1)
    number = x + k * 58
    gated = load(IN, number % 59, number % 59 < 56)
    free = UOp(Ops.LOAD, dtypes.float, (OTHER.index(number // 59 * 7),))
    value = product(*((free, gated) if swapped else (gated, free)))
    found = next(u for u in value.src if u.src[0].src[0] is OTHER)
    assert affine(found.src[0].src[1]) == ({k: 7}, 0) and len(found.src[0].src) == 2


def test_an_address_without_a_gate_does_not_change():
    x, k = loop(58, 0), loop(3, 1)
    number = x + k * 58
    free = UOp(Ops.LOAD, dtypes.float, (OTHER.index(number // 59 * 7),))
    other = load(IN, x, x < 40)  # says nothing of what goes round
    assert product(other, free).src[1] is free


def test_a_select_and_its_load_share_one_gate():
    x, minus = loop(16, 0), UOp.const(dtypes.float, -0.0)
    low, high = x < 9, (x < 3).logical_not()

    def made(condition, value):
        choice = UOp(Ops.WHERE, dtypes.float, (condition, value, minus))
        return predicate_simplification.run(UOp.sink(OUT.index(x).store(choice))).src[0].src[1]

    element = load(IN, x, low & high)
    found = made(high & low, element)
    assert found.op is Ops.LOAD and found.src == (element.src[0], minus)
    flag = UOp(Ops.WHERE, dtypes.bool, (low & high, low.const_like(True), low.const_like(False)))
    assert made(flag, element).op is Ops.LOAD
    value = UOp(Ops.WHERE, dtypes.float, (low & high, load(IN, x, high) * 2, ZERO))
    found = made(high & low, value)
    assert found.op is Ops.WHERE and found.src[1].op is Ops.MUL and found.src[2] is minus
    # another gate: both stay
    assert made(low, element).op is Ops.WHERE
