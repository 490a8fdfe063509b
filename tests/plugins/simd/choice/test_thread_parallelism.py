"""Loops that threads of one processor share: THREAD, and which loop is chosen for it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.testing.reference.run import run_program
from weft.uop import AxisKind, Ops, UOp
from weft_simd import thresholds
from weft_simd.choice import thread_parallelism

VECTORS = {"vector_widths": {dtypes.float: (4,)}, "vector_bytes": 16}
THREADS = simd_target(ComputeCaps(features=frozenset({Feature.THREADS}), **VECTORS))  # fmt: skip
ALONE = simd_target(ComputeCaps(**VECTORS))


def ast_of(tensor):
    """The AST of the only kernel of a tensor."""
    sink = UOp.sink(tensor.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    return item.ast


def empty(*shape):
    return Tensor.empty(*shape, device="REF")


def program_of(ast, *opts, target=THREADS):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target, choose)


def run(program, out, *given):
    run_program(program, (out, *given))
    return out


def kernel_of(ast, target=THREADS):
    found = []

    def look(kernel: Kernel) -> tuple[Opt, ...]:
        found.append(kernel)
        return ()

    lower(ast, target, look)
    return found[0]


def matmul(n):
    return ast_of(empty(n, n) @ empty(n, n))


@pytest.mark.parametrize("opts", [
    [Opt(OptKind.THREAD, 0)],
    [Opt(OptKind.THREAD, 1)],
    [Opt(OptKind.THREAD, 0), Opt(OptKind.THREAD, 1)],
    [Opt(OptKind.UPCAST, 0, 5), Opt(OptKind.VECTOR, 1, 4), Opt(OptKind.THREAD, 0)],
    [Opt(OptKind.THREAD, 0), Opt(OptKind.UPCAST, 0, 2)],
    [Opt(OptKind.SPLIT, 1, 3), Opt(OptKind.STAGE, 1), Opt(OptKind.THREAD, 0)],
    [Opt(OptKind.SPLIT, 0, 4), Opt(OptKind.STAGE, 0), Opt(OptKind.THREAD, 0)],
])  # fmt: skip
def test_results_are_equal(opts):
    program = program_of(matmul(12), *opts)
    assert program.global_size is not None and program.global_size[1:] == (1, 1)
    draw = np.random.default_rng(3)
    a, b = (draw.integers(-9, 9, (12, 12)).astype(np.float32) for _ in range(2))
    np.testing.assert_array_equal(run(program, np.zeros((12, 12), np.float32), a, b), a @ b)


def test_refused_loops():
    kernel = kernel_of(matmul(12))
    assert [axis.kind for axis in kernel.axes][-1] is AxisKind.REDUCE
    with pytest.raises(OptError, match="legal"):
        kernel.apply(Opt(OptKind.THREAD, 2))
    with pytest.raises(OptError) as part_of_a_loop:
        kernel.apply(Opt(OptKind.THREAD, 0, 4))
    assert "whole loop" in str(part_of_a_loop.value)
    with pytest.raises(OptError) as no_threads:
        kernel_of(matmul(12), ALONE).apply(Opt(OptKind.THREAD, 0))
    assert "no threads" in str(no_threads.value)


def test_a_sum_that_all_threads_need_is_not_done_by_each():
    row = empty(6, 16)
    ast = ast_of((row - row.max(axis=1, keepdim=True)).exp())
    kernel = kernel_of(ast)
    inner = [i for i, axis in enumerate(kernel.axes) if axis.kind is AxisKind.LOOP][1:]
    for place in inner:
        with pytest.raises(OptError) as caught:
            kernel.apply(Opt(OptKind.THREAD, place))
        assert "again" in str(caught.value) or "outside" in str(caught.value)
    kernel.apply(Opt(OptKind.THREAD, 0))


def test_a_loop_around_staged_operands_is_not_threaded():
    kernel = kernel_of(matmul(12))
    kernel.apply(Opt(OptKind.STAGE, 0))
    with pytest.raises(OptError) as caught:
        kernel.apply(Opt(OptKind.THREAD, 1))
    assert "staged" in str(caught.value)


def test_the_heuristic_spreads_the_outermost_loop_of_long_kernels():
    long = ast_of(empty(512, 512).T.exp().contiguous())
    kernel = kernel_of(long)
    assert thread_parallelism.work(kernel) >= thresholds.THREADED
    with settings.override(SPEC=1):
        program = lower(long, THREADS)
    assert [opt.kind for opt in program.applied][-1] is OptKind.THREAD
    assert not any(u.op is Ops.SPECIAL for u in lower(long, ALONE).uops)
    short = lower(ast_of(empty(16, 16).T.exp().contiguous()), THREADS)
    assert short.global_size is None


def test_loops_of_few_iterations_are_divided_together():
    kernel = kernel_of(ast_of(empty(3, 5, 4096, 7).permute(0, 3, 1, 2).exp().contiguous()))
    thread_parallelism.parallelize(kernel)
    extents = [axis.extent for axis in kernel.axes if axis.kind is AxisKind.GLOBAL]
    assert extents == [3, 7]
    rows = [axis.extent for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    assert rows == [5 * 4096], "one thread goes through a row"


def test_a_grid_is_no_business_of_threads():
    limits = KernelLimits(global_size=(65535, 65535, 64))
    target = simd_target(ComputeCaps(limits=limits, features=frozenset({Feature.THREADS})))
    kernel = kernel_of(matmul(12), target)
    with pytest.raises(OptError):
        kernel.apply(Opt(OptKind.THREAD, 0))


def test_a_length_that_is_a_variable():
    n = UOp.variable("n", 1, 1 << 20)
    x = Tensor.empty(1 << 20, device="REF").shrink(((0, n.bind(7)),))
    program = lower(ast_of((x + 1).contiguous()), THREADS)
    assert program.global_size is not None
    end = program.global_size[0]
    assert isinstance(end, UOp) and end.vmax == 1 << 20
    assert lower(ast_of((x + 1).contiguous()), THREADS, nothing).global_size is None
