"""Innermost loops that add to so many registers that a turn of theirs is long already.

in: spec.linear    out: the loops

What is added in one turn was chosen to keep the processor busy. A compiler that writes out several
turns of such a loop gives the same speed, and takes longer for all that it does to the copies: a
third of a convolution's time, where values are read under conditions.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.dtype import AddrSpace, PtrDType
from weft.uop import Ops, UOp

LEAST_REGISTERS = 8


def tile_loops(uops: Sequence[UOp]) -> frozenset[UOp]:
    """Innermost loops (RANGE) with stores to LEAST_REGISTERS registers or more."""
    found: set[UOp] = set()
    innermost: UOp | None = None
    stored: set[UOp] = set()
    for u in uops:
        if u.op is Ops.RANGE:
            innermost, stored = u, set()
        elif u.op is Ops.ENDRANGE:
            if u.src[0] is innermost and len(stored) >= LEAST_REGISTERS:
                found.add(u.src[0])
            innermost = None
        elif u.op is Ops.STORE and _is_register(u.src[0].src[0]):
            stored.add(u.src[0].src[0])
    return frozenset(found)


def _is_register(memory: UOp) -> bool:
    kind = memory.dtype
    return isinstance(kind, PtrDType) and kind.space is AddrSpace.REG and kind.size == 1
