"""Loop coalescing: merge two nested loops over one contiguous range of every buffer into one.
Also: loop collapsing, loop flattening.

in:  spec.lowered
out: spec.lowered with fewer and longer ranges

Loops a and b merge if, in every address, the stride of a equals the stride of b times the extent of
b. The same REDUCEs and FILLs must close both, or the same STOREs must contain both. A contiguous
(10, 10) becomes one loop of 100.

Source: C. D. Polychronopoulos, 'Loop coalescing: a compiler transformation for parallel machines'
(ICPP 1987).
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.ranges import CLOSING, extent_of, loop_order, loops_of, ranges_of
from weft.codegen.analysis.substitution import substitute_ranges
from weft.uop import Ops, UOp

Factors = list[dict[UOp, int]]


def _collect_factors(sink: UOp) -> tuple[Factors, set[UOp], dict[UOp, set[UOp]]]:
    """The range factors of each address, ranges with other uses, and the users of each range."""
    factors: Factors = []
    pinned: set[UOp] = set()
    users: dict[UOp, set[UOp]] = {}
    for node in sink.toposort(gate=lambda u: u.op is not Ops.INDEX):
        op = node.op
        if op is Ops.INDEX:
            terms, _ = affine(node.src[1])
            factors.append({term: f for term, f in terms.items() if term.op is Ops.RANGE})
            for term in terms:
                if term.op is not Ops.RANGE:
                    pinned |= _ranges_in(term)
            if len(node.src) > 2:
                pinned |= _ranges_in(node.src[2])
            continue
        if op in CLOSING:
            for loop in loops_of(node):
                users.setdefault(loop, set()).add(node)
            pinned.update(s for s in node.src[: node.arg.values] if s.op is Ops.RANGE)
            continue
        if op is Ops.STORE:
            for loop in ranges_of(node):
                users.setdefault(loop, set()).add(node)
        pinned.update(source for source in node.src if source.op is Ops.RANGE)
    return factors, pinned, users


def _ranges_in(expression: UOp) -> set[UOp]:
    """All ranges in an expression, including those that a REDUCE in it closes."""
    return {node for node in expression.toposort() if node.op is Ops.RANGE}


def _is_contiguous_pair(a: UOp, b: UOp, factors: Factors) -> bool:
    """Whether the stride of `a` is that of `b` times the extent of `b` in every address."""
    extent = extent_of(b)
    if not isinstance(extent, int) or not isinstance(extent_of(a), int):
        return False
    if extent * extent_of(a) > dtypes.int.max:
        return False
    return all(row.get(a, 0) == row.get(b, 0) * extent for row in factors)


def _loops_by_users(loops: list[UOp], users: dict[UOp, set[UOp]]) -> list[list[UOp]]:
    """The loops grouped by dtype, kind and users."""
    groups: dict[tuple[Any, ...], list[UOp]] = {}
    for loop in loops:
        key = (loop.dtype, loop.arg.kind, frozenset(users[loop]))
        groups.setdefault(key, []).append(loop)
    return list(groups.values())


def _find_contiguous_pair(loops: list[UOp], factors: Factors) -> tuple[UOp, UOp] | None:
    for a in loops:
        for b in loops:
            if a is not b and _is_contiguous_pair(a, b, factors):
                return a, b
    return None


def _merge(a: UOp, b: UOp, loops: list[UOp], factors: Factors, values: dict[UOp, UOp]) -> None:
    """Replace loops `a` and `b` by one loop in `loops`, `factors` and `values`."""
    merged = UOp.range(extent_of(a) * extent_of(b), b.arg.id, b.arg.kind)
    for row in factors:
        if b in row:
            row[merged] = row.pop(b)
            row.pop(a, None)
    loops[loops.index(b)] = merged
    loops.remove(a)
    for old, new in list(values.items()):
        if new is a or new is b:
            values[old] = merged if new is b else UOp.const(dtypes.int, 0)
    values[a], values[b] = UOp.const(dtypes.int, 0), merged


def run(sink: UOp) -> UOp:
    """The kernel with contiguous pairs of loops coalesced."""
    factors, pinned, users = _collect_factors(sink)
    free = sorted((loop for loop in users if loop not in pinned), key=loop_order)
    values: dict[UOp, UOp] = {}
    for loops in _loops_by_users(free, users):
        while (found := _find_contiguous_pair(loops, factors)) is not None:
            _merge(*found, loops, factors, values)
    if not values:
        return sink
    closed = {old: [new] if new.op is Ops.RANGE else [] for old, new in values.items()}
    return substitute_ranges(list(sink.toposort()), values, closed)
