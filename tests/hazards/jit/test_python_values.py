"""Python values are never frozen: another value is another recording, or a warning says why not."""

import array
import contextvars
import ctypes
import os
import types
import weakref

import numpy as np
import pytest

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, jit


@pytest.mark.parametrize(
    "values", [[1, 2, 2, 1, 2, 1, 1], [1, 1.0, True, 1, 1.0, True, 1, 1.0, True], [0.0, -0.0] * 4]
)
def test_python_numbers_are_not_frozen(values):
    def program(wrap):
        step = wrap(lambda a, k: 1 / (a * k))
        return [step(Tensor([1, 2]), k) for k in values]

    both(program)


def test_strings_none_and_branches():
    def program(wrap):
        @wrap
        def step(a, how=None, flags=()):
            a = a * 2 if how is None else getattr(a, how)()
            return a + len(flags)

        x = Tensor(numbers(4)).realize()
        return [step(x, how, flags) for how in (None, "relu", "exp") * 3 for flags in ((), ("a",))]

    both(program)


def test_python_values_in_closure_globals_and_attributes_are_not_frozen():
    global scale
    scale = 1.0

    class Model:
        factor = 2.0

        def __init__(self):
            self.shift = 1

        def __call__(self, x):
            return x * scale * self.factor + self.shift + offset["by"]

    offset = {"by": 0}

    def program(wrap):
        global scale
        model = Model()
        step = wrap(lambda x: model(x))
        found = []
        for i in range(16):
            scale, Model.factor = float(i // 4 % 2), i // 8 + 1.0
            model.shift, offset["by"] = i // 2 % 2, 0
            found.append(step(Tensor([1.0, 2.0])))
        return found

    both(program)


def test_a_number_from_elsewhere_is_noticed():
    import random

    def program(wrap):
        drawn = random.Random(1)
        step = wrap(lambda x: x * drawn.random())
        return [step(Tensor([1.0])) for _ in range(CALLS)]

    both(program, 0, quiet=False)
    with pytest.warns(UserWarning, match="something else at every call"):
        program(jit)


def test_numbers_that_python_makes_tensors_of():
    count = [0]

    def program(wrap):
        count[0] = 0
        hidden = iter(range(100))

        @wrap
        def constant(x):
            return x + Tensor([1.0, 2.0])

        @wrap
        def moving(x):
            return x + Tensor([float(next(hidden)), 2.0])

        return [f(Tensor([1.0, 2.0])) for _ in range(CALLS) for f in (constant, moving)]

    both(program, CALLS - 2, quiet=False)


def test_a_counter_in_python_goes_on():
    def program(wrap):
        class Model:
            steps = 0

            def __init__(self):
                self.calls = 0

        model = Model()

        @wrap
        def step(x):
            model.calls += 1
            return x * model.calls

        found = [step(Tensor([1.0])) for _ in range(CALLS)]
        return [*found, model.calls]

    both(program, quiet=False)


# ---- places of a Python value --------------------------------------------------------------------


class Box:
    value = 0


def _in_a_module():
    config = types.ModuleType("config")
    config.value = 0
    return (lambda x: x * config.value), lambda value: setattr(config, "value", value)


def _in_a_module_of_a_module():
    config = types.ModuleType("config")
    config.inner = types.ModuleType("config.inner")
    config.inner.value = 0
    return (lambda x: x * config.inner.value), lambda value: setattr(config.inner, "value", value)


def _behind_a_weak_reference():
    box = Box()
    weak = weakref.ref(box)
    return (lambda x: x * weak().value), lambda value: setattr(box, "value", value)


def _in_a_read_only_mapping():
    held = {"value": 0}
    shown = types.MappingProxyType(held)
    return (lambda x: x * shown["value"]), lambda value: held.update(value=value)


def _in_a_context_variable():
    variable = contextvars.ContextVar("variable", default=0)
    return (lambda x: x * variable.get()), variable.set


def _in_the_environment():
    name = "WEFT_HAZARD_VALUE"
    read = lambda x: x * int(os.environ.get(name, "0"))  # noqa: E731
    return read, lambda value: os.environ.update({name: str(value)})


def _in_an_array():
    numbers = array.array("i", [0])
    return (lambda x: x * numbers[0]), lambda value: numbers.__setitem__(0, value)


def _in_a_number_of_c():
    number = ctypes.c_int(0)
    return (lambda x: x * number.value), lambda value: setattr(number, "value", value)


def _in_numpys_memory_with_steps():
    numbers = np.zeros(4)[::2]
    return (lambda x: x * float(numbers[1])), lambda value: numbers.__setitem__(1, value)


@pytest.mark.parametrize(
    "place",
    [
        _in_a_module,
        _in_a_module_of_a_module,
        _behind_a_weak_reference,
        _in_a_read_only_mapping,
        _in_a_context_variable,
        _in_the_environment,
        _in_an_array,
        _in_a_number_of_c,
        _in_numpys_memory_with_steps,
    ],
)
def test_changed_python_values_are_detected(place, monkeypatch):
    monkeypatch.setenv("WEFT_HAZARD_VALUE", "0")
    function, set_to = place()
    step = jit(function)
    for value in (0, 0, 0, 3, 3, 3, 0, 5):
        set_to(value)
        assert step(Tensor([1.0, 2.0]).realize()).tolist() == [value, 2.0 * value]
    assert step.replays > 0


# ---- arrays that cannot be watched ---------------------------------------------------------------


def _large_array():
    numbers = np.zeros(1 << 15)
    return (lambda x: x * float(numbers[5])), lambda value: numbers.fill(value)


def _large_array_in_a_branch():
    numbers = np.zeros(1 << 15)
    function = lambda x: x * 2 if numbers[5] > 2 else x  # noqa: E731
    return function, lambda value: numbers.fill(value)


def _large_array_of_an_object():
    box = Box()
    box.images = {"train": [np.zeros(1 << 15)]}
    function = lambda x: x * float(box.images["train"][0][5])  # noqa: E731
    return function, lambda value: box.images["train"][0].fill(value)


def _large_array_by_getattr():
    box = Box()
    box.images = np.zeros(1 << 15)
    function = lambda x: x * float(getattr(box, "images")[5])  # noqa: B009, E731
    return function, lambda value: box.images.fill(value)


def _python_objects():
    numbers = np.array([0, None], dtype=object)
    return (lambda x: x * numbers[0]), lambda value: numbers.__setitem__(0, value)


def _torchs_number():
    torch = pytest.importorskip("torch", reason="an array of another library")
    number = torch.zeros(())
    return (lambda x: x * float(number)), number.fill_


def _torchs_number_in_a_branch():
    torch = pytest.importorskip("torch", reason="an array of another library")
    number = torch.zeros(())
    return (lambda x: x * 2 if number > 2 else x), number.fill_


def _torchs_parameter():
    torch = pytest.importorskip("torch", reason="a module that holds arrays")
    layer = torch.nn.Linear(1, 1).requires_grad_(False)
    return (lambda x: x * layer.weight.item()), layer.weight.fill_


def _number_of_torchs_in_a_container():
    torch = pytest.importorskip("torch", reason="an array of another library")
    held = {"numbers": [torch.zeros(3)]}
    return (lambda x: x * held["numbers"][0].tolist()[1]), held["numbers"][0].fill_


@pytest.mark.parametrize(
    "place",
    [
        _large_array,
        _large_array_in_a_branch,
        _large_array_of_an_object,
        _large_array_by_getattr,
        _python_objects,
        _torchs_number,
        _torchs_number_in_a_branch,
        _torchs_parameter,
        _number_of_torchs_in_a_container,
    ],
)
def test_numbers_of_an_array_that_cannot_be_watched_are_not_frozen(place):
    function, set_to = place()
    step = jit(function)
    x = Tensor([1.0, 2.0]).realize()
    with pytest.warns(UserWarning, match="which may change without a trace"):
        for value in (0, 0, 0, 3, 3, 3, 0, 5):
            set_to(value)
            assert step(x).tolist() == function(x).tolist()
    assert step.replays == 0 and "it reaches " in step.reason


def test_large_arrays_that_no_code_names_are_in_nobodys_way():
    box = Box()
    box.images, box.value = np.zeros(1 << 15), 2.0
    step = jit(lambda x: x * box.value)
    assert [step(Tensor([1.0])).item() for _ in range(4)] == [2.0] * 4
    assert step.replays == 2


def test_arguments_that_are_numbers_of_torch_are_not_frozen():
    torch = pytest.importorskip("torch", reason="an array of another library")
    number = torch.zeros(())
    step = jit(lambda x, factor: x * float(factor))
    for value in (0, 0, 0, 3, 3, 3, 0, 5):
        number.fill_(value)
        assert step(Tensor([1.0]), number).item() == value
    assert step.replays > 0
