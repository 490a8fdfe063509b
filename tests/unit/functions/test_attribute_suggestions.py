"""Attribute suggestions of `weft`: every name of PyTorch that is missing leads to something else,
and none to something wrong."""

from __future__ import annotations

import pkgutil
import re
import types
import warnings
from typing import Any

import pytest

import weft
from weft import Tensor, data, nn, optim
from weft.base.errors import MissingName
from weft.functions.attribute_suggestions import EQUIVALENTS
from weft.optim import lr_scheduler

ROOTS = {"weft": weft, "nn": nn, "numpy": pytest.importorskip("numpy", reason="an extra")}


def resolved(path: str) -> bool:
    """Whether a dotted name in a text is there."""
    place: Any = ROOTS[path.split(".")[0]]
    for part in path.split(".")[1:]:
        place = getattr(place, part, None)
    return place is not None or path == "weft.newaxis"


@pytest.mark.parametrize("name", sorted(EQUIVALENTS))
def test_no_name_of_the_table_is_there(name: str) -> None:
    assert name not in dir(weft)
    with pytest.raises(MissingName) as error:
        getattr(weft, name)
    assert error.value.try_ == EQUIVALENTS[name]


def test_no_package_is_in_the_table() -> None:
    """An import of `weft.x` sets the attribute: a name of a package is there or not by chance."""
    packages = {module.name for module in pkgutil.iter_modules(weft.__path__)}
    assert sorted(packages & {*EQUIVALENTS}) == []


def test_suggested_names_exist() -> None:
    wrong = []
    for text in EQUIVALENTS.values():
        code = text.partition(": ")[0]
        paths = re.findall(r"\b((?:weft|nn|numpy)(?:\.[A-Za-z_]\w*)+)", code)
        wrong += [path for path in paths if not resolved(path)]
        wrong += [n for n in re.findall(r"\bx\.([A-Za-z_]\w*)", code) if not hasattr(Tensor, n)]
    assert wrong == []


@pytest.mark.parametrize(
    "name, found",
    [
        ("matmull", "weft.matmul"), ("Zeros", "weft.zeros"), ("relu_", "weft.nn.functional.relu_"),
        ("layer_norm", "weft.nn.functional.layer_norm"), ("Linear", "weft.nn.Linear"),
        ("AdamW", "weft.nn.optim.AdamW"), ("StepLR", "weft.nn.optim.lr_scheduler.StepLR"),
        ("unfold", "weft.nn.functional.unfold"), ("ndim", "x.ndim"), ("compile", "weft.jit"),
        ("cuda", "weft.Device"), ("functorch", "weft.func"), ("Generator", "weft.manual_seed"),
        ("sparse_coo_tensor", "dense"), ("qqqq", "dir(weft)"),
    ],
)  # fmt: skip
def test_a_name_leads_to_another(name: str, found: str) -> None:
    with pytest.raises(MissingName, match=f"module 'weft' has no attribute '{name}'") as error:
        getattr(weft, name)
    assert found in str(error.value.try_)


PLACES = [
    "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim",
    "torch.optim.lr_scheduler", "torch.utils.data", "torch.autograd", "torch.amp", "torch.Tensor",
    "a tensor",
    "a module", "an optimiser",
]  # fmt: skip

# suggestions for names of PyTorch that the nearest name is right for
RIGHT = {
    "SUM", "Tag", "Type", "bit", "celu_", "dropout_", "selu_", "threshold_", "types", "hash_tensor",
    "indices_copy", "saddmm", "sym_max", "sym_min", "sym_sum", "constant", "dirac", "eye",
    "function",
    *(f"{sign}int{bits}" for bits in range(1, 8) for sign in ("", "u")),
}  # fmt: skip


def pairs(torch: Any, place: str) -> tuple[Any, Any]:
    """A place of PyTorch, and that of weft."""
    return {
        "torch": (torch, weft),
        "torch.nn": (torch.nn, nn),
        "torch.nn.functional": (torch.nn.functional, nn.functional),
        "torch.nn.init": (torch.nn.init, nn.init),
        "torch.nn.utils": (torch.nn.utils, nn.utils),
        "torch.optim": (torch.optim, optim),
        "torch.optim.lr_scheduler": (torch.optim.lr_scheduler, lr_scheduler),
        "torch.utils.data": (torch.utils.data, data),
        "torch.autograd": (torch.autograd, weft.autograd),
        "torch.amp": (torch.amp, weft.amp),
        "torch.Tensor": (torch.Tensor, Tensor),
        "a tensor": (torch.zeros(1, 1), Tensor([[1.0]])),
        "a module": (torch.nn.Linear(1, 1), nn.Linear(1, 1)),
        "an optimiser": (
            torch.optim.SGD([torch.ones(1)], lr=0.1),
            optim.SGD([Tensor([1.0])], lr=0.1),
        ),
    }[place]


def names_of(theirs: Any) -> list[str]:
    """The public names of a place, without what it imports from elsewhere."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in dir(theirs):
            try:
                value = None if name.startswith("_") else getattr(theirs, name, None)
            except RuntimeError:  # of a property that this tensor does not have
                value = None
            imported = isinstance(value, types.ModuleType) and isinstance(theirs, types.ModuleType)
            if not name.startswith("_") and not (imported and "torch" not in value.__name__):
                found.append(name)
    return found


@pytest.mark.parametrize("place", PLACES)
def test_every_missing_name_of_pytorch_is_answered_and_none_wrongly(place: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what people write")
    theirs, ours = pairs(torch, place)
    names = names_of(theirs)
    assert len(names) > 5
    bare, guessed = [], []
    for name in names:
        try:
            getattr(ours, name)
        except MissingName as error:
            bare += [] if error.try_ else [name]
            guessed += [name] if "did you mean" in error.summary and name not in RIGHT else []
        except AttributeError:
            bare.append(name)
        except weft.WeftError:
            continue  # of a device that does not open
    assert (bare, guessed) == ([], [])
