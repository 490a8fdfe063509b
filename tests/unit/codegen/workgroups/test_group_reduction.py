"""Loops that the work items of a group share, and when a launch grid shares them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.lowering import lowerer
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp
from weft.uop.args import Row

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
EMULATED = replace(
    GRID, compute=replace(GRID.compute, features=GRID.compute.features | {Feature.EMULATED_GROUPS})
)
WARPS = replace(
    GRID,
    compute=replace(
        GRID.compute, features=GRID.compute.features | {Feature.WARP_REDUCE}, warp_size=8
    ),
)
ALONE = Target(ComputeCaps(limits=LIMITS), GroupOp.ALU, None, "py", "alone")


def pointer(slot, *extents, dtype=dtypes.float):
    size = int(np.prod(extents))
    place = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)
    return place.view(ShapeTracker.from_shape(extents))


def row_sums(rows, columns):
    value = pointer(1, rows, columns).load()
    return UOp.sink(pointer(0, rows, 1).store(value.reduce(Ops.ADD, (1,))))


def spread(value, rows, columns):
    return value.view(ShapeTracker.from_shape((rows, 1)).expand((rows, columns)))


def centred(rows, columns):
    """Rows in shared memory, divided by their own sum."""
    value = pointer(1, rows, columns).load() * 2.0
    row = UOp(Ops.CONTIGUOUS, value.dtype, (value,), Row(1))
    total = spread(row.reduce(Ops.ADD, (1,)), rows, columns)
    return UOp.sink(pointer(0, rows, columns).store(row - total))


def chosen(*opts):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    return choose


def lowered(ast, *opts, target=GRID):
    with settings.override(SPEC=1):
        return lower(ast, target, chosen(*opts) if opts else None)


def count(program, op):
    return sum(node.op is op for node in program.uops)


def ran(program, *arrays):
    run_program(program, arrays)
    return arrays[0]


def numbers(*shape):
    return np.random.default_rng(3).integers(-9, 9, shape).astype(np.float32)


@pytest.mark.parametrize("kind", [OptKind.GROUP, OptKind.GROUPTOP])
@pytest.mark.parametrize("parts", [2, 16, 48])
def test_a_group_reduction_combines_all_partial_results(kind, parts):
    program = lowered(row_sums(5, 48), Opt(kind, 1, parts))
    assert program.local_size == (parts, 1, 1)
    x = numbers(5, 48)
    found = ran(program, np.zeros((5, 1), np.float32), x)
    np.testing.assert_array_equal(found, x.sum(1, keepdims=True))


def test_neighbours_read_neighbours_or_have_a_stretch_of_their_own():
    def step(kind):
        program = lowered(row_sums(2, 64), Opt(kind, 1, 8))
        thread = next(u for u in program.uops if u.op is Ops.SPECIAL and u.arg == "lidx0")
        load = next(
            u for u in program.uops
            if u.op is Ops.LOAD and u.src[0].src[0].op is Ops.DEFINE_GLOBAL
        )  # fmt: skip
        at = load.src[0].src[1]
        one = at.substitute({thread: thread.const_like(1)}) - at.substitute(
            {thread: thread.const_like(0)}
        )
        return one.simplify()

    assert step(OptKind.GROUP).arg == 1
    assert step(OptKind.GROUPTOP).arg == 8


def test_many_parts_meet_in_two_steps():
    """64 work items each read 8 and 8 values in place of 64."""
    program = lowered(row_sums(3, 64), Opt(OptKind.GROUP, 1, 64))
    loops = [u.src[0].arg for u in program.uops if u.op is Ops.RANGE]
    assert sorted(loops) == [8, 8]
    assert count(program, Ops.BARRIER) == 2
    arrays = [u.dtype for u in program.uops if u.op is Ops.DEFINE_LOCAL]
    assert [(a.size, a.space) for a in arrays] == [(64, AddrSpace.LOCAL), (8, AddrSpace.LOCAL)]


@pytest.mark.parametrize(
    "parts, shuffles, reads, barriers",
    [(8, 3, 0, 0), (2, 1, 0, 0), (16, 4, 1, 1), (64, 6, 1, 1), (24, 3, 1, 1), (48, 3, 1, 1),
     (7, 0, 1, 1), (50, 0, 2, 2)],
)  # fmt: skip
def test_lanes_of_a_warp_meet_in_registers(parts, shuffles, reads, barriers):
    """Only what several warps found is stored; sizes without a common factor go the old way."""
    program = lowered(row_sums(3, 2 * parts), Opt(OptKind.GROUP, 1, parts), target=WARPS)
    assert count(program, Ops.SHUFFLE) == shuffles
    assert count(program, Ops.DEFINE_LOCAL) == reads
    assert count(program, Ops.BARRIER) == barriers
    x = numbers(3, 2 * parts)
    found = ran(program, np.zeros((3, 1), np.float32), x)
    np.testing.assert_array_equal(found, x.sum(1, keepdims=True))


def test_rows_of_a_group_meet_each_in_their_own_lanes():
    """Four rows of eight work items; a warp is two rows of four in the second."""
    for parts, rows in ((8, 4), (4, 4), (16, 2)):
        opts = Opt(OptKind.LOCAL, 0, rows), Opt(OptKind.GROUP, 2, parts)
        program = lowered(row_sums(8, 32), *opts, target=WARPS)
        assert program.local_size == (parts, rows, 1) and count(program, Ops.SHUFFLE) >= 2
        x = numbers(8, 32)
        found = ran(program, np.zeros((8, 1), np.float32), x)
        np.testing.assert_array_equal(found, x.sum(1, keepdims=True))


def test_a_row_is_filled_by_warps_that_exchange():
    program = lowered(
        centred(3, 64), Opt(OptKind.GROUP, 2, 32), Opt(OptKind.GROUP, 4, 32), target=WARPS
    )
    assert count(program, Ops.SHUFFLE) == 5
    x = numbers(3, 64)
    found = ran(program, np.zeros((3, 64), np.float32), x)
    np.testing.assert_array_equal(found, 2 * x - (2 * x).sum(1, keepdims=True))


def test_one_work_item_stores_the_common_result():
    program = lowered(row_sums(3, 64), Opt(OptKind.GROUP, 1, 64))
    (store,) = (
        u for u in program.uops if u.op is Ops.STORE and u.src[0].src[0].op is Ops.DEFINE_GLOBAL
    )
    assert len(store.src[0].src) == 3  # it has a gate


def test_a_row_is_filled_together():
    """The row's array is shared; filling, adding up and storing are each spread over the group."""
    ast = centred(3, 32)
    program = lowered(ast, Opt(OptKind.GROUP, 2, 8), Opt(OptKind.GROUP, 4, 8))
    assert count(program, Ops.DEFINE_LOCAL) >= 2
    x = numbers(3, 32)
    found = ran(program, np.zeros((3, 32), np.float32), x)
    np.testing.assert_array_equal(found, 2 * x - (2 * x).sum(1, keepdims=True))


def test_a_shared_array_that_is_filled_in_a_loop_has_a_barrier_before_it_too():
    value = pointer(1, 4, 8, 16).load()
    inner = value.reduce(Ops.ADD, (2,))
    total = UOp.sink(pointer(0, 4, 1, 1).store(inner.reduce(Ops.MAX, (1,))))
    kernel = Kernel(lowerer.run(total, always_fuse=True), GRID)
    place = next(i for i, axis in enumerate(kernel.axes) if axis.extent == 16)
    program = lowered(total, Opt(OptKind.GROUP, place, 16))
    words = [u.arg for u in program.uops if u.op is Ops.BARRIER]
    assert [word.split()[3] for word in words] == ["free", "full"]
    x = numbers(4, 8, 16)
    found = ran(program, np.zeros((4, 1, 1), np.float32), x)
    np.testing.assert_array_equal(found.reshape(4), x.sum(2).max(1))


def test_invalid_arguments():
    def refused(ast, *opts, target=GRID):
        with pytest.raises(OptError) as caught:
            lowered(ast, *opts, target=target)
        return caught.value.because

    group = Opt(OptKind.GROUP, 1, 16)
    assert "share memory" in refused(row_sums(4, 64), group, target=ALONE)
    assert "at most 64" in refused(row_sums(4, 128), Opt(OptKind.GROUP, 1, 128))
    assert "PADTO" in refused(row_sums(4, 50), group)
    assert "kind GLOBAL" in refused(row_sums(4, 64), Opt(OptKind.GROUP, 0, 4))
    unequal = [Opt(OptKind.GROUP, 2, 8), Opt(OptKind.GROUP, 4, 16)]
    assert "[8, 16] parts" in refused(centred(3, 32), *unequal)
    assert "4096 bytes" in refused(centred(3, 2048), Opt(OptKind.GROUP, 2, 32))
    in_place = UOp.sink(
        pointer(0, 4, 64).store(
            pointer(0, 4, 64).load() + spread(pointer(1, 4, 64).load().reduce(Ops.ADD, (1,)), 4, 64)
        )
    )
    assert "synchronized" in refused(in_place, Opt(OptKind.GROUP, 1, 8))


# ---- what the heuristic does ---------------------------------------------------------------------


def kinds(ast, target=GRID):
    return [opt.kind for opt in lowered(ast, target=target).applied]


def test_rows_along_memory_are_shared():
    assert kinds(row_sums(4, 1024)) == [OptKind.GROUP]
    assert OptKind.GROUP in kinds(centred(4, 512))


def test_columns_are_not_shared_where_there_are_outputs_enough():
    value = pointer(1, 64, 65536).load()
    columns = UOp.sink(pointer(0, 1, 65536).store(value.reduce(Ops.ADD, (0,))))
    assert kinds(columns) == [OptKind.LOCAL]


def test_nothing_is_shared_without_barriers():
    assert OptKind.GROUP not in kinds(row_sums(4, 1024), ALONE)


def test_nothing_is_shared_where_one_processor_plays_the_group():
    assert OptKind.GROUP not in kinds(row_sums(4, 1024), EMULATED)
    assert lowered(row_sums(4, 64), Opt(OptKind.GROUP, 1, 16), target=EMULATED)  # but it may be


@pytest.mark.parametrize("m, k, n", [(32, 48, 32), (20, 7, 36)])
def test_products_are_done_in_tiles(m, k, n):
    a = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(k * n), (), 2)
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    turned = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k))
    right = b.view(turned.expand((m, n, k))).load()
    ast = UOp.sink(pointer(0, m, n, 1).store((left * right).reduce(Ops.ADD, (2,))))
    program = lowered(ast)
    done = [opt.kind for opt in program.applied]
    assert OptKind.LOCAL in done
    assert (OptKind.STAGE in done) == (k == 48)  # 7 terms have no blocks
    x, y = numbers(m, k), numbers(k, n)
    found = ran(program, np.zeros((m, n), np.float32), x, y)
    np.testing.assert_array_equal(found, x @ y)
