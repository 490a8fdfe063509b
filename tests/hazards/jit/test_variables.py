"""Shapes with variables: one recording serves all values."""

import numpy as np
import pytest

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, Variable, WeftError, jit


def test_variables_change_without_recording_again():
    n = Variable("n", 1, 10)

    def program(wrap):
        table = Tensor(numbers(10, 4)).realize()

        @wrap
        def step(x, n):
            return (table[:n] * x).sum(0)

        return [step(Tensor(numbers(4, seed=i)), n.bind(i + 1)) for i in range(8)]

    both(program, 6)
    with pytest.raises(WeftError):
        n.bind(11)


def test_a_cache_written_at_a_variable():
    place = Variable("place", 0, 7)

    def program(wrap):
        cache = Tensor.zeros(8, 4).contiguous().realize()

        @wrap
        def step(x, at):
            cache[at] = x
            return cache.sum(0)

        found = [step(Tensor(numbers(4, seed=i)), place.bind(i)) for i in range(8)]
        return [*found, cache]

    both(program, 6)


def test_attention_over_a_cache_of_variable_length():
    n = Variable("n", 1, 8)

    def program(wrap):
        cache = Tensor.zeros(2, 8, 4).contiguous().realize()

        @wrap
        def step(x, length):
            cache[:, length - 1] = x
            keys, values = cache[0, :length], cache[1, :length]
            weights = (keys @ x[0].reshape(4, 1)).softmax(0)
            return (weights * values).sum(0)

        inputs = [Tensor(numbers(2, 4, seed=i)).realize() for i in range(8)]
        return [*[step(x, n.bind(i + 1)).realize() for i, x in enumerate(inputs)], cache]

    both(program, 6)


def test_variables_in_the_shapes_of_inputs_and_results():
    n = Variable("n", 1, 10)
    table = Tensor(numbers(10, 4)).realize()
    step = jit(lambda x: x * 2 + 1)
    for i in range(1, 9):
        made = step(table[: n.bind(i)])
        assert made.shape[0].unbind()[1] == i if hasattr(made.shape[0], "unbind") else True
        whole = made.sum(0).numpy()
        np.testing.assert_allclose(whole, (numbers(10, 4)[:i] * 2 + 1).sum(0), rtol=1e-4)
    assert step.replays == 6


def test_values_that_one_signature_takes_are_free_for_another():
    """Three rows fit at some places only, one row at all of them."""
    place = Variable("place", 0, 7)

    def program(wrap):
        cache = Tensor.zeros(8, 4).contiguous().realize()

        @wrap
        def step(rows, at):
            cache[at : at + rows.shape[0]] = rows
            return cache.sum(0)

        found = [step(Tensor(numbers(3, 4)), place.bind(0))]
        found += [step(Tensor(numbers(1, 4, seed=i)), place.bind(i)) for i in range(3, 8)]
        return [*found, cache]

    both(program, 3)


def test_results_that_are_variables():
    n = Variable("n", 1, 8)

    def program(wrap):
        step = wrap(lambda x, n: (x * n, n))
        found = [step(Tensor(n.bind(i + 1)), Tensor(n.bind(i + 1)) + 1) for i in range(6)]
        return [t for pair in found for t in pair]

    both(program, 4)


def test_state_of_a_shape_with_a_variable_that_is_replaced():
    n = Variable("n", 1, 4)

    def program(wrap):
        state = {"w": Tensor([1.0, 2.0, 3.0, 4.0]).realize()[: n.bind(2)]}

        @wrap
        def step(x):
            state["w"] = (state["w"] * 2).contiguous()
            return state["w"].sum() + x

        found = [step(Tensor([0.0])) for _ in range(CALLS)]
        state["w"] = Tensor([1.0, 1.0, 1.0, 1.0]).realize()[: n.bind(3)]
        return found + [step(Tensor([0.0])) for _ in range(CALLS)]

    both(program)
