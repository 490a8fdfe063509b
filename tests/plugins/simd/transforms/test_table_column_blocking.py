"""Tables with one row index per column: when a block is copied to a local array."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor
from weft.codegen.analysis.ranges import extent_of, loops_of
from weft.codegen.pipeline import loops_for
from weft.device import registry
from weft.device.capabilities import KernelLimits
from weft.spec import lowered
from weft.uop import Ops
from weft_simd import thresholds

LARGE = (600, 512)


def kernel_of(result, arch="x86-64-v4", **compute):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    target = registry.offline("CPU", arch).target
    target = replace(target, compute=replace(target.compute, **compute))
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    return loops_for(item.ast, target, prepared=True)


def empty(*shape, dtype="float32"):
    return Tensor.empty(*shape, device="REF", dtype=dtype)


def picked(table=LARGE, rows=600, axis=0, dtype="float32", places="int32"):
    shape = [*table]
    shape[axis] = rows
    return empty(*table, dtype=dtype).gather(axis, empty(*shape, dtype=places))


def turns(result):
    """(rows, columns) of the panel of a kernel, None where there is none."""
    (fill,) = kernel_of(result).fills or [None]
    return None if fill is None else tuple(extent_of(loop) for loop in loops_of(fill))


def test_columns_are_outermost_and_their_rows_in_a_local_array():
    kernel = kernel_of(picked())
    lowered.verify(kernel.sink)
    assert [axis.extent for axis in kernel.axes[:3]] == [LARGE[1] // 32, 600, 32]
    assert turns(picked()) == (600, 32)
    assert turns(picked(places="int64")) == (600, 32)


@pytest.mark.parametrize(
    "table, dtype, wanted",
    [
        ((600, 512), "float64", (600, 16)),
        ((6000, 512), "float32", (6000, 16)),  # only one line fits
        ((9000, 512), "float32", None),
        ((600, 10000), "int16", (600, 64)),
        ((65536, 64), "float32", None),
        ((8192, 32), "float32", None),  # two parts: too few to share out
        ((8192, 64), "float32", (8192, 16)),
        ((500, 512), "float32", None),  # a near cache holds it
        ((2100, 1007), "float32", (2100, 32)),
        ((1000, 1007), "float32", None),  # rows are no whole lines
    ],
)
def test_how_many_columns(table, dtype, wanted):
    assert turns(picked(table, table[0], dtype=dtype)) == wanted


def test_unblocked_lookups():
    assert turns(picked(rows=100)) is None  # few elements are picked
    assert turns(picked(axis=1)) is None  # from one row each
    table = empty(*LARGE)
    assert turns(table[empty(600, dtype="int32")]) is None  # whole rows
    grid = KernelLimits(global_size=(1 << 31, 65535, 65535), scratch_bytes=1 << 20)
    assert not kernel_of(picked(), limits=grid).fills


@pytest.mark.parametrize("device", ["CPU", "REF", "REF:vector"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "float64"])
@pytest.mark.parametrize("shape, rows", [((2, 9, 133), 5), ((1, 30, 260), 31), ((7, 150), 150)])
def test_gathered_values(device, dtype, shape, rows, monkeypatch):
    """Sizes without divisor, indices from the end, and a table next to a loop of its own."""
    for limit in ("TABLE", "UNALIGNED_TABLE"):
        monkeypatch.setattr(thresholds, limit, 0)
    axis = len(shape) - 2
    random = np.random.default_rng(rows)
    table = random.integers(-99, 99, shape).astype(dtype)
    at = random.integers(-shape[axis], shape[axis], (*shape[:axis], rows, shape[-1]))
    given, places = Tensor(table, device=device), Tensor(at.astype(np.int32), device=device)
    found = (given.gather(axis, places) * 3).numpy()
    np.testing.assert_array_equal(found, np.take_along_axis(table, at, axis) * 3)
