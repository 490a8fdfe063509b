"""Loop interchange: sums in blocks, with partial accumulators in a local array."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

PLAIN = Target(
    ComputeCaps(vector_widths={dtypes.float: (4,)}, vector_bytes=16),
    GroupOp.ALU, None, "py", "plain",
)  # fmt: skip
TINY = Target(
    ComputeCaps(limits=KernelLimits(scratch_bytes=64)), GroupOp.ALU, None, "py", "tiny"
)  # fmt: skip
ROWS, COLUMNS, TERMS = 0, 1, 2  # the axes of a product of matrices


def matmul(m, k, n, op=Ops.ADD):
    a = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(k * n), (), 2)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(m * n), (), 0)
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    turned = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k))
    right = b.view(turned.expand((m, n, k))).load()
    total = (left * right).reduce(op, (2,))
    return UOp.sink(out.view(ShapeTracker.from_shape((m, n, 1))).store(total))


def program_of(ast, target, *opts):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target, choose)


def check(program, m, k, n, op=Ops.ADD):
    draw = np.random.default_rng(5)
    a, b = (draw.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    out = np.full((m, n), np.nan, np.float32)
    run_program(program, (out, a, b))
    products = a[:, None, :] * b.T[None]
    wanted = products.sum(2) if op is Ops.ADD else products.max(2)
    np.testing.assert_array_equal(out, wanted)


def arrays(program):
    return sorted(
        u.dtype.size for u in program.uops
        if u.op is Ops.DEFINE_REG and u.dtype.size > 1 and u.dtype.space is AddrSpace.REG
    )  # fmt: skip


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX])
def test_a_block_of_the_reduction_serves_all_rows(op):
    opts = (Opt(OptKind.SWAP, 0, 1), Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.KEEP, TERMS, 1))
    program = program_of(matmul(6, 12, 5, op), PLAIN, *opts)
    assert arrays(program) == [6]  # one sum of each row, for the column that is being done
    ends = [u.src[0].arg for u in program.uops if u.op is Ops.RANGE]
    assert ends == [5, 3, 6, 4, 6]  # columns, stretches, rows, terms; then rows once more
    check(program, 6, 12, 5, op)


def test_panels_are_filled_once_per_block():
    """What a library of linear algebra does: stretches of a strip of columns are packed."""
    opts = (
        Opt(OptKind.VECTOR, COLUMNS, 4), Opt(OptKind.UPCAST, ROWS, 2), Opt(OptKind.SWAP, 0, 1),
        Opt(OptKind.SPLIT, 2, 3), Opt(OptKind.KEEP, 2, 1), Opt(OptKind.STAGE, 2),
    )  # fmt: skip
    program = program_of(matmul(6, 9, 8), PLAIN, *opts)
    assert arrays(program) == [3 * 4, 6 * 4]  # a panel of 3 x 4, the sums of 6 rows of 4
    check(program, 6, 9, 8)


@pytest.mark.parametrize("k", [12, 11])
def test_several_reduction_loops_move_outside(k):
    opts = (
        Opt(OptKind.SWAP, 0, 1), Opt(OptKind.SPLIT, TERMS, 6), Opt(OptKind.KEEP, TERMS, 1)
    )  # fmt: skip
    split = (Opt(OptKind.SPLIT, 3, 2), Opt(OptKind.KEEP, 3, 1)) if k == 12 else opts[2:]
    staged = Opt(OptKind.STAGE, split[-1].axis)
    program = program_of(matmul(6, k, 5), PLAIN, *opts[:2], *split, staged)
    check(program, 6, k, 5)


def test_rows_can_be_blocked():
    opts = (
        Opt(OptKind.SWAP, 0, 1), Opt(OptKind.SPLIT, 1, 3), Opt(OptKind.SPLIT, 3, 4),
        Opt(OptKind.KEEP, 3, 2), Opt(OptKind.STAGE, 3),
    )  # fmt: skip
    program = program_of(matmul(6, 8, 5), PLAIN, *opts)
    assert arrays(program) == [3, 4]
    check(program, 6, 8, 5)


@pytest.mark.parametrize("seed", range(12))
def test_any_size(seed):
    """Sizes without divisors, after other loop transformations."""
    draw = random.Random(seed)
    m, n, k = draw.randint(2, 9), draw.randint(4, 9), draw.choice([4, 6, 8, 12])
    part = draw.choice([p for p in range(2, k) if k % p == 0])
    opts = [Opt(OptKind.SWAP, 0, 1)] if draw.random() < 0.5 else []
    first, second = (n, m) if opts else (m, n)
    if draw.random() < 0.5:
        opts.append(Opt(OptKind.UPCAST, 0, draw.randint(2, first - 1) if first > 2 else 0))
    if draw.random() < 0.5 and second > 4:
        opts.append(Opt(OptKind.VECTOR, 1, 4))
    chosen = []

    def choose(kernel):
        for opt in opts:
            try:
                kernel.apply(opt)
            except OptError:
                continue
        sums = [i for i, axis in enumerate(kernel.axes) if axis.kind.name == "REDUCE"]
        loops = [i for i, axis in enumerate(kernel.axes) if axis.kind.name == "LOOP"]
        kernel.apply(Opt(OptKind.SPLIT, sums[0], part))
        kernel.apply(Opt(OptKind.KEEP, sums[0], draw.choice(loops)))
        chosen.extend(kernel.applied)
        return kernel.applied

    with settings.override(SPEC=1):
        program = lower(matmul(m, k, n), PLAIN, choose)
    assert chosen[-1].kind is OptKind.KEEP
    check(program, m, k, n)


@pytest.mark.parametrize(
    ("opts", "because"),
    [
        ((Opt(OptKind.KEEP, ROWS, 1),), "is of kind LOOP"),
        ((Opt(OptKind.KEEP, TERMS, 1),), "SPLIT it first"),
        ((Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.KEEP, 3, 1)), "SPLIT it first"),
        ((Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.KEEP, TERMS, 2)), "an output loop"),
    ],
)
def test_illegal_interchanges(opts, because):
    with pytest.raises(OptError, match=because):
        program_of(matmul(6, 12, 5), PLAIN, *opts)


def test_accumulators_must_fit():
    opts = (Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.KEEP, TERMS, 0))
    with pytest.raises(OptError, match="local array needs 120 bytes, of at most 64"):
        program_of(matmul(6, 12, 5), TINY, *opts)


def test_nothing_but_staging_comes_after():
    opts = (Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.KEEP, TERMS, 1), Opt(OptKind.UPCAST, 0, 2))
    with pytest.raises(OptError, match="only STAGE comes after KEEP"):
        program_of(matmul(6, 12, 5), PLAIN, *opts)


@pytest.mark.parametrize("staged", [False, True])
def test_the_last_block_may_be_shorter(staged):
    opts = [Opt(OptKind.SWAP, 0, 1), Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.KEEP, TERMS, 1)]
    program = program_of(
        matmul(6, 11, 5), PLAIN, *opts, *([Opt(OptKind.STAGE, TERMS)] if staged else [])
    )
    check(program, 6, 11, 5)


def test_a_split_reduction_with_a_remainder():
    program = program_of(matmul(6, 11, 5), PLAIN, Opt(OptKind.SPLIT, TERMS, 4))
    check(program, 6, 11, 5)
    with pytest.raises(OptError, match="shorter than the others"):
        program_of(matmul(6, 11, 5), PLAIN, Opt(OptKind.SPLIT, TERMS, 4), Opt(OptKind.UNROLL, 3, 2))
