"""Normalisations against NumPy."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import (
    BatchNorm,
    BatchNorm2d,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LayerNorm2d,
    RMSNorm,
    functional,
)


def sample(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32) * 3 + 1


def normalised(x: np.ndarray, axes: tuple[int, ...], eps: float) -> np.ndarray:
    mean = x.mean(axes, keepdims=True, dtype=np.float64)
    return (x - mean) / np.sqrt(x.var(axes, keepdims=True, dtype=np.float64) + eps)


def close(result: Tensor, expected: np.ndarray) -> None:
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)


def set_affine(layer, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    weight, bias = sample(*shape), sample(*shape)[::-1].copy()
    layer.weight, layer.bias = Tensor(weight), Tensor(bias)
    return weight, bias


def test_batch_norm_uses_the_batch_in_training_and_follows_it() -> None:
    layer, x = BatchNorm(3, momentum=0.25), sample(4, 3, 5, 5)
    with Tensor.train():
        close(layer(Tensor(x)), normalised(x, (0, 2, 3), 1e-5))
    close(layer.running_mean, 0.25 * x.mean((0, 2, 3)))
    close(layer.running_var, 0.75 + 0.25 * x.var((0, 2, 3), ddof=1))
    assert layer.num_batches_tracked.item() == 1


def test_batch_norm_uses_running_statistics_afterwards() -> None:
    layer, x = BatchNorm2d(2), sample(3, 2, 4, 4)
    mean, variance = np.float32([1, -1]), np.float32([4, 9])
    layer.running_mean, layer.running_var = Tensor(mean), Tensor(variance)
    weight, bias = set_affine(layer, (2,))
    shape = (1, 2, 1, 1)
    expected = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + 1e-5)
    close(layer(Tensor(x)), expected * weight.reshape(shape) + bias.reshape(shape))
    close(layer.running_mean, mean)


def test_batch_norm_without_running_statistics_always_uses_the_batch() -> None:
    layer, x = BatchNorm(3, track_running_stats=False, affine=False), sample(6, 3)
    close(layer(Tensor(x)), normalised(x, (0,), 1e-5))
    assert layer.running_mean is None and layer.weight is None


def test_batch_norm_in_training_passes_no_gradient_of_constants() -> None:
    layer, x = BatchNorm(2, affine=False), Tensor(sample(5, 2), requires_grad=True)
    with Tensor.train():
        layer(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.zeros((5, 2)), atol=1e-5)


def test_group_norm() -> None:
    layer, x = GroupNorm(2, 6), sample(2, 6, 3, 4)
    weight, bias = set_affine(layer, (6,))
    expected = normalised(x.reshape(2, 2, 36), (2,), 1e-5).reshape(x.shape)
    shape = (1, 6, 1, 1)
    close(layer(Tensor(x)), expected * weight.reshape(shape) + bias.reshape(shape))


def test_instance_norm() -> None:
    x = sample(2, 3, 7)
    close(InstanceNorm(3, affine=False)(Tensor(x)), normalised(x, (2,), 1e-5))


@pytest.mark.parametrize("shape", [(5,), (3, 5)])
def test_layer_norm(shape: tuple[int, ...]) -> None:
    layer, x = LayerNorm(shape), sample(2, 3, 5)
    weight, bias = set_affine(layer, shape)
    axes = tuple(range(3 - len(shape), 3))
    close(layer(Tensor(x)), normalised(x, axes, 1e-5) * weight + bias)


def test_layer_norm_takes_one_number_as_a_shape() -> None:
    x = sample(2, 5)
    close(LayerNorm(5, elementwise_affine=False)(Tensor(x)), normalised(x, (1,), 1e-5))


def test_layer_norm_over_channels() -> None:
    x = sample(2, 4, 3, 3)
    close(LayerNorm2d(4)(Tensor(x)), normalised(x, (1,), 1e-5))


def test_rms_norm() -> None:
    layer, x = RMSNorm(6), sample(3, 6)
    weight = sample(6)
    layer.weight = Tensor(weight)
    close(layer(Tensor(x)), x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight)


def test_statistics_of_halves_do_not_overflow() -> None:
    x = np.float16([[300, -300, 600, -600]])
    result = LayerNorm(4, elementwise_affine=False)(Tensor(x, dtype=dtypes.half))
    assert result.dtype is dtypes.half
    np.testing.assert_allclose(
        result.float().numpy(), normalised(x.astype(np.float64), (1,), 1e-5), atol=2e-3
    )


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(BatchNorm(3), (2, 4)), (GroupNorm(1, 3), (3,)), (LayerNorm((2, 3)), (3,))],
)
def test_wrong_shapes_are_refused(layer, shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError) as caught:
        layer(Tensor.zeros(*shape))
    assert str(shape) in caught.value.asked


def test_groups_must_divide_channels() -> None:
    with pytest.raises(ArgumentError):
        GroupNorm(4, 6)


def test_integers_are_normalised_as_floats():
    x = Tensor([[[1, 2, 3, 4]]])
    one = Tensor([1.0])
    results = [
        functional.layer_norm(x, (4,)),
        functional.rms_norm(x, (4,)),
        functional.group_norm(x, 1),
        functional.instance_norm(x),
        functional.batch_norm(x, one, one),
        LayerNorm(4, elementwise_affine=False)(x),
    ]
    for result in results:
        assert result.dtype is dtypes.float32 and result.tolist()[0][0][3] not in (0, 1)
