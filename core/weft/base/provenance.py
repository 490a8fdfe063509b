"""Which operation of the user's made a node, and where: what errors and reports say of it.

The Tensor floor records it (`weft/tensor/protocol.py` walks the stack where a node is made); this
room is what is recorded, and how it reads.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeAlias

# Name of the file, number of the line, name of the function.
Where: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True)
class Metadata:
    """The provenance of a node: the public operation, its line, and whether in a backward pass."""

    name: str
    where: Where | None = None
    backward: bool = False

    def __str__(self) -> str:
        return self.name


def describe(where: Where | None) -> str:
    """The place in words: `train.py:41 in forward`; `an unknown place` for None."""
    if where is None:
        return "an unknown place"
    filename, line, function = where
    outside = "" if function == "<module>" else f" in {function}"
    return f"{os.path.basename(filename)}:{line}{outside}"
