"""Products by name: the shapes that they refuse; values are compared with PyTorch in
tests/property."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, ShapeError

A, V = Tensor.ones(2, 3), Tensor.ones(3)


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: A.mm(V), ShapeError),
        (lambda: A.bmm(A), ShapeError),
        (lambda: Tensor.ones(2, 1, 3).bmm(Tensor.ones(1, 3, 1)), ShapeError),
        (lambda: A.mv(A), ShapeError),
        (lambda: A.addr(A, V), ShapeError),
        (lambda: V.vdot(A), ShapeError),
        (lambda: A.matrix_power(2), ShapeError),
        (lambda: V.trace(), ShapeError),
        (lambda: A.cross(A, 0), ShapeError),
        (lambda: A.vecdot(Tensor.ones(2, 2)), ShapeError),
        (lambda: A.tensordot(A, 1), ShapeError),
        (lambda: A.tensordot(A, 3), ArgumentError),
    ],
)
def test_invalid_arguments(call: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_unused_terms_may_be_nan() -> None:
    x = Tensor([[math.nan]])
    assert x.addmm(Tensor([[2.0]]), Tensor([[3.0]]), beta=0).tolist() == [[6.0]]


def test_powers_below_zero_are_of_the_inverse() -> None:
    assert Tensor([[2.0]]).matrix_power(-2).tolist() == [[0.25]]
    assert Tensor([[2, 0], [0, 3]]).matrix_power(0).tolist() == [[1, 0], [0, 1]]


def test_products_of_numbers() -> None:
    assert Tensor(3).inner(Tensor([1, 2])).tolist() == [3, 6]
    assert Tensor(3).kron(Tensor([[1, 2]])).tolist() == [[3, 6]]
    assert Tensor([1, 2]).tensordot(Tensor([3]), 0).tolist() == [[3], [6]]
