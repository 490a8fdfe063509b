"""Delinearization: split a loop whose index is used as quotient and remainder into two loops.

    for r < 4096: a[r // 16] + b[r % 16]   ->   for q < 256: for m < 16: a[q] + b[m]

in:  spec.lowered
out: spec.lowered, all values equal

A blocked value that is stored under another shape has such a loop. After the split its addresses
are affine, so vectorization and register tiling apply. The pass splits a loop only if the inner
loop fills the vector lanes. It splits output loops only: a reduction keeps its order.

Source: the inverse of C. D. Polychronopoulos, 'Loop coalescing' (ICPP 1987); LLVM's Delinearization
analysis recovers array subscripts in the same sense.
"""

from __future__ import annotations

from weft.codegen.analysis.ranges import extent_of, loop_order, loops_of
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.uop.args import AxisKind, RangeArg
from weft.uop.node import UOp
from weft.uop.ops import Ops

_DIVIDES = frozenset({Ops.IDIV, Ops.MOD})


def run(sink: UOp, lanes: int) -> UOp:
    """The kernel with such loops in two, as often as that goes; itself where there are none."""
    while lanes > 1:
        nodes = list(sink.toposort())
        found = _split_factors(nodes, lanes)
        if not found:
            break
        sink = _split_loops(nodes, found)
    return sink


def _split_factors(nodes: list[UOp], lanes: int) -> dict[UOp, int]:
    """The loops that are divided, and by what: the least of several divisors."""
    found: dict[UOp, int] = {}
    summed = {loop for node in nodes if node.op is Ops.REDUCE for loop in loops_of(node)}
    for node in nodes:
        if node.op not in _DIVIDES or node.src[1].op is not Ops.CONST:
            continue
        loop, divisor = node.src[0], node.src[1].arg
        if loop.op is not Ops.RANGE or loop in summed or loop.arg.kind is not AxisKind.LOOP:
            continue
        extent = extent_of(loop)
        if isinstance(extent, int) and lanes <= divisor < extent and extent % divisor == 0:
            found[loop] = min(divisor, found.get(loop, divisor))
    return found


def _split_loops(nodes: list[UOp], found: dict[UOp, int]) -> UOp:
    ranges = sorted((node for node in nodes if node.op is Ops.RANGE), key=loop_order)
    values: dict[UOp, UOp] = {}
    loops: dict[UOp, list[UOp]] = {}
    number = 1 + max(loop.arg.id for loop in ranges)  # so that none is taken for one that was
    for loop in ranges:
        divisor = found.get(loop)
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
    # quotients and remainders are known; whatever else there is of the loop is a sum
    digits: dict[UOp, UOp] = {}
    for node in nodes:
        if node.op in _DIVIDES and node.src[0] in found and node.src[1].op is Ops.CONST:
            (outer, inner), divisor = loops[node.src[0]], found[node.src[0]]
            times, rest = divmod(node.src[1].arg, divisor)
            if rest:
                continue
            further = outer.const_like(times)
            if node.op is Ops.IDIV:
                digits[node] = outer if times == 1 else outer // further
            elif times == 1:
                digits[node] = inner
            else:
                digits[node] = (outer % further) * outer.const_like(divisor) + inner
    return substitute_ranges(list(replace_nodes(nodes, digits).toposort()), values, loops)
