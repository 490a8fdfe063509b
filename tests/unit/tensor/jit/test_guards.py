"""Guards of the last replayed call: equal results where they hold, a signature where one fails."""

import threading

import numpy as np
import pytest

from weft import Tensor, Variable, dtypes, jit, settings
from weft.base import trace
from weft.engine import stats
from weft.tensor.jit.guards import ArgumentGuards
from weft.tensor.jit.output_reuse import MAX_BYTES, PATIENCE
from weft.tensor.jit.signature import Signature


def ready(function, *args):
    """A captured function that has replayed on these."""
    made = jit(function)
    for _ in range(4):
        made(*args)
    assert made.replays == 2
    return made


def number(*values, dtype=dtypes.float):
    return Tensor([*values], dtype=dtype).contiguous().realize()


def passes_guards(step, *args):
    """Whether a call with these arguments is replayed without a signature."""
    return step._guard is not None and step._guard.match(args, {}) is not None


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
def test_results_equal_the_plain_function(function, expected):
    draw = np.random.default_rng(5)
    count = function.__code__.co_argcount
    shape = (3, 5)
    given = [Tensor(draw.random(shape, np.float32)).realize() for _ in range(count)]
    step = ready(function, *given)
    assert passes_guards(step, *given)
    for _ in range(5):
        arrays = [draw.random(shape, np.float32) for _ in range(count)]
        arrays[0][0, :3] = np.nan, np.inf, -0.0
        found = step(*[Tensor(array).realize() for array in arrays])
        np.testing.assert_allclose(flat(found), flat(expected(*arrays)), rtol=1e-6)
    assert step.replays == 7


def test_kept_results_are_new_buffers():
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
        assert passes_guards(step, x)
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
def test_arguments_with_other_layouts(others):
    def function(x, y):
        return x * 2 + y

    step = ready(function, number(1, 2), number(3, 4))
    given = others()
    assert not passes_guards(step, *given)
    for _ in range(4):
        assert step(*given).tolist() == function(*given).tolist()
    assert step(number(1, 2), number(3, 4)).tolist() == [5, 8]


def test_one_tensor_twice_is_another_call():
    step = ready(lambda x, y: x * 2 + y, number(1, 2), number(3, 4))
    x = number(5, 6)
    assert not passes_guards(step, x, x) and not passes_guards(step, x, x.detach())
    assert step(x, x).tolist() == [15, 18]


def test_more_or_named_arguments():
    step = ready(lambda x, y=None: x * 2 if y is None else x + y, number(1, 2))
    x = number(5, 6)
    assert passes_guards(step, x) and not passes_guards(step, x, x)
    assert step(x, number(1, 1)).tolist() == [6, 7]
    assert step(x, y=number(1, 1)).tolist() == [6, 7] and step(x=x).tolist() == [10, 12]


def test_an_argument_with_a_gradient():
    x = number(5, 6)
    step = ready(lambda x: x * 2 if x.grad is None else x * 3, x)
    x.grad = number(0, 0)
    assert not passes_guards(step, x) and step(x).tolist() == [15, 18]


def test_unallocated_arguments():
    step = ready(lambda x: (x * 0) + 1, number(5, 6))
    assert step(Tensor.empty(2)).shape == (2,)


def test_reallocated_memory_of_an_argument():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    buffer = x.uop.base.buffer
    buffer.deallocate()
    buffer.copy_in(np.array([7, 8], np.float32))
    assert passes_guards(step, x) and step(x).tolist() == [8, 9]


def test_writes_to_an_argument_are_seen():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    x.assign(number(1, 2)).realize()
    assert step(x).tolist() == [2, 3]


@pytest.mark.parametrize(
    "around", [lambda: settings.override(JIT=0), lambda: settings.override(NOOPT=1), Tensor.train]
)
def test_surrounding_modes(around):
    x = number(5, 6)
    step = ready(lambda x: x + (2 if Tensor.training else 1), x)
    with around():
        assert not passes_guards(step, x)
        assert step(x).tolist() == ([7, 8] if Tensor.training else [6, 7])
    assert step(x).tolist() == [6, 7]


def test_state_that_changes():
    scale = [2.0]
    x = number(5, 6)
    step = ready(lambda x: x * scale[0], x)
    assert passes_guards(step, x)
    scale[0] = 3.0
    assert not passes_guards(step, x) and step(x).tolist() == [15, 18]


def test_a_reset_is_the_end_of_it():
    x = number(5, 6)
    step = ready(lambda x: x + 1, x)
    step.reset()
    assert step._guard is None and step(x).tolist() == [6, 7] and step.replays == 0


OTHER_TRACES = {
    "a large result": (lambda x: x.reshape(1, 2).expand(MAX_BYTES, 2).contiguous(), True),
    "two results": (lambda x: (x + 1, x * 2), True),
    "an argument": (lambda x: (x + 1, x), True),
    "random numbers": (lambda x: x + Tensor.rand(2), True),
    "a write": (lambda x: x.assign(x + 1), True),
    "a container of arguments": (lambda x: x[0] + x[1], False),
}


@pytest.mark.parametrize("function, is_guarded", OTHER_TRACES.values(), ids=OTHER_TRACES)
def test_traces_of_other_kinds(function, is_guarded):
    def argument(*values):
        return number(*values) if is_guarded else [number(*values), number(*values)]

    step = ready(function, argument(5, 6))
    assert passes_guards(step, argument(1, 2)) is is_guarded
    results = [step(argument(1, 2)) for _ in range(3)]
    assert all(isinstance(found, (Tensor, tuple)) for found in results) and step.replays == 5


def test_state_in_memory():
    weight = number(2, 3)
    step = ready(lambda x: x * weight, number(5, 6))
    assert passes_guards(step, number(1, 2)) and step(number(1, 2)).tolist() == [2, 6]
    assert not passes_guards(step, weight) and step(weight).tolist() == [4, 9]
    weight.assign(number(4, 5)).realize()
    assert step(number(1, 2)).tolist() == [4, 10]


def test_statistics_and_trace_events():
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


def test_argument_guards():
    x, y = Tensor([1.0, 2.0]).realize(), Tensor([[3.0]]).realize()
    args = (x, 3, y, "name", None, 0.0)
    guards = ArgumentGuards.of(args, {}, Signature(args, {}))
    for alike in (args, (Tensor([5.0, 6.0]).realize(), 3, y, "name", None, 0.0)):
        taken = Signature(alike, {})
        assert guards.match(alike, {}) == (taken.tensors, list(taken.nodes))
    longer = Tensor([1.0, 2.0, 3.0]).realize()
    whole, flat = Tensor([1, 2]).realize(), Tensor([[1.0, 2.0]]).realize()
    for other in (longer, whole, flat, flat.reshape(2)[:1], x + 1, Tensor([1.0, 2.0], "HOST"), 3):
        assert guards.match((other, *args[1:]), {}) is None
    for place, other in ((1, 4), (1, True), (1, 3.0), (3, "other"), (4, 0), (5, -0.0), (5, 0)):
        changed = [*args]
        changed[place] = other
        assert guards.match(tuple(changed), {}) is None
    assert guards.match(args[:-1], {}) is None and guards.match(args, {"z": 1}) is None
    x.grad = y
    assert guards.match(args, {}) is None
    x.grad = None
    y.requires_grad_()
    assert guards.match(args, {}) is None


def test_argument_guards_of_keywords_and_of_shared_memory():
    x, y, z = (Tensor([float(n)]).realize() for n in range(3))
    guards = ArgumentGuards.of((x,), {"b": y, "a": z}, Signature((x,), {"b": y, "a": z}))
    assert guards.match((x,), {"a": z, "b": y})[0] == [x, z, y]
    assert guards.match((x,), {"a": z}) is None and guards.match((x,), {"a": z, "c": y}) is None
    assert guards.match((x,), {"a": x, "b": y}) is None
    assert guards.match((x, z, y), {}) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda x: ((x, x)),
        lambda x: ((x, x.reshape(1, 2))),
        lambda x: ([x],),
        lambda x: (x[: Variable("n", 1, 2).bind(1)],),
        lambda x: (x + 1,),
        lambda x: (x, object),
    ],
)
def test_arguments_that_need_a_signature(make):
    args = make(Tensor([1.0, 2.0]).realize())
    assert ArgumentGuards.of(args, {}, Signature(args, {})) is None
