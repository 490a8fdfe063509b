"""Sums of products of narrow numbers, two at a time: which terms, and that results are equal."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.scalars import pack, unpack
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.codegen.vectorization.packed_dot import may_pack
from weft.device.capabilities import COMMON_DTYPES, ComputeCaps, KernelLimits, Target
from weft.device.packed_dot import PairDot
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

LANES = 4
DOTS = (
    PairDot(dtypes.bfloat16, dtypes.float32, (LANES,)),
    PairDot(dtypes.int16, dtypes.int32, (LANES,)),
)


def target(dots=DOTS, scratch=0):
    """One processor without bfloat16, with vectors of four lanes."""
    compute = ComputeCaps(
        dtypes=COMMON_DTYPES,
        limits=KernelLimits(scratch_bytes=scratch),
        vector_widths=dict.fromkeys(COMMON_DTYPES, (LANES,)),
        vector_bytes=16,
        pair_dots=dots,
    )
    return Target(compute, GroupOp.ALU, None, "py", "pairs")


def ast_of(tensor):
    sink = UOp.sink(tensor.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    return item.ast


def product(m, k, n, dtype, out):
    """A matrix product of `dtype` that is added up in `out`."""
    a = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(k * n), (), 2)
    result = UOp(Ops.DEFINE_GLOBAL, out.ptr(m * n), (), 0)
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    turned = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k))
    right = b.view(turned.expand((m, n, k))).load()
    if out is not dtype:
        left, right = left.cast(out), right.cast(out)
    total = (left * right).reduce(Ops.ADD, (2,))
    return UOp.sink(result.view(ShapeTracker.from_shape((m, n, 1))).store(total))


def program_of(ast, *opts, to=None):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, to or target(), choose)


def dots(program):
    return [node for node in program.uops if node.op is Ops.DOT]


def run(program, size, *given):
    out = bytearray(size)
    run_program(program, (out, *given))
    return out


@pytest.mark.parametrize("dtype,out", [
    (dtypes.bfloat16, dtypes.float32), (dtypes.int8, dtypes.int32), (dtypes.uint8, dtypes.int32),
    (dtypes.int16, dtypes.int32),
])  # fmt: skip
@pytest.mark.parametrize("opts,count", [
    ([Opt(OptKind.VECTOR, 1, LANES), Opt(OptKind.UNROLL, 2, 2)], 1),
    ([Opt(OptKind.VECTOR, 1, LANES), Opt(OptKind.UPCAST, 0, 2), Opt(OptKind.UNROLL, 2, 3)], 2),
    ([Opt(OptKind.VECTOR, 1, LANES), Opt(OptKind.UNROLL, 2, 0)], 3),
    ([Opt(OptKind.VECTOR, 2, LANES)], 0),
    ([Opt(OptKind.UNROLL, 2, 2)], 0),
])  # fmt: skip
def test_results_are_equal(dtype, out, opts, count):
    m, k, n = 4, 6, 8
    if opts[0].axis == 2:
        k = 8
    ast = product(m, k, n, dtype, out)
    program = program_of(ast, *opts)
    assert len(dots(program)) == count
    draw = np.random.default_rng(6)
    low = 0 if dtypes.is_unsigned(dtype) else -100
    a, b = (draw.integers(low, 100, shape) for shape in ((m, k), (k, n)))
    held = [bytearray(pack([x.item() for x in v.ravel()], dtype)) for v in (a, b)]
    found = unpack(run(program, m * n * 4, *held), out)
    np.testing.assert_array_equal(np.reshape(found, (m, n)), a @ b)


def test_the_ends_of_the_range():
    program = program_of(
        product(1, 2, 4, dtypes.int16, dtypes.int32),
        Opt(OptKind.VECTOR, 0, LANES), Opt(OptKind.UNROLL, 0, 0),
    )  # fmt: skip
    assert len(dots(program)) == 1
    a = bytearray(pack([-32768, -32768], dtypes.int16))
    b = bytearray(pack([-32768, 32767, -1, 1] * 2, dtypes.int16))
    found = unpack(run(program, 16, a, b), dtypes.int32)
    sums = np.array([2**31, -2 * 32767 * 2**15, 2**16, -(2**16)])
    np.testing.assert_array_equal(found, (sums + 2**31) % 2**32 - 2**31)


def test_words_that_rows_share_are_put_together_once():
    program = program_of(
        product(4, 8, 8, dtypes.bfloat16, dtypes.float32),
        Opt(OptKind.VECTOR, 1, LANES), Opt(OptKind.UPCAST, 0, 4), Opt(OptKind.UNROLL, 1, 2),
    )  # fmt: skip
    found = dots(program)
    assert len(found) == 4 and len({dot.src[1] for dot in found} | {found[0].src[0]}) < 6


@pytest.mark.parametrize("dtype,out", [
    (dtypes.float32, dtypes.float32), (dtypes.int32, dtypes.int32), (dtypes.int8, dtypes.int64),
    (dtypes.uint16, dtypes.int32),
])  # fmt: skip
def test_other_dtypes_are_left_alone(dtype, out):
    program = program_of(product(4, 6, 8, dtype, out), Opt(OptKind.UNROLL, 2, 2))
    assert not dots(program)
    kernel = kernel_of(product(4, 6, 8, dtype, out))
    assert not any(may_pack(reduce, DOTS) for reduce in kernel.reduces)


def kernel_of(ast):
    found = []

    def look(kernel: Kernel) -> tuple[Opt, ...]:
        found.append(kernel)
        return ()

    lower(ast, target(), look)
    return found[0]


def test_the_heuristic_writes_out_two_terms_of_few_rows():
    ast = product(16, 512, 64, dtypes.bfloat16, dtypes.float32)
    program = lower(ast, target(scratch=1 << 20))
    assert dots(program)
    assert OptKind.UNROLL in [opt.kind for opt in program.applied]
    assert not dots(lower(ast, target(dots=(), scratch=1 << 20)))


def test_copied_narrow_floats_keep_their_bits():
    """A narrow float is decoded and encoded once at most, NaN with all its digits."""
    x = Tensor.empty(8, dtype=dtypes.bfloat16, device="REF")
    program = program_of(ast_of(x.reshape(2, 4).permute(1, 0).contiguous()))
    assert not any(u.op in (Ops.WHERE, Ops.BITCAST) for u in program.uops)
    bits = bytearray(pack([0x7FC1, 0xFF81, 0, 0x8000, 1, 0x7F80, 0x3F80, 0xFFFF], dtypes.uint16))
    moved = unpack(run(program, 16, bits), dtypes.uint16)
    assert moved == [0x7FC1, 1, 0xFF81, 0x7F80, 0, 0x3F80, 0x8000, 0xFFFF]
