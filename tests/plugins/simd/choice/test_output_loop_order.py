"""Strips of an operand that stays in a cache, and registers that several sums share."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.codegen.lowering import test_loop_fusion as kernels
from tests.unit.codegen.lowering.test_loop_fusion import (
    pointer,
    product,
    shape,
    store,
    weights_and_bias,
)

from helpers.simd import with_simd
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.uop import Ops, UOp

WIDE = with_simd(kernels.WIDE)


def test_weights_are_read_in_strips_with_a_bias():
    alone = UOp.sink(weights_and_bias(1024, 256, 512).src[0])
    both = weights_and_bias(1024, 256, 512)
    kinds = [[opt.kind for opt in lower(ast, WIDE).applied] for ast in (alone, both)]
    assert all(OptKind.SWAP in found for found in kinds)


def test_sums_in_one_loop_share_the_registers():
    """Two products with one factor in common: each tile may be half as large."""

    def instances(*slots):
        parts = [product(32, 64, 64, (1, slot)) for slot in slots]
        value = parts[0] if len(parts) == 1 else parts[0] * parts[1]
        program = lower(UOp.sink(store(0, value, 32, 64, 1)), WIDE)
        return sum(u.op is Ops.DEFINE_REG for u in program.uops)

    assert instances(2) <= 16 and instances(2, 3) <= 16


def without_scratch(target):
    """The same target, where no operand can be packed."""
    compute = target.compute
    return replace(
        target, compute=replace(compute, limits=replace(compute.limits, scratch_bytes=0))
    )


@pytest.mark.parametrize("columns", [64, 768])
def test_a_factor_that_exceeds_a_cache_is_read_in_strips(columns):
    """x @ w.T: all of w would be read again for every few rows of x."""
    rows, depth = 64, 1024
    x = pointer(1, rows * depth).view(
        shape(rows, 1, depth).expand((rows, columns, depth))
    ).load()  # fmt: skip
    w = pointer(2, columns * depth).view(
        shape(1, columns, depth).expand((rows, columns, depth))
    ).load()  # fmt: skip
    ast = UOp.sink(store(0, (x * w).reduce(Ops.ADD, (2,)), rows, columns, 1))
    kinds = [opt.kind for opt in lower(ast, without_scratch(WIDE)).applied]
    assert (OptKind.SPLIT in kinds and OptKind.SWAP in kinds) == (columns == 768)
