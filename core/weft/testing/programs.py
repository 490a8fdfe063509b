"""Random programs over tensors, run beside NumPy.

A program is a row of Python lines that create, compute, write, group and realize tensors. The
lines are chosen one after the other, run, and mirrored in NumPy, where every write makes a new
array: nobody sees it but the tensor that is written to. In the end, and at times on the way, all
tensors are compared. The text of a failing program is in the error, ready to be run by itself.

    run_program(Seeded(7))                 a program for a number
    run_program(Drawn(data.draw))          one that hypothesis chooses, and makes small if it fails
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from weft import Tensor, dtypes
from weft.base.errors import ScheduleError
from weft.base.settings import settings
from weft.testing.mirror import Value, mismatch

T = TypeVar("T")
Weights = dict[str, int]

KINDS = ("int32", "float32", "float32", "int64", "uint8", "int8", "bool", "int16", "float16")
LARGEST = 1024


class Chooser(Protocol):
    """Where the choices of a program come from."""

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included; `low` is the simplest."""
        ...


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """See Chooser."""
        return self.random.randint(low, high)


class Drawn:
    """Choices that hypothesis draws."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        from hypothesis import strategies

        self.draw, self.integers = draw, strategies.integers

    def integer(self, low: int, high: int) -> int:
        """See Chooser."""
        return self.draw(self.integers(low, high))


class Mismatch(AssertionError):
    """A tensor does not hold what NumPy says; the message is the program."""


def filled(shape: tuple[int, ...], kind: str, seed: int) -> Any:
    """An array for a program's line: small whole numbers, or for odd seeds of floats any reals."""
    import numpy as np

    source = np.random.RandomState(seed)
    if kind == "bool":
        return source.randint(0, 2, shape).astype(np.bool_)
    if kind.startswith("float") and seed % 2:
        return source.uniform(-2, 2, shape).astype(kind)
    low = 0 if kind.startswith("u") else -9
    return source.randint(low, 10, shape).astype(kind)


class Program:
    """A program while it is being chosen and run.

    names: what every live tensor should hold. lines: the text so far. known: the tensors, as the
    lines see them.
    """

    def __init__(self, chooser: Chooser) -> None:
        import numpy as np

        self.chooser = chooser
        self.values: dict[str, Value] = {}
        self.lines: list[str] = []
        self.known: dict[str, Any] = {
            "Tensor": Tensor, "dtypes": dtypes, "filled": filled, "np": np,
        }  # fmt: skip
        self.made = 0

    # ---- choices ------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return self.chooser.integer(low, high)

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`; the first is the simplest."""
        return items[self.integer(0, len(items) - 1)]

    def chance(self, one_in: int) -> bool:
        """True once in `one_in` times."""
        return self.integer(0, one_in - 1) == one_in - 1

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> str | None:
        """The name of a live tensor, rather a late one; None if none fits."""
        names = [name for name, value in self.values.items() if fits(value)]
        if not names:
            return None
        return names[-1 - min(self.integer(0, len(names) - 1), self.integer(0, len(names) - 1))]

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """A small shape; seldom with an axis of no elements."""
        rank = self.integer(0, 3) if rank is None else rank
        sizes = (3, 2, 4, 1, 5, 8) if rank > 2 else (3, 4, 1, 2, 6, 8, 16, 17)
        shape = tuple(self.choice(sizes) for _ in range(rank))
        return (0, *shape[1:]) if rank and self.chance(24) else shape

    # ---- lines --------------------------------------------------------------------------------

    def run(self, line: str) -> None:
        """Run a line and keep it."""
        self.lines.append(line)
        exec(line, self.known)

    def make(self, expression: str, value: Callable[[Any], Value] | Value) -> str:
        """A new tensor; `value` may depend on the dtype that it turns out to have."""
        name = f"t{self.made}"
        self.made += 1
        self.run(f"{name} = {expression}")
        kind = self.known[name].dtype
        self.values[name] = value if isinstance(value, Value) else value(kind)
        return name

    def source(self, shape: tuple[int, ...], kind: str | None = None) -> str:
        """A new tensor with an array of its own."""
        kind = self.choice(KINDS) if kind is None else kind
        seed = self.integer(0, 99)
        array = filled(shape, kind, seed)
        whole = (array == array.round()).all() if array.dtype.kind == "f" else True
        error = 0.0 if whole else 1e-7
        return self.make(
            f"Tensor(filled({shape}, {kind!r}, {seed}))",
            Value(_wide(array), getattr(dtypes, kind), error),
        )

    def check(self, name: str) -> None:
        """Compare one tensor. Raises Mismatch."""
        self.lines.append(f"{name}.numpy()")
        wrong = mismatch(self.values[name], self.known[name].numpy())
        if wrong:
            raise Mismatch(f"{name} is {wrong}\n{self.text()}")

    def text(self) -> str:
        """The program so far."""
        return "\n".join(self.lines)


def _wide(array: Any) -> Any:
    import numpy as np

    return array.astype(np.float64) if array.dtype.kind == "f" else array


# ---- running ---------------------------------------------------------------------------------


class Refused(Exception):
    """The scheduler said that no order of reads and writes will do, and how to write it."""


def run_program(
    chooser: Chooser, weights: Weights | None = None, most: int = 12, **overrides: Any
) -> Program:
    """Choose, run and check one program, with `overrides` of settings.

    :param weights: how often each kind of step is taken, by its name in `steps.STEPS`.
    :raises Mismatch: if a tensor differs from NumPy; anything else that a line raises comes through
        with the program as a note.
    :raises Refused: if the program asks for a write that reads what it overwrites.
    """
    from weft.testing.program_steps import STEPS

    program = Program(chooser)
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
        if "reads what it overwrites" in str(error):
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


EVERYTHING: Weights = {
    "create": 2, "unary": 2, "binary": 4, "choose": 1, "cast": 1, "reshape": 2, "permute": 1,
    "expand": 1, "pad": 1, "shrink": 1, "flip": 1, "slices": 2, "reduce": 3, "normalise": 1,
    "scan": 1, "matmul": 1, "join": 1, "gather": 1, "hold": 1, "write": 2, "update": 2, "assign": 2,
    "scatter": 1, "realize": 2, "kernelize": 1, "forget": 1, "look": 1,
}  # fmt: skip
"""All steps, as `weights`."""

FUSION: Weights = {
    "create": 1, "unary": 3, "binary": 6, "choose": 1, "cast": 1, "reshape": 2, "permute": 2,
    "expand": 3, "pad": 2, "shrink": 1, "flip": 1, "reduce": 6, "normalise": 2, "matmul": 2,
    "join": 1, "hold": 1, "kernelize": 1, "realize": 1,
}  # fmt: skip
"""Deep graphs of computing and movement, realized late."""

HAZARDS: Weights = {
    "create": 1, "binary": 3, "reshape": 1, "permute": 1, "flip": 1, "slices": 2, "reduce": 1,
    "hold": 2, "write": 5, "update": 5, "assign": 5, "scatter": 1, "realize": 3, "kernelize": 2,
    "forget": 1, "look": 1,
}  # fmt: skip
"""Writes among readers of what is overwritten."""
