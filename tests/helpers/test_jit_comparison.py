"""Programs run with and without capturing: differences are errors, equal results pass."""

import pytest

from helpers.jit_comparison import CALLS, both, numbers, read, same
from weft import Tensor


def test_numbers_are_those_of_their_seed():
    assert (numbers(2, 3, seed=1) == numbers(2, 3, seed=1)).all()
    assert (numbers(2, 3, seed=1) != numbers(2, 3, seed=2)).any()


def test_results_are_read_in_any_container():
    found = read({"a": [Tensor([1, 2])], "b": (3, "text")})
    assert found["a"][0].tolist() == [1, 2] and found["b"] == [3, "text"]


@pytest.mark.parametrize(
    "one, other",
    [
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        ([numbers(2)], [numbers(2) + 1]),
        ([numbers(2)], [numbers(2).astype("float64")]),
        ("a", "b"),
    ],
)
def test_differences_are_reported(one, other):
    with pytest.raises(AssertionError):
        same(one, other)


def test_a_program_is_run_both_ways():
    ways = []

    def program(wrap):
        step = wrap(lambda x: x * 2)
        ways.append(step)
        return [step(Tensor(numbers(3, seed=i))) for i in range(CALLS)]

    made = both(program, CALLS - 2)
    assert made is ways[0] and len(ways) == 2
    with pytest.raises(AssertionError):
        both(program, CALLS)


def test_differences_of_captured_functions_are_reported():
    def program(wrap):
        step = wrap(lambda x: x * 2)
        return [hasattr(step, "replays"), step(Tensor([1.0]))]

    with pytest.raises(AssertionError):
        both(program)
