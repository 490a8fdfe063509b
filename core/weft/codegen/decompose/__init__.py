"""Operations and dtypes that a target lacks, made of those it has."""

from __future__ import annotations

from weft.device.capabilities import Target
from weft.uop.node import UOp


def run(sink: UOp, target: Target) -> UOp:
    """The lowered kernel in operations and dtypes of `target`."""
    return sink
