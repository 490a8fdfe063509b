"""The generic choice of loop transformations, for targets that bring no strategy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.codegen.test_pipeline import GRID, PLAIN, WIDE, load, matmul, shape, store

from weft.codegen.generic_choice import choice_for, choose
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.codegen.thresholds import MOST_OPERATIONS
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp


def kinds(ast, target):
    return [(opt.kind, opt.amount) for opt in lower(ast, target).applied]


def summed(rows, terms):
    return UOp.sink(store(load(1, shape(rows, terms), rows * terms).reduce(Ops.ADD, (1,)), rows, 1))


def test_a_target_without_a_strategy_gets_it():
    assert choice_for(PLAIN) is choose
    assert choice_for(replace(PLAIN, choose=len)) is len


def test_outputs_that_share_operands_are_side_by_side():
    assert kinds(matmul(64, 64, 64), PLAIN) == [
        (OptKind.UPCAST, 4), (OptKind.UPCAST, 4), (OptKind.UNROLL, 4),
    ]  # fmt: skip
    assert kinds(summed(64, 64), PLAIN) == [(OptKind.UNROLL, 4)], "nothing is shared"


@pytest.mark.parametrize(("terms", "unrolled"), [(3, 0), (4, 0), (8, 4), (7, None)])
def test_the_innermost_loop_of_a_reduction_is_unrolled(terms, unrolled):
    assert dict(kinds(summed(5, terms), PLAIN)).get(OptKind.UNROLL) == unrolled


def test_contiguous_axes_become_lanes():
    def moved(*strides):
        value = load(1, shape(64, 64).permute(strides), 64 * 64)
        return kinds(UOp.sink(store(value + 1.0, 64, 64)), WIDE)

    assert moved(0, 1) == [(OptKind.VECTOR, 16)]
    assert moved(1, 0) == [], "rows are read down and written along"
    assert kinds(UOp.sink(store(load(1, shape(24), 24) + 1.0, 24)), WIDE) == [(OptKind.VECTOR, 8)]
    assert kinds(UOp.sink(store(load(1, shape(64), 64) + 1.0, 64)), PLAIN) == []


def test_long_kernels_are_left_alone():
    value = load(1, shape(64, 64), 64 * 64)
    for number in range(MOST_OPERATIONS + 1):
        value = value * float(number + 2)
    assert kinds(UOp.sink(store(value.reduce(Ops.ADD, (1,)), 64, 1)), PLAIN) == []


def test_a_launch_grid_has_its_own_strategy():
    found = [kind for kind, _ in kinds(matmul(64, 64, 64), GRID)]
    assert OptKind.LOCAL in found


@pytest.mark.parametrize("target", [PLAIN, WIDE], ids=["plain", "wide"])
@pytest.mark.parametrize("sizes", [(8, 16, 12), (5, 7, 3), (4, 4, 16)])
def test_products_are_right(target, sizes):
    m, k, n = sizes
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n)))
    out = np.zeros((m, n), np.float32)
    run_program(lower(matmul(m, k, n), target), {0: out, 1: a, 2: b})
    np.testing.assert_array_equal(out, a @ b)
