"""Attribute suggestions of weft.nn, weft.optim and what belongs to them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import weft
from weft import Tensor, nn, optim
from weft.base.errors import MissingName
from weft.nn import suggested_names
from weft.optim import lr_scheduler

TABLES: dict[str, tuple[Any, dict[str, str]]] = {
    "LAYERS": (nn, suggested_names.LAYERS),
    "FUNCTIONS": (nn.functional, suggested_names.FUNCTIONS),
    "OPTIMISERS": (optim, suggested_names.OPTIMISERS),
    "OF_OPTIMISERS": (optim.SGD([Tensor([1.0])]), suggested_names.OF_OPTIMISERS),
    "INITIALISERS": (nn.init, suggested_names.INITIALISERS),
    "UTILITIES": (nn.utils, suggested_names.UTILITIES),
    "OF_MODULES": (nn.Linear(1, 1), suggested_names.OF_MODULES),
}


@pytest.mark.parametrize("table", TABLES)
def test_no_name_of_a_table_is_there(table: str) -> None:
    owner, names = TABLES[table]
    assert [name for name in names if name in dir(owner)] == []


@pytest.mark.parametrize("table", TABLES)
def test_suggested_names_exist(table: str) -> None:
    owner, names = TABLES[table]
    wrong = []
    for text in names.values():
        code = text.partition(": ")[0]
        for path in re.findall(r"\b((?:weft|nn|init|optim)(?:\.[A-Za-z_0-9]+)+)", code):
            place: Any = {"weft": weft, "nn": nn, "init": nn.init, "optim": optim}[
                path.split(".")[0]
            ]
            for part in path.split(".")[1:]:
                place = getattr(place, part, None)
            wrong += [] if place is not None else [path]
        wrong += [
            f"x.{n}" for n in re.findall(r"\bx\.([a-z_0-9]+)", code) if not hasattr(Tensor, n)
        ]
        wrong += [
            f"module.{n}"
            for n in re.findall(r"\bmodule\.([a-z_0-9]+)", code)
            if not hasattr(nn.Linear(1, 1), n)
        ]
    assert wrong == []


@pytest.mark.parametrize(
    "owner, name, found",
    [
        (nn, "RMSNorm2d", "nn.RMSNorm"), (nn, "Linaer", "weft.nn.Linear"),
        (nn, "relu6", "weft.nn.ReLU6"), (nn.functional, "conv_tbc", "conv1d"),
        (nn.functional, "sofmax", "weft.nn.functional.softmax"), (optim, "SparseAdam", "Adam"),
        (optim, "Admw", "weft.optim.AdamW"), (lr_scheduler, "EPOCH_DEPRECATION_WARNING", "step()"),
        (lr_scheduler, "StepLr", "weft.optim.lr_scheduler.StepLR"),
        (nn.utils, "clip_grad_norm", "clip_grad_norm_"), (nn.utils, "prune", "parametrize"),
        (nn.init, "kaiming_unifrom_", "weft.nn.init.kaiming_uniform_"),
        (nn.Linear(1, 1), "get_parameter", "named_parameters"),
        (nn.Linear(1, 1), "wieght", "Linear.weight"),
        (optim.SGD([Tensor([1.0])]), "zero_grads", "zero_grad"),
    ],
)  # fmt: skip
def test_a_name_that_is_not_there_suggests_another(owner: Any, name: str, found: str) -> None:
    with pytest.raises(MissingName) as error:
        getattr(owner, name)
    assert found in str(error.value.try_)
    assert not hasattr(owner, "__no_such_protocol__")


def test_modules_move_by_the_name_of_a_device_family() -> None:
    layer = nn.Linear(1, 1)
    assert layer.ref() is layer and layer.weight.device == "REF"
    assert layer.ref(1).bias.device == "REF:1"
