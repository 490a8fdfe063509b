"""Gates and pooling to a size: what is refused, and slopes at the corners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, ShapeError

X = Tensor([[1.0, -2.0, 3.0]])


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: X.glu(), ShapeError),
        (lambda: X.prelu(Tensor([1.0, 2.0])), ShapeError),
        (lambda: X.softshrink(-1.0), ArgumentError),
        (lambda: X.adaptive_avg_pool2d((1, 1, 1)), ShapeError),
        (lambda: X.adaptive_max_pool2d(-1), ShapeError),
    ],
)
def test_invalid_arguments(call: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_weights_for_channels() -> None:
    assert X.prelu(Tensor([1.0, 0.5, 1.0])).tolist() == [[1.0, -1.0, 3.0]]


def test_windows_of_different_lengths() -> None:
    x = Tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
    assert x.adaptive_avg_pool2d((None, 3)).tolist() == [[[1.5, 3.0, 4.5]]]
    assert x.adaptive_max_pool2d((None, 7)).shape == (1, 1, 7)


def test_infinity_stays_in_its_window() -> None:
    x = Tensor([[[float("inf"), 2.0]]])
    assert x.adaptive_avg_pool2d((1, 2)).tolist() == [[[float("inf"), 2.0]]]
