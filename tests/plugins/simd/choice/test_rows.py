"""Values kept in rows, which are read like memory."""

from __future__ import annotations

from tests.unit.codegen import test_rows as kernels
from tests.unit.codegen.test_rows import load, pointer, row, shape, spread, store

from helpers.simd import with_simd
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.uop import Ops, UOp

WIDE = with_simd(kernels.WIDE)


def test_rows_that_share_little_are_computed_one_after_the_other():
    """Side by side they would be as many more places to read from at once, of more than is near."""
    x = load(1, 4096, 256)
    weight = pointer(2, 256).view(shape(1, 256).expand((4096, 256))).load()
    mean = x.reduce(Ops.ADD, (1,)) * (1 / 256)
    less = row(x - spread(mean, 4096, 256))
    spreads = (less * less).reduce(Ops.ADD, (1,))
    weighted = (less * weight).reduce(Ops.ADD, (1,))
    value = less * spread(spreads, 4096, 256) - spread(weighted, 4096, 256)
    applied = lower(UOp.sink(store(0, value, 4096, 256)), WIDE).applied
    assert not any(opt.kind is OptKind.UPCAST for opt in applied)
