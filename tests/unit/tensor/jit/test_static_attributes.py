"""What jit asks of objects of the user's runs no code of theirs; decorators are looked through."""

import functools
from dataclasses import dataclass

import pytest

from weft import Tensor, jit, nn, settings
from weft.tensor.jit import static_attributes


class Anything:
    """Gives something for any name."""

    def __init__(self):
        self.factor = 2

    def __getattr__(self, name):
        return 42


class Raises:
    """Gives nothing but an error that is no AttributeError."""

    def __init__(self):
        self.factor = 2

    def __getattr__(self, name):
        raise RuntimeError(name)


class Counts:
    """Has properties with side effects, of names that libraries read."""

    asked = 0

    def __init__(self):
        self.factor = 2

    def _ask(self):
        Counts.asked += 1
        raise RuntimeError

    shape = dtype = __array_interface__ = __wrapped__ = __name__ = property(_ask)


class SlotsRaise:
    __slots__ = ("factor", "unset")

    def __init__(self):
        self.factor = 2

    def __getattr__(self, name):
        raise RuntimeError(name)


KINDS = [Anything, Raises, Counts, SlotsRaise]


def replays(function, *args):
    """How often a function is replayed in six calls that give 2, 2."""
    captured = function if hasattr(type(function), "replays") else jit(function)
    results = [captured(Tensor([1.0, 1.0]).realize(), *args) for _ in range(6)]
    assert [result.tolist() for result in results] == [[2.0, 2.0]] * 6
    return captured.replays


@pytest.mark.parametrize("kind", KINDS)
def test_objects_are_asked_for_nothing(kind):
    thing = kind()
    assert replays(lambda x: x * thing.factor) == 4  # reached
    assert replays(lambda x, y: x * y.factor, thing) == 4  # passed in
    assert replays(lambda x, y: x * y[0].factor, [thing]) == 4

    class Callable(kind):
        def __call__(self, x):
            return x * self.factor

    assert replays(jit(Callable())) == 4
    assert Counts.asked == 0


@pytest.mark.parametrize("kind", [Anything, Raises])
def test_objects_among_results_are_asked_for_nothing(kind):
    thing = kind()
    step = jit(lambda x: (thing, x * 2))
    assert all(step(Tensor([1.0]).realize())[0] is thing for _ in range(4))
    assert step.replays == 2


@pytest.mark.parametrize("kind", KINDS)
def test_changed_attributes_are_detected(kind):
    thing = kind()
    step = jit(lambda x: x * thing.factor)
    given = jit(lambda x, y: x * y.factor)
    for n in range(12):
        thing.factor = n // 4
        assert step(Tensor([1.0]).realize()).tolist() == [n // 4]
        assert given(Tensor([1.0]).realize(), thing).tolist() == [n // 4]
    assert step.replays == given.replays == 6


def test_fields_of_dataclasses():
    @dataclass
    class Pair:
        factor: int = 2

        def __getattr__(self, name):
            raise RuntimeError(name)

    assert replays(lambda x, y: x * y.factor, Pair()) == 4


# ---- decorators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [Tensor.train(), Tensor.train(False)])
def test_training_as_a_decorator(mode):
    layer = nn.Linear(2, 2)
    optimiser = nn.optim.SGD(nn.state.get_parameters(layer), lr=0.1)

    @jit
    @mode
    def step(x):
        note(Tensor.training)
        optimiser.zero_grad()
        loss = layer(x).square().mean()
        loss.backward()
        if Tensor.training:
            optimiser.step()
        return loss.realize()

    modes = []
    note = modes.append  # a method in C: that the list grows is not seen
    x = Tensor.ones(2, 2).realize()
    losses = [step(x).item() for _ in range(6)]
    assert step.replays >= 3 and step.reason is None
    training = modes[0]
    assert set(modes) == {training} and Tensor.training is False
    assert (losses == sorted(set(losses), reverse=True)) is training


@pytest.mark.parametrize("no_grad", [Tensor.no_grad, Tensor.no_grad(), settings.override(SPEC=0)])
def test_state_of_decorated_functions(no_grad):
    weight = Tensor([2.0, 2.0]).realize()

    @jit
    @no_grad
    def scaled(x):
        return x * weight

    assert replays(scaled) == 4
    weight = Tensor([3.0, 3.0]).realize()
    assert scaled(Tensor([1.0, 1.0]).realize()).tolist() == [3.0, 3.0]


def twice(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return inner


class Model:
    def __init__(self):
        self.weight = Tensor([2.0, 2.0]).realize()

    def forward(self, x):
        return x * self.weight

    __call__ = forward


def test_wrapped_partial_bound_and_callable():
    model = Model()
    functions = {
        "wraps": twice(lambda x: x),
        "partial": functools.partial(lambda weight, x: x * weight, model.weight),
        "bound": model.forward,
        "callable": model,
        "partial of a method": functools.partial(model.forward),
        "both": Tensor.no_grad()(functools.partial(twice(lambda a, x: x * a), 1)),
    }
    assert {name: replays(each) for name, each in functions.items()} == dict.fromkeys(functions, 4)
    captured = jit(model)
    assert replays(captured) == 4
    model.weight = Tensor([5.0, 5.0]).realize()
    assert captured(Tensor([1.0, 1.0]).realize()).tolist() == [5.0, 5.0]
    assert repr(captured).startswith("<jit Model: ")


# ---- lookups -------------------------------------------------------------------------------------


def test_members_are_found_where_the_object_keeps_them():
    for kind in KINDS:
        thing = kind()
        assert static_attributes.member(thing, "factor") == 2
        assert static_attributes.member(thing, "shape") is None
        assert static_attributes.wrapped(thing) is None
    assert static_attributes.attributes(Raises()) == {"factor": 2}
    assert (
        static_attributes.attributes(SlotsRaise()) is None
        and static_attributes.attributes(3) is None
    )
    assert static_attributes.slots(SlotsRaise()) == ["factor"]


def test_private_slots_have_their_mangled_name():
    class Private:
        __slots__ = ("__hidden",)

        def __init__(self):
            self.__hidden = 1

    thing = Private()
    assert static_attributes.slots(thing) == ["_Private__hidden"]
    assert static_attributes.member(thing, "_Private__hidden") == 1


def test_names():
    assert static_attributes.name_of(Model.forward) == "Model.forward"
    assert static_attributes.name_of(Model().forward) == "Model.forward"
    assert static_attributes.name_of(functools.partial(len)) == "len"
    assert (
        static_attributes.name_of(Raises()) == "Raises"
        and static_attributes.name_of(Anything()) == "Anything"
    )
    assert static_attributes.innermost(twice(Model.forward)) is Model.forward
