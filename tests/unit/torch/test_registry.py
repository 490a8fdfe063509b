"""The table of converters: names, look-up, a user's converters."""

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch

import weft.torch
from weft.base.errors import ArgumentError
from weft.torch import registry
from weft.torch.operators import register_all

register_all()


def test_names():
    aten = torch.ops.aten
    assert registry.name_of(aten.add.Tensor) == "aten::add.Tensor"
    assert registry.name_of(aten.relu.default) == "aten::relu"
    assert registry.name_of(aten.add) == "aten::add"
    assert registry.name_of("aten::relu.default") == "aten::relu"
    with pytest.raises(ArgumentError, match="no operator"):
        registry.name_of(3)


def test_an_overload_comes_before_its_operator():
    found = registry.find(torch.ops.aten.add.Scalar)
    assert found is not registry.find(torch.ops.aten.add.Tensor)
    assert registry.find(torch.ops.aten.div.Tensor_mode) is registry.find(torch.ops.aten.div)


def test_users_converters_come_first():
    def mine(x):
        return x

    assert registry.find(torch.ops.aten.relu, {"aten::relu": mine}) is mine
    weft.torch.register("weft_tests::nothing")(mine)
    assert registry.find("weft_tests::nothing") is mine


def test_no_operator_is_registered_twice():
    with pytest.raises(ArgumentError, match="two converters"):
        registry.converter("aten::relu")(lambda x: x)
