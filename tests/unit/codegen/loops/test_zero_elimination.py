"""Products that are structurally zero: their loops, and the remaining iterations."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from tests.plugins.simd.prefetch.test_panel_prefetch import CAPS, program_of

from helpers.graphs import kernels
from weft import Tensor
from weft.codegen.loops.zero_elimination import find_zero_products
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import Target
from weft.uop import GroupOp, Ops

TARGET = Target(CAPS, GroupOp.ALU, None, "c", "blanks")


def slope(size: int, stride: int, padding: int, n: int = 9, channels: int = 32) -> Tensor:
    """The gradient of an image under a convolution."""
    x, w = Tensor.empty(2, channels, n, n), Tensor.empty(16, channels, size, size)
    y = x.conv2d(w, stride=stride, padding=padding)
    return y.gradient(x, gradient=Tensor.empty(*y.shape))[0]


@pytest.mark.parametrize(
    ("size", "stride", "padding", "share"),
    [(3, 2, 1, 9 / 16), (4, 2, 1, 16 / 36), (7, 2, 3, 49 / 64), (5, 3, 2, 25 / 36)],
)
def test_windows_that_the_stride_does_not_divide_have_zero_products(size, stride, padding, share):
    (ast,) = kernels(slope(size, stride, padding, 32).uop)
    (reduce,) = loops_for(ast, TARGET, prepared=True).reduces
    found = find_zero_products(reduce)
    assert found is not None and found.share == pytest.approx(share)
    assert [loop.src[0].arg for loop in found.outputs] == [stride, stride]
    assert len(found.terms) == 2


@pytest.mark.parametrize(("size", "stride", "padding"), [(4, 2, 0), (2, 2, 0), (3, 1, 1)])
def test_windows_that_the_stride_divides_have_none(size, stride, padding):
    (ast, *_) = kernels(slope(size, stride, padding, 32).uop)
    assert all(find_zero_products(one) is None for one in loops_for(ast, TARGET, True).reduces)


@pytest.mark.parametrize(
    ("size", "stride", "padding", "n"),
    [(3, 2, 1, 8), (3, 2, 0, 9), (4, 2, 1, 8), (3, 2, 1, 7), (5, 3, 2, 9), (3, 4, 1, 8)],
)
def test_only_structural_zeros_are_skipped(size, stride, padding, n):
    count = (n + 2 * padding - size) // stride + 1
    numbers = np.random.default_rng(size + n)
    upstream = numbers.integers(-4, 5, (1, 5, count, count)).astype(np.float32)
    weights = numbers.integers(-4, 5, (5, 8, size, size)).astype(np.float32)
    wanted = np.zeros((1, 8, n + 2 * padding, n + 2 * padding), np.float32)
    for a, b in np.ndindex(size, size):
        part = np.einsum("nohw,oc->nchw", upstream, weights[:, :, a, b])
        rows, columns = (slice(k, k + stride * count, stride) for k in (a, b))
        wanted[:, :, rows, columns] += part
    x, w, g = (
        Tensor(each, device="REF:vector")
        for each in (np.zeros((1, 8, n, n), np.float32), weights, upstream)
    )
    (found,) = x.conv2d(w, stride=stride, padding=padding).gradient(x, gradient=g)
    inside = slice(padding, padding + n)
    np.testing.assert_array_equal(found.numpy(), wanted[:, :, inside, inside])


def test_nine_of_sixteen_are_multiplied():
    """A tile of places of a step, each of their sums over four parts of a window."""
    program = program_of(slope(3, 2, 1, 32))
    tile = math.prod(opt.amount for opt in program.applied if opt.kind is OptKind.UPCAST)
    counted = Counter(node.op for node in program.uops)
    assert tile % 4 == 0 and counted[Ops.MULACC] == tile // 4 * 9


@pytest.mark.parametrize("device", ["REF:vector", None])
def test_zeros_of_padding_are_multiplied(device):
    """What is not finite times zero is NaN, as NumPy has it."""
    a = np.arange(36, dtype=np.float32).reshape(6, 6)
    b = np.where(a % 7 == 3, np.inf, a)
    x, y = Tensor(a, device=device), Tensor(b, device=device)
    pads = ((2, 0), (1, 0))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal((x.tril() @ y).numpy(), np.tril(a) @ b)
        wanted = np.pad(a[:, :1], pads) @ np.pad(b, ((0, 2), (0, 0)))[4:6]
        np.testing.assert_array_equal(
            (x[:, :1].pad(pads) @ y.pad(((0, 2), None))[4:6]).numpy(), wanted
        )
        wide = np.pad(a[:, :1], pads) @ np.broadcast_to(b[3:4], (2, 6))
        found = x[:, :1].pad(pads) @ y[3:4].expand(2, 6)
        np.testing.assert_array_equal(found.numpy(), wide)
