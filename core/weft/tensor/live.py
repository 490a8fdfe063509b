"""The tensors that are alive, weakly: a realised graph must be put back under every one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

# A set of weak references: a reference hashes and compares as the tensor it looks at, by identity.
# The callback that takes a dead one out is a method in C, so that a tensor is registered in about
# 0.2 us.
_live: set[ref[TensorBase]] = set()

remember = _live.add
"""Register a tensor: `remember(ref(tensor, forget))`."""

forget = _live.discard
"""The callback of that reference."""


def live_tensors() -> list[TensorBase]:
    """Every tensor that is alive now, in no particular order."""
    # A copy first: a tensor may die, and leave the set, while it is walked.
    found = (reference() for reference in _live.copy())
    return [tensor for tensor in found if tensor is not None]
