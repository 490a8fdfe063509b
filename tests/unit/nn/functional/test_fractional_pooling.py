"""Maxima over windows at drawn positions, compared with PyTorch for the same draws."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional import fractional_pooling

CHANCE = np.random.default_rng(0)
CASES = [
    (2, 2, {"output_size": 3}), (2, (3, 2), {"output_ratio": (0.5, 0.6)}),
    (2, 3, {"output_size": (1, 4)}), (3, 2, {"output_size": (2, 3, 1)}),
    (3, (1, 2, 2), {"output_ratio": 0.6}),
]  # fmt: skip


@pytest.mark.parametrize(("axes", "kernel", "how"), CASES, ids=str)
def test_values_places_and_gradients_are_pytorchs(axes: int, kernel: object, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x, draws = CHANCE.standard_normal((2, 3, *(6, 7, 5)[:axes])), CHANCE.uniform(size=(2, 3, axes))
    name = f"fractional_max_pool{axes}d"

    def computed(function, make):
        given = make(x, requires_grad=True)
        values, places = function(
            given, kernel, **how, return_indices=True, _random_samples=make(draws)
        )
        values.square().sum().backward()
        return values.detach(), places, given.grad

    expected = computed(getattr(torch.nn.functional, name), torch.tensor)
    for one, other in zip(
        computed(getattr(fractional_pooling, name), Tensor), expected, strict=True
    ):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_positions_are_drawn() -> None:
    image = Tensor.arange(49.0).reshape(1, 7, 7)
    pool = nn.FractionalMaxPool2d(2, output_size=4, return_indices=True)
    values, places = pool(image)
    assert values.shape == (1, 4, 4) and values.tolist() == places.float().tolist()
    assert nn.FractionalMaxPool3d(2, output_ratio=0.5)(Tensor.ones(1, 4, 4, 4)).shape == (
        1,
        2,
        2,
        2,
    )


def test_invalid_arguments() -> None:
    with pytest.raises(ArgumentError, match="one of output_size"):
        fractional_pooling.fractional_max_pool2d(Tensor.ones(1, 4, 4), 2)
    with pytest.raises(ShapeError, match="do not fit"):
        fractional_pooling.fractional_max_pool2d(Tensor.ones(1, 4, 4), 3, 3)
