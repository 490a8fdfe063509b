"""Derivatives in closed form: right at the ends of the range, and of any order."""

import math

import pytest

from weft import Tensor
from weft.autograd.derivatives import DERIVATIVES


def slope(name, value, *parameters):
    x = Tensor([value], requires_grad=True, dtype="double")
    return getattr(x, name)(*parameters).sum().gradient(x)[0].item()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("asin", 0.0, 1.0), ("atan", 0.0, 1.0), ("tanh", math.inf, 0.0), ("tanh", 0.0, 1.0),
        ("expm1", -math.inf, 0.0), ("elu", -math.inf, 0.0), ("log", 0.0, math.inf),
        ("atanh", 1.0, math.inf), ("acos", 1.0, -math.inf), ("sigmoid", -1e4, 0.0),
        ("softplus", -math.inf, 0.0), ("softplus", 1e4, 1.0), ("asinh", 0.0, 1.0),
    ],
)  # fmt: skip
def test_at_the_ends(name, value, expected):
    assert slope(name, value) == expected


@pytest.mark.parametrize("name", sorted(set(DERIVATIVES) - {"deviation", "power", "acosh", "flat"}))
def test_second_derivatives_are_those_of_differences(name):
    x, step = 0.4, 1e-6
    leaf = Tensor([x], requires_grad=True, dtype="double")
    first = getattr(leaf, name)().sum().gradient(leaf)[0]
    second = first.sum().gradient(leaf, materialize_grads=True)[0].item()
    ends = [slope(name, x + d) for d in (step, -step)]
    assert second == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-6)


def test_no_spread_has_no_slope():
    x = Tensor([2.0, 2.0, 2.0], requires_grad=True)
    assert x.std().gradient(x)[0].tolist() == [0.0, 0.0, 0.0]


def test_powers_of_zero():
    x = Tensor([-0.0, 2.0], requires_grad=True)
    assert (x**-2).sum().gradient(x)[0].tolist() == [math.inf, -0.25]
