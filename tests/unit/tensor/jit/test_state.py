"""What a function reaches, and that every change of it is noticed."""

import argparse
import functools
import sys
import types
from collections import deque

import numpy as np
import pytest

from weft import Tensor, nn
from weft.tensor.jit.state import State

by_name = {"number": 1}


def state_of(*roots):
    return State(list(roots), lambda value: False)


class Model:
    kind = "plain"

    def __init__(self):
        self.w = Tensor([1.0, 2.0]).realize()
        self.layers = [nn.Linear(2, 2), {"deep": (Tensor([3.0]).realize(), 5)}]
        self.size = 3
        self.names = {"a"}
        self.queue = deque([1])

    @property
    def doubled(self):
        return self.size * by_name["number"]

    def __call__(self, x):
        return x * self.w + self.doubled


def function_over(value):
    return lambda x: (x, value)


def test_tensors_are_found_in_all_containers():
    model = Model()
    model.w.grad = Tensor([9.0]).realize()
    Tensor.realize(*nn.state.get_parameters(model))
    found = {id(t) for t in state_of(functools.partial(function_over(model), y=1)).tensors}
    wanted = [*nn.state.get_parameters(model), model.w.grad]
    assert {id(t) for t in wanted} <= found


def test_bound_methods_and_defaults():
    model, extra = Model(), Tensor([1.0]).realize()

    def function(x, w=extra, *, v=[extra]):
        return x

    assert any(t is model.w for t in state_of(model.__call__).tensors)
    assert [t for t in state_of(function).tensors if t is extra] == [extra]


CHANGES = [
    lambda m: setattr(m, "size", 4),
    lambda m: setattr(m, "new", 1),
    lambda m: delattr(m, "size"),
    lambda m: setattr(m, "w", Tensor([1.0, 2.0]).realize()),
    lambda m: setattr(m.layers[0], "weight", m.layers[0].weight.detach() + 1),
    lambda m: m.layers.append(1),
    lambda m: m.layers[1].update(deep=(m.layers[1]["deep"][0], 6)),
    lambda m: m.names.add("b"),
    lambda m: m.queue.append(2),
    lambda m: m.w.requires_grad_(),
    lambda m: setattr(m.w, "grad", m.w),
    lambda m: m.w.assign(m.w + 1),
    lambda m: by_name.update(number=by_name["number"] + 1),
    lambda m: setattr(Model, "kind", Model.kind + "!"),
    lambda m: setattr(m, "__class__", type("Other", (Model,), {})),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed(change):
    model = Model()
    Tensor.realize(*nn.state.get_parameters(model))
    function = function_over(model)
    state = state_of(function)
    assert state.is_unchanged() and state_of(function).signature.key == state.signature.key
    change(model)
    fresh = state_of(function)
    assert not state.is_unchanged() or fresh.signature.key != state.signature.key
    assert fresh.is_unchanged()


def test_cells_and_globals():
    w, number = Tensor([1.0]).realize(), 1

    def function(x):
        return x * w + number + by_name["number"]

    state = state_of(function)
    assert state.is_unchanged()
    number = 2
    assert not state.is_unchanged() and state_of(function).signature.key != state.signature.key
    number = 1
    assert state_of(function).signature.key == state.signature.key
    w = Tensor([2.0]).realize()
    assert not state.is_unchanged() and state_of(function).signature.key == state.signature.key


@pytest.mark.parametrize("kind", [types.SimpleNamespace, argparse.Namespace])
def test_namespaces(kind):
    options = kind(rate=1.0)
    state = state_of(function_over(options))
    options.rate = 2.0
    assert not state.is_unchanged()


def test_slots():
    class Slotted:
        __slots__ = ("number",)

    value = Slotted()
    value.number = 1
    state = state_of(function_over(value))
    assert state.is_unchanged()
    value.number = 2
    assert not state.is_unchanged()


def test_small_arrays_are_tracked_and_large_ones_reported():
    small, large = np.zeros(4), np.zeros(1 << 20)
    state = state_of(function_over(small))
    assert state.is_unchanged() and state.untracked.first_read() is None
    small[1] = 1
    assert not state.is_unchanged()
    assert "numpy.ndarray over 64 KiB" in state_of(function_over(large)).untracked.first_read()


def test_attributes_of_modules_that_code_names():
    module = types.ModuleType("configuration")
    module.rate = 1.0
    there = {"configuration": module, "__name__": "somewhere"}
    function = eval("lambda x: x * configuration.rate", there)
    state = state_of(function)
    assert state.is_unchanged()
    module.rate = 2.0
    assert not state.is_unchanged()


def test_rings_end():
    model = Model()
    model.layers.append(model)
    model.layers.append(model.layers)
    assert state_of(model).is_unchanged()


def test_library_modules_are_not_traversed():
    assert state_of(function_over((sys, np, np.float32, len, Tensor, Tensor.relu))).tensors == []


def test_swapping_a_tensor_for_one_of_equal_layout():
    model = Model()
    state = state_of(function_over(model))
    number = next(i for i, t in enumerate(state.tensors) if t is model.w)
    before = dict(state.signature.nodes)
    made = model.w = Tensor([5.0, 6.0]).realize()
    assert not state.is_unchanged()
    state.replace_tensors([(number, made)])
    assert state.is_unchanged() and state.tensors[number] is made
    assert list(state.signature.nodes.values()) == list(before.values())
    assert made.uop.base in state.signature.nodes


def test_shared_state_is_refreshed_for_all_functions():
    """Both look up one global and one cell; what one of them stores there, the other sees."""
    shared = {"g": Tensor([1.0]).realize()}

    def made():
        held = Tensor([2.0]).realize()

        def put(value):
            nonlocal held
            held = value

        return (lambda: held), (lambda: (held, put)), put

    one, two, put = made()
    text = "def one(): return g\ndef two(): return g, one"
    exec(text, shared)  # their globals are `shared`
    shared["__name__"] = "users"
    for name, change in (("cell", put), ("global", lambda value: shared.update(g=value))):
        state = state_of(two if name == "cell" else shared["two"])
        assert state.is_unchanged()
        number = 0
        value = Tensor([3.0]).realize()
        old = state.tensors[number]
        change(value)
        assert not state.is_unchanged()
        where = [n for n, c in enumerate(state.containers) if any(old is v for v in c.values)]
        state.replace_tensors([(number, value)], where[:1])
        assert state.is_unchanged() and state.tensors[number] is value
        change(old)
        assert not state.is_unchanged()
    assert one() is two()[0]


def test_unbound_closure_cells():
    def late():
        return held

    state = state_of(late)
    assert state.is_unchanged()
    held = 1
    assert not state.is_unchanged() and late() == held


def test_names_that_a_tool_adds_to_code_are_left_out():
    from types import FunctionType

    def function():
        return helper  # noqa: F821

    renamed = function.__code__.replace(co_names=("@helper",))
    made = FunctionType(renamed, {"__name__": "users", "@helper": [1, 2], "helper": [3]})
    assert made() == [1, 2]
    assert all(1 not in container.values for container in state_of(made).containers)
