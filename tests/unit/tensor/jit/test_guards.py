"""Calls like the last one that was replayed, the simplest of them in one function: the same
results, and another look wherever something is different."""

import threading

import numpy as np
import pytest

from weft import Tensor, dtypes, jit, settings
from weft.base import trace
from weft.device import registry
from weft.engine import stats
from weft.tensor.jit.guards import MISSED, Like, Straight
from weft.tensor.jit.output_reuse import MAX_BYTES, PATIENCE


def ready(function, *args):
    """A captured function that has replayed on these."""
    made = jit(function)
    for _ in range(4):
        made(*args)
    assert made.replays == 2
    return made


def number(*values, dtype=dtypes.float):
    return Tensor([*values], dtype=dtype).contiguous().realize()


@pytest.fixture(autouse=True)
def told_of_single_launches():
    if registry.open(None).compute.graph_from > 1:
        pytest.skip("the device is not told of the arguments of a single launch")


def goes_straight(step, *args):
    """Whether a call with these does, as far as its arguments and what is around it say."""
    like = step._like
    return type(like) is Straight and like.call(args, {}) is not MISSED


SIMPLE = {
    "one kernel": (lambda x: x + 1, lambda x: x + 1),
    "several kernels": (
        lambda x: ((x + 1).contiguous() * 2).contiguous().sum(),
        lambda x: ((x + 1) * 2).sum(),
    ),
    "in a tuple": (lambda x: (x * 2,), lambda x: (x * 2,)),
    "in a dict": (lambda x: {"a": [x * 2, 7]}, lambda x: {"a": [x * 2, 7]}),
    "two tensors": (lambda x, y: x * 2 + y, lambda x, y: x * 2 + y),
}


def flat(found):
    """The numbers of a result."""
    while isinstance(found, (tuple, dict)):
        found = found[0] if isinstance(found, tuple) else found["a"][0]
    return np.asarray(found.numpy() if isinstance(found, Tensor) else found)


@pytest.mark.parametrize("function, expected", SIMPLE.values(), ids=SIMPLE)
def test_what_it_gives(function, expected):
    draw = np.random.default_rng(5)
    count = function.__code__.co_argcount
    shape = (3, 5)
    given = [Tensor(draw.random(shape, np.float32)).realize() for _ in range(count)]
    step = ready(function, *given)
    assert goes_straight(step, *given)
    for _ in range(5):
        arrays = [draw.random(shape, np.float32) for _ in range(count)]
        arrays[0][0, :3] = np.nan, np.inf, -0.0
        found = step(*[Tensor(array).realize() for array in arrays])
        np.testing.assert_allclose(flat(found), flat(expected(*arrays)), rtol=1e-6)
    assert step.replays == 7


def test_results_are_new_for_whoever_keeps_them():
    step = ready(lambda x: x * 2, number(1, 2))
    kept = [step(number(n, n)) for n in range(2 * PATIENCE)]
    assert [y.tolist() for y in kept] == [[2.0 * n] * 2 for n in range(2 * PATIENCE)]
    assert len({id(y.uop.base.buffer) for y in kept}) == len(kept)
    dropped = step(number(5, 5)).tolist()
    assert dropped == [10, 10] and kept[3].tolist() == [6, 6]


def test_one_result_in_many_that_is_kept_does_not_end_it():
    x = number(1, 2)
    step = ready(lambda x: x * 2, x)
    kept = []
    for _ in range(2 * PATIENCE):
        kept.append(step(x))
        kept.append(step(x))
        step(x)
        assert goes_straight(step, x)
    assert {tuple(y.tolist()) for y in kept} == {(2.0, 4.0)}


OTHERS = {
    "shape": lambda: (number(1, 2, 3), number(4, 5, 6)),
    "dtype": lambda: (number(1, 2, dtype=dtypes.int), number(4, 5, dtype=dtypes.int)),
    "view": lambda: (number(1, 9, 2).reshape(3, 1)[0:3:2].reshape(2), number(4, 5)),
    "more dimensions": lambda: (number(1, 2).reshape(2, 1), number(4, 5).reshape(1, 2)),
    "pending": lambda: (number(1, 2) + 0.5, number(4, 5)),
    "flag": lambda: (number(1, 2).requires_grad_(), number(4, 5)),
    "number": lambda: (number(1, 2), 3.0),
}


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS)
def test_arguments_that_stand_otherwise(others):
    def function(x, y):
        return x * 2 + y

    step = ready(function, number(1, 2), number(3, 4))
    given = others()
    assert not goes_straight(step, *given)
    for _ in range(4):
        assert step(*given).tolist() == function(*given).tolist()
    assert step(number(1, 2), number(3, 4)).tolist() == [5, 8]


def test_one_tensor_twice_is_another_call():
    step = ready(lambda x, y: x * 2 + y, number(1, 2), number(3, 4))
    x = number(5, 6)
    assert not goes_straight(step, x, x) and not goes_straight(step, x, x.detach())
    assert step(x, x).tolist() == [15, 18]


def test_more_or_named_arguments():
    step = ready(lambda x, y=None: x * 2 if y is None else x + y, number(1, 2))
    x = number(5, 6)
    assert goes_straight(step, x) and not goes_straight(step, x, x)
    assert step(x, number(1, 1)).tolist() == [6, 7]
    assert step(x, y=number(1, 1)).tolist() == [6, 7] and step(x=x).tolist() == [10, 12]


def test_an_argument_with_a_gradient():
    x = number(5, 6)
    step = ready(lambda x: x * 2 if x.grad is None else x * 3, x)
    x.grad = number(0, 0)
    assert not goes_straight(step, x) and step(x).tolist() == [15, 18]


def test_memory_that_nobody_asked_for_yet():
    step = ready(lambda x: (x * 0) + 1, number(5, 6))
    assert step(Tensor.empty(2)).shape == (2,)


def test_memory_that_was_let_go_and_made_anew():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    buffer = x.uop.base.buffer
    buffer.deallocate()
    buffer.copy_in(np.array([7, 8], np.float32))
    assert goes_straight(step, x) and step(x).tolist() == [8, 9]


def test_writes_to_an_argument_are_seen():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    x.assign(number(1, 2)).realize()
    assert step(x).tolist() == [2, 3]


@pytest.mark.parametrize(
    "around", [lambda: settings.override(JIT=0), lambda: settings.override(NOOPT=1), Tensor.train]
)
def test_what_is_around_it(around):
    x = number(5, 6)
    step = ready(lambda x: x + (2 if Tensor.training else 1), x)
    with around():
        assert not goes_straight(step, x)
        assert step(x).tolist() == ([7, 8] if Tensor.training else [6, 7])
    assert step(x).tolist() == [6, 7]


def test_state_that_changes():
    scale = [2.0]
    x = number(5, 6)
    step = ready(lambda x: x * scale[0], x)
    assert goes_straight(step, x)
    scale[0] = 3.0
    assert not goes_straight(step, x) and step(x).tolist() == [15, 18]


def test_a_reset_is_the_end_of_it():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    step.reset()
    assert step._like is None and step(x).tolist() == [6, 7] and step.replays == 0


WIDER = {
    "a large result": lambda x: x.reshape(1, 2).expand(MAX_BYTES, 2).contiguous(),
    "two results": lambda x: (x + 1, x * 2),
    "what was given": lambda x: (x + 1, x),
    "random numbers": lambda x: x + Tensor.rand(2),
    "a write": lambda x: x.assign(x + 1),
}


@pytest.mark.parametrize("function", WIDER.values(), ids=WIDER)
def test_what_takes_the_usual_way(function):
    step = ready(function, number(5, 6))
    assert step._like is None or type(step._like) is Like
    results = [step(number(1, 2)) for _ in range(3)]
    assert all(isinstance(found, (Tensor, tuple)) for found in results) and step.replays == 5


def test_state_in_memory_takes_the_usual_way():
    weight = number(2, 3)
    step = ready(lambda x: x * weight, number(5, 6))
    assert type(step._like) is Like and step(number(1, 2)).tolist() == [2, 6]


def test_it_is_counted_and_told():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    before, seen = stats.kernels, []
    leave = trace.subscribe(seen.append, only=["run"])
    step(x)
    leave()
    assert stats.kernels == before + 1 and [event.name for event in seen] == ["run"]
    stats.timing = True
    try:
        seconds = stats.seconds
        assert step(x).tolist() == [6, 7] and stats.seconds > seconds
    finally:
        stats.timing = False
    assert step(x).tolist() == [6, 7] and stats.kernels == before + 3


def test_threads_take_turns():
    step = ready(lambda x: (x * 2).sum(), number(*range(100)))
    failed = []

    def work(value):
        x = number(*[value] * 100)
        for _ in range(200):
            if step(x).item() != 200 * value:
                failed.append(value)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_an_argument_that_is_a_result_of_its_own():
    kept = number(1, 2)
    give = ready(lambda a, b: (kept, b), kept[...], number(3))
    b = number(4)
    found = give(kept, b)
    assert found[0] is kept and found[1] is b
