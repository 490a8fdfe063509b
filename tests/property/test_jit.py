"""Random functions over arguments and state, called again and again, captured and as written.

A case is a list of steps for the function and a list of steps between its calls; both are made of
random numbers alone, so that the two runs do the same. What is compared: every result, every tensor
of the state, and every view that was taken at any time, read at the end.
"""

import random
import warnings

import numpy as np
import pytest

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


@pytest.mark.parametrize("seed", range(60))
def test_captured_and_as_written_agree(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        captured, _ = outcome(seed, jit)
    plain, _ = outcome(seed, lambda function: function)
    if isinstance(plain, str):
        assert captured == plain
        return
    assert len(captured) == len(plain)
    for place, (one, other) in enumerate(zip(captured, plain)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=f"value {place}")


def outcome(seed, wrap):
    """What `run` gives, or the kind of error that it ends in."""
    try:
        return run(seed, wrap)
    except Exception as error:
        return type(error).__name__, 0


def test_such_functions_are_replayed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sum(outcome(seed, jit)[1] for seed in range(20)) > 10
