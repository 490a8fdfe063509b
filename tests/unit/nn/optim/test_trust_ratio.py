"""LARS and LAMB against their recurrences in NumPy float64."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.nn import optim
from weft.nn.optim.trust_ratio import trust_ratio

START = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]])
TARGET = np.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.0]])


def train(make, steps: int) -> np.ndarray:
    value = Tensor(START.copy(), dtype=dtypes.float64, requires_grad=True)
    optimiser, target = make([value]), Tensor(TARGET, dtype=dtypes.float64)
    with Tensor.train():
        for _ in range(steps):
            optimiser.zero_grad()
            ((value - target).square().sum() * 0.5).backward()
            optimiser.step()
    return value.numpy()


def norm(x: np.ndarray) -> float:
    return float(np.sqrt((x * x).sum()))


@pytest.mark.parametrize("classic", [True, False])
@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_lars(classic, nesterov, decay):
    value, velocity, rate, momentum, trust = START.copy(), np.zeros((2, 3)), 0.5, 0.9, 0.02
    for _ in range(4):
        g = value - TARGET
        ratio = trust * norm(value) / (norm(g) + decay * norm(value))
        step = (g + decay * value) * (ratio * rate if classic else 1)
        velocity = momentum * velocity + step
        change = step + momentum * velocity if nesterov else velocity
        value = value - (change if classic else change * ratio * rate)
    got = train(lambda p: optim.LARS(p, rate, momentum, decay, nesterov, classic, trust), 4)
    np.testing.assert_allclose(got, value, rtol=1e-9)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_lamb(decay):
    value, mean, square, rate = START.copy(), np.zeros((2, 3)), np.zeros((2, 3)), 0.05
    for t in range(1, 5):
        g = value - TARGET
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
        step = (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-6) + decay * value
        value = value - rate * norm(value) / norm(step) * step
    got = train(lambda p: optim.LAMB(p, rate, weight_decay=decay), 4)
    np.testing.assert_allclose(got, value, rtol=1e-9)


@pytest.mark.parametrize("value, change, expected", [([3.0, 4.0], [0.0, 2.0], 2.5),
                                                     ([0.0, 0.0], [1.0, 0.0], 1.0),
                                                     ([1.0, 0.0], [0.0, 0.0], 1.0)])  # fmt: skip
def test_a_layer_of_zeros_moves_at_the_plain_rate(value, change, expected):
    assert trust_ratio(Tensor(value), Tensor(change)).item() == expected


def test_lars_moves_a_layer_of_zeros_by_its_plain_gradient():
    value = Tensor([0.0, 0.0], requires_grad=True)
    optimiser = optim.LARS([value], lr=0.5, momentum=0.0, weight_decay=0.0)
    with Tensor.train():
        (value * Tensor([1.0, -2.0])).sum().backward()
        optimiser.step()
    assert value.tolist() == [-0.5, 1.0]


def test_decay_of_the_value_itself():
    value, velocity = START.copy(), np.zeros((2, 3))
    for _ in range(4):
        g = value - TARGET
        ratio = 0.02 * norm(value) / (norm(g) + 0.1 * norm(value))
        velocity = 0.9 * velocity + g * ratio * 0.5
        value = value * (1 - 0.1 * 0.5) - velocity
    got = train(lambda p: optim.LARS(p, 0.5, 0.9, 0.1, pre_wd=False, tcoef=0.02), 4)
    np.testing.assert_allclose(got, value, rtol=1e-9)


def test_without_the_ratio_they_are_their_plain_kin():
    plain = train(lambda p: optim.SGD(p, 0.05, 0.9, 0.1), 4)
    np.testing.assert_allclose(
        train(lambda p: optim.LARS(p, 0.05, 0.9, 0.1, tcoef=0), 4), plain, rtol=1e-9
    )
    plain = train(lambda p: optim.AdamW(p, 0.05, eps=1e-6, weight_decay=0.1), 4)
    kin = train(lambda p: optim.LAMB(p, 0.05, weight_decay=0.1, adam=True), 4)
    np.testing.assert_allclose(kin, plain, rtol=1e-9)
