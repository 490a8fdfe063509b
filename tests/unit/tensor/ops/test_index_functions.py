"""Picking and putting: what is refused, and indices beyond the ends; values are compared with
PyTorch in tests/property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError, ShapeError

X = Tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: X.take(Tensor([0.5])), DTypeError),
        (lambda: X.take_along_dim(Tensor([0]), 0), ShapeError),
        (lambda: X.index_select(0, X.int()), ShapeError),
        (lambda: X.index_add(0, Tensor([0]), X), ShapeError),
        (lambda: X.index_copy(0, Tensor([0, 1]), X.int()), DTypeError),
        (lambda: X.put(Tensor([0]), Tensor([1.0, 2.0])), ShapeError),
        (lambda: X.scatter_add(0, Tensor([[0]]), Tensor([[1]])), DTypeError),
        (lambda: X.masked_scatter(X > 0, Tensor([1])), DTypeError),
        (lambda: X.select_scatter(X, 0, 0), ShapeError),
    ],
)
def test_invalid_arguments(call: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_places_are_counted_from_either_end() -> None:
    assert X.take(Tensor([-1, 0])).tolist() == [4.0, 1.0]
    assert X.index_fill(1, Tensor([-1]), 9).tolist() == [[1.0, 9.0], [3.0, 9.0]]
    assert X.select_scatter(Tensor([7.0, 8.0]), 0, -1).tolist() == [[1.0, 2.0], [7.0, 8.0]]


def test_self_is_unchanged() -> None:
    x = X.clone().realize()
    x.index_put((Tensor([0]),), Tensor([5.0, 5.0]))
    x.put(Tensor([0]), Tensor([5.0])).realize()
    assert x.tolist() == X.tolist()


def test_repeated_places() -> None:
    x = Tensor([0, 0])
    assert x.index_put((Tensor([1, 1]),), Tensor([2, 3])).tolist() == [0, 3]
    assert x.index_put((Tensor([1, 1]),), Tensor([2, 3]), accumulate=True).tolist() == [0, 5]


def test_triangles_without_elements() -> None:
    assert Tensor.triu_indices(2, 2, 5).shape == (2, 0)
    assert Tensor.tril_indices(3, 2, -1).tolist() == [[1, 2, 2], [0, 0, 1]]


def test_without_axes_there_is_one_element() -> None:
    x, at, new = Tensor(1.0), Tensor(0), Tensor(2.0)
    for i, s in ((at, new), (at.reshape(1), new), (at, new.reshape(1))):
        assert x.index_add(0, i, s, alpha=3).tolist() == 7.0
        assert x.index_copy(-1, i, s).tolist() == 2.0
        assert x.scatter_add(0, i, s).tolist() == 3.0
    with pytest.raises(ShapeError):
        x.index_add(0, at, Tensor([1.0, 2.0]))


def test_truths_stay_truths() -> None:
    x, at, new = Tensor([True, False]), Tensor([1, 1]), Tensor([True, True])
    for found in (x.index_add(0, at, new), x.put(at, new, True), x.scatter_add(0, at, new)):
        assert found.dtype is dtypes.bool and found.tolist() == [True, True]


def test_powers_of_every_row() -> None:
    assert X.vander(3, increasing=True).tolist() == [
        [[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]],
        [[1.0, 3.0, 9.0], [1.0, 4.0, 16.0]],
    ]
    assert X.vander(0).shape == (2, 2, 0)
