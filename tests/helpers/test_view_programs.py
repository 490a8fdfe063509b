"""The fuzzers of views find what is wrong, and their programs have all that they are to have."""

import numpy as np
import pytest

from helpers import view_gradients, view_programs
from helpers.view_gradients import check_gradients
from helpers.view_libraries import Numpy, Tensors
from helpers.view_programs import check_program, libraries, program, run
from weft.testing.program_lines import Mismatch, Seeded


class Copying(Tensors):
    """Its flips are copies."""

    @staticmethod
    def flip(x, axis):
        return x.flip(axis).clone()


@pytest.mark.parametrize("kind", libraries())
def test_a_program_does_the_same_in_all_libraries(kind):
    lines = program(Seeded(7))
    expected, found = run(lines, Numpy()), run(lines, libraries()[kind]())
    assert expected.keys() == found.keys()
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


def test_programs_cover_all_kinds_of_lines():
    text = "\n".join(line for seed in range(150) for line in program(Seeded(seed)))
    views = ("flip", "transpose", "reshape", "view", "bits", "squeeze", "diagonal", "windows")
    others = ("expand", "unstack", "copy", "twin", "cast", "compute", "realize", "kernelize")
    more = ("schedule", "look", "export", "refuses", "places", "wrap")
    for part in (*(f"lib.{name}" for name in (*views, *others, *more)), "+=", "...] =", "del "):
        assert part in text
    for kind in view_programs.KINDS:
        assert repr(kind) in text
    assert " > " in text and "::-1" in text and "[1:]" in text


def test_programs_in_files_compute_elsewhere():
    text = "\n".join(line for seed in range(30) for line in program(Seeded(seed), stored=True))
    assert "lib.copy(t1)" in text and "@lib.wrap" not in text


def test_a_view_that_is_a_copy_is_found(monkeypatch):
    monkeypatch.setattr(view_programs, "Tensors", Copying)
    with pytest.raises(Mismatch):
        for seed in range(100):
            check_program(Seeded(seed), kinds=("as written",))


class Forgetful(view_gradients.Weft):
    """Its in-place additions lose the gradient of what is added."""

    def change(self, name, x, y):
        super().change(name, x, getattr(y, "detach", lambda: y)())


def test_a_lost_gradient_is_found(monkeypatch):
    pytest.importorskip("torch")
    outcomes = {check_gradients(Seeded(seed)) for seed in range(60)}
    assert outcomes == {"right", "failed", "refused"}
    monkeypatch.setattr(view_gradients, "Weft", Forgetful)
    with pytest.raises(Mismatch):
        for seed in range(60):
            check_gradients(Seeded(seed))
