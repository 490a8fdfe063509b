"""What is chosen for the kernels of a large device with groups: looked at, and not run."""

from __future__ import annotations

import math

import pytest

from weft import Tensor
from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.launch_grid import cooperative_loops, thresholds, tiles, trials
from weft.codegen.launch_grid.strategy import choose
from weft.codegen.launch_grid.tiles import Problem, best_tile, depth_of
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits, Target
from weft.device.machine import MachineModel
from weft.device.tensor_core import FragmentLayout, TensorCore
from weft.shape.tracker import ShapeTracker
from weft.uop import GroupOp, Ops, UOp

# sixteen by eight by sixteen on 32 lanes: pairs of a row of A, of a column of B, of a row of C
LARGE = TensorCore(
    "large", (16, 8, 16), 32, dtypes.half, dtypes.float,
    a=FragmentLayout(
        ((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)), ((0, 1), (8, 0), (0, 8))
    ),
    b=FragmentLayout(((2, 0), (4, 0), (0, 1), (0, 2), (0, 4)), ((1, 0), (8, 0))),
    c=FragmentLayout(((0, 2), (0, 4), (1, 0), (2, 0), (4, 0)), ((0, 1), (8, 0))),
)  # fmt: skip
DEVICE = Target(
    ComputeCaps(
        dtypes=frozenset({dtypes.half, dtypes.float, dtypes.int, dtypes.uint, dtypes.bool}),
        limits=KernelLimits(
            global_size=((1 << 31) - 1, 65535, 65535), local_size=(1024, 1024, 64),
            local_threads=1024, shared_bytes=48 << 10, max_upcast=32,
        ),
        features=frozenset({Feature.BARRIER, Feature.SHARED}),
        vector_widths={dtypes.half: (8, 4, 2), dtypes.float: (4, 2)},
        tensor_cores=(LARGE,),
    ),
    GroupOp.ALU, None, "py", "large",
)  # fmt: skip


def t(*shape):
    return Tensor.empty(*shape, device="REF")


def programs(*tensors):
    items = tensors[0].schedule(*tensors[1:])
    return [lower(item.ast, DEVICE) for item in items if item.ast.op is Ops.SINK]


def kinds(program):
    return [opt.kind for opt in program.applied]


def threads(program):
    return math.prod(program.local_size or (1,))


def groups(program):
    return math.prod(program.global_size or (1,))


def barriers(program):
    """The loop depth of each barrier."""
    depth, found = 0, []
    for node in program.uops:
        depth += (node.op is Ops.RANGE) - (node.op is Ops.ENDRANGE)
        if node.op is Ops.BARRIER:
            found.append(depth)
    return found


def lane_steps(program):
    """By how many elements neighbours of a group are apart, for each access to memory."""
    found = []
    for node in program.uops:
        if node.op in (Ops.LOAD, Ops.STORE) and node.src[0].src[0].dtype.space is AddrSpace.GLOBAL:
            terms, _ = affine(node.src[0].src[1])
            steps = [n for u, n in terms.items() if u.op is Ops.SPECIAL and u.arg == "lidx0"]
            found.append(steps[0] if steps else 0)
    return found


def halves(size):
    """Products of halves, added up as floats."""
    shape = (size, size, size)

    def factor(slot, axes):
        pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.half.ptr(size * size), (), slot)
        return pointer.view(
            ShapeTracker.from_shape((size, size)).reshape(axes).expand(shape)
        ).load()

    a, b = factor(1, (size, 1, size)), factor(2, (1, size, size))
    total = (a.cast(dtypes.float) * b.cast(dtypes.float)).reduce(Ops.ADD, (2,))
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size * size), (), 0)
    return lower(UOp.sink(out.view(ShapeTracker.from_shape((size, size, 1))).store(total)), DEVICE)


@pytest.mark.parametrize("size", [512, 1000, 1023])
@pytest.mark.parametrize("dtype", ["float", "half"])
def test_products_of_any_size_are_staged(size, dtype):
    program = halves(size) if dtype == "half" else programs(t(size, size) @ t(size, size))[0]
    assert OptKind.STAGE in kinds(program)
    assert (OptKind.TC in kinds(program)) == (dtype == "half")
    assert (OptKind.PADTO in kinds(program)) == (size != 512)
    assert barriers(program) == [1, 1] and threads(program) % 32 == 0


def test_a_small_product_is_spread_over_the_device():
    (program,) = programs(t(128, 128) @ t(128, 128))
    assert groups(program) >= 32 and threads(program) >= 64


def test_factors_of_a_convolution_are_staged():
    """The sides are an axis of the picture and the channels that come out."""
    (program,) = programs(t(4, 32, 28, 28).conv2d(t(64, 32, 3, 3), padding=1))
    assert OptKind.STAGE in kinds(program)
    assert len([u for u in program.uops if u.op is Ops.DEFINE_LOCAL]) == 2


def test_neighbours_read_neighbours_of_a_row():
    (program,) = programs(t(4096, 4096).sum(1))
    assert OptKind.GROUP in kinds(program) and OptKind.VECTOR in kinds(program)
    assert 4 in lane_steps(program)


@pytest.mark.parametrize("make", [lambda: t(4096, 2048).sum(0), lambda: t(4096) @ t(4096, 2048)])
def test_neighbours_read_neighbours_of_many_columns(make):
    """A warp along the columns, and the rows in parts: 2048 sums alone keep no device busy."""
    (program,) = programs(make())
    assert {OptKind.LOCAL, OptKind.GROUP} <= set(kinds(program))
    assert program.local_size[0] == 32 and program.local_size[1] > 1
    assert lane_steps(program)[0] == 1 or 1 in lane_steps(program)


def test_columns_enough_need_no_parts():
    (program,) = programs(t(16, 1 << 17).sum(0))
    assert OptKind.GROUP not in kinds(program) and lane_steps(program)[-1] in (1, 4)


def test_no_barrier_in_a_loop_over_keys():
    """One token against 128: work items have keys of their own, and then outputs of their own."""
    many = t(1, 8, 128, 64)
    found = programs(t(1, 8, 1, 64).scaled_dot_product_attention(many, t(1, 8, 128, 64)))
    assert found and all(0 in {*barriers(p), 0} and max(barriers(p), default=0) == 0 for p in found)
    assert any(OptKind.GROUP in kinds(p) for p in found)


def test_rows_of_a_length_that_nothing_divides():
    (program,) = programs(t(8, 4099).sum(1))
    assert {OptKind.PADTO, OptKind.GROUP} <= set(kinds(program))


def test_reads_and_writes_of_a_transpose_are_both_in_runs():
    (program,) = programs(t(512, 512).T.contiguous())
    assert program.local_size == (16, 16, 1)
    assert OptKind.UPCAST in kinds(program)


@pytest.mark.parametrize("shape", [(1000, 14), (3, 5, 7, 11), (4093, 3), (65537,)])
def test_groups_are_filled(shape):
    (program,) = programs(t(*shape) + 1)
    assert 32 <= threads(program) <= 256


def test_the_limits_of_a_group():
    for make in (
        lambda: t(64, 2, 3) * 2, lambda: t(4096, 64) @ t(64, 64), lambda: t(5, 3).sum(1),
        lambda: t(64, 1000).argmax(1), lambda: t(2, 8, 30, 30).max_pool2d((3, 3)),
    ):  # fmt: skip
        for program in programs(make()):
            sizes = program.local_size or (1, 1, 1)
            assert all(n <= most for n, most in zip(sizes, DEVICE.compute.limits.local_size))
            assert threads(program) <= 256


def test_the_depth_of_a_block():
    wanted = {1024: 16, 1000: 8, 1023: 16, 24: 8, 27: 8, 9: 1, 4: 1}
    assert {terms: depth_of(terms, 16) for terms in wanted} == wanted


def test_large_tiles_for_large_problems():
    large = best_tile(Problem(4096, 4096, 1, 4096), 64, 256, 16)
    small = best_tile(Problem(128, 128, 1, 128), 64, 256, 16)
    assert large is not None and small is not None
    assert large.tall * large.wide > small.tall * small.wide
    assert trials.fits(1000, 256) and not trials.fits(100, 96)
    assert cooperative_loops.Rows.__doc__ and tiles.Tiles.__doc__


def test_every_chosen_transformation_is_legal():
    """Everything that is chosen can be applied again, in the same order."""
    (item,) = (i for i in (t(100, 60) @ t(60, 72)).schedule() if i.ast.op is Ops.SINK)
    with settings.override(SPEC=1):
        seen = []

        def watched(kernel: Kernel):
            choose(kernel)
            seen.append(list(kernel.applied))
            return kernel.applied

        program = lower(item.ast, DEVICE, watched)
    assert list(program.applied) == seen[0] and seen[0]


def test_thresholds_are_computed_from_the_machine():
    usual, small = MachineModel(), MachineModel(cores=16)
    assert thresholds.warp_of(usual) == 32 and thresholds.processors_of(usual) == 128
    assert thresholds.processors_of(usual, emulated=True) == 4
    assert thresholds.processors_of(small) == thresholds.processors_of(small, True) == 16
    assert thresholds.work_items_of(usual) == 8 * thresholds.work_items_of(small) == 1 << 17
    assert thresholds.shared_bytes_of(usual) == 1 << 25
    assert thresholds.warp_of(ComputeCaps(warp_size=64).machine) == 64
