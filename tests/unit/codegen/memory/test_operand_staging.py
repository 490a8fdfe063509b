"""Operand staging: operands are copied to a local array before they are read repeatedly."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.analysis.ranges import loops_of
from weft.codegen.memory import operand_staging
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import AxisKind, GroupOp, Ops, UOp
from weft.uop.args import ASYNC

PLAIN = Target(
    ComputeCaps(vector_widths={dtypes.float: (4,)}, vector_bytes=16),
    GroupOp.ALU, None, "py", "plain",
)  # fmt: skip
LIMITS = KernelLimits(
    global_size=(65535, 65535, 64),
    local_size=(64, 64, 64),
    local_threads=64,
    shared_bytes=4096,
)
GRID = Target(
    ComputeCaps(limits=LIMITS, features=frozenset({Feature.BARRIER, Feature.SHARED})),
    GroupOp.ALU, None, "py", "grid",
)  # fmt: skip


def matmul(m, k, n):
    a = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(k * n), (), 2)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(m * n), (), 0)
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    turned = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k))
    right = b.view(turned.expand((m, n, k))).load()
    total = (left * right).reduce(Ops.ADD, (2,))
    return UOp.sink(out.view(ShapeTracker.from_shape((m, n, 1))).store(total))


def choosing(*opts):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    return choose


def program_of(ast, target, *opts):
    with settings.override(SPEC=1):
        return lower(ast, target, choosing(*opts))


def check(program, m, k, n):
    draw = np.random.default_rng(5)
    a, b = (draw.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    out = np.zeros((m, n), np.float32)
    run_program(program, (out, a, b))
    np.testing.assert_array_equal(out, a @ b)


def arrays(program):
    return [
        u.dtype for u in program.uops
        if u.op in (Ops.DEFINE_LOCAL, Ops.DEFINE_REG) and u.dtype.size > 1
    ]  # fmt: skip


def loops_around(program, op):
    """For every node of this kind, how many loops are around it."""
    depth, found = 0, []
    for node in program.uops:
        depth += (node.op is Ops.RANGE) - (node.op is Ops.ENDRANGE)
        if node.op is op:
            found.append(depth)
    return found


def test_an_operand_is_packed_once_for_all_rows():
    """Columns outside, rows inside: a panel of columns is packed once and read for every row."""
    swap = Opt(OptKind.SWAP, 0, 1)
    vector = Opt(OptKind.VECTOR, 1, 4)  # four columns side by side
    program = program_of(matmul(6, 5, 8), PLAIN, vector, swap, Opt(OptKind.STAGE, 0))
    (panel,) = arrays(program)
    assert (panel.size, panel.space) == (5 * 4, AddrSpace.REG)
    check(program, 6, 5, 8)


def test_a_group_brings_blocks_of_both_operands():
    opts = (
        Opt(OptKind.LOCAL, 1, 4), Opt(OptKind.LOCAL, 0, 4),
        Opt(OptKind.SPLIT, 4, 4), Opt(OptKind.STAGE, 4),
    )  # fmt: skip
    program = program_of(matmul(8, 16, 8), GRID, *opts)
    assert all(array.space is AddrSpace.LOCAL for array in arrays(program))
    assert len(arrays(program)) == 2
    barriers = [u for u in program.uops if u.op is Ops.BARRIER]
    assert len(barriers) == 2, "both operands are copied between the same two barriers"
    assert loops_around(program, Ops.BARRIER) == [1, 1]
    check(program, 8, 16, 8)


def test_memory_is_read_once_for_the_group():
    """Each work item copies one element of each operand in a block, and reads four of each."""
    opts = (
        Opt(OptKind.LOCAL, 1, 4), Opt(OptKind.LOCAL, 0, 4),
        Opt(OptKind.SPLIT, 4, 4), Opt(OptKind.STAGE, 4),
    )  # fmt: skip
    program = program_of(matmul(8, 16, 8), GRID, *opts)
    depth, seen = 0, {}
    for node in program.uops:
        depth += (node.op is Ops.RANGE) - (node.op is Ops.ENDRANGE)
        if node.op is Ops.LOAD:
            space = node.src[0].src[0].dtype.space
            seen.setdefault(space, set()).add(depth)
    assert seen[AddrSpace.GLOBAL] == {1} and seen[AddrSpace.LOCAL] == {2}


@pytest.mark.parametrize("target", [PLAIN, GRID], ids=["plain", "grid"])
def test_invalid_arguments(target):
    def because(*opts):
        with pytest.raises(OptError) as caught:
            program_of(matmul(8, 16, 8), target, *opts)
        return caught.value.because

    if target is PLAIN:
        assert "more than once" in because(Opt(OptKind.STAGE, 2))
        assert "comes last" in because(Opt(OptKind.STAGE, 0), Opt(OptKind.SWAP, 0, 1))
        assert "once" in because(Opt(OptKind.STAGE, 0), Opt(OptKind.STAGE, 0))
    else:
        assert "kind GLOBAL" in because(Opt(OptKind.LOCAL, 1, 8), Opt(OptKind.STAGE, 0))
        without = Opt(OptKind.SPLIT, 2, 4), Opt(OptKind.STAGE, 2)
        assert "more than once" in because(*without)


def test_tiles_larger_than_shared_memory_are_refused():
    opts = [Opt(OptKind.LOCAL, 1, 8), Opt(OptKind.LOCAL, 0, 8), Opt(OptKind.SPLIT, 4, 128)]
    with pytest.raises(OptError, match="4096 bytes"):
        program_of(matmul(16, 256, 16), GRID, *opts, Opt(OptKind.STAGE, 4))


@pytest.mark.parametrize("seed", range(12))
def test_tiles_of_any_size(seed):
    """Groups of any shape, several results each, blocks of any depth: the same product."""
    pick = random.Random(seed)
    rows, columns = pick.choice((2, 4)), pick.choice((2, 4, 8))
    tall, wide, depth = (pick.choice((1, 2, 4)) for _ in range(3))
    m, n = rows * tall * pick.randint(1, 3), columns * wide * pick.randint(1, 3)
    k = 8 * depth
    done = []

    def choose(kernel: Kernel) -> list[Opt]:
        reduce = kernel.reduces[0]
        ranges = [axis.loop for axis in kernel.axes if axis.kind is AxisKind.GLOBAL]
        for kind, parts in ((OptKind.UPCAST, (tall, wide)), (OptKind.LOCAL, (rows, columns))):
            for loop, part in zip(ranges, parts):
                place = kernel.axis_of(loop, {AxisKind.GLOBAL})
                if part > 1 and place is not None:
                    kernel.apply(Opt(kind, place, part))
        (loop,) = loops_of(reduce)
        place = kernel.axis_of(loop, {AxisKind.REDUCE})
        kernel.apply(Opt(OptKind.SPLIT, place, 4))
        try:
            kernel.apply(Opt(OptKind.STAGE, place))
            done.append(True)
        except OptError as error:
            assert "no multiple of" in error.because
        return kernel.applied

    with settings.override(SPEC=1):
        program = lower(matmul(m, k, n), GRID, choose)
    assert done or seed == 1  # whose blocks are smaller than its group
    assert bool(done) == bool(arrays(program))
    check(program, m, k, n)


def test_the_kinds_of_loop_have_a_place_in_an_array():
    assert set(AxisKind) - set(operand_staging._LAYOUT) == {AxisKind.GLOBAL, AxisKind.GROUP_REDUCE}


# ---- several tiles at once -----------------------------------------------------------------------

TILED = (
    Opt(OptKind.UPCAST, 1, 2), Opt(OptKind.LOCAL, 1, 4), Opt(OptKind.LOCAL, 0, 4),
    Opt(OptKind.SPLIT, 4, 4),
)  # fmt: skip
AHEAD = replace(GRID, compute=replace(GRID.compute, vector_widths={dtypes.float: (4, 2)}))
FLYING = replace(
    AHEAD,
    compute=replace(AHEAD.compute, features=AHEAD.compute.features | {Feature.ASYNC_COPY}),
)


def inside(program, *ops):
    """The nodes of these kinds in the outermost loop of a program, in order."""
    loop = next(u for u in program.uops if u.op is Ops.RANGE)
    start = program.uops.index(loop)
    end = next(i for i, u in enumerate(program.uops) if u.op is Ops.ENDRANGE and u.src[0] is loop)
    return [u for u in program.uops[start:end] if u.op in ops]


def is_shared(access):
    return access.src[0].src[0].dtype.space is AddrSpace.LOCAL


def test_the_next_tile_is_on_its_way_while_one_is_used():
    program = program_of(matmul(8, 32, 16), AHEAD, *TILED, Opt(OptKind.STAGE, 4, 2))
    assert [a.size for a in arrays(program) if a.space is AddrSpace.LOCAL] == [32, 64]
    order = [
        "barrier" if u.op is Ops.BARRIER
        else ("put" if u.op is Ops.STORE else "use") if is_shared(u)
        else "fetch" if u.op is Ops.LOAD else ""
        for u in inside(program, Ops.BARRIER, Ops.LOAD, Ops.STORE)
        if u.src == () or u.src[0].src[0].dtype.space is not AddrSpace.REG
    ]  # fmt: skip
    assert order.count("barrier") == 1, "one is enough where there are two tiles"
    assert set(order[order.index("use") : order.index("put")]) == {"use"}
    assert max(i for i, word in enumerate(order) if word == "fetch") < order.index("use")
    check(program, 8, 32, 16)


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("target", [AHEAD, FLYING], ids=["registers", "copies"])
def test_as_many_tiles_as_there_may_be(target, depth):
    program = program_of(matmul(8, 16, 16), target, *TILED, Opt(OptKind.STAGE, 4, depth))
    check(program, 8, 16, 16)


def test_copies_are_waited_for_before_the_barrier():
    program = program_of(matmul(8, 32, 16), FLYING, *TILED, Opt(OptKind.STAGE, 4, 3))
    ops = [u.op for u in inside(program, Ops.WAIT, Ops.BARRIER, Ops.STORE, Ops.COMMIT) if
           u.op is not Ops.STORE or u.arg == ASYNC]  # fmt: skip
    assert ops[:2] == [Ops.WAIT, Ops.BARRIER] and ops[-1] is Ops.COMMIT
    assert set(ops[2:-1]) == {Ops.STORE}
    (wait,) = inside(program, Ops.WAIT)
    assert wait.arg[0] == 1, "the newest of three tiles may still be on its way"


def test_a_copy_that_is_not_waited_for_gives_wrong_numbers():
    """What makes the checks above worth something."""
    program = program_of(matmul(8, 32, 16), FLYING, *TILED, Opt(OptKind.STAGE, 4, 3))
    for uops in (
        (u for u in program.uops if u.op is not Ops.WAIT),
        (u.replace(arg=(2, u.arg[1])) if u.op is Ops.WAIT else u for u in program.uops),
    ):
        with pytest.raises((AssertionError, TypeError)):
            check(replace(program, uops=tuple(uops)), 8, 32, 16)


def test_a_missing_barrier_gives_wrong_numbers():
    program = program_of(matmul(8, 32, 16), AHEAD, *TILED, Opt(OptKind.STAGE, 4, 2))
    without = tuple(u for u in program.uops if u.op is not Ops.BARRIER)
    with pytest.raises((AssertionError, TypeError)):
        check(replace(program, uops=without), 8, 32, 16)


def test_more_tiles_than_iterations_are_refused():
    with pytest.raises(OptError) as caught:
        program_of(matmul(8, 16, 16), GRID, *TILED, Opt(OptKind.STAGE, 4, 5))
    assert "4 tiles" in caught.value.because
    with pytest.raises(OptError):
        program_of(matmul(6, 5, 8), PLAIN, Opt(OptKind.SWAP, 0, 1), Opt(OptKind.STAGE, 0, 2))


@pytest.mark.parametrize("terms", [10, 7])
def test_an_array_over_a_reduction_with_a_remainder(terms):
    """Each loop that fills it ends where the sum does, however the array's axes are ordered."""
    opts = Opt(OptKind.SPLIT, 2, 4), Opt(OptKind.STAGE, 0)
    program = program_of(matmul(6, terms, 8), PLAIN, *opts)
    assert arrays(program)
    check(program, 6, terms, 8)
