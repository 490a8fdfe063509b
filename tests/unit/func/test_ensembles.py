"""Stacked parameters of equal models."""

import numpy as np
import pytest

import weft
from weft import Tensor, func, nn
from weft.base.errors import ArgumentError, ShapeError


def test_an_ensemble_of_linear_layers():
    models = [nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = func.stack_module_state(models)
    x = Tensor(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
    base = nn.Linear(3, 2)
    call = weft.vmap(lambda p, x: func.functional_call(base, p, (x,)), (0, None))
    found = call(parameters, x)
    for number, model in enumerate(models):
        np.testing.assert_allclose(found.numpy()[number], model(x).numpy(), rtol=1e-5, atol=1e-6)
    assert all(each.requires_grad for each in parameters.values()) and buffers == {}


def test_buffers():
    _, buffers = func.stack_module_state([nn.BatchNorm1d(3) for _ in range(2)])
    assert buffers["running_mean"].shape == (2, 3)


@pytest.mark.parametrize(
    ("error", "models"),
    [
        (ArgumentError, list),
        (ArgumentError, lambda: [3]),
        (ArgumentError, lambda: [nn.Linear(2, 2), nn.Linear(2, 2, bias=False)]),
        (ShapeError, lambda: [nn.Linear(2, 2), nn.Linear(2, 3)]),
    ],
)
def test_refusals(error, models):
    with pytest.raises(error):
        func.stack_module_state(models())
