"""Indexing: what is refused, in words that people search for, and lists that hold tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Tensor

X = Tensor.arange(12).reshape(4, 3)


@pytest.mark.parametrize(
    "call, kind, said",
    [
        (lambda: X[1, 77, 77], IndexError, "too many"),
        (lambda: X[1, 3], IndexError, "out of bounds"),
        (lambda: X[1, -4], IndexError, "out of bounds"),
        (lambda: X[..., ...], IndexError, "single ellipsis"),
        (lambda: X[::0], ValueError, "step"),
        (lambda: X[1.5:2], TypeError, "integers"),
        (lambda: X[: Tensor([3])], TypeError, "integers"),
        (lambda: X[1.5], IndexError, "index"),
        (lambda: X["a"], IndexError, "index"),
        (lambda: Tensor(1)[0], IndexError, "too many"),
    ],
)
def test_what_is_refused(call: Callable[[], Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


def test_lists_of_tensors_index() -> None:
    assert X[[Tensor(1), 2]].tolist() == [[3, 4, 5], [6, 7, 8]]
    assert X[[Tensor([0]), Tensor([3])]].shape == (2, 1, 3)
