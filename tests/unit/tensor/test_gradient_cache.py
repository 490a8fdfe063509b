"""Cached gradients are the derived ones, for graphs that differ in what rules look at."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from weft import Tensor, settings
from weft.autograd import Function
from weft.tensor import gradient_cache

CALLS = 4


@pytest.fixture
def instantiated(monkeypatch):
    """How often cached gradients were instantiated."""
    found = []
    instantiate = gradient_cache._Gradients.instantiate

    def noted(gradients, nodes):
        found.append(gradients)
        return instantiate(gradients, nodes)

    monkeypatch.setattr(gradient_cache._Gradients, "instantiate", noted)
    return found


def leaf(seed, *shape):
    values = np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(np.float32)
    return Tensor(values, requires_grad=True).realize()


PROGRAMS = {
    "product": lambda x, y: (x @ y.transpose(0, 1)).sum(),
    "norm": lambda x, y: (x - x.mean(1, keepdim=True)).square().mean() + y.exp().sum(),
    "maximum": lambda x, y: x.maximum(y).max(0).sum(),
    "gathered": lambda x, y: x[Tensor([1, 0, 1])].sum() * y.sum(),
    "padded": lambda x, y: x.pad(((1, 1), (0, 2))).square().sum() + y.abs().sum(),
    "one leaf twice": lambda x, y: (x * x * x).sum() + (x * y).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_graphs_have_equal_gradients(name, instantiated):
    program = PROGRAMS[name]
    with settings.override(TRACING_CACHE=2):  # raises if they differ
        for seed in range(CALLS):
            x, y = leaf(seed, 3, 4), leaf(seed + 9, 3, 4)
            program(x, y).backward()
    assert instantiated, "no cached gradient was used"
    with settings.override(TRACING_CACHE=0):
        other, another = leaf(seed, 3, 4), leaf(seed + 9, 3, 4)
        program(other, another).backward()
    np.testing.assert_array_equal(x.grad.numpy(), other.grad.numpy())
    np.testing.assert_array_equal(y.grad.numpy(), another.grad.numpy())


def test_exponents_are_told_apart():
    for _ in range(CALLS):
        for exponent in (2, 3, 4.5):
            x = leaf(0, 5)
            (x**exponent).sum().backward()
            expected = exponent * x.numpy() ** (exponent - 1)
            np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


def test_targets_and_their_order():
    for _ in range(CALLS):
        x, y = leaf(0, 3), leaf(1, 3)
        product = (x * y).sum()
        for targets, expected in (((x, y), (y, x)), ((y, x), (x, y)), ((x,), (y,)), ((y,), (x,))):
            for found, value in zip(product.gradient(*targets), expected):
                np.testing.assert_array_equal(found.numpy(), value.numpy())


def test_upstream_gradients():
    for seed in range(CALLS):
        x = leaf(seed, 3)
        upstream = leaf(seed + 5, 3).detach()
        (x * x).backward(upstream)
        np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy() * upstream.numpy(), rtol=1e-6)


def test_realized_values_below_the_root():
    for seed in range(CALLS):
        x = leaf(seed, 4)
        y = x.exp()
        y.realize()
        (y * y).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(2 * x.numpy()), rtol=1e-5)


def test_custom_functions_run_at_each_call():
    calls = []

    class Doubled(Function):
        @staticmethod
        def forward(context, x):
            return x * 2

        @staticmethod
        def backward(context, upstream):
            calls.append(len(calls))
            return upstream * 2

    for seed in range(CALLS):
        x = leaf(seed, 3)
        Doubled.apply(x).sum().backward()
        assert x.grad.tolist() == [2.0] * 3
    assert len(calls) == CALLS


def test_hooks_see_each_gradient():
    seen = []
    for seed in range(CALLS):
        x = leaf(seed, 3)
        x.register_hook(lambda gradient: seen.append(gradient.shape))
        (x * x).sum().backward()
    assert seen == [(3,)] * CALLS


def test_second_derivatives():
    for seed in range(CALLS):
        x = leaf(seed, 3)
        (first,) = (x**3).sum().gradient(x)
        (second,) = first.sum().gradient(x)
        np.testing.assert_allclose(second.numpy(), 6 * x.numpy(), rtol=1e-5)


def test_accumulated_gradients_and_written_leaves():
    x = leaf(0, 3)
    before = x.numpy()
    for _ in range(CALLS):
        (x * x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), CALLS * 2 * before, rtol=1e-6)
    for step in range(CALLS):
        x.grad = None
        with Tensor.no_grad():
            x *= 0.5
        (x * x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * before * 0.5 ** (step + 1), rtol=1e-6)


def test_gradients_have_the_line_of_each_call():
    for _ in range(CALLS):
        x = leaf(0, 3)
        y, here = x.exp(), inspect.currentframe().f_lineno
        y.sum().backward()
        marks = [n.meta for n in x.grad.uop.toposort() if n.meta is not None and n.meta.backward]
        assert here in {mark.where[1] for mark in marks}
