"""Random functions over arguments and state, called again and again, captured and as written.

A case is a list of steps for the function and a list of steps between its calls; both are made of
random numbers alone, so that the two runs do the same. What is compared: every result, every tensor
of the state, and every view that was taken at any time, read at the end.
"""

import random
import warnings
from functools import cache

import numpy as np
import pytest

from helpers.example_counts import examples
from weft import Tensor, jit

SHAPE = (3, 4)


def draw(rng):
    """One step inside the function, as a function of (values so far, state)."""
    kind = rng.randrange(12)
    i, j, name = rng.randrange(9), rng.randrange(9), rng.choice("abc")
    number = rng.choice([0.5, 1.0, -2.0])

    def step(values, state):
        x, y = values[i % len(values)], values[j % len(values)]
        if kind == 0:
            values.append(x + y * number)
        elif kind == 1:
            values.append((x * 0.5).relu().contiguous())
        elif kind == 2:
            values.append(x.flip(0) + y.flip(1))
        elif kind == 3:
            values.append(x.softmax(1))
        elif kind == 4:
            values.append(state[name] * number + x)
        elif kind == 5:
            state[name].assign((state[name] * 0.5 + x).contiguous())
        elif kind == 6:
            state[name] = (state[name] * 0.5 + y).contiguous() if number > 0 else x * 1
        elif kind == 7:
            values.append((x + 1).realize())
        elif kind == 8:
            values.append(state[name])
        elif kind == 9:
            state[name][1:] = y[1:].contiguous()
        elif kind == 10:
            values.append(x + Tensor.rand(*SHAPE))
        else:
            x.assign((x * 0.5 + number).contiguous())

    return step


def between(rng):
    """One step outside, as a function of (state, taken)."""
    kind, name = rng.randrange(8), rng.choice("abc")
    data = np.random.default_rng(rng.randrange(1000)).standard_normal(SHAPE).astype(np.float32)

    def step(state, taken):
        if kind == 0:
            taken.append(state[name][1])
        elif kind == 1:
            taken.append(state[name].T + 1)
        elif kind == 2:
            state[name].assign(Tensor(data))
        elif kind == 3:
            state[name] = Tensor(data).realize()
        elif kind == 4:
            taken.append(state[name])
        elif kind == 5:
            state[name] = Tensor(data.T.copy()).realize().T
        elif kind == 6 and len(taken) > 2:
            del taken[rng.randrange(2)]

    return step


def run(seed, wrap):
    rng = random.Random(seed)
    steps = [draw(rng) for _ in range(rng.randrange(1, 9))]
    picks = [rng.randrange(9) for _ in range(3)]
    Tensor.manual_seed(seed)
    start = np.random.default_rng(seed).standard_normal((3, *SHAPE)).astype(np.float32)
    state = {name: Tensor(start[place]).realize() for place, name in enumerate("abc")}

    @wrap
    def function(x, more, times=1.0):
        values = [x, more[0], x * times]
        for step in steps:
            step(values, state)
        return {"last": values[-1], "some": [values[p % len(values)] for p in picks]}

    taken, results = [], []
    kind = rng.randrange(10)
    for call in range(9):
        data = np.random.default_rng(call).standard_normal((2, *SHAPE)).astype(np.float32)
        x, y = Tensor(data[0]), Tensor(data[1])
        if kind > 1:
            x.realize()
        if kind == 3:
            y = x
        elif kind == 4:
            y = x.flip(0)
        elif kind == 5:
            y = state["a"]
        elif kind == 6:
            x = state["b"].flip(1)
        elif kind == 7:
            y = state["a"] if call % 2 else state["b"]
        elif kind == 8:
            x, y = state["c"], state["c"].reshape(12).reshape(3, 4)
        times = rng.choice([1.0, 1.0, 2.0, 1])
        made = function(x, (y,), times) if kind < 9 else function(x, more=[y], times=times)
        results += [made["last"], *made["some"], x, y]
        for _ in range(rng.randrange(3)):
            between(rng)(state, taken)
    replays = getattr(function, "replays", 0)
    return [t.numpy() for t in [*results, *taken, *state.values()]], replays


@pytest.mark.parametrize("seed", range(examples(60)))
def test_captured_and_as_written_agree(seed):
    captured, _ = captured_outcome(seed)
    plain, _ = outcome(seed, lambda function: function)
    if isinstance(plain, str):
        assert captured == plain
        return
    assert len(captured) == len(plain)
    for place, (one, other) in enumerate(zip(captured, plain)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=f"value {place}")


def outcome(seed, wrap, made=run):
    """What `made` gives, or the kind of error that it ends in."""
    try:
        return made(seed, wrap)
    except Exception as error:
        return type(error).__name__, 0


@cache
def captured_outcome(seed):
    """The outcome of a captured function, and how often it was replayed: two tests ask for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(seed, jit)


def test_such_functions_are_replayed():
    count = min(20, examples(20))
    assert sum(captured_outcome(seed)[1] for seed in range(count)) > count // 2


# ---- how a function is called, and what it gives -------------------------------------------------

INNER = [
    lambda x, y, own: x * y + 1,
    lambda x, y, own: (x * 2 + y + own).contiguous(),
    lambda x, y, own: x + y.assign((y * 0.5).contiguous()),
    lambda x, y, own: x,
    lambda x, y, own: x + own.assign((own * 0.5 + x.mean(0)).contiguous()),
]
STEPS = [
    lambda x, y, inner: x + y * 0.5,
    lambda x, y, inner: (x.flip(0) * 0.5 + y).contiguous(),
    lambda x, y, inner: x.T.contiguous().T * -2,
    lambda x, y, inner: x.assign((x * 0.5 + y.sum() * 0.01).contiguous()),
    lambda x, y, inner: inner(x, y),
    lambda x, y, inner: inner(y, y=x),
    lambda x, y, inner: x + Tensor.rand(*x.shape, device="REF"),
    lambda x, y, inner: x[:, 1:3].pad(((0, 0), (1, 1))) + y,
    lambda x, y, inner: x,
    lambda x, y, inner: (x * 0.5).realize(),
    lambda x, y, inner: x.clone(),
    lambda x, y, inner: x.detach().contiguous(),
    lambda x, y, inner: x.reshape(-1).reshape(x.shape),
    lambda x, y, inner: (x * y).mean(0, keepdim=True) + x.softmax(1),
]
GIVEN = [
    lambda v: v[-1],
    lambda v: (v[-1], None, 3, [v[0], v[len(v) // 2]]),
    lambda v: {"last": v[-1], "turned": (v[-1], v[-1].T), "none": None},
    lambda v: v,
    lambda v: (v[-1][1:], v[0], v[-1].sum()),
]
CALLS = [
    lambda f, x, y, flag: f(x, y, flag=flag),
    lambda f, x, y, flag: f(x, box={"a": y, "b": [x, y]}, flag=flag),
    lambda f, x, y, flag: f(x=x, y=y, z=x),
    lambda f, x, y, flag: f(x, flag=flag),
    lambda f, x, y, flag: f(x, y, box={"a": x, "b": ()}, k=y),
]


def fresh(numbers, shape):
    return Tensor(numbers.standard_normal(shape).astype(np.float32), device="REF")


def pair(kind, base, numbers, last, rows):
    """Two arguments of (rows, 4): memory of their own, one twice, windows that overlap, views."""
    x, y = fresh(numbers, (rows, 4)), fresh(numbers, (rows, 4))
    if kind == 0:
        x = y = x.realize()
    elif kind == 1:
        x.realize(y)
    elif kind == 2:
        x, y = base[:rows, :4], base[1 : 1 + rows, 2:6]
    elif kind == 3:
        x, y = base[:rows, :4], base[:rows, :4]
    elif kind == 4:
        y = x.realize().flip(1)
    elif kind == 5:
        x = base.T[:rows, :4]
    elif kind == 6 and last is not None and last.shape == (rows, 4):
        x = last  # what the call before gave
    elif kind == 7:
        x, y = Tensor.full((rows, 4), 2.0, device="REF"), Tensor.zeros(rows, 4, device="REF")
    return x, y


def tensors_in(value, shapes):
    """All tensors in a result; what else there is goes to `shapes`."""
    if isinstance(value, Tensor):
        return [value]
    if not isinstance(value, (dict, list, tuple)):
        shapes.append(value)
        return []
    shapes.append((type(value), tuple(value) if isinstance(value, dict) else len(value)))
    items = value.values() if isinstance(value, dict) else value
    return [tensor for item in items for tensor in tensors_in(item, shapes)]


def call_in_many_ways(seed, wrap):
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    Tensor.manual_seed(seed)
    steps = [(rng.choice(STEPS), rng.randrange(9), rng.randrange(9)) for _ in range(5)]
    steps, give, within = steps[: rng.randrange(1, 6)], rng.choice(GIVEN), rng.choice(INNER)
    own, base = fresh(numbers, (4,)).realize(), fresh(numbers, (8, 8)).realize()

    @wrap
    def inner(x, y):
        return within(x, y, own)

    @wrap
    def function(x, *rest, flag=None, box=None, **more):
        values = [x, *rest, *more.values()]
        if box is not None:
            values += [box["a"], *box["b"]]
        for step, i, j in steps:
            values.append(step(values[i % len(values)], values[j % len(values)], inner))
        if flag is not None:
            values.append(values[-1] * flag if flag != "text" else values[-1] + len(flag))
        return give(values)

    ways = [
        (
            rng.choice([3, 3, 2, 5, 1]), rng.randrange(9), rng.choice(CALLS),
            rng.choice([None, None, 2, 0.5, "text", True]),
        )
        for _ in range(rng.choice([1, 2, 2]))
    ]  # fmt: skip
    held, shapes, last = [], [], None
    for _ in range(rng.randrange(7, 13)):
        rows, kind, call, flag = rng.choice(ways)
        x, y = pair(kind, base, numbers, last, rows)
        results = tensors_in(call(function, x, y, flag), shapes)
        last = results[0] if results[0].ndim == 2 else None
        # what is let go of may be written again, what is held may not
        if rng.random() < 0.5:
            held += results
        elif rng.random() < 0.5:
            held += [Tensor(result.numpy()) for result in results]
        if rng.random() < 0.3:
            held.append(results[-1].flatten()[:2])
        if rng.random() < 0.5:
            held += [x, y.flip(0)[:1]]
        if rng.random() < 0.3:
            base.assign((base * 0.5).contiguous())
        del x, y, results
    return [t.numpy() for t in [*held, base, own]], shapes


@pytest.mark.parametrize("seed", range(examples(40)))
def test_however_it_is_called(seed):
    """On the reference device, where nothing is to be compiled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        captured, shapes = outcome(seed, jit, call_in_many_ways)
        plain, wanted = outcome(seed, lambda function: function, call_in_many_ways)
    if isinstance(plain, str):
        assert captured == plain
        return
    assert shapes == wanted and len(captured) == len(plain)
    for place, (one, other) in enumerate(zip(captured, plain)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=f"value {place}")


def test_such_calls_are_replayed():
    functions = []

    def kept(function):
        functions.append(jit(function))
        return functions[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(10):
            call_in_many_ways(seed, kept)
    assert sum(function.replays for function in functions) > 10
