"""More movement: what is refused, and that nothing is computed for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, ShapeError

X = Tensor.arange(6).reshape(2, 3)


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: X.movedim((0, 1), 0), ArgumentError),
        (lambda: X.movedim((0, 0), (0, 1)), ArgumentError),
        (lambda: X.rot90(1, (0, 0)), ArgumentError),
        (lambda: X.ravel().fliplr(), ShapeError),
        (lambda: Tensor(1).unbind(), ShapeError),
        (lambda: X.tensor_split(0), ArgumentError),
        (lambda: X.narrow(1, 2, 2), ShapeError),
        (lambda: X.pixel_shuffle(2), ShapeError),
        (lambda: X.reshape(1, 2, 3).pixel_shuffle(2), ShapeError),
        (lambda: X.reshape(1, 2, 3).pixel_unshuffle(2), ShapeError),
        (lambda: Tensor.hstack([]), ArgumentError),
        (lambda: Tensor.vstack([X], X), ArgumentError),
        (lambda: X.diagonal(0, 1, 1), ArgumentError),
        (lambda: X.ravel().diagonal(), ShapeError),
        (lambda: X.reshape(1, 2, 3).diag(), ShapeError),
    ],
)
def test_invalid_arguments(call: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_sequences_of_tensors_in_all_three_forms() -> None:
    rows = [Tensor([1, 2]), Tensor([3, 4])]
    for stacked in (Tensor.vstack(rows), Tensor.vstack(*rows), rows[0].vstack(rows[1:])):
        assert stacked.tolist() == [[1, 2], [3, 4]]


def test_four_quarters_are_a_turn() -> None:
    assert X.rot90(4).tolist() == X.tolist() == X.rot90(3).rot90(1).tolist()


def test_diagonals_of_every_number() -> None:
    assert [X.diagonal(k).tolist() for k in range(-2, 4)] == [
        [], [3], [0, 4], [1, 5], [2], [],
    ]  # fmt: skip
    assert Tensor([5]).diag(-1).tolist() == [[0, 0], [5, 0]]


def test_views_stay_views() -> None:
    base = Tensor.arange(6).contiguous().realize()
    for moved in (base.reshape(2, 3).rot90(2), base.narrow(0, 1, 2), base.select(0, 1)):
        assert moved.uop.base is base.uop.base
