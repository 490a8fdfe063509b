"""Model programs: a program with the names of a model's inputs and the layout of its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.export import Program


@dataclass(frozen=True)
class Result:
    """An output of the model: its name, the number of its buffer, and its shape.

    A size is an int or an expression of the variables of the program.
    """

    name: str
    output: int
    shape: tuple[Any, ...]


@dataclass(eq=False)
class ModelProgram:
    """A program with the names of its inputs and the layout of the model's outputs."""

    inputs: tuple[str, ...]
    results: tuple[Result, ...]
    program: Program
