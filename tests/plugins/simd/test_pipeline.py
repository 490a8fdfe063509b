"""The passes of the SIMD strategy together."""

from __future__ import annotations

from pathlib import Path

from tests.unit.codegen import test_pipeline as kernels
from tests.unit.codegen.test_pipeline import load, shape, store

import weft_simd
from helpers.simd import with_simd
from weft.codegen.pipeline import lower
from weft.uop import Ops, UOp

WIDE = with_simd(kernels.WIDE)


def test_a_flipped_load_is_one_reversed_vector():
    st = shape(64).flip((True,))
    program = lower(UOp.sink(store(load(1, st, 64) + 1.0, 64)), WIDE)
    assert sum(n.op is Ops.LOAD for n in program.uops) == 1
    assert any(n.op is Ops.GEP and len(n.arg) == 16 for n in program.uops)


def test_a_long_reduce_leaves_its_rest_to_a_second_loop():
    total = UOp.sink(store(load(1, shape(1003), 1003).reduce(Ops.ADD, (0,)), 1))
    program = lower(total, WIDE)
    loads = {node.dtype.count for node in program.uops if node.op is Ops.LOAD}
    assert {1, 16} <= loads
    ends = sorted(n.src[0].arg for n in program.uops if n.op is Ops.RANGE)
    assert sum(n.op is Ops.DEFINE_REG for n in program.uops) > 1 and ends


def test_every_pass_has_a_golden():
    golden = Path(__file__).resolve().parents[2] / "golden" / "passes"
    assert {step.name for step in weft_simd.passes()} <= {
        path.parent.name for path in golden.glob("*/*.ir")
    }
