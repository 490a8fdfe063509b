"""Attributes that a tensor does not have."""

from __future__ import annotations

import copy
import pickle

import pytest

from weft import Tensor
from weft.base.errors import MissingName


@pytest.mark.parametrize(
    "name, near", [("softmx", "softmax"), ("astype", "cast"), ("reshap", "reshape"), ("cuda", "to")]
)
def test_the_nearest_name_is_given(name: str, near: str) -> None:
    with pytest.raises(MissingName) as error:
        getattr(Tensor([1]), name)
    assert name in str(error.value) and near in str(error.value.try_)


def test_nothing_near() -> None:
    with pytest.raises(AttributeError) as error:
        Tensor([1]).qqqqqqqq  # noqa: B018
    assert "dir" in str(error.value)


def test_questions_of_protocols() -> None:
    x = Tensor([1])
    assert not hasattr(x, "__no_such_protocol__") and getattr(x, "qqqq", 3) == 3
    assert pickle.loads(pickle.dumps(x)).tolist() == copy.deepcopy(x).tolist() == [1]
