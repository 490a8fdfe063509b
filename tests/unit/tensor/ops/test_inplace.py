"""Methods that change the tensor they are called on."""

from __future__ import annotations

import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError, GradientError, ShapeError


def test_they_return_self_and_keep_its_memory() -> None:
    x = Tensor([1.0, 2.0]).contiguous().realize()
    memory = x.uop.base
    assert x.add_(1).mul_(2).sub_(1, alpha=2).div_(2) is x
    assert x.clamp_(0.5, 1.5).tolist() == [1.0, 1.5]
    assert x.fill_(3).zero_().realize().uop.base is memory


def test_others_stay_what_they_were() -> None:
    x = Tensor([1.0, 2.0]).contiguous().realize()
    y = x + 1
    x.zero_()
    assert y.tolist() == [2.0, 3.0] and x.tolist() == [0.0, 0.0]


def test_the_dtype_stays() -> None:
    x = Tensor([1, 2])
    assert x.copy_(Tensor([1.9, -1.9])).tolist() == [1, -1] and x.dtype is dtypes.int32
    with pytest.raises(DTypeError):
        x.add_(Tensor([0.5, 0.5]))
    with pytest.raises(ShapeError):
        x.copy_(Tensor([1, 2, 3]))


def test_random_numbers() -> None:
    Tensor.manual_seed(3)
    x = Tensor.zeros(1000).contiguous()
    assert 0 <= x.uniform_().min().item() and 0.4 < x.mean().item() < 0.6
    assert abs(x.normal_(mean=5).mean().item() - 5) < 0.2


def test_leaves() -> None:
    x = Tensor([1.0], requires_grad=True)
    with pytest.raises(GradientError):
        x.add_(x)
    with Tensor.no_grad():
        assert x.add_(x).tolist() == [2.0]
