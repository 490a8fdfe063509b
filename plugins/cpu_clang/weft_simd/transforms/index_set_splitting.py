"""Index-set splitting: divide a loop at the indices where its conditions change.
Also: loop splitting, index set splitting.

    for w < n: out[w] = (w < a ? f(w) : 0) + (a <= w ? g(w) : 0)
->  for w < a: out[w] = f(w) + 0; for w < n - a: out[w + a] = 0 + g(w + a)

in:  spec.lowered
out: spec.lowered with a STORE for each segment, inside the same outer loops; equal values

Padding, `cat` and `roll` produce such conditions. Without the split, each vector lane evaluates
them. The pass splits only the innermost contiguous loop of a kernel that stores one value and has
no reduction. A condition on an outer loop is evaluated once per row. The pass applies only where
one processor computes with vectors.

Source: M. Griebl, P. Feautrier, C. Lengauer, 'Index set splitting' (International Journal of
Parallel Programming, 2000).
"""

from __future__ import annotations

import itertools
import math

from weft.plugin import (
    CLOSING,
    AxisKind,
    Ops,
    UOp,
    affine,
    ceildiv,
    dtypes,
    extent_of,
    fold_conditions,
    is_in_place,
    loop_order,
    max_trip_count,
    ranges_of,
    substitute_ranges,
)
from weft_simd import thresholds


def run(sink: UOp, lanes: int) -> UOp:
    """The kernel with its loop split; the same kernel if it has none. lanes: 0 for no vectors."""
    if not lanes or len(sink.src) != 1:
        return sink
    (store,) = sink.src
    nodes = list(store.toposort())
    if len(store.src[0].src) > 2 or any(node.op in CLOSING for node in nodes):
        return sink
    loop = _contiguous_loop(store)
    if loop is None or is_in_place(nodes):
        return sink  # the split would reorder reads and writes of one buffer
    cuts = _split_points(nodes, loop)
    large = (len(cuts) + 1) * len(nodes) > thresholds.MOST_SEGMENT_NODES
    if not cuts or len(cuts) >= thresholds.MOST_SEGMENTS or large:
        return sink
    rows = math.prod(
        max_trip_count(r) for r in ranges_of(store) if loop_order(r) < loop_order(loop)
    )
    if rows < thresholds.SEGMENTED_ROWS and max_trip_count(loop) > thresholds.SEGMENTED_LOOP:
        return sink  # threads could not share the segments
    ends = [0, *sorted(cuts), max_trip_count(loop)]
    return UOp.sink(*_segment_stores(store, nodes, loop, ends), arg=sink.arg)


def _contiguous_loop(store: UOp) -> UOp | None:
    """The contiguous loop of a STORE; None unless all its loops have constant extents."""
    loops = ranges_of(store)
    if any(loop.arg.kind is not AxisKind.LOOP for loop in loops):
        return None
    if not all(isinstance(extent_of(loop), int) for loop in loops):
        return None
    terms, _ = affine(store.src[0].src[1])
    return next((loop for loop in loops if terms.get(loop) == 1), None)


def _split_points(nodes: list[UOp], loop: UOp) -> set[int]:
    """The iterations at which a condition on this loop alone changes its value."""
    found: set[int] = set()
    for node in nodes:
        compares = node.op in (Ops.CMPLT, Ops.CMPEQ, Ops.CMPNE)
        if not compares or node.src[0].dtype not in (dtypes.int, dtypes.long):
            continue
        if ranges_of(node) != {loop}:
            continue
        left, right = (affine(side) for side in node.src)
        terms = dict(left[0])
        for term, factor in right[0].items():
            terms[term] = terms.get(term, 0) - factor
        factor = terms.pop(loop, 0)
        if factor == 0 or any(terms.values()):
            continue
        found |= _change_points(node.op, factor, left[1] - right[1])
    return {point for point in found if 0 < point < max_trip_count(loop)}


def _change_points(op: Ops, factor: int, constant: int) -> set[int]:
    """The indices i at which `factor * i + constant < 0` (or `== 0`) changes its value."""
    if op is Ops.CMPLT:
        return {ceildiv(-constant, factor) if factor > 0 else constant // -factor + 1}
    if constant % factor:
        return set()
    point = -constant // factor
    return {point, point + 1}


def _segment_stores(store: UOp, nodes: list[UOp], loop: UOp, ends: list[int]) -> list[UOp]:
    """The STORE over each segment, with new inner loops."""
    inside = [r for r in ranges_of(store) if loop_order(r) > loop_order(loop)]
    inside.sort(key=loop_order)
    number = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    made: list[UOp] = []
    for start, end in itertools.pairwise(ends):
        index = UOp.const(loop.dtype, start)
        if end - start > 1:
            index = UOp.range(end - start, number, AxisKind.LOOP, loop.dtype) + index
        values = {loop: index.simplify()}
        for place, one in enumerate(inside, 1):
            values[one] = UOp.range(one.src[0], number + place, AxisKind.LOOP, one.dtype)
        made.append(fold_conditions(substitute_ranges(nodes, values, {})))
        number += 1 + len(inside)
    return made
