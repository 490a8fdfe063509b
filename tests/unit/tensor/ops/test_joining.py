"""Joining and cutting: sequences of tensors, numbers of times, windows."""

from __future__ import annotations

import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, IndexingError, ShapeError


def test_empty_tensors_have_gradients() -> None:
    x, y = Tensor.zeros(2, 0), Tensor.ones(2, 3)
    assert [g.shape for g in x.cat(y, dim=1).sum().gradient(x, y)] == [(2, 0), (2, 3)]


def test_tensors_are_joined_however_they_are_given() -> None:
    a, b = Tensor([1]), Tensor([2])
    for joined in (a.cat(b), Tensor.cat(a, b), Tensor.cat([a, b]), a.cat([b]), a.cat([[2]])):
        assert joined.tolist() == [1, 2]
    assert Tensor.stack((a, b), dim=1).tolist() == [[1, 2]]
    assert [g.shape for g in Tensor.meshgrid([a, b])] == [(1, 1), (1, 1)]
    with pytest.raises(ArgumentError):
        Tensor.stack((a, b), a)
    with pytest.raises(IndexingError):
        Tensor(1).cat(Tensor(2))


def test_lists_of_tensors_are_stacked() -> None:
    a = Tensor([1, 2])
    assert Tensor([a, a + 1]).tolist() == [[1, 2], [2, 3]]
    assert Tensor([[a, a], [a, a]]).shape == (2, 2, 2)
    assert Tensor([a[0], 0.5]).tolist() == [1.0, 0.5]
    assert Tensor([a, a], dtype="half").dtype is dtypes.float16


def test_each_element_its_own_number_of_times() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert x.repeat_interleave(Tensor([0, 2]), 0).tolist() == [[3, 4], [3, 4]]
    assert x.repeat_interleave(Tensor([2, 1]), dim=-1).tolist() == [[1, 1, 2], [3, 3, 4]]
    assert x.repeat_interleave(Tensor([1, 0, 0, 2])).tolist() == [1, 4, 4]
    assert x.repeat_interleave(Tensor(2), 0).shape == (4, 2)  # one number is for all
    assert x.repeat_interleave(Tensor([0, 0]), 1).shape == (2, 0)
    assert Tensor(5).repeat_interleave(Tensor([3])).tolist() == [5, 5, 5]
    assert x.repeat_interleave([1, 2], 0, output_size=3).shape == (3, 2)
    y = Tensor([1.0, 2.0])
    assert y.repeat_interleave(Tensor([3, 0])).sum().gradient(y)[0].tolist() == [3.0, 0.0]


@pytest.mark.parametrize(
    "times, facts, kind",
    [
        ([1, 2, 3], {}, ShapeError),
        ([[1, 2]], {}, ShapeError),
        ([-1, 2], {}, ArgumentError),
        ([1.0, 2.0], {}, DTypeError),
        ([1, 2], {"output_size": 4}, ArgumentError),
    ],
)
def test_numbers_of_times_that_do_not_fit(times: list, facts: dict, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Tensor([5, 6]).repeat_interleave(Tensor(times), 0, **facts)


def test_without_axes_there_is_one_window() -> None:
    assert Tensor(3).unfold(0, 1, 2).tolist() == [3] and Tensor(3).unfold(-1, 0, 1).shape == (0,)
    with pytest.raises(ArgumentError):
        Tensor(3).unfold(0, 2, 1)
