"""Sliding windows that share rows are adjacent, few enough to be unrolled, with equal results."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps


def chosen(value: Tensor) -> list[Opt]:
    """The UPCASTs of the heuristic for the last kernel."""
    compute = ComputeCaps(
        vector_widths={dtypes.float: (16,)}, vector_bytes=64, vector_registers=32
    )  # fmt: skip
    ast = value.schedule()[-1].ast
    kernel = loops_for(ast, simd_target(compute), True)
    return [opt for opt in by_heuristic(kernel).opts if opt.kind is OptKind.UPCAST]


def picture(size: int) -> Tensor:
    return Tensor.empty(1, 8, size, size)


@pytest.mark.parametrize(
    ("size", "window", "stride", "padding", "rows"),
    [
        (112, 3, 2, 1, [3]),  # seven rows of three windows are read where each reads three
        (30, 3, 2, 1, [3]),
        (28, 3, 2, 1, [2]),  # three would be five times three for fourteen rows
        (58, 3, 1, 0, [4]),
        (56, 3, 1, 1, [3]),  # no lanes, but the largest of each
        (58, 5, 1, 0, []),  # too much to be unrolled
    ],
)
def test_rows_of_windows_that_overlap(size, window, stride, padding, rows):
    value = picture(size).max_pool2d((window, window), stride=stride, padding=padding)
    assert [opt.amount for opt in chosen(value) if opt.axis == 1] == rows


def test_windows_that_do_not_overlap_are_left():
    for stride in (3, 4):
        value = picture(60).max_pool2d((3, 3), stride=stride)
        assert not any(opt.axis == 1 and opt.amount > 1 for opt in chosen(value))


def test_products_are_left():
    assert chosen(Tensor.empty(40, 3) @ Tensor.empty(3, 16)) == []


def test_sums_without_lanes_are_left():
    assert chosen(picture(56).avg_pool2d((3, 3), stride=1, padding=1)) == []
    assert chosen(picture(112).avg_pool2d((3, 3), stride=2, padding=1)) == [
        Opt(OptKind.UPCAST, 1, 3)
    ]


@pytest.mark.parametrize("method", ["max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize(
    ("height", "width", "stride", "padding"),
    [(30, 17, 2, 1), (16, 40, 1, 0), (13, 33, 1, 1), (31, 9, 2, 0)],
)
def test_values_of_sliding_windows(method, height, width, stride, padding):
    values = np.random.default_rng(3).normal(size=(2, 3, height, width)).astype(np.float32)
    values[0, 0, 4, 5], values[1, 2, 7, 1] = np.nan, -np.inf
    found = getattr(Tensor(values), method)((3, 3), stride=stride, padding=padding).numpy()
    largest = method == "max_pool2d"
    edges = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    padded = np.pad(values, edges, constant_values=-np.inf if largest else 0.0)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    wanted = windows.max((-2, -1)) if largest else windows.mean((-2, -1))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
