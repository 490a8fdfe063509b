"""The backward pass of a convolution: two sums with padding in between, or one."""

import numpy as np
import pytest

from helpers.graphs import buffer, kernels
from weft import Tensor
from weft.base.settings import settings
from weft.engine import stats
from weft.uop import Ops, to_text


def padded_sums(inner, outer):
    """Windows of three are summed where they came from, as the gradient of a pooled view is."""
    x = buffer(24).reshape((2, 4, 3)).reduce(inner, (0,)).reshape((4, 3))
    rims = x.pad(((1, 1), (0, 0))).reshape((2, 3, 3))
    return rims.reduce(outer, (1,))


def test_a_sum_of_a_padded_sum_is_one_sum(golden):
    texts = []
    for fused in (0, 2):
        with settings.override(FUSE_CONV_BW=fused, GROUP_KERNELS=0):
            asts = kernels(padded_sums(Ops.ADD, Ops.ADD))
        assert len(asts) == (1 if fused else 2)
        texts += [f"# FUSE_CONV_BW={fused}", *(to_text(ast) for ast in asts)]
    assert "\n".join(texts) == golden


@pytest.mark.parametrize("inner, outer", [(Ops.MAX, Ops.MAX), (Ops.ADD, Ops.MAX)])
def test_a_maximum_does_not_start_from_the_zeros_of_padding(inner, outer):
    with settings.override(FUSE_CONV_BW=2, GROUP_KERNELS=0):
        assert len(kernels(padded_sums(inner, outer))) == 2


@pytest.mark.parametrize("padding, stride", [(0, 1), (1, 1), (1, 2)])
def test_both_reduces_of_a_convolution_backwards_in_one_kernel(padding, stride):
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)
    w = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
    counts, values = [], []
    for fused in (0, 2):
        with settings.override(FUSE_CONV_BW=fused):
            image, weight = (Tensor(a, device="REF").realize().requires_grad_() for a in (x, w))
            y = image.conv2d(weight, padding=padding, stride=stride).relu()
            (y * y).sum().backward()
            before = stats.kernels
            y.realize(image.grad, weight.grad)
            counts.append(stats.kernels - before)
            values.append([t.numpy() for t in (y, image.grad, weight.grad)])
    assert counts[1] < counts[0] <= 5
    for a, b in zip(*values):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def gradients(size, inputs=3, outputs=4, **facts):
    """The kernels of the gradient of images of `size` by `size` under a convolution."""
    x = Tensor.empty(2, inputs, size, size, device="REF")
    w = Tensor.empty(outputs, inputs, 3, 3, device="REF")
    y = x.conv2d(w, **facts)
    return kernels(y.gradient(x, gradient=Tensor.empty(*y.shape, device="REF"))[0].uop)


def test_large_images_need_little_padding():
    with settings.override(FUSE_CONV_BW=1):
        assert len(gradients(32, padding=1)) == 1
        assert len(gradients(32, padding=1, stride=2)) == 1
        assert len(gradients(4)) > 1
        # what the gradient of padding cuts off is not computed, and so no reason against it
        assert len(gradients(4, padding=1)) == 1
    with settings.override(FUSE_CONV_BW=0):
        assert len(gradients(32, padding=1)) > 1


@pytest.mark.parametrize(("inputs", "outputs", "one"), [(16, 64, True), (3, 64, False)])
def test_a_third_more_zeros_are_added_for_many_channels(inputs, outputs, one):
    """Windows two apart: 16 places of 4 by 4 for 9 that there are."""
    with settings.override(FUSE_CONV_BW=1):
        found = gradients(32, inputs, outputs, padding=1, stride=2)
    assert (len(found) == 1) == one


def test_other_reductions_are_not_summed_across_memory():
    inner = buffer(64 * 64 * 3).reshape((64, 64, 3)).reduce(Ops.ADD, (0,)).reshape((64, 3))
    rims = inner.pad(((1, 1), (0, 0))).reshape((2, 33, 3)).reduce(Ops.ADD, (1,))
    with settings.override(GROUP_KERNELS=0, FUSE_CONV_BW=1):
        assert len(kernels(rims)) == 2
