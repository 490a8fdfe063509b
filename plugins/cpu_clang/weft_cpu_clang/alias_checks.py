"""Alias-check limits: find innermost loops with too many stores for pairwise alias checks.
Also: loop versioning, runtime alias checks.

A compiler looks for loop-carried dependences by comparing the memory accesses of a loop pair by
pair. Loops unrolled to hundreds of stores carry none, and the analysis takes longer than the rest
of the compilation.

in:  spec.linear
out: the loops

Source: LLVM, LoopAccessAnalysis (memory dependence checks between pairs of accesses).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import Ops, UOp

MOST_STORES = 32
_LOOPS = frozenset({Ops.RANGE, Ops.SPECIAL})


def store_heavy_loops(uops: Sequence[UOp]) -> frozenset[UOp]:
    """Loops (RANGE, and the launch index that is a loop) of more than MOST_STORES stores."""
    heavy: set[UOp] = set()
    open_loops: list[UOp] = []
    stores = 0  # since the last loop was opened or closed
    for u in uops:
        if u.op is Ops.STORE:
            stores += 1
        elif u.op in _LOOPS:
            open_loops.append(u)
            stores = 0
        elif u.op is Ops.ENDRANGE:
            if stores > MOST_STORES:
                heavy.add(u.src[0])
            if u.src[0] in open_loops:
                open_loops.remove(u.src[0])
            stores = -len(uops)  # the enclosing loop is not innermost
    if stores > MOST_STORES and open_loops:
        heavy.add(open_loops[-1])
    return frozenset(heavy)
