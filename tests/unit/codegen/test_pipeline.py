"""From AST to linear program, all passes together."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError, SpecError
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import ComputeCaps, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.spec import linear
from weft.testing.reference.run import run_program
from weft.uop import AxisKind, GroupOp, Ops, UOp

PLAIN = Target(ComputeCaps(), GroupOp.ALU, None, "c", "plain")
WIDE = Target(
    ComputeCaps(
        vector_widths={dtypes.float: (16, 8, 4), dtypes.double: (8, 4)},
        vector_bytes=64,
        vector_registers=32,
    ),
    GroupOp.ALU, None, "c", "wide",
)  # fmt: skip
GRID = Target(
    ComputeCaps(
        limits=KernelLimits(
            global_size=(65535, 65535, 64), local_size=(1024, 1024, 64), local_threads=1024
        )
    ),
    GroupOp.ALU, None, "c", "grid",
)  # fmt: skip


def shape(*extents):
    return ShapeTracker.from_shape(extents)


def pointer(slot, size, dtype=dtypes.float):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def load(slot, st, size):
    return pointer(slot, size).view(st).load()


def store(value, *extents, slot=0):
    size = 1
    for extent in extents:
        size *= extent
    return pointer(slot, size, value.dtype).view(shape(*extents)).store(value)


def matmul(m, k, n):
    a = load(1, shape(m, 1, k).expand((m, n, k)), m * k)
    b = load(2, shape(k, n).permute((1, 0)).reshape((1, n, k)).expand((m, n, k)), k * n)
    return UOp.sink(store((a * b).reduce(Ops.ADD, (2,)), m, n, 1))


def ops_of(program):
    return [node.op for node in program.uops]


def test_names_tell_the_sizes():
    add = UOp.sink(store(load(1, shape(10, 10), 100) + 1.0, 10, 10))
    assert lower(add, WIDE).name == "E_25_4"
    assert lower(add, PLAIN, nothing).name == "E_100"
    total = UOp.sink(store(load(1, shape(32, 256), 8192).reduce(Ops.ADD, (1,)), 32, 1))
    assert lower(total, PLAIN, nothing).name == "r_32_256"


def test_the_accumulator_is_set_before_the_loop_and_read_after_it():
    total = UOp.sink(store(load(1, shape(8), 8).reduce(Ops.ADD, (0,)), 1))
    kinds = ops_of(lower(total, PLAIN, nothing))
    first, end = kinds.index(Ops.RANGE), kinds.index(Ops.ENDRANGE)
    assert kinds.index(Ops.DEFINE_REG) < kinds.index(Ops.STORE) < first
    assert kinds[end + 1] is Ops.LOAD and kinds[-1] is Ops.STORE


def test_a_product_that_is_summed_is_a_multiply_add():
    program = lower(matmul(4, 4, 4), PLAIN, nothing)
    assert Ops.MULACC in ops_of(program) and Ops.MUL not in [
        node.op for node in program.uops if node.dtype is dtypes.float
    ]


def test_loop_invariant_values_are_outside_of_the_loop():
    scale = load(2, shape(1, 1).expand((4, 8)), 1)
    program = lower(UOp.sink(store(load(1, shape(4, 8).permute((0, 1)), 32) * scale, 4, 8)), PLAIN)
    kinds = ops_of(program)
    assert kinds.index(Ops.LOAD) < kinds.index(Ops.RANGE)


def test_vectors_load_and_store_whole_registers():
    program = lower(UOp.sink(store(load(1, shape(64), 64) + 1.0, 64)), WIDE)
    widths = {n.dtype.count for n in program.uops if n.op is Ops.LOAD}
    assert widths == {16}


def test_a_matrix_product_is_tiled():
    program = lower(matmul(64, 64, 64), WIDE)
    registers = [n for n in program.uops if n.op is Ops.DEFINE_REG]
    assert len(registers) >= 8 and all(r.dtype.base.count == 16 for r in registers)


def test_two_stores_may_share_a_loop():
    x = load(2, shape(64), 64)
    ast = UOp.sink(store(x + 1.0, 64), store(x * 2.0, 64, slot=1))
    assert ops_of(lower(ast, PLAIN, nothing)).count(Ops.RANGE) == 1


def test_reads_come_before_the_write_in_place():
    target = pointer(0, 8).view(shape(8))
    ast = UOp.sink(
        target.store(target.load() + 1.0),
        pointer(1, 8).view(shape(8)).store(target.load() * 2.0),
    )
    uops = lower(ast, PLAIN, nothing).uops
    written = next(i for i, n in enumerate(uops) if n.op is Ops.STORE and n.src[0].src[0].arg == 0)
    read = max(i for i, n in enumerate(uops) if n.op is Ops.LOAD)
    assert read < written


def test_the_program_knows_its_buffers_and_variables():
    n = UOp.variable("n", 1, 10)
    st = ShapeTracker.from_shape((n, 4))
    ast = UOp.sink(pointer(0, 40).view(st).store(load(3, st, 40) + 1.0))
    program = lower(ast, PLAIN)
    assert program.globals == (0, 3) and program.outs == (0,) and program.ins == (3,)
    assert program.variables == (n,)


def test_estimates_count_operations_and_bytes():
    program = lower(matmul(8, 16, 4), PLAIN, nothing)
    assert program.estimates.ops == 2 * 8 * 16 * 4
    assert program.estimates.bytes == 4 * (8 * 16 + 16 * 4 + 8 * 4)


def test_a_launch_grid_takes_the_place_of_loops():
    program = lower(UOp.sink(store(load(1, shape(64, 32).permute((0, 1)), 2048), 64, 32)), GRID)
    assert program.global_size is not None and program.local_size is not None
    assert Ops.RANGE not in ops_of(program)
    threads = 1
    for size in (*program.global_size, *program.local_size):
        threads *= size
    assert threads == 2048


def test_more_axes_than_dimensions_fit_the_grid():
    st = shape(2, 3, 4, 5, 6).permute((4, 3, 2, 1, 0))
    program = lower(UOp.sink(store(load(1, st, 720), 6, 5, 4, 3, 2)), GRID)
    linear.verify(program.uops)
    threads = 1
    for size in (*program.global_size, *(program.local_size or ())):
        threads *= size
    assert threads == 720


def test_a_deep_kernel_is_no_problem():
    value = load(1, shape(4), 4)
    for i in range(10_000):
        value = value + float(i)
    assert len(lower(UOp.sink(store(value, 4)), PLAIN, nothing).uops) > 10_000


def test_lowering_is_deterministic():
    assert lower(matmul(16, 16, 16), WIDE).uops == lower(matmul(16, 16, 16), WIDE).uops


def test_settings_switch_the_heuristic_off():
    with settings.override(NOOPT=1):
        assert lower(matmul(64, 64, 64), WIDE).name == "r_64_64_64"


def test_graphs_that_are_no_kernel_are_refused_under_spec():
    with settings.override(SPEC=1), pytest.raises(SpecError):
        lower(UOp.sink(load(1, shape(4), 4)), PLAIN)


@pytest.mark.parametrize(
    "opt",
    [
        Opt(OptKind.UPCAST, 0, 65), Opt(OptKind.UNROLL, 2, 5), Opt(OptKind.UPCAST, 2, 4),
        Opt(OptKind.UNROLL, 0, 4),
        Opt(OptKind.SWAP, 0, 2), Opt(OptKind.UPCAST, 9, 4), Opt(OptKind.LOCAL, 0, 4),
        Opt(OptKind.TC, 0, 0), Opt(OptKind.UPCAST, 0, 1), Opt(OptKind.PADTO, 0, 4),
    ],
)  # fmt: skip
def test_illegal_optimisations_are_refused_and_change_nothing(opt):
    seen = []

    def choose(kernel: Kernel):
        before = list(kernel.axes)
        with pytest.raises(OptError):
            kernel.apply(opt)
        assert kernel.axes == before
        seen.append(opt)
        return []

    lower(matmul(64, 64, 64), WIDE, choose)
    assert seen == [opt]


def test_a_refusal_at_the_end_takes_everything_back(monkeypatch):
    def refused(kernel: Kernel, opt: Opt) -> None:
        if opt.kind is OptKind.KEEP:
            raise OptError("not legal", asked=repr(opt))

    def choose(kernel: Kernel) -> list[Opt]:
        kernel.apply(Opt(OptKind.SPLIT, 2, 4))
        with pytest.raises(OptError):
            kernel.apply(Opt(OptKind.KEEP, 2, 1))
        kernel.apply(Opt(OptKind.UNROLL, 3, 0))
        return kernel.applied

    monkeypatch.setattr("weft.codegen.opt.legality.check", refused)
    made = lower(matmul(6, 12, 5), PLAIN, choose)
    assert [opt.kind for opt in made.applied] == [OptKind.SPLIT, OptKind.UNROLL]
    again = lower(matmul(6, 12, 5), PLAIN, lambda kernel: made.applied)
    assert again.uops == made.uops


def test_applied_transformations_are_not_applied_again(monkeypatch):
    applied = []
    apply = Kernel._apply
    monkeypatch.setattr(Kernel, "_apply", lambda *given: applied.append(given[1]) or apply(*given))
    opts = [Opt(OptKind.UPCAST, 0, 4), Opt(OptKind.UNROLL, 2, 4)]

    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    made = lower(matmul(64, 64, 64), WIDE, choose)
    assert applied == opts and made.applied == tuple(opts)
    again = lower(matmul(64, 64, 64), WIDE, lambda kernel: list(choose(kernel)))
    assert applied == 3 * opts and again.uops == made.uops


def elementwise_in_place(size):
    target = pointer(0, size).view(shape(size))
    return UOp.sink(target.store(target.load() + 1.0))


def test_parts_of_an_output_may_overlap():
    def choose(kernel: Kernel):
        kernel.apply(Opt(OptKind.VECTOR, 0, 4))
        return kernel.applied

    program = lower(UOp.sink(store(load(1, shape(10), 10) + 1.0, 10)), WIDE, choose)
    assert program.name == "E_3_4"


def test_parts_may_not_overlap_in_place():
    def choose(kernel: Kernel):
        with pytest.raises(OptError):
            kernel.apply(Opt(OptKind.VECTOR, 0, 4))
        return kernel.applied

    assert lower(elementwise_in_place(10), WIDE, choose).name == "E_10"
    assert lower(elementwise_in_place(10), WIDE).name == "E_10"


def test_parts_may_overlap_next_to_an_in_place_update():
    """Only loops around a store to memory that is read must visit each element once."""
    changed = elementwise_in_place(6).src[0]
    beside = store(load(2, shape(10), 10) + 1.0, 10, slot=1)

    def choose(kernel: Kernel):
        for axis in kernel.axes:
            kernel.attempt(OptKind.VECTOR, kernel.axis_of(axis.loop), 4)
        return kernel.applied

    program = lower(UOp.sink(beside, changed), WIDE, choose)
    assert [opt.axis for opt in program.applied] == [0] and program.name == "E_3_6_4"
    arrays = {
        0: np.arange(6, dtype=np.float32),
        1: np.zeros(10, np.float32),
        2: np.arange(10, dtype=np.float32),
    }
    run_program(program, arrays)
    np.testing.assert_array_equal(arrays[0], np.arange(1, 7))
    np.testing.assert_array_equal(arrays[1], np.arange(1, 11))


def test_two_vectors_in_one_value_are_refused():
    def choose(kernel: Kernel):
        kernel.apply(Opt(OptKind.VECTOR, 0, 4))
        with pytest.raises(OptError):
            kernel.apply(Opt(OptKind.VECTOR, 1, 4))
        return kernel.applied

    program = lower(matmul(64, 64, 64), WIDE, choose)
    assert program.name == "r_16_64_64_4"


def test_axes_keep_their_kinds_in_order():
    kinds = []

    def choose(kernel: Kernel):
        kernel.apply(Opt(OptKind.VECTOR, 1, 16))
        kernel.apply(Opt(OptKind.UPCAST, 0, 4))
        kinds.extend(axis.kind for axis in kernel.axes)
        return kernel.applied

    lower(matmul(64, 64, 64), WIDE, choose)
    assert kinds == sorted(kinds) and kinds[-1] is AxisKind.VECTOR


def test_a_grid_of_awkward_size_is_refused_in_place():
    tiny = KernelLimits(global_size=(4, 4, 4))
    target = Target(ComputeCaps(limits=tiny), GroupOp.ALU, None, "c", "tiny")
    assert lower(UOp.sink(store(load(1, shape(61), 61) + 1.0, 61)), target).global_size == (4, 4, 4)
    with pytest.raises(CapabilityError):
        lower(elementwise_in_place(61), target)


@pytest.mark.parametrize("target", [PLAIN, WIDE, GRID], ids=["plain", "wide", "grid"])
def test_an_axis_may_be_longer_than_32_bits_count(target):
    size = (1 << 31) * 3 + 48
    with settings.override(SPEC=1):
        program = lower(UOp.sink(store(load(1, shape(size), size) + 1.0, size)), target)
    indices = [n.src[1] for n in program.uops if n.op is Ops.INDEX]
    assert indices and all(index.dtype is dtypes.long for index in indices)
    turns = 1
    for node in program.uops:
        if node.op in (Ops.RANGE, Ops.SPECIAL):
            turns *= node.src[0].arg
    lanes = max(n.dtype.count for n in program.uops if n.op is Ops.LOAD)
    # a grid of such a size has no factors that fit: some work items repeat what the last one does
    assert turns * lanes == size if target is not GRID else size <= turns < size * 1.01


def test_a_long_reduce_of_more_than_32_bits_count():
    size = (1 << 31) * 3 + 7
    with settings.override(SPEC=1):
        program = lower(UOp.sink(store(load(1, shape(size), size).reduce(Ops.ADD, (0,)), 1)), WIDE)
    assert any(n.op is Ops.RANGE and n.src[0].arg == size for n in program.uops)
