"""The fuzzer of views finds what is wrong, and its programs have views, writes and calls."""

import numpy as np
import pytest

from weft.testing import view_programs
from weft.testing.program_lines import Mismatch, Seeded
from weft.testing.view_programs import Numpy, Weft, check_program, program, run


class Copying(Weft):
    """Its flips are copies."""

    @staticmethod
    def flip(x, axis):
        return x.flip(axis).clone()


def test_a_program_does_the_same_in_all_libraries():
    lines = program(Seeded(7))
    expected, found = run(lines, Numpy()), run(lines, Weft())
    assert expected.keys() == found.keys()
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


def test_what_programs_are_made_of():
    text = "\n".join(line for seed in range(40) for line in program(Seeded(seed)))
    for part in ("lib.flip", ".reshape", "lib.transpose", "+=", "...] =", "@lib.wrap", "kernelize"):
        assert part in text


def test_a_view_that_is_a_copy_is_found(monkeypatch):
    monkeypatch.setattr(view_programs, "Weft", Copying)
    with pytest.raises(Mismatch):
        for seed in range(60):
            check_program(Seeded(seed))
