"""Resizing and pooling at the ends of what they take."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import UnknownChoice
from weft.codegen.indexing import one_hot_gather, scatter_add
from weft.codegen.lowering import lowerer
from weft.device.capabilities import Target
from weft.testing.reference import KINDS
from weft.uop import GroupOp, Ops


def test_whole_numbers_are_blended_and_rounded() -> None:
    x = Tensor([[0, 255]], dtype="uint8")
    assert x.interpolate((4,)).tolist() == [[0, 64, 191, 255]]
    assert x.interpolate((4,), mode="nearest").dtype is dtypes.uint8


def test_double_is_resized_in_double() -> None:
    x = Tensor([0.0, 1.0], dtype="double").interpolate((7,), align_corners=True)
    assert x.tolist() == pytest.approx([i / 6 for i in range(7)], abs=1e-15)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_whole_multiples_are_repeated_in_one_kernel(mode: str) -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x.interpolate((4, 6), mode=mode)
    assert y.tolist() == [[1.0] * 3 + [2.0] * 3] * 2 + [[3.0] * 3 + [4.0] * 3] * 2
    (slope,) = y.gradient(x, gradient=Tensor.arange(24.0).reshape(4, 6))
    assert slope.tolist() == [[24.0, 42.0], [96.0, 114.0]]
    assert x.interpolate((3, 2), mode=mode).tolist() == [[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]] or (
        mode == "nearest-exact"
    )


@pytest.mark.parametrize("size", [700, 170])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_the_gradient_of_resizing_adds_each_element_at_its_place(mode: str, size: int) -> None:
    """And has no select per element and output."""
    weights = Tensor.eye(300).interpolate((size,), mode=mode).numpy()
    upstream = np.random.default_rng(0).standard_normal((3, size)).astype(np.float32)

    def slope(device: str | None = None) -> Tensor:
        x = Tensor.zeros(3, 300, device=device).contiguous().realize().requires_grad_(True)
        given = Tensor(upstream, device=device)
        return x.interpolate((size,), mode=mode).gradient(x, gradient=given)[0]

    np.testing.assert_allclose(slope().numpy(), upstream @ weights.T, atol=1e-5)
    target = Target(KINDS["vector"], GroupOp.ALU, None, "py", "vector")
    # devices that launch grids cut long sums first
    items = [item for item in slope("REF").schedule() if item.ast.op is Ops.SINK]
    kernels = [scatter_add.run(one_hot_gather.run(lowerer.run(item.ast)), target) for item in items]
    fills = [u for kernel in kernels for u in kernel.toposort() if u.op is Ops.FILL]
    assert any(map(scatter_add.accumulates, fills))


def test_requires_grad_of_a_transposed_convolution() -> None:
    x, w = Tensor.ones(1, 2, 3, 3), Tensor.ones(2, 1, 3, 3, requires_grad=True)
    wanted = x.conv_transpose2d(w, stride=2)
    assert wanted.requires_grad and not wanted.is_leaf
    with Tensor.no_grad():
        plain = x.conv_transpose2d(w, stride=2)
    assert not plain.requires_grad and plain.tolist() == wanted.tolist()
    assert x.half().conv_transpose2d(w.half(), stride=2).dtype is dtypes.half
    (slope,) = wanted.sum().gradient(w)
    assert slope.tolist() == Tensor.full((2, 1, 3, 3), 9.0).tolist()


def test_an_unknown_mode() -> None:
    with pytest.raises(UnknownChoice):
        Tensor([[1.0]]).interpolate((2,), mode="cubic")


def test_images_change_no_value() -> None:
    x, w = Tensor.rand(1, 2, 5, 5), Tensor.rand(3, 2, 3, 3)
    assert x.image_conv2d(w, padding=1).tolist() == x.conv2d(w, padding=1).tolist()
    assert x.image_dot(w[0, 0, :, 0].pad(((0, 2),))).shape == (1, 2, 5)


def test_averages_of_short_floats_do_not_overflow_on_the_way() -> None:
    x = Tensor.full((1, 1, 16, 16), 1000.0, dtype="half")
    for pooled in (x.avg_pool2d(16), x.avg_pool2d(16, count_include_pad=False)):
        assert pooled.item() == 1000.0 and pooled.dtype is dtypes.float16
    assert x.adaptive_avg_pool2d(1).item() == 1000.0


@pytest.mark.parametrize(("padding", "left"), [((2, 0), 1.0), ((0, 2), 11.0)])
def test_a_transposed_convolution_with_padding_larger_than_the_axis(padding, left) -> None:
    """An element, two zeros of output_padding, and two of the three cut off."""
    x, w = Tensor([[[5.0]]]), Tensor([[[2.0]]])
    y = x.conv_transpose2d(w, Tensor([1.0]), dilation=2, stride=3, padding=[padding],
                           output_padding=2)  # fmt: skip
    assert y.tolist() == [[[left]]]


def test_the_average_of_no_element_is_nan() -> None:
    """Every place of the first and the last window is padding that does not count."""
    y = Tensor([[[3.0]]]).avg_pool2d((2,), 1, 2, 1, count_include_pad=False)
    assert y.isnan().tolist() == [[[True]]]
