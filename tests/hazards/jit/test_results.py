"""What a captured function gives is new at every call, in any container."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, jit

Pair = namedtuple("Pair", "left right")


@dataclass
class Batch:
    images: Tensor
    labels: Tensor


def test_results_are_fresh():
    step = jit(lambda x: x * 2)
    kept = [step(Tensor([float(i)])) for i in range(CALLS)]
    assert [t.tolist() for t in kept] == [[2.0 * i] for i in range(CALLS)]
    kept[4].assign(Tensor([-1.0])).realize()
    again = step(Tensor([9.0]))
    assert (kept[4].tolist(), kept[5].tolist(), again.tolist()) == ([-1.0], [10.0], [18.0])


def test_results_in_any_container():
    def program(wrap):
        @wrap
        def step(x):
            return {"a": [x + 1, (x * 2, None)], "b": Pair(x.sum(), "text"), "c": 3}

        return [step(Tensor(numbers(3, seed=i))) for i in range(CALLS)]

    both(program, CALLS - 2)
    step = jit(lambda x: Batch(x + 1, x))
    for _ in range(4):
        x = Tensor([1.0])
        made = step(x)
        assert type(made) is Batch and made.labels is x and made.images.tolist() == [2.0]


def test_results_that_are_inputs_or_views_of_them():
    step = jit(lambda x, y: (x, x.reshape(2, 2), y[1:], x, x + 1))
    for i in range(CALLS):
        data = numbers(4, seed=i)
        x, y = Tensor(data).realize(), Tensor(data * 2).realize()
        a, b, c, d, e = step(x, y)
        assert a is x and d is x
        np.testing.assert_array_equal(b.numpy(), data.reshape(2, 2))
        np.testing.assert_array_equal(c.numpy(), data[1:] * 2)
        x.assign(x + 100).realize()
        np.testing.assert_array_equal(b.numpy(), x.numpy().reshape(2, 2))
        c[0] = 7
        assert y.tolist()[1] == 7
        np.testing.assert_allclose(e.numpy(), data + 1, rtol=1e-6)


def test_the_same_result_twice_is_one_tensor():
    @jit
    def step(x):
        made = x + 1
        return made, [made, made.reshape(1, 2)]

    for i in range(CALLS):
        a, (b, c) = step(Tensor([float(i), 2.0]))
        assert a is b and c.tolist() == [[i + 1.0, 3.0]]


def test_results_that_do_not_depend_on_inputs():
    def program(wrap):
        @wrap
        def step(x):
            return Tensor.ones(3), Tensor([1.0, 2.0]) * 3, Tensor.arange(4), x

        found = []
        for i in range(CALLS):
            made = step(Tensor([float(i)]))
            found.append([each * 1 for each in made])
            made[1].assign(Tensor([0.0, 0.0])).realize()
        return found

    both(program, CALLS - 2)


def test_nothing_to_run():
    def program(wrap):
        nothing = wrap(lambda x: None)
        number = wrap(lambda x, n: n)
        x = Tensor([1.0]).realize()
        return [f(x, *args) for _ in range(CALLS) for f, args in ((nothing, ()), (number, (3,)))]

    both(program, CALLS - 2)


def test_results_that_turn_out_to_be_counters():
    """The index of the maximum of one element is a constant, and takes no kernel."""

    def program(wrap):
        step = wrap(lambda x: (x.argmin(0), x.argmax(0) + 2, (x == x).where(Tensor.arange(4), 0)))
        return [step(Tensor([[i, 2, 3, 4]])) for i in range(CALLS)]

    both(program, CALLS - 2)
