"""Copies of a tile to shared memory: vectors, transposed in registers if layouts differ."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp
from weft.uop.args import ASYNC

LIMITS = KernelLimits(
    global_size=(65535, 65535, 64),
    local_size=(64, 64, 64),
    local_threads=64,
    shared_bytes=1 << 14,
)
BOTH = frozenset({Feature.BARRIER, Feature.SHARED})


def target(*features, dtype=dtypes.float, widths=(8, 4, 2)):
    compute = ComputeCaps(
        dtypes=frozenset(dtypes.all) - {dtypes.void},
        limits=LIMITS,
        features=BOTH | set(features),
        vector_widths={dtype: widths},
    )
    return Target(compute, GroupOp.ALU, None, "py", "copies")


def product(m, k, n, dtype, transposed=False):
    a, b, out = (UOp(Ops.DEFINE_GLOBAL, dtype.ptr(s), (), i) for i, s in
                 ((1, m * k), (2, k * n), (0, m * n)))  # fmt: skip
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    turned = ShapeTracker.from_shape((n, k) if transposed else (k, n))
    turned = turned if transposed else turned.permute((1, 0))
    right = b.view(turned.reshape((1, n, k)).expand((m, n, k))).load()
    total = (left * right).reduce(Ops.ADD, (2,))
    return UOp.sink(out.view(ShapeTracker.from_shape((m, n, 1))).store(total))


TILE = (
    Opt(OptKind.UPCAST, 1, 4), Opt(OptKind.LOCAL, 1, 4), Opt(OptKind.UPCAST, 0, 4),
    Opt(OptKind.LOCAL, 0, 4), Opt(OptKind.SPLIT, 4, 16),
)  # fmt: skip


def program_of(ast, where, depth):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in (*TILE, Opt(OptKind.STAGE, 4, depth)):
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, where, choose)


def run(program, arrays):
    run_program(program, arrays)


def check(program, m, k, n, dtype, transposed=False):
    draw = np.random.default_rng(m)
    shapes = ((m, k), (n, k) if transposed else (k, n))
    a, b = (draw.integers(-3, 4, shape).astype(np.float32) for shape in shapes)
    kind = np.float16 if dtype is dtypes.half else np.float32
    arrays = [np.zeros((m, n), kind), a.astype(kind), b.astype(kind)]
    run(program, arrays)
    np.testing.assert_array_equal(arrays[0], a @ (b.T if transposed else b))


def accesses(program, op, space):
    return [
        (u.src[1] if op is Ops.STORE else u).dtype.count
        for u in program.uops
        if u.op is op and u.src[0].src[0].dtype.space is space
    ]


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_memory_is_read_and_written_as_vectors(transposed, depth):
    """Different layouts are transposed: four vectors are loaded, four others are stored."""
    program = program_of(product(32, 64, 32, dtypes.float, transposed), target(), depth)
    assert set(accesses(program, Ops.LOAD, AddrSpace.GLOBAL)) == {8}
    assert set(accesses(program, Ops.STORE, AddrSpace.LOCAL)) <= {2, 4, 8}
    check(program, 32, 64, 32, dtypes.float, transposed)


def test_tiles_that_cannot_be_transposed_are_stored_element_by_element():
    program = program_of(product(32, 64, 32, dtypes.float), target(widths=(4,)), 2)
    assert set(accesses(program, Ops.LOAD, AddrSpace.GLOBAL)) == {4}
    check(program, 32, 64, 32, dtypes.float)


def test_copies_fly_where_they_lie_the_same_way():
    where = target(Feature.ASYNC_COPY)
    program = program_of(product(32, 64, 32, dtypes.float), where, 3)
    flying = [u for u in program.uops if u.op is Ops.STORE and u.arg == ASYNC]
    assert {u.src[1].dtype.count for u in flying} == {1, 4}, "rows that cross go one by one"
    assert {u.src[1].op for u in flying} == {Ops.LOAD}
    check(program, 32, 64, 32, dtypes.float)


def test_short_elements_that_cross_go_by_way_of_registers():
    """Two tiles are enough for them, however many there may be."""
    where = target(Feature.ASYNC_COPY, dtype=dtypes.half)
    program = program_of(product(32, 64, 32, dtypes.half, transposed=True), where, 3)
    assert not any(u.arg == ASYNC for u in program.uops if u.op is Ops.STORE)
    assert not any(u.op is Ops.WAIT for u in program.uops)
    check(program, 32, 64, 32, dtypes.half, transposed=True)


@pytest.mark.parametrize("m, k, n", [(24, 48, 40), (40, 32, 72)])
def test_other_sizes(m, k, n):
    for where in (target(), target(Feature.ASYNC_COPY)):
        check(program_of(product(m, k, n, dtypes.float), where, 2), m, k, n, dtypes.float)


def test_all_copies_complete_before_the_next_iteration_of_an_outer_loop():
    """A sum over two axes: tiles of the inner one, again for every iteration of the outer one."""
    m, n, outer, k = 16, 16, 3, 32
    a, b, out = (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(s), (), i) for i, s in
                 ((1, m * outer * k), (2, outer * k * n), (0, m * n)))  # fmt: skip
    left = a.view(ShapeTracker.from_shape((m, 1, outer, k)).expand((m, n, outer, k))).load()
    turned = ShapeTracker.from_shape((outer, k, n)).permute((2, 0, 1)).reshape((1, n, outer, k))
    right = b.view(turned.expand((m, n, outer, k))).load()
    # the axes are kept apart by a factor that knows one of them alone
    scale = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(outer), (), 3)
    spread = ShapeTracker.from_shape((1, 1, outer, 1)).expand((m, n, outer, k))
    total = (left * right * scale.view(spread).load()).reduce(Ops.ADD, (2, 3))
    ast = UOp.sink(out.view(ShapeTracker.from_shape((m, n, 1, 1))).store(total))

    def choose(kernel: Kernel) -> list[Opt]:
        for opt in (Opt(OptKind.LOCAL, 1, 4), Opt(OptKind.LOCAL, 0, 4), Opt(OptKind.SPLIT, 5, 8)):
            kernel.apply(opt)
        kernel.apply(Opt(OptKind.STAGE, 5, 3))
        return kernel.applied

    with settings.override(SPEC=1):
        program = lower(ast, target(Feature.ASYNC_COPY), choose)
    waits = [u.arg[0] for u in program.uops if u.op is Ops.WAIT]
    assert waits == [0, 1]
    draw = np.random.default_rng(9)
    x, y, z = (draw.integers(-3, 4, s).astype(np.float32) for s in
               ((m, outer, k), (outer, k, n), (outer,)))  # fmt: skip
    found = np.zeros((m, n), np.float32)
    run(program, [found, x, y, z])
    np.testing.assert_array_equal(found, np.einsum("mok,okn,o->mn", x, y, z))
