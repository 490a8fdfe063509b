"""Checked mode against NumPy: the step that is reported in a random program made the value."""

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from helpers.example_counts import examples
from weft import Tensor
from weft.base.errors import NonFiniteError

STEPS = {
    "a.log()": lambda a, b: numpy.log(a),
    "a.exp()": lambda a, b: numpy.exp(a),
    "a.sqrt()": lambda a, b: numpy.sqrt(a),
    "1 / a": lambda a, b: 1 / a,
    "a * b": lambda a, b: a * b,
    "a - b": lambda a, b: a - b,
    "a / b": lambda a, b: a / b,
    "a.maximum(b)": numpy.maximum,
    "a.sum(0, keepdim=True) * b": lambda a, b: a.sum(0, keepdims=True) * b,
    "(a > 0).where(a, float('-inf'))": lambda a, b: numpy.where(a > 0, a, -numpy.inf),
}
ON_PURPOSE = "(a > 0).where(a, float('-inf'))"
NUMBERS = [0.0, 1.0, -1.0, 2.0, 50.0, 1e30, -1e30, numpy.inf, numpy.nan]


def badness(value):
    return 2 if numpy.isnan(value).any() else int(numpy.isinf(value).any())


def _function(step, number):
    """A step in a file of its own, so that every step has a line of its own."""
    names: dict = {}
    exec(compile(f"def run(a, b):\n    return {step}", f"step{number}", "exec"), names)
    return names["run"]


@settings(max_examples=examples(25))
@given(data=st.data())
def test_the_step_that_is_reported_makes_it(data):
    values = [
        numpy.array(data.draw(st.lists(st.sampled_from(NUMBERS), min_size=3, max_size=3)), "f4")
        for _ in range(2)
    ]
    tensors = [Tensor(value).realize() for value in values]
    used = [set(), set()]
    makers = {}
    for number in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(sorted(STEPS)))
        left, right = (data.draw(st.integers(0, len(values) - 1)) for _ in range(2))
        a, b = values[left], values[right]
        with numpy.errstate(all="ignore"):
            value = STEPS[step](a, b).astype("f4")
        inputs = [a, b] if "b" in step else [a]
        before = max([*map(badness, inputs), 1 if step == ON_PURPOSE else 0])
        if badness(value) > before:
            makers[number] = step
        values.append(value)
        tensors.append(_function(step, number)(tensors[left], tensors[right]))
        used.append({number} | used[left] | (used[right] if "b" in step else set()))
    # a product of a sum makes what it makes in two steps of one line, each of which is looked at
    reachable = {number: step for number, step in makers.items() if number in used[-1]}
    with weft.settings.override(CHECK=1):
        try:
            tensors[-1].realize()
        except NonFiniteError as error:
            number = int(error.where[0].removeprefix("step"))
            assert number in reachable or "sum" in error.operation
        else:
            assert not reachable
            numpy.testing.assert_allclose(tensors[-1].numpy(), values[-1], 1e-4)
