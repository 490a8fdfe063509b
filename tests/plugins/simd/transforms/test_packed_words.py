"""Sums over words of narrow numbers: which sums, and that results are equal."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.base.scalars import pack, unpack
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.codegen.vectorization.packed_dot import decomposed_dot, words_of
from weft.device.capabilities import COMMON_DTYPES, ComputeCaps, KernelLimits
from weft.device.packed_dot import PairDot
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp
from weft_simd.choice import strategy

LANES = 4
PAIRS = (
    PairDot(dtypes.bfloat16, dtypes.float32, (LANES,)),
    PairDot(dtypes.int16, dtypes.int32, (LANES,)),
)
FOURS = (*PAIRS, PairDot(dtypes.uint8, dtypes.int32, (LANES,), dtype_other=dtypes.int8))


def target(dots=FOURS, scratch=1 << 20):
    compute = ComputeCaps(
        dtypes=COMMON_DTYPES,
        limits=KernelLimits(scratch_bytes=scratch),
        vector_widths=dict.fromkeys(COMMON_DTYPES, (LANES,)),
        vector_bytes=16,
        pair_dots=dots,
    )
    return simd_target(compute)


def product(m, k, n, left, right, out, turned=False):
    """out[m, n] = sum over k, of factors that are cast to `out`."""
    a = UOp(Ops.DEFINE_GLOBAL, left.ptr(m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, right.ptr(k * n), (), 2)
    result = UOp(Ops.DEFINE_GLOBAL, out.ptr(m * n), (), 0)
    rows = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load().cast(out)
    there = ShapeTracker.from_shape((n, k) if turned else (k, n))
    there = there if turned else there.permute((1, 0))
    columns = b.view(there.reshape((1, n, k)).expand((m, n, k))).load().cast(out)
    total = (rows * columns).reduce(Ops.ADD, (2,))
    return UOp.sink(result.view(ShapeTracker.from_shape((m, n, 1))).store(total))


def dots(program):
    return [node for node in program.uops if node.op is Ops.DOT]


def run(program, size, *given):
    out = bytearray(size)
    run_program(program, (out, *given))
    return out


def drawn(dtype, shape, seed):
    draw = np.random.default_rng(seed)
    if dtype is dtypes.bfloat16:
        return draw.integers(-8, 9, shape)
    low, high = int(dtype.min), int(dtype.max)
    return draw.integers(low, high, shape, endpoint=True)


def check(program, m, k, n, left, right, out, turned=False):
    a, b = drawn(left, (m, k), 1), drawn(right, (k, n), 2)
    stored = b.T if turned else b
    held = [
        bytearray(pack([x.item() for x in v.ravel()], d)) for v, d in ((a, left), (stored, right))
    ]
    found = unpack(run(program, m * n * 4, *held), out)
    wanted = a @ b if dtypes.is_float(out) else (a @ b + 2**31) % 2**32 - 2**31
    np.testing.assert_array_equal(np.reshape(found, (m, n)), wanted)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("left,right,out,terms", [
    (dtypes.bfloat16, dtypes.bfloat16, dtypes.float32, 2),
    (dtypes.int16, dtypes.int8, dtypes.int32, 2),
    (dtypes.int8, dtypes.int8, dtypes.int32, 4),
    (dtypes.uint8, dtypes.int8, dtypes.int32, 4),
    (dtypes.int8, dtypes.uint8, dtypes.int32, 4),
    (dtypes.uint8, dtypes.uint8, dtypes.int32, 4),
])  # fmt: skip
def test_results_are_equal(left, right, out, terms, turned):
    m, k, n = 33, 8, 6  # the last vector and the last rows overlap those before
    ast = product(m, k, n, left, right, out, turned)
    with settings.override(SPEC=1):
        program = lower(ast, target())
    found = dots(program)
    assert found and {dot.arg.terms for dot in found} == {terms}
    check(program, m, k, n, left, right, out, turned)


def test_panels_hold_words():
    with settings.override(SPEC=1):
        program = lower(
            product(128, 512, 16, dtypes.int8, dtypes.int8, dtypes.int32), target(FOURS)
        )
    assert OptKind.PACK in [opt.kind for opt in program.applied]
    arrays = [node for node in program.uops if node.op is Ops.DEFINE_REG and node.dtype.size > 1]
    assert [node.dtype.base for node in arrays] == [dtypes.int]
    (held,) = {dot.src[1].op for dot in dots(program) if dot.src[1].src[0].src[0] in arrays}
    assert held is Ops.LOAD


@pytest.mark.parametrize("shape,dtype,out,why", [
    ((33, 7, 8), dtypes.int8, dtypes.int32, "no whole words"),
    ((31, 8, 8), dtypes.int8, dtypes.int32, "few rows"),
    ((33, 8, 3), dtypes.int8, dtypes.int32, "less columns than lanes"),
    ((33, 8, 8), dtypes.uint16, dtypes.int32, "numbers of no unit"),
    ((33, 8, 8), dtypes.int8, dtypes.int64, "sums of no unit"),
])  # fmt: skip
def test_others_are_left_alone(shape, dtype, out, why):
    def plain(kernel: Kernel) -> list[Opt]:
        return []

    ast = product(*shape, dtype, dtype, out)
    assert not dots(lower(ast, target(), plain, prepared=True)), why


def test_not_before_a_choice_by_hand_and_not_without_units():
    ast = product(33, 8, 8, dtypes.int8, dtypes.int8, dtypes.int32)
    assert dots(lower(ast, target(), strategy.choose))
    assert not dots(lower(ast, target(), lambda kernel: ()))
    assert not dots(lower(ast, target(dots=())))
    assert not dots(lower(ast, target(scratch=0), lambda kernel: (), prepared=True))


@pytest.mark.parametrize("unit", FOURS, ids=str)
def test_a_width_that_the_unit_does_not_have_is_decomposed(unit):
    left, right = unit.given
    ast = product(33, 8, 6, left, right, unit.dtype_out)
    with settings.override(SPEC=1):
        program = lower(ast, target((unit,)), lambda kernel: (), prepared=True)
    assert not dots(program)
    check(program, 33, 8, 6, left, right, unit.dtype_out)


def test_a_word_is_one_access():
    word = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), (), 0)
    at = [word.index(UOp.const(dtypes.int, n)) for n in range(2)]
    loads = [UOp(Ops.LOAD, dtypes.int, (place,)) for place in at]
    whole = UOp(Ops.OR, dtypes.int, (loads[0], loads[1]))
    dot = UOp(Ops.DOT, dtypes.int, (whole, loads[0]), FOURS[1])
    assert words_of(list(dot.toposort())) == {whole: loads[0]}
    assert decomposed_dot(dot).op is Ops.ADD
