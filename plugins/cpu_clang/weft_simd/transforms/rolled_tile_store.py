"""Rolled tile store: transpose and store a tile of sums in a loop, some rows in each iteration.

    sums of 4 x 6 vectors, each of 16 rows of the output; of each row 6 neighbours
->  the vectors go to a local array; for each 16 rows: 6 of them are transposed and stored

in:  spec.lowered after optimisation
out: spec.lowered, in which one UPCAST range is a loop for all that is done with the finished sums.
     All values are equal

A transpose takes many instructions, and an unrolled tile repeats them for each vector of rows. This
can be up to nine tenths of the text of a kernel and most of its compile time. The additional store
and load of the sums are cheap compared with the long reduction loops that this pass requires.

This applies on one processor with vectors, where one output is stored. The sums of KEEP are in an
array already.

Source: none known; sound because the loop stores the same values to the same addresses.
"""

from __future__ import annotations

from weft.plugin import (
    CLOSING,
    AxisKind,
    Fill,
    Ops,
    Target,
    UOp,
    accumulator_array,
    accumulator_axes,
    affine,
    dtypes,
    extent_of,
    loop_order,
    loops_of,
    nodes_of,
    prod,
    ranges_of,
    replace_nodes,
    substitute_ranges,
)
from weft_simd import thresholds


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with a loop over rows of its tile; the same kernel if it has no such tile."""
    compute = target.compute
    if compute.limits.global_size is not None or not compute.vector_bytes or len(sink.src) != 1:
        return sink
    rows = _rows(sink.src[0])
    sums = [node for node in _outside(sink) if node.op in CLOSING]
    if rows is None or len(sums) != 1:
        return sink
    is_within = rows in ranges_of(sums[0])
    if sums[0].op is Ops.REDUCE and is_within and _iterations(sums[0]) >= thresholds.ROLLED_TERMS:
        sink = _in_array(sink, sums[0])
    elif sums[0].op is Ops.REDUCE or is_within:
        return sink
    loop = UOp.range(rows.src[0], _unused(sink), AxisKind.LOOP, rows.dtype)
    return substitute_ranges(nodes_of(sink), {rows: loop}, {})


def _iterations(reduce: UOp) -> int:
    """The iterations of a reduction; 0 if they are not known."""
    extents = [extent_of(loop) for loop in loops_of(reduce)]
    known = [extent for extent in extents if isinstance(extent, int)]
    return prod(known) if len(known) == len(extents) else 0


def _rows(store: UOp) -> UOp | None:
    """Return the unrolled range over other rows, if lanes are rows and one range is contiguous."""
    steps = affine(store.src[0].src[1])[0]
    kinds = (AxisKind.UPCAST, AxisKind.VECTOR)
    tile = {term: abs(step) for term, step in steps.items() if _kind(term) in kinds}
    lanes = [step for term, step in tile.items() if _kind(term) is AxisKind.VECTOR]
    contiguous = [term for term, step in tile.items() if step == 1]
    if len(lanes) != 1 or lanes[0] == 1 or len(contiguous) != 1:
        return None
    others = [t for t in tile if _kind(t) is AxisKind.UPCAST and t not in contiguous]
    return max(others, key=lambda term: tile[term], default=None)


def _kind(term: UOp) -> AxisKind | None:
    return term.arg.kind if term.op is Ops.RANGE else None


def _outside(sink: UOp) -> list[UOp]:
    """The nodes outside of all reductions and fills, and these."""
    found: dict[UOp, None] = {}
    stack = [sink]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += () if node.op in CLOSING else node.src
    return list(found)


def _in_array(sink: UOp, reduce: UOp) -> UOp:
    """The kernel with all sums of a tile in a local array before their first use."""
    nodes = nodes_of(sink)
    axes, number = accumulator_axes(reduce, ()), _unused(sink)
    places = {
        axis: UOp.range(axis.src[0], place, axis.arg.kind, axis.dtype)
        for place, axis in enumerate(axes, number)
    }
    array, here, there = accumulator_array(nodes, reduce.dtype, axes, places)
    total = substitute_ranges(list(reduce.toposort()), places, {})
    store = UOp(Ops.STORE, dtypes.void, (array.index(there), total))
    closed = sorted(places.values(), key=loop_order)
    fill = UOp(Ops.FILL, dtypes.void, (store, *closed), Fill())
    made = {reduce: UOp(Ops.LOAD, reduce.dtype, (array.index(here), fill))}
    return replace_nodes(nodes, made)


def _unused(sink: UOp) -> int:
    return 1 + max(node.arg.id for node in nodes_of(sink) if node.op is Ops.RANGE)
