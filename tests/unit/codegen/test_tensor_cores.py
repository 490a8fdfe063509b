"""Sums of products by matrix units, carried out by the reference lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits, Target
from weft.device.tensor_core import FragmentLayout, TensorCore
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

# Four lanes: each has two neighbours of a row of A, two of a column of B, a square of C.
SMALL = TensorCore(
    "small", (4, 4, 2), 4, dtypes.half, dtypes.float,
    a=FragmentLayout(((1, 0), (2, 0)), ((0, 1),)),
    b=FragmentLayout(((0, 1), (0, 2)), ((1, 0),)),
    c=FragmentLayout(((2, 0), (0, 2)), ((0, 1), (1, 0))),
)  # fmt: skip
GRID = Target(
    ComputeCaps(
        dtypes=frozenset({dtypes.half, dtypes.float, dtypes.int, dtypes.bool}),
        limits=KernelLimits(
            global_size=(65535, 65535, 64), local_size=(64, 64, 64), local_threads=64,
            shared_bytes=4096,
        ),
        features=frozenset({Feature.BARRIER, Feature.SHARED}),
        vector_widths={dtypes.half: (2,), dtypes.float: (4, 2)},
        tensor_cores=(SMALL,),
    ),
    GroupOp.ALU, None, "py", "grid",
)  # fmt: skip
TC = Opt(OptKind.TC, 2, 0)


def matmul(m, k, n, batch=None, dtype=dtypes.half, swapped=False):
    """Rows of the left and columns of the right factor, multiplied in float."""
    lead = () if batch is None else (batch,)
    size = batch or 1
    a = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size * m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size * k * n), (), 2)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size * m * n), (), 0)
    shape = (*lead, m, n, k)
    left = a.view(ShapeTracker.from_shape((*lead, m, 1, k)).expand(shape)).load()
    order = (1, 0) if batch is None else (0, 2, 1)
    turned = ShapeTracker.from_shape((*lead, k, n)).permute(order).reshape((*lead, 1, n, k))
    right = b.view(turned.expand(shape)).load()
    factors = (left.cast(dtypes.float), right.cast(dtypes.float))
    if swapped:
        factors = factors[::-1]
    total = (factors[0] * factors[1]).reduce(Ops.ADD, (len(shape) - 1,))
    total = total * 2.0 + 1.0
    return UOp.sink(out.view(ShapeTracker.from_shape((*shape[:-1], 1))).store(total))


def program_of(ast, *opts, target=GRID):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target, choose)


def check(program, m, k, n, batch=1):
    random = np.random.default_rng(5)
    a, b = (random.integers(-4, 5, s).astype(np.float16) for s in ((batch, m, k), (batch, k, n)))
    out = np.zeros((batch, m, n), np.float32)
    run_program(program, (out, a, b))
    want = a.astype(np.float32) @ b.astype(np.float32) * 2 + 1
    np.testing.assert_array_equal(out, want)


def units(program):
    return [node for node in program.uops if node.op is Ops.WMMA]


@pytest.mark.parametrize("m, k, n", [(4, 2, 4), (8, 6, 12), (16, 8, 8)])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_unit_adds_up_the_products(m, k, n, swapped):
    program = program_of(matmul(m, k, n, swapped=swapped), TC)
    (unit,) = units(program)
    assert unit.arg is SMALL
    assert [source.dtype.count for source in unit.src] == [2, 2, 4]
    check(program, m, k, n)


def test_batches():
    program = program_of(matmul(8, 4, 8, batch=3), Opt(OptKind.TC, 3, 0))
    check(program, 8, 4, 8, batch=3)


def test_several_fragments_to_a_warp():
    """Two rows and two columns of fragments: four units' work on two and two factors."""
    program = program_of(
        matmul(16, 8, 16), TC, Opt(OptKind.UPCAST, 0, 2), Opt(OptKind.UPCAST, 1, 2)
    )
    assert len(units(program)) == 4
    assert len({unit.src[0] for unit in units(program)}) == 2
    assert len({unit.src[1] for unit in units(program)}) == 2
    check(program, 16, 8, 16)


def test_the_loop_may_be_unrolled():
    program = program_of(matmul(8, 8, 8), TC, Opt(OptKind.UNROLL, 4, 2))
    assert len(units(program)) == 2
    check(program, 8, 8, 8)
    program = program_of(matmul(8, 4, 8), TC, Opt(OptKind.UNROLL, 4, 0))
    assert not [u for u in program.uops if u.op is Ops.RANGE]
    check(program, 8, 4, 8)


def test_several_warps_share_fragments_in_shared_memory():
    """Two by two warps, each with its fragment: every fragment in shared memory serves two."""
    opts = (
        TC, Opt(OptKind.LOCAL, 0, 2), Opt(OptKind.LOCAL, 1, 2),
        Opt(OptKind.SPLIT, 6, 2), Opt(OptKind.STAGE, 6),
    )  # fmt: skip
    program = program_of(matmul(16, 16, 16), *opts)
    assert program.local_size == (16, 1, 1)
    shared = [u for u in program.uops if u.op is Ops.DEFINE_LOCAL]
    assert len(shared) == 2
    wide = [
        u.dtype.count for u in program.uops
        if u.op is Ops.LOAD and u.src[0].src[0].op is Ops.DEFINE_LOCAL
    ]  # fmt: skip
    assert set(wide) == {2}, "what a lane holds of a factor lies side by side"
    check(program, 16, 16, 16)


@pytest.mark.parametrize("m, k, n", [(5, 3, 7), (8, 3, 8), (3, 2, 1000)])
def test_sizes_that_no_fragment_divides(m, k, n):
    """Rounded up first: what is not there is read as zero and not stored."""
    pads = [
        Opt(OptKind.PADTO, axis, size)
        for axis, (extent, size) in enumerate(((m, 4), (n, 4), (k, 2)))
        if extent % size
    ]
    program = program_of(matmul(m, k, n), *pads, TC)
    assert len(units(program)) == 1
    check(program, m, k, n)


def test_invalid_arguments():
    def because(ast, *opts):
        with pytest.raises(OptError) as caught:
            program_of(ast, *opts)
        return caught.value.because

    assert "0 tensor cores" not in because(matmul(8, 4, 8), Opt(OptKind.TC, 2, 1))
    assert "multiples of 4 and 4" in because(matmul(6, 4, 8), TC)
    assert "2 terms" in because(matmul(8, 3, 8), TC)
    assert "dtypes.half" in because(matmul(8, 4, 8, dtype=dtypes.float), TC)
    assert "loop of a sum" in because(matmul(8, 4, 8), Opt(OptKind.TC, 0, 0))
    assert "comes first" in because(matmul(8, 4, 8), TC, Opt(OptKind.TC, 4, 0))
    small = Opt(OptKind.LOCAL, 0, 2), Opt(OptKind.TC, 3, 0)
    assert "comes first" in because(matmul(16, 8, 16), *small)
    assert "lanes already" in because(matmul(16, 4, 16), TC, Opt(OptKind.VECTOR, 0, 2))
    assert "first work items" in because(matmul(16, 8, 16), TC, Opt(OptKind.GROUP, 4, 2))
