"""Output buffers of the last replay are reused if they have no reader, and only then."""

import gc
import weakref

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.tensor.jit.output_reuse import MAX_BYTES, PATIENCE
from weft.uop import UOp


def ready(function, *args):
    """A captured function that replays."""
    made = jit(function)
    for _ in range(3):
        made(*args)
    assert made.replays
    return made


def number(value):
    return Tensor([float(value), float(value)]).realize()


def place(tensor):
    """The identity of its memory, without a reference to it."""
    return tensor.uop.base.src[1].arg


def test_a_dropped_result_is_reused_in_place():
    step = ready(lambda x: x + 1, number(1))
    before = place(step(number(2)))
    after = step(number(3))
    assert place(after) == before and after.tolist() == [4.0, 4.0]
    assert place(step(number(4))) != before and after.tolist() == [4.0, 4.0]


KEEPERS = {
    "itself": lambda y: y,
    "a view": lambda y: y.reshape(2, 1),
    "work on it": lambda y: y * 1,
    "its node": lambda y: y.uop,
    "its buffer": lambda y: y.uop.base.buffer,
    "a window": lambda y: y.uop.base.buffer.as_memoryview(),
    "an array": lambda y: y.numpy(),
    "a list": lambda y: [y],
    "a detached one": lambda y: y.detach(),
    "bits of it": lambda y: y[1:],
    "a capsule": lambda y: y.__dlpack__(),
}


@pytest.mark.parametrize("keep", KEEPERS.values(), ids=KEEPERS)
def test_a_referenced_result_keeps_its_value(keep):
    step = ready(lambda x: x + 1, number(1))
    held = keep(step(number(2)))
    for value in range(5, 8):
        assert step(number(value)).tolist() == [value + 1.0] * 2
    assert values_in(held) == {3.0}


def values_in(held):
    """The numbers that something shows."""
    shown = held[0] if isinstance(held, list) else held
    if isinstance(shown, (memoryview, np.ndarray)):
        return set(np.frombuffer(shown, np.float32))
    if hasattr(shown, "copy_out"):
        return set(np.frombuffer(shown.copy_out(), np.float32))
    if not isinstance(shown, (Tensor, UOp)):
        shown = Tensor.from_dlpack(Capsule(shown))
    return set(Tensor(shown).flatten().tolist())


class Capsule:
    """Something that gives a capsule that was made earlier."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def test_a_result_that_is_given_back_in():
    step = ready(lambda x: x * 2, number(1))
    x = number(1)
    for _ in range(6):
        x = step(x)
    assert x.tolist() == [64.0, 64.0]


def test_a_result_with_reassigned_memory():
    """The tensor is dropped, what was put in its memory's place is not."""
    step = ready(lambda x: x + 1, number(1))
    y = step(number(2))
    y.assign(number(9)).realize()
    other = y.detach()
    del y
    assert step(number(4)).tolist() == [5.0, 5.0] and other.tolist() == [9.0, 9.0]


def test_several_results_each_for_itself():
    step = ready(lambda x: (x + 1, (x * 2).reshape(1, 2), {"a": x - 1}), number(1))
    one, two, three = step(number(2))
    del one, three
    again = step(number(5))
    assert [t.flatten().tolist()[0] for t in (again[0], again[1], again[2]["a"])] == [6, 10, 4]
    assert two.tolist() == [[4.0, 4.0]]


def test_two_results_in_turn_where_the_last_one_is_held():
    step = ready(lambda x: x + 1, number(1))
    y = step(number(2))
    places = []
    for value in range(3, 9):
        y = step(number(value))
        places.append(place(y))
        assert y.tolist() == [value + 1.0] * 2
    assert len(set(places)) == 2 and places[0] == places[2] == places[4]


def test_programs_that_keep_all_results():
    step = ready(lambda x: x + 1, number(1))
    kept = [step(number(value)) for value in range(2 * PATIENCE)]
    assert [y.tolist()[0] for y in kept] == [value + 1.0 for value in range(2 * PATIENCE)]
    del kept[:]
    assert [step(number(value)).tolist()[0] for value in range(3)] == [1.0, 2.0, 3.0]


def test_results_together_with_constants_and_inputs():
    w = number(7)
    step = ready(lambda x: (Tensor.ones(2), w[:1], x * 2, Tensor.arange(2), x + 1, x), number(1))
    for value in (3, 4, 5):
        before = [place(step(number(0))[2]), place(step(number(0))[4])]
        found = step(number(value))
        assert [place(found[2]), place(found[4])] == before
        assert [t.tolist()[0] for t in found] == [1, 7, 2 * value, 0, value + 1, value]


def test_two_results_over_one_memory():
    def both(x):
        y = (x + 1).realize()
        return y, y.reshape(2, 1)

    step = ready(both, number(1))
    kept = step(number(2))[1]
    assert step(number(3))[0].tolist() == [4.0, 4.0] and kept.tolist() == [[3.0], [3.0]]


def test_large_results_are_given_back():
    x = Tensor(np.ones(MAX_BYTES // 4 + 1, np.float32)).realize()
    step = ready(lambda x: x + 1, x)
    memory = weakref.ref(step(x).uop.base.buffer)
    gc.collect()
    assert memory() is None


class Model:
    def __init__(self):
        self.w = Tensor([1.0, 2.0], requires_grad=True).realize()
        self.optimiser = nn.optim.SGD([self.w], lr=0.5)

    def step(self, x):
        self.optimiser.zero_grad()
        loss = (self.w * (x + 1)).sum()
        loss.backward()
        return loss.realize(*self.optimiser.schedule_step())


def trained():
    model = Model()
    step = jit(model.step)
    with Tensor.train():
        for _ in range(5):  # without a gradient, recorded twice, replayed twice
            step(number(-1))
    assert step.replays == 2
    return model, step


def test_a_replaced_gradient_is_reused_in_place():
    model, step = trained()
    before = id(model.w.grad), place(model.w.grad)
    with Tensor.train():
        for value in (3, 4):
            step(number(value - 1))
            assert (id(model.w.grad), place(model.w.grad)) == before
            assert model.w.grad.tolist() == [value] * 2


@pytest.mark.parametrize("keep", [*KEEPERS.values(), weakref.ref], ids=[*KEEPERS, "weakly"])
def test_a_referenced_gradient_keeps_its_value(keep):
    model, step = trained()
    with Tensor.train():
        step(number(2))
        step(number(2))
        held = keep(model.w.grad)
        for value in range(5, 8):
            step(number(value - 1))
            assert model.w.grad.tolist() == [value] * 2
    if isinstance(held, weakref.ref):
        assert held() is not model.w.grad
    else:
        assert values_in(held) == {3.0}


def test_gradients_that_add_up():
    """The old gradient is read: it is not what the new one is written to."""
    w = Tensor([1.0, 2.0], requires_grad=True).realize()

    @jit
    def step(x):
        (w * x).sum().backward()
        return w.grad.realize()

    found = [step(number(n)).tolist()[0] for n in range(1, 7)]
    assert found == [1.0, 3.0, 6.0, 10.0, 15.0, 21.0]


def test_a_gradient_that_was_taken_away_and_put_back():
    model, step = trained()
    with Tensor.train():
        step(number(2))
        held, model.w.grad = model.w.grad, None
        step(number(3))
        other, model.w.grad = model.w.grad, held
        for value in (5, 6, 7):
            step(number(value - 1))
    assert held.tolist() == [3.0, 3.0] and other.tolist() == [4.0, 4.0]
    assert model.w.grad.tolist() == [7.0, 7.0]


def test_two_recordings_over_the_same_parameters():
    model, step = trained()
    wide = Tensor([[1.0, 1.0], [2.0, 2.0]]).realize()
    with Tensor.train():
        for value in range(4):
            step(wide)
            assert model.w.grad.tolist() == [5.0, 5.0]
            step(number(value - 1))
            assert model.w.grad.tolist() == [value] * 2
