"""Python values are never frozen: another value is another recording, or a warning says why not."""

import pytest

from weft import Tensor, jit
from weft.testing.captured import CALLS, both, numbers


@pytest.mark.parametrize(
    "values", [[1, 2, 2, 1, 2, 1, 1], [1, 1.0, True, 1, 1.0, True, 1, 1.0, True], [0.0, -0.0] * 4]
)
def test_python_numbers_are_not_frozen(values):
    def program(wrap):
        step = wrap(lambda a, k: 1 / (a * k))
        return [step(Tensor([1, 2]), k) for k in values]

    both(program)


def test_strings_none_and_branches():
    def program(wrap):
        @wrap
        def step(a, how=None, flags=()):
            a = a * 2 if how is None else getattr(a, how)()
            return a + len(flags)

        x = Tensor(numbers(4)).realize()
        return [step(x, how, flags) for how in (None, "relu", "exp") * 3 for flags in ((), ("a",))]

    both(program)


def test_python_values_in_closure_globals_and_attributes_are_not_frozen():
    global scale
    scale = 1.0

    class Model:
        factor = 2.0

        def __init__(self):
            self.shift = 1

        def __call__(self, x):
            return x * scale * self.factor + self.shift + offset["by"]

    offset = {"by": 0}

    def program(wrap):
        global scale
        model = Model()
        step = wrap(lambda x: model(x))
        found = []
        for i in range(16):
            scale, Model.factor = float(i // 4 % 2), i // 8 + 1.0
            model.shift, offset["by"] = i // 2 % 2, 0
            found.append(step(Tensor([1.0, 2.0])))
        return found

    both(program)


def test_a_number_from_elsewhere_is_noticed():
    import random

    def program(wrap):
        drawn = random.Random(1)
        step = wrap(lambda x: x * drawn.random())
        return [step(Tensor([1.0])) for _ in range(CALLS)]

    both(program, 0, quiet=False)
    with pytest.warns(UserWarning, match="something else at every call"):
        program(jit)


def test_numbers_that_python_makes_tensors_of():
    count = [0]

    def program(wrap):
        count[0] = 0
        hidden = iter(range(100))

        @wrap
        def constant(x):
            return x + Tensor([1.0, 2.0])

        @wrap
        def moving(x):
            return x + Tensor([float(next(hidden)), 2.0])

        return [f(Tensor([1.0, 2.0])) for _ in range(CALLS) for f in (constant, moving)]

    both(program, CALLS - 2, quiet=False)


def test_a_counter_in_python_goes_on():
    def program(wrap):
        class Model:
            steps = 0

            def __init__(self):
                self.calls = 0

        model = Model()

        @wrap
        def step(x):
            model.calls += 1
            return x * model.calls

        found = [step(Tensor([1.0])) for _ in range(CALLS)]
        return [*found, model.calls]

    both(program, quiet=False)
