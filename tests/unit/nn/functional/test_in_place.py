"""Activations that write into their input: values and gradients."""

import numpy as np
import pytest

from weft import Tensor
from weft.nn.functional import activations, in_place

X = np.array([-2.0, -0.25, 0.5, 3.0], np.float32)
CASES = [
    ("relu_", ()), ("elu_", (0.5,)), ("celu_", (0.5,)), ("selu_", ()), ("hardtanh_", (-1.0, 0.75)),
    ("leaky_relu_", (0.1,)), ("threshold_", (0.1, 7.0)), ("rrelu_", (0.25, 0.75)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), CASES)
def test_the_input_has_the_result(name: str, args: tuple) -> None:
    leaf, other = Tensor(X, requires_grad=True), Tensor(X, requires_grad=True)
    x = leaf * 1.0
    assert getattr(in_place, name)(x, *args) is x
    expected = getattr(activations, name.removesuffix("_"))(other, *args)
    np.testing.assert_allclose(x.numpy(), expected.numpy())
    x.square().sum().backward()
    expected.square().sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), other.grad.numpy())


def test_each_has_its_case() -> None:
    assert sorted(in_place.__all__) == sorted(name for name, _ in CASES)
