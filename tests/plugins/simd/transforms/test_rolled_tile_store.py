"""Tiles that are stored across their lanes: when rows are a loop, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor
from weft.codegen.analysis.ranges import extent_of, loops_of, ranges_of
from weft.codegen.pipeline import loops_for, lower
from weft.device import registry
from weft.spec import lowered
from weft.uop import Ops
from weft.uop.args import AxisKind
from weft_simd.choice import strategy
from weft_simd.transforms import rolled_tile_store


def target(**compute):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    found = registry.offline("CPU", "x86-64-v4").target
    return replace(found, compute=replace(found.compute, **compute))


def ast_of(result):
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    return item.ast


def optimised(result, **compute):
    kernel = loops_for(ast_of(result), target(**compute), prepared=True)
    for opt in strategy.choose(kernel.copy()):
        kernel.apply(opt)
    return kernel.finish()


def empty(*shape, dtype="float32"):
    return Tensor.empty(*shape, device="REF", dtype=dtype)


def product(m=128, k=768, n=768, dtype="float32"):
    """Of few rows with a matrix that lies transposed: the rows are the lanes."""
    return empty(m, k, dtype=dtype) @ empty(n, k, dtype=dtype).T


def loops_around_stores(sink):
    return [loop for loop in ranges_of(sink.src[0]) if loop.arg.kind is AxisKind.LOOP]


def test_rows_of_a_tile_are_a_loop_behind_the_sum():
    before = optimised(product() + empty(768))
    after = rolled_tile_store.run(before, target())
    lowered.verify(after)
    assert len(loops_around_stores(after)) == len(loops_around_stores(before)) + 1
    (fill,) = {n for n in after.toposort() if n.op is Ops.FILL} - set(before.toposort())
    kinds = [(loop.arg.kind, extent_of(loop)) for loop in loops_of(fill)]
    assert sorted(extent for _, extent in kinds) == [4, 6, 16]
    assert {kind for kind, _ in kinds} == {AxisKind.UPCAST, AxisKind.VECTOR}
    (array,) = {n.src[0].src[0] for n in fill.src[: fill.arg.values]}
    assert array.dtype.size == 4 * 6 * 16
    by_sums = [n for n in after.toposort() if n.op is Ops.REDUCE]
    assert len(by_sums) == 1 and by_sums[0] in fill.toposort()


def test_the_loop_is_once_in_the_program():
    nodes = lower(ast_of(product() + empty(768)), target()).uops
    stores = [n for n in nodes if n.op is Ops.STORE and n.src[0].src[0].op is Ops.DEFINE_GLOBAL]
    assert 0 < len(stores) <= 2 * 16  # of the rows of one vector: a few neighbours of each


def test_sums_that_are_kept_are_not_kept_twice():
    result = product(128, 3072, 768) + empty(768)
    before = optimised(result)
    arrays = {n for n in before.toposort() if n.op is Ops.DEFINE_REG}
    assert any(opt.kind.name == "KEEP" for opt in before.arg.applied)
    after = rolled_tile_store.run(before, target())
    lowered.verify(after)
    assert after is not before
    assert {n for n in after.toposort() if n.op is Ops.DEFINE_REG} == arrays


@pytest.mark.parametrize(
    "make",
    [
        lambda: empty(512, 512) @ empty(512, 512),  # lanes are neighbours in memory
        lambda: product(128, 128, 768),  # a short sum
        lambda: empty(512, 512).sum(1),
        lambda: empty(512, 512).T.contiguous(),  # no sum
        lambda: empty(512, 768).softmax(1),
    ],
)
def test_unchanged_stores(make):
    before = optimised(make())
    assert rolled_tile_store.run(before, target()) is before


def test_only_one_processor_with_vectors_has_such_tiles():
    before = optimised(product())
    grid = replace(target().compute.limits, global_size=(1 << 20, 1 << 16, 1 << 16))
    for compute in ({"vector_bytes": 0}, {"limits": grid}):
        assert rolled_tile_store.run(before, target(**compute)) is before


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bfloat16"])
@pytest.mark.parametrize(
    "m, k, n", [(128, 768, 96), (130, 300, 100), (64, 257, 50), (128, 3072, 96), (33, 512, 47)]
)
def test_values_are_those_of_numpy(m, k, n, dtype):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    rng = np.random.default_rng(m * k + n)
    a, b, c = (rng.integers(-4, 5, shape) for shape in ((m, k), (n, k), (m, n)))
    x, y, z = (Tensor(one.astype(np.float32)).cast(dtype).to("CPU") for one in (a, b, c))
    found = (z + x @ y.T).cast("float64").numpy()
    want = Tensor((a @ b.T).astype(np.float64)).cast(dtype).cast("float64").numpy()
    want = Tensor(want).cast(dtype) + Tensor(c.astype(np.float32)).cast(dtype)
    assert np.array_equal(found, want.cast("float64").numpy())  # small integers: exact sums
