"""Parameters under the names that they have elsewhere."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, WrongKind
from weft.tensor.ops.parameter_aliases import SPELLINGS, WITH_INDICES


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


def test_unknown_keywords_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        Tensor([1.0]).sum(axes=0)


def test_nodes_are_named_by_the_method() -> None:
    x = Tensor([1.0, 2.0])
    assert str(x.sum(dim=0).uop.meta) == "sum"


ROWS = [[3.0, 1.0, 3.0, 2.0], [2.0, float("nan"), 5.0, 5.0]]


@pytest.mark.parametrize("name", WITH_INDICES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_extremes_along_a_dim_come_with_indices(name: str, dim: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says which index it is")
    found = getattr(Tensor(ROWS), name)(dim=dim)
    expected = getattr(torch.tensor(ROWS), name)(dim=dim)
    np.testing.assert_array_equal(found.values.numpy(), expected.values.numpy())
    np.testing.assert_array_equal(found.indices.numpy(), expected.indices.numpy())
    alone = getattr(Tensor(ROWS), name)(axis=dim)
    np.testing.assert_array_equal(found.values.numpy(), alone.numpy())


def test_extremes_of_integers_keep_the_axis_on_demand() -> None:
    x = Tensor([[1, 7], [9, 9]])
    values, indices = x.max(dim=1, keepdim=True)
    assert values.tolist() == [[7], [9]] and indices.tolist() == [[1], [0]]
    assert x.min(dim=0, keepdims=True).indices.tolist() == [[0, 0]]
    assert x.max(dim=None).item() == 9
    assert x.cummax(dim=1).indices.tolist() == [[0, 1], [0, 1]]
    assert Tensor(4.0).max(dim=0).indices.item() == Tensor(4.0).cummin(dim=0).indices.item() == 0


def test_elements_have_an_index_along_one_axis() -> None:
    with pytest.raises(ArgumentError, match="one axis") as error:
        Tensor([[1.0]]).max(dim=(0, 1))
    assert "amax" in str(error.value.try_)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda x: x.mean(1, 2), "mean((1, 2)) for both axes, keepdim=True to keep one"),
        (lambda x: x.norm(2, 0, 1), "norm(2, (0, 1)) for both axes, keepdim=True to keep one"),
        (lambda x: x.sum(0, 0), "keepdim=True or keepdim=False, by name"),
        # these take one axis
        (lambda x: x.argmax(1, 2), "keepdim=True or keepdim=False, by name"),
        (lambda x: x.quantile(0.5, 0, 1), "keepdim=True or keepdim=False, by name"),
        (lambda x: x.median(0, 1), "keepdim=True or keepdim=False, by name"),
    ],
)
def test_the_hint_for_a_second_axis_is_a_call_that_works(call, hint):
    x = Tensor.ones(2, 3, 4)
    with pytest.raises(WrongKind, match="keepdim is True or False") as caught:
        call(x)
    assert caught.value.try_ == hint
    if "(" in hint:
        eval("x." + hint.split(" for ")[0])
