"""How first weights are drawn: shapes, bounds, spread."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import ArgumentError
from weft.nn import init


def test_fans_of_matrices_and_kernels() -> None:
    assert init.fans((10, 20)) == (20, 10)
    assert init.fans((16, 3, 5, 5)) == (75, 400)


def test_a_vector_has_no_fans() -> None:
    with pytest.raises(ArgumentError) as caught:
        init.fans((10,))
    assert "(10,)" in caught.value.asked


@pytest.mark.parametrize(
    ("draw", "bound"),
    [
        (lambda: init.uniform(64, 50, bound=0.3), 0.3),
        (lambda: init.fan_in_uniform(64, 50, fan_in=50), 1 / np.sqrt(50)),
        (lambda: init.glorot_uniform(64, 50), np.sqrt(6 / 114)),
        (lambda: init.kaiming_uniform(64, 50), np.sqrt(6 / 50)),
    ],
)
def test_uniform_draws_fill_their_interval(draw, bound: float) -> None:
    Tensor.manual_seed(1)
    values = draw().numpy()
    assert values.shape == (64, 50)
    assert np.abs(values).max() <= bound
    assert values.max() > 0.95 * bound
    assert values.min() < -0.95 * bound
    assert abs(values.mean()) < 0.05 * bound


def test_kaiming_normal_has_the_published_deviation() -> None:
    Tensor.manual_seed(1)
    values = init.kaiming_normal(64, 100, negative_slope=0.5).numpy()
    assert values.std() == pytest.approx(np.sqrt(2 / 1.25 / 100), rel=0.05)


def test_a_layer_without_inputs_can_be_made() -> None:
    assert init.fan_in_uniform(3, 0, fan_in=0).shape == (3, 0)
