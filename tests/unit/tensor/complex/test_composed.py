"""Functions that are composed of others, writes at indices, and the second names of parameters."""

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes

rng = np.random.default_rng(0)


def numbers(*shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


Z, W, V = numbers(3, 4), numbers(3, 4), numbers(4)
COUNTS, WEIGHTS = np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 2.0, 0.25])


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-12)


FUNCTIONS = {
    "positive": (lambda z, w: z.positive(), lambda z, w: z),
    "rsqrt": (lambda z, w: z.rsqrt(), lambda z, w: 1 / np.sqrt(z)),
    "float_power": (lambda z, w: z.float_power(2.5), lambda z, w: z**2.5),
    "sinc": (lambda z, w: z.sinc(), lambda z, w: np.sinc(z)),
    "lerp": (lambda z, w: z.lerp(w, 0.25), lambda z, w: z + (w - z) * 0.25),
    "logaddexp": (lambda z, w: z.logaddexp(w).exp(), lambda z, w: np.exp(z) + np.exp(w)),
    "dist": (lambda z, w: z.dist(w), lambda z, w: np.linalg.norm((z - w).ravel())),
    "sigmoid": (lambda z, w: z.sigmoid(), lambda z, w: 1 / (1 + np.exp(-z))),
    "silu": (lambda z, w: z.silu(), lambda z, w: z / (1 + np.exp(-z))),
    "softsign": (lambda z, w: z.softsign(), lambda z, w: z / (1 + abs(z))),
    "tanhshrink": (lambda z, w: z.tanhshrink(), lambda z, w: z - np.tanh(z)),
    "normalize": (
        lambda z, w: z.normalize(dim=1),
        lambda z, w: z / np.linalg.norm(z, axis=1, keepdims=True),
    ),
    "pairwise_distance": (
        lambda z, w: z.pairwise_distance(w),
        lambda z, w: np.linalg.norm(z - w + 1e-6, axis=-1),
    ),
    "cov": (lambda z, w: z.cov(), lambda z, w: np.cov(z)),
    "cov with weights": (
        lambda z, w: z.cov(0, Tensor(COUNTS), Tensor(WEIGHTS)),
        lambda z, w: np.cov(z, ddof=0, fweights=COUNTS, aweights=WEIGHTS),
    ),
    "corrcoef": (lambda z, w: z.corrcoef(), lambda z, w: np.corrcoef(z)),
    "var": (lambda z, w: z.var(dim=0, unbiased=False), lambda z, w: z.var(0)),
    "var of all": (lambda z, w: z.var(True), lambda z, w: z.var(ddof=1)),
    "var_mean": (lambda z, w: z.var_mean(1)[0], lambda z, w: z.var(1, ddof=1)),
    "mean of var_mean": (lambda z, w: z.var_mean(1)[1], lambda z, w: z.mean(1)),
    "std_mean": (lambda z, w: z.std_mean(1, True)[0], lambda z, w: z.std(1, ddof=1, keepdims=True)),
    "type_as": (lambda z, w: z.type_as(w), lambda z, w: z),
    "expand_dims": (lambda z, w: z.expand_dims(0), lambda z, w: z[None]),
    "pixel_shuffle": (
        lambda z, w: z.reshape(1, 4, 3, 1).pixel_shuffle(2).real,
        lambda z, w: Tensor(z.real).reshape(1, 4, 3, 1).pixel_shuffle(2).numpy(),
    ),
    "flip": (lambda z, w: z.flip(dims=(0,)), lambda z, w: z[::-1]),
    "sum": (lambda z, w: z.sum(dim=0, keepdims=True), lambda z, w: z.sum(0, keepdims=True)),
    "cumsum": (lambda z, w: z.cumsum(dim=1), lambda z, w: z.cumsum(1)),
    "cumprod": (lambda z, w: z.cumprod(dim=1), lambda z, w: z.cumprod(1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name):
    ours, numpy_form = FUNCTIONS[name]
    close(ours(Tensor(Z), Tensor(W)), numpy_form(Z, W))


def test_sums_along_no_axis_are_the_number_itself():
    z = Tensor(2 + 3j, dtype=dtypes.complex128)
    assert z.cumsum(0).item() == z.cumprod(0).item() == 2 + 3j


MASK = np.array([[True, False, True, False]] * 3)
ROWS = np.array([2, 0])


def _put(z, index, value):
    made = z.copy()
    made[index] = value
    return made


WRITES = {
    "masked_fill": (
        lambda z: z.masked_fill(Tensor(MASK), 1 - 2j),
        lambda z: np.where(MASK, 1 - 2j, z),
    ),
    "masked_scatter": (
        lambda z: z.masked_scatter(Tensor(MASK), Tensor(W)),
        lambda z: _put(z, MASK, W.ravel()[: MASK.sum()]),
    ),
    "index_fill": (lambda z: z.index_fill(0, Tensor(ROWS), 2j), lambda z: _put(z, ROWS, 2j)),
    "index_copy": (
        lambda z: z.index_copy(0, Tensor(ROWS), Tensor(W[:2])),
        lambda z: _put(z, ROWS, W[:2]),
    ),
    "index_add": (
        lambda z: z.index_add(0, Tensor(ROWS), Tensor(W[:2]), alpha=2),
        lambda z: _put(z, ROWS, z[ROWS] + 2 * W[:2]),
    ),
    "index_put": (
        lambda z: z.index_put((Tensor(ROWS),), Tensor(V)),
        lambda z: _put(z, ROWS, V),
    ),
    "scatter": (
        lambda z: z.scatter(0, Tensor([[1, 0, 2, 1]]), src=Tensor(V.reshape(1, 4))),
        lambda z: _put(z, (np.array([1, 0, 2, 1]), np.arange(4)), V),
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_at_indices(name):
    ours, numpy_form = WRITES[name]
    close(ours(Tensor(Z)), numpy_form(Z))


def test_scatter_refuses_products():
    with pytest.raises(weft.WeftError, match="scatter"):
        Tensor(Z).scatter(0, Tensor([[0, 0, 0, 0]]), Tensor(V.reshape(1, 4)), reduce="multiply")


def test_gradients_flow_through_a_composed_function():
    z = Tensor(Z, requires_grad=True)
    z.sigmoid().abs().sum().backward()
    step = 1e-6
    moved = [abs(1 / (1 + np.exp(-(Z + d)))).sum() for d in (step, -step)]
    assert abs(z.grad.real.numpy().sum() - (moved[0] - moved[1]) / (2 * step)) < 1e-6
