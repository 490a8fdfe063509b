"""Random programs over tensors, run beside NumPy.

A program is a row of Python lines that create, compute, write, group and realize tensors. The
lines are chosen one after the other, run, and mirrored in NumPy: what is a view there is a view
here, and sees what is written. In the end, and at times on the way, all
tensors are compared. The text of a failing program is in the error, ready to be run by itself.

    run_program(Seeded(7))                 a program for a number
    run_program(Drawn(data.draw))          one that hypothesis chooses, and makes small if it fails
"""

from __future__ import annotations

from typing import Any

from weft.base.errors import ScheduleError
from weft.base.settings import settings
from weft.testing import program_groups, program_reduces, program_writes  # they enter their steps
from weft.testing.program_lines import Chooser, Drawn, Mismatch, Program, Seeded, filled
from weft.testing.program_shards import Sharded
from weft.testing.program_steps import STEPS

__all__ = [
    "Drawn", "Mismatch", "Refused", "Seeded", "filled", "program_groups", "program_reduces",
    "program_writes", "run_program",
]  # fmt: skip

Weights = dict[str, int]
_REFUSAL = "reads what it overwrites"


class Refused(Exception):
    """The scheduler said that no order of reads and writes will do, and how to write it."""


def run_program(
    chooser: Chooser,
    weights: Weights | None = None,
    most: int = 12,
    devices: tuple[str, ...] = (),
    mesh: tuple[int, ...] = (),
    **overrides: Any,
) -> Program:
    """Choose, run and check one program, with `overrides` of settings.

    :param devices: shard every tensor over them; none: all tensors are on the default device.
    :param mesh: the sizes of the axes of a mesh of these devices; none: they are in a row.
    :param weights: the frequency of each kind of step, by its name in `STEPS`.
    :raises Mismatch: if a tensor differs from NumPy. Any other error of a line is raised with the
        program as a note.
    :raises Refused: if a write of the program reads the memory that it overwrites.
    """
    make = (Sharded(*devices, mesh=mesh),) if devices else ()
    program = Program(chooser, *make)
    names = [name for name, often in (weights or EVERYTHING).items() for _ in range(often)]
    try:
        with settings.override(**overrides):
            program.source(program.shape())
            for _ in range(program.integer(1, most)):
                STEPS[program.choice(names)](program)
            left = list(program.values)
            while left:
                program.check(left.pop(program.integer(0, len(left) - 1)))
    except ScheduleError as error:
        if _REFUSAL in str(error):
            _check_the_rest(program)
            raise Refused(program.text()) from error
        error.add_note(program.text())
        raise
    except Mismatch as error:
        if overrides:
            error.add_note(f"with {overrides}")
        raise
    except Exception as error:
        error.add_note(f"{program.text()}\nwith {overrides}")
        raise
    return program


def _check_the_rest(program: Program) -> None:
    """Check that after a refused write, values that do not depend on it are unchanged."""
    for name in program.values:
        try:
            program.check(name)
        except ScheduleError as error:
            if _REFUSAL not in str(error):
                error.add_note(program.text())
                raise


EVERYTHING: Weights = {
    "create": 2, "unary": 2, "binary": 4, "choose": 1, "cast": 1, "reshape": 2, "permute": 1,
    "expand": 1, "pad": 1, "shrink": 1, "flip": 1, "slices": 2, "reduce": 3, "normalise": 1,
    "scan": 1, "matmul": 1, "join": 1, "gather": 1, "hold": 1, "write": 2, "update": 2, "assign": 2,
    "scatter": 1, "realize": 2, "kernelize": 1, "forget": 1, "look": 1, "travel": 1, "outputs": 1,
    "rows": 1, "pick_rows": 1,
}  # fmt: skip
"""All steps, as `weights`."""

FUSION: Weights = {
    "create": 1, "unary": 3, "binary": 6, "choose": 1, "cast": 1, "reshape": 2, "permute": 2,
    "expand": 3, "pad": 2, "shrink": 1, "flip": 1, "reduce": 6, "normalise": 2, "matmul": 2,
    "join": 1, "hold": 1, "kernelize": 1, "realize": 1, "outputs": 3, "rows": 3, "pick_rows": 1,
}  # fmt: skip
"""Deep graphs of computing and movement, realized late."""

HAZARDS: Weights = {
    "create": 1, "binary": 3, "reshape": 1, "permute": 1, "flip": 1, "slices": 2, "reduce": 1,
    "hold": 2, "write": 5, "update": 5, "assign": 5, "scatter": 1, "realize": 3, "kernelize": 2,
    "forget": 1, "look": 1, "travel": 1, "outputs": 1,
}  # fmt: skip
"""Writes among readers of what is overwritten."""
