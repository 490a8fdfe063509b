"""Lanes of which some are not there: read under masks, at the ends of rows and of buffers."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Device, Tensor
from weft.codegen.pipeline import lower
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.uop import UOp


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("columns", "taps"), [(16, 3), (56, 7), (35, 5)])
def test_windows_of_rows_with_zeros_around_them(dtype, columns, taps):
    rng = np.random.default_rng(columns)
    images = rng.integers(-9, 9, (2, 3, 5, columns)).astype(dtype)
    weights = rng.integers(-9, 9, (3, 1, 3, taps)).astype(dtype)
    around = taps // 2
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (around, around)))
    wanted = sum(
        padded[:, :, y : y + 5, x : x + columns] * weights[:, 0, y, x, None, None]
        for y in range(3)
        for x in range(taps)
    )
    given = [Tensor(array, device="CPU") for array in (images, weights)]
    found = given[0].conv2d(given[1], groups=3, padding=((1, 1), (around, around)))
    np.testing.assert_array_equal(found.numpy(), wanted)


def test_lanes_that_are_not_read_are_zeros_also_where_that_is_known_beforehand():
    """The compiler sees that whole iterations read nothing."""
    rng = np.random.default_rng(7)
    images, weights = (rng.integers(-3, 4, shape) for shape in ((1, 32, 3, 18), (2, 16, 7, 3)))
    given = [Tensor(array.astype(np.float64), device="CPU") for array in (images, weights)]
    found = given[0].conv2d(given[1], groups=2, padding=(2, 1), dilation=(1, 2)).numpy()
    padded = np.pad(images, ((0, 0), (0, 0), (2, 2), (1, 1)))
    for group, own in enumerate(weights):
        mine = padded[0, 16 * group : 16 * group + 16]
        wanted = sum(
            (mine[:, :, x : x + 16] * own[:, :, x // 2, None]).sum((0, 1)) for x in (0, 2, 4)
        )
        np.testing.assert_array_equal(found[0, group, 0], wanted)


def test_one_read_serves_all_lanes(bench):
    if not bench.renderer.masked_loads:
        pytest.skip("the processor has no masks, or its compiler no name for them")
    x, w = Tensor.empty(1, 4, 16, 56, device="CPU"), Tensor.empty(4, 1, 3, 3, device="CPU")
    sink = UOp.sink(x.conv2d(w, groups=4, padding=1).uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    source = bench.renderer.render(lower(item.ast, Device["CPU"].target))
    assert "__builtin_masked_load" in source


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("rows", "columns", "taps"), [(12, 64, 3), (9, 50, 2), (7, 33, 5)])
def test_windows_at_every_other_place_are_pooled(dtype, rows, columns, taps):
    rng = np.random.default_rng(columns)
    images = rng.integers(-99, 99, (2, 3, rows, columns)).astype(dtype)
    least = -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
    if np.issubdtype(dtype, np.floating):
        for value in (np.nan, np.inf, -np.inf, -0.0):
            images[rng.random(images.shape) < 0.01] = value
    around = taps // 2
    edges = ((0, 0), (0, 0), (around, around), (around, around))
    padded = np.pad(images, edges, constant_values=least)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (taps, taps), (2, 3))[:, :, ::2, ::2]
    found = Tensor(images, device="CPU").max_pool2d((taps, taps), stride=2, padding=around)
    np.testing.assert_array_equal(found.numpy(), windows.max((4, 5)))


@pytest.mark.parametrize("size", [1, 2, 15, 16, 31, 64, 1001])
@pytest.mark.parametrize("first", [0, 1])
def test_every_other_element_is_read_and_none_beyond_the_last(size, first):
    """The buffer is as long as what is read; behind it there may be nothing."""
    values = np.random.default_rng(size).standard_normal((3, size + first)).astype(np.float32)
    found = (Tensor(values, device="CPU")[:, first::2] * 2).numpy()
    np.testing.assert_array_equal(found, values[:, first::2] * 2)


def test_one_read_serves_every_other_lane(bench):
    if not bench.renderer.masked_loads:
        pytest.skip("the processor has no masks, or its compiler no name for them")
    pooled = Tensor.empty(1, 4, 112, 112, device="CPU").max_pool2d(3, stride=2, padding=1)
    sink = UOp.sink(pooled.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    source = bench.renderer.render(lower(item.ast, Device["CPU"].target))
    assert "even_f32x16(__builtin_masked_load" in source
