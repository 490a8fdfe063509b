"""Remainders of floats against NumPy's, which are exact."""

import numpy as np
import pytest

import weft.array_api as xp
from weft.array_api.remainders import exact_remainder


def check(a, b):
    with np.errstate(all="ignore"):
        expected = np.remainder(a, b)
    got = exact_remainder(xp.asarray(a), xp.asarray(b)).numpy()
    np.testing.assert_array_equal(got, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(got)[zero], np.signbit(expected)[zero])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_of_any_size(dtype):
    rng = np.random.default_rng(4)
    wide = 30 if dtype == "float32" else 300
    a = rng.standard_normal(400) * 10.0 ** rng.uniform(-wide, wide, 400)
    b = rng.standard_normal(400) * 10.0 ** rng.uniform(-wide, wide, 400)
    check(a.astype(dtype), b.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ends_of_the_range(dtype):
    limits = np.finfo(dtype)
    edges = [0.0, 1.0, 1.5, limits.max, limits.tiny, limits.smallest_subnormal, np.inf, np.nan]
    edges = np.array([*edges, *(-x for x in edges)], dtype)
    a, b = np.meshgrid(edges, edges)
    check(np.ascontiguousarray(a), np.ascontiguousarray(b))


def test_halves_are_computed_wider():
    a, b = xp.asarray([1000.0], dtype=xp.float16), xp.asarray([0.3], dtype=xp.float16)
    got = exact_remainder(a, b)
    assert got.dtype is xp.float16
    expected = np.remainder(np.float32(1000), np.float32(np.float16(0.3)))
    assert got.item() == float(np.float16(expected))


def test_slopes():
    a = xp.asarray([7.5, -7.5]).requires_grad_()
    b = xp.asarray([2.0, 2.0]).requires_grad_()
    (a % b).sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]
    assert b.grad.tolist() == [-3.0, 4.0]
