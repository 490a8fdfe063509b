"""Provenance records: the user operation that made a node, and its line, for errors and reports.

The tensor layer records it: `weft/tensor/protocol.py` inspects the stack where a node is made. This
module is the record and its text form.
"""

from __future__ import annotations

import os
from typing import TypeAlias

from weft.base.deferred_dataclass import dataclass

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
