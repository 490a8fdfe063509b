"""Random programs: seeds repeat, texts run by themselves, and what is wrong is found."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.device import numpy_dtype
from weft.testing.mirror import Value, converted, mismatch, stored
from weft.testing.program_steps import unary
from weft.testing.program_writes import STEPS
from weft.testing.programs import EVERYTHING, FUSION, HAZARDS, Mismatch, Seeded, filled, run_program


def test_a_seed_is_one_program():
    assert run_program(Seeded(3)).text() == run_program(Seeded(3)).text()


def test_the_text_of_a_program_runs_by_itself():
    text = run_program(Seeded(4)).text()
    names = {"Tensor": Tensor, "dtypes": dtypes, "np": np, "filled": filled}
    exec(text, names)
    assert isinstance(names["t0"], Tensor)


def test_weights_name_steps_and_every_step_is_taken():
    assert set(EVERYTHING) == set(STEPS)
    assert set(FUSION) | set(HAZARDS) <= set(STEPS)


def test_a_wrong_device_is_found(monkeypatch):
    monkeypatch.setattr(Tensor, "flip", lambda self, axis: self)
    with pytest.raises(Mismatch, match=r"instead of[\s\S]*\.flip\("):
        for seed in range(40):
            run_program(Seeded(seed), {"flip": 1, "create": 1})


def test_whole_numbers_are_exact_until_they_are_too_large():
    small = stored(np.array([3.0, -4.0]), dtypes.float32)
    assert small.exact
    assert not stored(small.array * 1e7, dtypes.float32).exact
    assert not stored(np.array([0.5]), dtypes.float32).exact


def test_conversion_wraps_as_the_dtype_does():
    value = Value(np.array([300, -1], dtype=np.int32), dtypes.int32)
    assert converted(value, dtypes.uint8).array.tolist() == [44, 255]
    assert converted(value, dtypes.bool).array.tolist() == [True, True]


def test_description_of_a_mismatch():
    value = stored(np.array([1, 2]), dtypes.int32)
    assert mismatch(value, np.array([1, 2], dtype=np.int32)) is None
    assert "shape" in mismatch(value, np.array([[1, 2]], dtype=np.int32))
    assert "dtype" in mismatch(value, np.array([1, 2], dtype=np.int64))
    assert "instead of [1, 2]" in mismatch(value, np.array([1, 3], dtype=np.int32))


def test_relu_of_integers_is_that_of_integers():
    class Given:
        """A program that takes relu of one tensor."""

        def __init__(self, value):
            self.values = {"x": value}

        def pick(self, _):
            return "x"

        def chance(self, _):
            return False

        def choice(self, ways):
            return ways[0]

        def make(self, text, value):
            assert text == "x.relu()"
            self.found = value(self.values["x"].dtype)

    for numbers, dtype in (([2**64 - 5, 3], dtypes.uint64), ([2**53 + 1, -3], dtypes.int64)):
        program = Given(stored(np.array(numbers, numpy_dtype(dtype)), dtype))
        unary(program)
        assert program.found.array.tolist() == [max(number, 0) for number in numbers]
