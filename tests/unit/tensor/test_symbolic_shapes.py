"""Shapes that depend on a variable: one graph, several values."""

import os

import numpy as np
import pytest

from weft import Tensor, Variable
from weft.base.errors import ArgumentError, ShapeError

A = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_windows_that_are_reduced(n):
    bound = Variable("n", 1, 8).bind(n)
    x = Tensor(A)[:bound]
    assert (x * 2 + 1).sum().item() == (A[:n] * 2 + 1).sum()
    np.testing.assert_allclose(x.mean(0).numpy(), A[:n].mean(0))
    np.testing.assert_allclose(x.max(0).numpy(), A[:n].max(0))
    np.testing.assert_allclose((x.T @ x).numpy(), A[:n].T @ A[:n], rtol=1e-6)


def test_one_element():
    bound = Variable("i", 0, 7).bind(5)
    np.testing.assert_array_equal(Tensor(A)[bound].numpy(), A[5])
    assert (Tensor(bound) + 1).item() == 6


def test_operations_that_need_a_definite_shape():
    variable = Variable("n", 1, 8)
    with pytest.raises(ShapeError, match="definite"):
        Tensor(A)[:variable].numpy()
    with pytest.raises(ShapeError):
        Tensor.empty(variable.bind(2))
    with pytest.raises(ArgumentError):
        variable.bind(9)


@pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle does not run schedules"
)
def test_schedules_give_the_values_of_variables():
    variable = Variable("n", 1, 8)
    total = Tensor(A)[: variable.bind(4)].sum()
    with pytest.raises(ArgumentError, match="variables"):
        total.schedule()
    items, values = Tensor(A)[: variable.bind(4)].sum().schedule_with_vars()
    assert values == {variable: 4} and items
