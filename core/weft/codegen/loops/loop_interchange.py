"""Loop interchange: move reduction loops outside output loops; an array holds partial sums (KEEP).
Also: loop permutation, partial accumulators.

in:  a lowered kernel with a REDUCE over `loops` and others, inside output loops `inside`
out: the same, where `loops` enclose `inside`: an array holds the partial results of all iterations
     of `inside`, and a FILL adds to it once in each iteration of `loops`

A block of the reduction that fits in a cache is computed for all rows before the next block. Data
that is read again is then read from the cache. The other reduction loops keep their places, and so
does the code that uses the finished result.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): loop
interchange and scalar expansion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.base.dtype import AddrSpace, DType, dtypes
from weft.codegen.analysis.folding import added, folded, scaled
from weft.codegen.analysis.ranges import (
    Accumulate,
    Fill,
    extent_of,
    loop_order,
    loops_of,
    ranges_of,
)
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.uop import AxisKind, Ops, UOp, identity_element


def accumulator_axes(reduce: UOp, inside: Sequence[UOp]) -> list[UOp]:
    """The axes of the accumulator array, outermost first: `inside`, unrolled loops and lanes."""
    kinds = (AxisKind.UPCAST, AxisKind.VECTOR)
    mine = [r for r in ranges_of(reduce) if r in inside or r.arg.kind in kinds]
    return sorted(mine, key=loop_order)


def run(sink: UOp, loops: Sequence[UOp], inside: Sequence[UOp]) -> tuple[UOp, dict[UOp, UOp]]:
    """The kernel with `loops` of its REDUCE outermost, and a map to the new loops."""
    nodes = list(sink.toposort())
    (reduce,) = (node for node in nodes if node.op is Ops.REDUCE and loops[0] in loops_of(node))
    number = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    axes = accumulator_axes(reduce, inside)
    places: dict[UOp, UOp] = {}
    for place, axis in enumerate((*loops, *axes), number):
        kind = AxisKind.LOOP if axis in loops or axis in inside else axis.arg.kind
        places[axis] = UOp.range(_end(axis, places), place, kind, axis.dtype)
    rest = [r for r in loops_of(reduce) if r not in loops]
    for one in rest:
        if any(loop in ranges_of(one.src[0]) for loop in loops):
            places[one] = one.replace(src=(_end(one, places),))
    array, read_at, write_at = accumulator_array(nodes, reduce.dtype, axes, places)
    values = [
        substitute_ranges(list(value.toposort()), places, {})
        for value in reduce.src[: reduce.arg.values]
    ]
    terms = [places.get(r, r) for r in rest]
    part = UOp(Ops.REDUCE, reduce.dtype, (*values, *terms), Accumulate(reduce.arg.op, len(values)))
    neutral = UOp.const(reduce.dtype, identity_element(reduce.arg.op, reduce.dtype))
    # the gate skips the first iteration, and keeps the LOAD inside the loops
    iteration = UOp.const(dtypes.int, 0)
    for loop in loops:
        iteration = added(iteration, places[loop].cast(dtypes.int))
    later = folded(Ops.CMPLT, dtypes.bool, (iteration.const_like(0), iteration))
    partial = UOp(Ops.LOAD, reduce.dtype, (array.index(write_at, later), neutral))
    total = UOp(reduce.arg.op, reduce.dtype, (partial, part))
    store = UOp(Ops.STORE, dtypes.void, (array.index(write_at), total))
    closed = sorted((places[axis] for axis in (*loops, *axes)), key=loop_order)
    fill = UOp(Ops.FILL, dtypes.void, (store, *closed), Fill())
    replacement = {reduce: UOp(Ops.LOAD, reduce.dtype, (array.index(read_at), fill))}
    return replace_nodes(nodes, replacement), {loop: places[loop] for loop in loops}


def accumulator_array(
    nodes: Sequence[UOp], dtype: DType, axes: Sequence[UOp], places: Mapping[UOp, UOp]
) -> tuple[UOp, UOp, UOp]:
    """A local array with these axes, and the index of an element over `axes` and over `places`."""
    name = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    size, read_at, write_at = 1, UOp.const(dtypes.int, 0), UOp.const(dtypes.int, 0)
    for axis in reversed(axes):
        read_at = added(read_at, scaled(axis.cast(dtypes.int), size))
        write_at = added(write_at, scaled(places[axis].cast(dtypes.int), size))
        size *= int(extent_of(axis))
    return UOp(Ops.DEFINE_REG, dtype.ptr(size, AddrSpace.REG), (), name), read_at, write_at


def _end(loop: UOp, places: dict[UOp, UOp]) -> UOp:
    """The extent of a loop, in terms of the new loops."""
    return substitute_ranges(list(loop.src[0].toposort()), places, {})
