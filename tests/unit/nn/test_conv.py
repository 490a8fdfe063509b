"""Convolution modules against a direct sum in NumPy."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import Conv1d, Conv2d


def direct(x, weight, bias, stride, padding, dilation, groups):
    """Convolution of (n, c, h, w) written as its definition."""
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    n, _, height, width = x.shape
    outputs, per_group, kh, kw = weight.shape
    rows = (height - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    columns = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    result = np.zeros((n, outputs, rows, columns), dtype=np.float64)
    for o in range(outputs):
        first = o // (outputs // groups) * per_group
        for i in range(kh):
            for j in range(kw):
                top, left = i * dilation[0], j * dilation[1]
                window = x[
                    :,
                    first : first + per_group,
                    top : top + (rows - 1) * stride[0] + 1 : stride[0],
                    left : left + (columns - 1) * stride[1] + 1 : stride[1],
                ]
                result[:, o] += np.einsum("nchw,c->nhw", window, weight[o, :, i, j])
    return result + bias.reshape(1, -1, 1, 1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": 2},
        {"padding": 1},
        {"padding": (0, 2), "stride": (2, 1)},
        {"dilation": 2},
        {"groups": 2},
        {"groups": 4, "padding": 1},
        {"padding": "same"},
        {"padding": "valid"},
    ],
)
def test_conv2d(options: dict) -> None:
    layer = Conv2d(4, 8, 3, **options)
    x = np.random.default_rng(0).standard_normal((2, 4, 7, 6), dtype=np.float32)
    expected = direct(
        x,
        layer.weight.numpy(),
        layer.bias.numpy(),
        layer.stride,
        layer.padding,
        layer.dilation,
        layer.groups,
    )
    result = layer(Tensor(x)).numpy()
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_conv1d_is_conv2d_of_height_one() -> None:
    layer = Conv1d(3, 5, 3, stride=2, padding=1)
    x = np.random.default_rng(0).standard_normal((2, 3, 9), dtype=np.float32)
    expected = direct(
        x[:, :, None],
        layer.weight.numpy()[:, :, None],
        layer.bias.numpy(),
        (1, 2),
        (0, 1),
        (1, 1),
        1,
    )[:, :, 0]
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_same_padding_keeps_the_size() -> None:
    assert Conv2d(1, 1, 5, padding="same", dilation=2).padding == (4, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"groups": 3},
        {"groups": 0},
        {"stride": (1, 2, 3)},
        {"padding": "same", "stride": 2},
        {"padding": "reflect"},
        {"padding_mode": "mirror"},
    ],
)
def test_arguments_that_make_no_sense_are_refused(options: dict) -> None:
    with pytest.raises(ArgumentError) as caught:
        Conv2d(4, 8, 3, **options)
    assert caught.value.because and caught.value.try_


def test_same_padding_of_an_even_kernel_has_its_larger_part_behind() -> None:
    layer = Conv2d(1, 1, (2, 3), padding="same", dilation=(3, 1))
    assert layer.padding == ((1, 2), (1, 1))
    assert layer(Tensor.ones(1, 1, 5, 4)).shape == (1, 1, 5, 4)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_with_values_near_the_edge(mode: str) -> None:
    layer = Conv2d(2, 3, 3, padding=(2, 1), padding_mode=mode)
    x = np.random.default_rng(1).standard_normal((1, 2, 4, 5)).astype(np.float32)
    how = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    wide = np.pad(x, ((0, 0), (0, 0), (2, 2), (1, 1)), how)
    plain = direct(wide, layer.weight.numpy(), layer.bias.numpy(), (1, 1), (0, 0), (1, 1), 1)
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"])
def test_one_input_without_a_batch(name: str) -> None:
    layer = getattr(nn, name)(2, 3, 2)
    x = Tensor.randn(2, *(3, 4, 5)[: layer.axes])
    alone, batched = layer(x), layer(x.unsqueeze(0))
    np.testing.assert_array_equal(alone.numpy(), batched.numpy()[0])


@pytest.mark.parametrize(
    "options",
    [{"output_padding": 2, "stride": 2}, {"output_padding": -1}, {"padding": "same"}, {"bias": 1}],
)
def test_transposes_that_make_no_sense_are_refused(options: dict) -> None:
    with pytest.raises(ArgumentError) as caught:
        nn.ConvTranspose2d(4, 4, 3, **options)
    assert caught.value.because and caught.value.try_


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("more", [
    {}, {"stride": 2, "output_padding": 1}, {"groups": 2, "padding": 1},
    {"dilation": 2, "bias": False},
], ids=str)  # fmt: skip
def test_transposed_convolutions_are_gradients(axes: int, more: dict) -> None:
    """Without a bias the layer is the gradient of the convolution that it transposes."""
    layer = getattr(nn, f"ConvTranspose{axes}d")(4, 6, 3, **more)
    x = Tensor.randn(2, 4, *(3 + n for n in range(axes)))
    y = layer(x)
    through = Tensor.zeros(*y.shape).contiguous().requires_grad_(True)
    settings = {"groups": layer.groups, "stride": layer.stride, "dilation": layer.dilation}
    forward = through.conv2d(layer.weight, padding=layer.padding, **settings)
    (forward * x).sum().backward()
    bias = 0 if layer.bias is None else layer.bias.numpy().reshape(-1, *[1] * axes)
    np.testing.assert_allclose(y.numpy(), through.grad.numpy() + bias, rtol=1e-4, atol=1e-5)


def test_three_spatial_axes() -> None:
    layer, x = nn.Conv3d(2, 3, 2, padding=1), Tensor.randn(1, 2, 3, 4, 5)
    flat = x.numpy()
    padded = np.pad(flat, ((0, 0), (0, 0), *[(1, 1)] * 3))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 2, 2), (2, 3, 4))
    expected = np.einsum("bcxyzijk,ocijk->boxyz", windows, layer.weight.numpy())
    expected += layer.bias.numpy().reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_transposed_convolution_of_a_requested_size() -> None:
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    x = Tensor.ones(1, 2, 4, 4)
    assert layer(x).shape == (1, 3, 7, 7)
    assert layer(x, output_size=[8, 7]).shape == (1, 3, 8, 7)
    assert layer(input=x[0], output_size=(1, 3, 8, 8)).shape == (3, 8, 8)
    with pytest.raises(ShapeError, match="lead back"):
        layer(x, output_size=[9, 7])
    with pytest.raises(ArgumentError, match="padding_mode"):
        nn.ConvTranspose1d(2, 3, 3, padding_mode="reflect")
