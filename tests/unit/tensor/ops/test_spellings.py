"""Parameters under the names that they have elsewhere."""

from __future__ import annotations

import inspect

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError
from weft.tensor.ops.spellings import SPELLINGS


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_row_names_parameters_that_are_there(name: str) -> None:
    own = inspect.signature(getattr(Tensor, name)).parameters
    assert set(SPELLINGS[name].values()) <= set(own)
    assert not set(SPELLINGS[name]) & set(own)


def test_both_names_mean_the_same() -> None:
    x = Tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    assert x.sum(dim=1, keepdims=True).tolist() == x.sum(axis=1, keepdim=True).tolist()
    assert x.softmax(dim=0).tolist() == x.softmax(0).tolist()
    assert x.sort(axis=1)[0].tolist() == x.sort(dim=1)[0].tolist()
    assert Tensor.cat([x, x], axis=1).shape == (2, 6)
    assert x.clamp(min=2, max=4).tolist() == x.clamp(2, 4).tolist()
    assert x.flip(dims=(1,)).tolist() == x.flip(axis=(1,)).tolist()
    assert x.permute(dims=(1, 0)).shape == (3, 2)
    assert x.max(axis=1, keepdims=True).shape == (2, 1)


def test_both_at_once_are_refused() -> None:
    with pytest.raises(ArgumentError):
        Tensor([1.0]).sum(axis=0, dim=0)


def test_what_has_neither_name_is_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        Tensor([1.0]).sum(axes=0)


def test_nodes_are_named_by_the_method() -> None:
    x = Tensor([1.0, 2.0])
    assert str(x.sum(dim=0).uop.meta) == "sum"


@pytest.mark.parametrize("name", ["max", "min", "cummax", "cummin"])
def test_who_expects_indices_is_told(name: str) -> None:
    with pytest.raises(ArgumentError) as error:
        getattr(Tensor([1.0]), name)(dim=0)
    assert "axis" in str(error.value.try_)
