"""Unroll pragmas: tell the compiler which loops to unroll by a few iterations and which not at all.

One iteration of such a loop handles one term of a product's tile. A fifth of its instructions are
loop control and prefetch conditions. They cost nothing where the tile has a core to itself,
because the multiply-adds take longer. They do where two threads share a core. A compiler that
unrolls four iterations tests once for all of them, and knows of three that they prefetch nothing.
Compilers unroll short loops by themselves. Loops with masked loads are not unrolled: all masks
would be computed first and kept in registers.

A loop with few iterations around one with a large body, such as the windows of a convolution,
would stay a loop anyway. A pragma says so, because the analysis is a fourth of the compilation
time.

in:  spec.linear
out: the loops

Source: Dongarra and Hinds, "Unrolling Loops in FORTRAN", Software: Practice and Experience 9,
1979.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import PREFETCHES, AxisKind, Ops, UOp

UNROLL_FACTOR = 4
LEAST_PRODUCTS, MOST_PRODUCTS = 8, 32  # multiply-adds per iteration: fewer are unrolled before
FEW_ITERATIONS = 16  # up to which a compiler considers full unrolling
MANY_NODES = 24  # from which on full unrolling is not profitable
_LOOPS = frozenset({Ops.RANGE, Ops.SPECIAL})
_CONSTANTS = frozenset({Ops.CONST, Ops.VCONST})
_PRODUCTS = frozenset({Ops.MULACC, Ops.DOT})


def tile_loops(uops: Sequence[UOp]) -> frozenset[UOp]:
    """Innermost RANGEs over the terms of sums with LEAST_PRODUCTS to MOST_PRODUCTS multiply-adds
    per iteration, which have at least 4 * UNROLL_FACTOR iterations, and no masked loads."""
    found: set[UOp] = set()
    products = 0  # since the last loop was opened or closed
    for u in uops:
        if u.op in _PRODUCTS:
            products += 1
        elif u.op is Ops.LOAD and len(u.src[0].src) > 2 and u.arg not in PREFETCHES:
            products = -len(uops)
        elif u.op in _LOOPS:
            products = 0
        elif u.op is Ops.ENDRANGE:
            loop = u.src[0]
            if (
                loop.arg.kind is AxisKind.REDUCE
                and LEAST_PRODUCTS <= products <= MOST_PRODUCTS
                and _is_long(loop)
            ):
                found.add(loop)
            products = -len(uops)  # the enclosing loop is not innermost
    return frozenset(found)


def _is_long(loop: UOp) -> bool:
    extent = loop.src[0]
    return extent.op is Ops.CONST and extent.arg >= 4 * UNROLL_FACTOR


def outer_loops(uops: Sequence[UOp]) -> frozenset[UOp]:
    """RANGEs of at most FEW_ITERATIONS iterations around other loops, with at least MANY_NODES
    nodes (no constants)."""
    found: set[UOp] = set()
    opened: list[list[int]] = [[0, 0]]  # nodes, loops within
    for u in uops:
        if u.op is Ops.RANGE:
            opened[-1][1] += 1
            opened.append([0, 0])
        elif u.op is Ops.ENDRANGE:
            count, within = opened.pop()
            opened[-1][0] += count
            extent = u.src[0].src[0]
            if (
                within
                and count >= MANY_NODES
                and extent.op is Ops.CONST
                and extent.arg <= FEW_ITERATIONS
            ):
                found.add(u.src[0])
        elif u.op not in _CONSTANTS:
            opened[-1][0] += 1
    return frozenset(found)
