"""Delinearization: split a loop whose index is used as quotient and remainder into two loops.
Also: induction variable splitting.

    for r < 4096: a[r // 16] + b[r % 16]   ->   for q < 256: for m < 16: a[q] + b[m]

in:  spec.lowered
out: spec.lowered, all values equal

A blocked value that is stored under another shape has such a loop. After the split its addresses
are affine, so vectorization and register tiling apply. The pass splits a loop only if the inner
loop fills the vector lanes. Of reductions it splits only those that read bytes of blocks, such as
quantised weights, as far as their fields are affine. The order of the terms stays.

Source: the inverse of C. D. Polychronopoulos, 'Loop coalescing' (ICPP 1987); LLVM's Delinearization
analysis recovers array subscripts in the same sense.
"""

from __future__ import annotations

from weft.plugin import (
    AxisKind,
    Ops,
    RangeArg,
    UOp,
    extent_of,
    loop_order,
    loops_of,
    replace_nodes,
    substitute_ranges,
)

_DIVISIONS = frozenset({Ops.IDIV, Ops.MOD})


def run(sink: UOp, lanes: int) -> UOp:
    """The kernel with such loops split repeatedly; the same kernel if it has none."""
    while lanes > 1:
        nodes = list(sink.toposort())
        divisors = _split_factors(nodes, lanes)
        if not divisors:
            break
        sink = _split_loops(nodes, divisors)
    return sink


def _split_factors(nodes: list[UOp], lanes: int) -> dict[UOp, int]:
    """The loops that are divided, and the least of their divisors."""
    found: dict[UOp, int] = {}
    reduced = {loop for node in nodes if node.op is Ops.REDUCE for loop in loops_of(node)}
    blocks = _block_loops(nodes)
    innermost = {loops_of(node)[-1] for node in nodes if node.op is Ops.REDUCE}
    for node in nodes:
        if node.op not in _DIVISIONS or node.src[1].op is not Ops.CONST:
            continue
        loop, divisor = node.src[0], node.src[1].arg
        if loop.op is not Ops.RANGE:
            continue
        if loop not in blocks and (loop in reduced or loop.arg.kind is not AxisKind.LOOP):
            continue
        extent = extent_of(loop)
        least = 2 if loop in blocks and loop not in innermost else lanes
        if isinstance(extent, int) and least <= divisor < extent and extent % divisor == 0:
            found[loop] = min(divisor, found.get(loop, divisor))
    return found


def _block_loops(nodes: list[UOp]) -> set[UOp]:
    """The loops over elements of blocks: reads of bytes divide them in their addresses."""
    found: set[UOp] = set()
    for node in nodes:
        if node.op is Ops.LOAD and node.dtype.itemsize == 1:
            below = node.src[0].toposort()
            found |= {u.src[0] for u in below if u.op in _DIVISIONS and u.src[0].op is Ops.RANGE}
    return found


def _split_loops(nodes: list[UOp], divisors: dict[UOp, int]) -> UOp:
    """The graph of `nodes` with each loop of `divisors` split by its divisor."""
    ranges = sorted((node for node in nodes if node.op is Ops.RANGE), key=loop_order)
    values: dict[UOp, UOp] = {}
    loops: dict[UOp, list[UOp]] = {}
    number = 1 + max(loop.arg.id for loop in ranges)  # new loops do not equal old ones
    for loop in ranges:
        divisor = divisors.get(loop)
        if divisor is None:
            values[loop] = loop.replace(arg=RangeArg(number, loop.arg.kind))
            loops[loop] = [values[loop]]
            number += 1
            continue
        extent = extent_of(loop)
        assert isinstance(extent, int)
        outer = UOp.range(extent // divisor, number, loop.arg.kind, loop.dtype)
        inner = UOp.range(divisor, number + 1, loop.arg.kind, loop.dtype)
        number += 2
        values[loop], loops[loop] = outer * outer.const_like(divisor) + inner, [outer, inner]
    # quotients and remainders become affine; other uses of the loop become a sum
    replacements: dict[UOp, UOp] = {}
    for node in nodes:
        if node.op in _DIVISIONS and node.src[0] in divisors and node.src[1].op is Ops.CONST:
            (outer, inner), divisor = loops[node.src[0]], divisors[node.src[0]]
            multiple, rest = divmod(node.src[1].arg, divisor)
            if rest:
                continue
            by = outer.const_like(multiple)
            if node.op is Ops.IDIV:
                replacements[node] = outer if multiple == 1 else outer // by
            elif multiple == 1:
                replacements[node] = inner
            else:
                replacements[node] = (outer % by) * outer.const_like(divisor) + inner
    return substitute_ranges(list(replace_nodes(nodes, replacements).toposort()), values, loops)
