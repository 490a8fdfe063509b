"""Attributes that a tensor does not have."""

from __future__ import annotations

import abc
import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, nn
from weft.base.errors import MissingName
from weft.tensor.ops.suggested_names import EQUIVALENTS


@pytest.mark.parametrize(
    "name, near", [("softmx", "softmax"), ("astype", "cast"), ("reshap", "reshape"), ("xpu", "to")]
)
def test_the_nearest_name_is_given(name: str, near: str) -> None:
    with pytest.raises(MissingName) as error:
        getattr(Tensor([1]), name)
    assert name in str(error.value) and near in str(error.value.try_)


@pytest.mark.parametrize("name, near", [("arnge", "arange"), ("zeroes", "zeros"), ("Rand", "rand")])
def test_the_class_suggests_names_too(name: str, near: str) -> None:
    with pytest.raises(MissingName, match=f"did you mean '{near}'") as error:
        getattr(Tensor, name)
    assert error.value.try_.startswith(f"Tensor.{near}") and error.value.asked == f"Tensor.{name}"
    with pytest.raises(MissingName):
        getattr(nn.Parameter, name)


def test_the_class_answers_protocols_plainly() -> None:
    assert not hasattr(Tensor, "__no_such_protocol__") and not hasattr(Tensor, "_no_such_name")
    assert getattr(Tensor, "qqqq", 3) == 3 and type(Tensor).__name__ == "TensorNames"
    assert isinstance(nn.Parameter(Tensor([1.0])), Tensor) and not isinstance(3, Tensor)

    class Mine(Tensor):
        pass

    assert Mine.zeros(2).tolist() == [0.0, 0.0]


def test_names_of_device_families_move() -> None:
    x = Tensor([1, 2])
    assert x.ref().device == "REF" and x.ref(1).device == "REF:1"
    assert x.ref(non_blocking=True).tolist() == [1, 2]
    family = x.device.partition(":")[0].lower()
    assert getattr(x, family)().device == x.device
    with pytest.raises(MissingName) as error:
        x.no_such_family  # noqa: B018
    assert "dir(x)" in str(error.value.try_)


@pytest.mark.parametrize("name", sorted(EQUIVALENTS))
def test_no_equivalent_is_of_a_name_that_is_there(name: str) -> None:
    assert name not in dir(Tensor)


def _mentioned(text: str) -> set[str]:
    """The attributes of x that code in a text names."""
    return set(re.findall(r"\bx\.([A-Za-z_0-9]+)", text.partition(": ")[0]))


def test_equivalents_exist() -> None:
    wrong = {(name, each) for name, text in EQUIVALENTS.items() for each in _mentioned(text)}
    assert {pair for pair in wrong if not hasattr(Tensor, pair[1])} == set()


@pytest.mark.parametrize(
    "name, x, names",
    [
        ("erfc", [0.5, -0.25], {}), ("ldexp", [0.5, 3.0], {"other": 3}), ("msort", [3.0, 1.0], {}),
        ("diagflat", [[1.0, 2.0], [3.0, 4.0]], {}), ("diag_embed", [1.0, 2.0], {}),
        ("renorm", [[3.0, 4.0], [0.3, 0.4]], {"maxnorm": 1.0, "p": 2, "dim": 1}),
        ("unique_consecutive", [1, 1, 2, 2, 1], {}), ("pinverse", [[1.0, 2.0], [3.0, 5.0]], {}),
        ("cholesky_inverse", [[2.0, 0.0], [1.0, 3.0]], {}), ("H", [[1.0, 2.0]], {}),
    ],
)  # fmt: skip
def test_equivalents_compute_the_same(name: str, x: Any, names: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    text = EQUIVALENTS[name].partition(": ")[0]
    found = eval(text, {"x": Tensor(x), "weft": weft, **names})
    theirs = torch.tensor(x)
    if name == "renorm":
        expected = theirs.renorm(2, 0, 1.0)
    else:
        expected = getattr(theirs, name)
        expected = (
            expected(*[torch.tensor(v) for v in names.values()]) if callable(expected) else expected
        )
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_nothing_near() -> None:
    with pytest.raises(AttributeError) as error:
        Tensor([1]).qqqqqqqq  # noqa: B018
    assert "dir" in str(error.value)


def test_questions_of_protocols() -> None:
    x = Tensor([1])
    assert not hasattr(x, "__no_such_protocol__") and getattr(x, "qqqq", 3) == 3
    assert pickle.loads(pickle.dumps(x)).tolist() == copy.deepcopy(x).tolist() == [1]


def test_an_abstract_tensor_takes_a_metaclass_of_both():
    class Meta(type(Tensor), abc.ABCMeta):
        pass

    class Abstract(Tensor, abc.ABC, metaclass=Meta):
        @abc.abstractmethod
        def scale(self): ...

    class Doubling(Abstract):
        def scale(self):
            return self * 2

    x = Doubling([1.0, 2.0])
    assert x.scale().tolist() == [2.0, 4.0] and isinstance(x, Tensor) and isinstance(x, abc.ABC)
    with pytest.raises(AttributeError, match="no 'nosuch'"):
        x.nosuch  # noqa: B018
    with pytest.raises(TypeError, match="metaclass"):
        type("Other", (Tensor, abc.ABC), {})
