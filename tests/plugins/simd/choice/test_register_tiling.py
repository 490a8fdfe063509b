"""Windows of a tile that share rows: which loop is unrolled, and the resulting kernel."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from weft import Tensor
from weft.codegen.analysis.ranges import extent_of, loops_of
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import loops_for
from weft.device import registry
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind
from weft_simd.choice import strategy
from weft_simd.choice.register_tiling import _shared


def written_out(picture, filters, groups=1, **facts):
    """Extents of the unrolled loops of the sum."""
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    target = registry.offline("CPU", "x86-64-v4").target
    x, w = (Tensor.empty(*shape, device="REF") for shape in (picture, filters))
    result = x.conv2d(w, groups=groups, **facts)
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    kernel = loops_for(item.ast, target, prepared=True)
    applied = strategy.choose(kernel.copy())
    for opt in applied:
        kernel.apply(opt)
    sums = [n for n in kernel.finish().toposort() if n.op is Ops.REDUCE]
    assert len(sums) == 1
    found = sorted(
        extent_of(loop) for loop in loops_of(sums[0]) if loop.arg.kind is AxisKind.UNROLL
    )
    assert bool(found) == any(opt.kind is OptKind.UNROLL for opt in applied)
    return found


@pytest.mark.parametrize(
    ("picture", "filters", "groups", "wanted"),
    [
        ((8, 64, 56, 56), (64, 1, 7, 7), 64, [7]),
        ((8, 64, 56, 56), (64, 1, 5, 5), 64, [5]),
        ((1, 384, 14, 14), (384, 1, 7, 7), 384, [7]),
        ((8, 64, 56, 56), (64, 16, 3, 3), 4, [3]),
        ((1, 3, 224, 224), (64, 3, 7, 7), 1, [7]),
        ((2, 61, 15, 15), (35, 61, 7, 7), 1, [7]),  # a row: its gates are shared by the tile
        ((11, 56, 10, 10), (12, 56, 7, 7), 1, [7]),  # a tile of 20 sums shares them
        ((1, 64, 28, 28), (64, 64, 5, 5), 1, [5]),
        ((8, 64, 56, 56), (64, 64, 3, 3), 1, []),  # many channels: loads are not what it waits for
    ],
)
def test_which_loop_is_unrolled(picture, filters, groups, wanted):
    padding = filters[-1] // 2
    assert written_out(picture, filters, groups, padding=padding) == wanted


@pytest.mark.parametrize(
    ("steps", "windows", "wanted"),
    [
        ({"loop": 56, "window": 56}, 4, 28 / 10),  # 4 windows of 7 rows: 10 rows in all
        ({"loop": 56, "window": 112}, 4, 28 / 13),
        ({"loop": 1, "window": 6}, 2, 14 / 13),
        ({"loop": 1, "window": 7}, 2, 1),  # the next one begins where this one ends
        ({"loop": 2, "window": 3}, 2, 1),
        ({"loop": 0, "window": 3}, 2, 1),
        ({"loop": 3}, 2, 1),
    ],
)
def test_number_of_reads_of_shared_window_elements(steps, windows, wanted):
    loop, window = UOp.range(7, 0), UOp.range(9, 1)
    names = {"loop": loop, "window": window}
    access = SimpleNamespace(steps={names[name]: step for name, step in steps.items()})
    assert _shared(access, loop, window, windows) == wanted


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_windows_are_those_of_the_definition(seed):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    rng = np.random.default_rng(seed)
    groups, each = int(rng.choice([1, 3, 16])), int(rng.choice([1, 1, 4]))
    size, stride, dilation = (
        int(rng.integers(1, 8)),
        int(rng.integers(1, 3)),
        int(rng.integers(1, 3)),
    )
    height, width = rng.integers(size * dilation, 40, 2)
    padding = int(rng.integers(0, size // 2 + 1))
    many = int(rng.choice([1, 2, 5]))
    x = rng.integers(-4, 5, (2, groups * each, height, width)).astype(np.float32)
    w = rng.integers(-4, 5, (groups * many, each, size, size)).astype(np.float32)
    found = (
        Tensor(x, device="CPU")
        .conv2d(
            Tensor(w, device="CPU"), groups=groups, padding=padding, stride=stride,
            dilation=dilation,
        )
        .numpy()
    )  # fmt: skip
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    reach = dilation * (size - 1) + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, (reach, reach), (2, 3))
    windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation]
    windows = windows.reshape(2, groups, each, *windows.shape[2:])
    want = np.einsum("bgcyxij,gocij->bgoyx", windows, w.reshape(groups, many, each, size, size))
    np.testing.assert_array_equal(found, want.reshape(found.shape))  # small integers: exact
