"""Indexing: what is refused, in words that people search for, and lists that hold tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit

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
def test_invalid_arguments(call: Callable[[], Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call()


def test_lists_of_tensors_index() -> None:
    assert X[[Tensor(1), 2]].tolist() == [[3, 4, 5], [6, 7, 8]]
    assert X[[Tensor([0]), Tensor([3])]].shape == (2, 1, 3)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("make", [bool, np.bool_, np.array, Tensor])
def test_masks_without_axes(make: Callable[[bool], Any], flag: bool) -> None:
    a = np.arange(12).reshape(4, 3)
    x, mask = Tensor(a), make(flag)
    a = a.copy()
    assert x[mask].shape == a[flag].shape and x[1:, mask].shape == a[1:, flag].shape
    for index, by, value in (
        ((mask,), (flag,), 7),
        ((slice(1, 3), mask), (slice(1, 3), flag), [[5, 6, 7]]),
        ((..., mask), (..., flag), [[[1]]]),
    ):
        x[index] = value
        a[by] = value
        assert x.tolist() == a.tolist()


def test_a_captured_function_writes_where_a_tensor_without_axes_holds() -> None:
    @jit
    def step(x: Tensor, value: Tensor) -> Tensor:
        x[x.sum() > 3] = value
        return x * 1

    found = [step(Tensor([n, 1]), Tensor([[8, 9]])).tolist() for n in range(5)]
    assert found == [[0, 1], [1, 1], [2, 1], [8, 9], [8, 9]] and step.replays == 3


@pytest.mark.parametrize(
    "index",
    [(False, [5]), (slice(None), [[7]], False), ([], [[9]]), (np.zeros((0, 1), int), [9])],
)
def test_index_tensors_that_pick_nothing_together_do_not_leave_their_axis(index):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = Tensor(a)
    np.testing.assert_array_equal(x[index].numpy(), a[index])
    x[index] = -1
    np.testing.assert_array_equal(x.numpy(), a)
    with pytest.raises(IndexError):
        x[False, 5]
