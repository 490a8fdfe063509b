"""Muon: steps whose singular values are all near one."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError
from weft.nn import optim
from weft.nn.optim.muon import orthogonalised


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (8, 2)])
def test_singular_vectors_stay_and_singular_values_become_alike(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    got = orthogonalised(Tensor(x, dtype=dtypes.float64)).numpy()
    u, s, v = np.linalg.svd(x, full_matrices=False)
    inner = u.T @ got @ v.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-9)
    assert (0.6 < np.diag(inner)).all() and (np.diag(inner) < 1.3).all()
    assert s.max() / s.min() > 1.1


def reference(x, coefficients, steps):
    a, b, c = coefficients
    y = x if x.shape[0] <= x.shape[1] else x.T
    y = y / np.linalg.norm(y)
    for _ in range(steps):
        gram = y @ y.T
        y = a * y + (b * gram + c * gram @ gram) @ y
    return y if x.shape[0] <= x.shape[1] else y.T


@pytest.mark.parametrize("shape", [(2, 3), (4, 2), (2, 3, 2)])
@pytest.mark.parametrize("nesterov", [True, False])
def test_steps_against_numpy(shape, nesterov):
    source = np.random.default_rng(1)
    start, target = source.standard_normal(shape), source.standard_normal(shape)
    value, velocity, rate, decay, momentum = start.copy(), np.zeros(shape), 0.1, 0.2, 0.9
    for _ in range(3):
        g = value - target
        velocity = momentum * velocity + (1 - momentum) * g
        step = (1 - momentum) * g + momentum * velocity if nesterov else velocity
        flat = step.reshape(shape[0], -1)
        change = reference(flat, (3.4445, -4.775, 2.0315), 5).reshape(shape)
        change = change * max(1.0, flat.shape[0] / flat.shape[1]) ** 0.5
        value = value - rate * (change + decay * value)
    tensor = Tensor(start, dtype=dtypes.float64, requires_grad=True)
    muon = optim.Muon([tensor], rate, decay, momentum, nesterov)
    with Tensor.train():
        for _ in range(3):
            muon.zero_grad()
            ((tensor - Tensor(target, dtype=dtypes.float64)).square().sum() * 0.5).backward()
            muon.step()
    np.testing.assert_allclose(tensor.numpy(), value, rtol=1e-7)


def test_vectors_belong_elsewhere():
    with pytest.raises(ArgumentError, match="matrices"):
        optim.Muon([Tensor([1.0, 2.0], requires_grad=True)])


def test_coefficients_are_three():
    with pytest.raises(ArgumentError, match="three coefficients"):
        optim.Muon([Tensor.ones(2, 2)], ns_coefficients=(1.5, -0.5))
