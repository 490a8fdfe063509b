"""Untracked arrays: arrays that no guard covers, and whether the captured code may read them.

An array of another library, or one too large to compare at each call, may change between two calls.
A number that the function reads from it would be a constant of the trace. An array under an
attribute whose name occurs nowhere in the code is not read.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from types import CodeType
from typing import Any

from weft.tensor.jit.static_attributes import has_member

_LAST_NAME = re.compile(r"(?:.*\.)(\w+)(?:\[[^\[\].]*\]|\(\))*", re.DOTALL)
_ALL_NAMES = frozenset({"__dict__", "vars"})


class UntrackedArrays:
    """The arrays found so far: (path, description) of each, and the names in the code."""

    __slots__ = ("_found", "_names")

    def __init__(self) -> None:
        self._found: list[tuple[str, str]] = []
        self._names: set[str] = set()

    def note(self, path: str, what: str) -> None:
        """Add an array."""
        self._found.append((path, what))

    def add_names_of(self, code: CodeType) -> None:
        """Add the names and the strings of code; a string may be the name in a `getattr`."""
        self._names.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, str):
                self._names.add(constant)
            elif isinstance(constant, CodeType):
                self.add_names_of(constant)

    def first_read(self) -> str | None:
        """A description of the first array that the code may read; None if there is none."""
        for path, what in self._found:
            if may_be_read(path, self._names):
                return f"{path or 'something'}, {what}"
        return None


def may_be_read(path: str, names: AbstractSet[str]) -> bool:
    """Whether code with these names may read the value at a path such as `self.data[0]`."""
    last = _LAST_NAME.fullmatch(path)
    return last is None or last[1] in names or not _ALL_NAMES.isdisjoint(names)


def is_foreign_array(value: Any) -> bool:
    """Whether this is an array of another library, or a PyTorch module, which holds some."""
    if isinstance(value, type):
        return False
    kind = type(value)
    if has_member(kind, "__array__") or has_member(kind, "__dlpack__"):
        return True
    return kind.__module__.startswith("torch") and has_member(kind, "state_dict")


def qualified(value: Any) -> str:
    """The type of a value with its package: "torch.Tensor"."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__qualname__ if package == "builtins" else f"{package}.{kind.__qualname__}"
