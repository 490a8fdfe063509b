"""Loop peeling: split a reduction into a main loop of round length and a remainder loop.
Also: remainder loop, epilogue loop, loop tail.

in:  spec.lowered
out: spec.lowered in which such reductions vectorize: op(reduce of all but the last few, reduce of
     the last few)

The pass applies only if the reduced elements are contiguous in memory. It peels a short row only if
the row is read once: operand packing serves data that is read again. Of several loops it peels the
innermost. The remainders of all rows are a separate loop nest.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): loop peeling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.plugin import (
    CLOSING,
    AxisKind,
    Ops,
    RangeArg,
    Target,
    UOp,
    affine,
    dtypes,
    extent_of,
    loops_of,
    prod,
    ranges_of,
    rewrite_once,
    substitute_ranges,
    values_of,
)
from weft_simd import thresholds


def _peel_point(loop: UOp, lanes: int, accumulators: int) -> int:
    """The number of iterations of the remainder; 0 if the extent is round, unknown or short."""
    extent, least = extent_of(loop), thresholds.PEELED_ROW * lanes
    if loop.arg.kind is not AxisKind.REDUCE or not isinstance(extent, int) or extent < least:
        return 0
    if loop.dtype is not dtypes.int:
        return 0
    if extent % lanes == 0:
        return 0
    is_long = extent >= thresholds.PEELED_ITERATIONS * accumulators * lanes
    return extent % (lanes * accumulators if is_long else lanes)


def _short_peel_point(loop: UOp, lanes: int) -> int:
    """The same for a row of less than four vectors, by a cost model.

    A vector, a step of the horizontal reduction, and an element of the remainder cost two each.
    """
    extent, most = extent_of(loop), thresholds.PEELED_ROW * lanes
    if not isinstance(extent, int) or extent >= most or loop.dtype is not dtypes.int:
        return 0
    best, least = 0, 2 * thresholds.PROFITABLE * extent
    width = lanes
    while width >= max(thresholds.PEELED_LANES, lanes // thresholds.REGISTER_PART):
        rest = extent % width
        cost = 2 * (extent // width + rest + width.bit_length() - 1)
        if width <= extent and cost < least:
            best, least = rest, cost
        width //= 2
    return best


def _is_read_once(reduce: UOp, loop: UOp) -> bool:
    """Whether loads along a loop serve one result, and the loop contains no other loops."""
    nest = {*loops_of(reduce), *ranges_of(reduce)}
    for node in reduce.toposort(gate=lambda u: u is reduce or u.op not in CLOSING):
        if node is not reduce and node.op in CLOSING and loop in ranges_of(node):
            return False
        if node.op is Ops.INDEX and loop in ranges_of(node) and not nest <= ranges_of(node):
            return False
    return True


def _choose_peel(reduce: UOp, target: Target) -> tuple[UOp, int] | None:
    """The loop of a REDUCE to peel and the size of its remainder; None if none is profitable."""
    loops, lanes = loops_of(reduce), target.compute.vector_bytes // 4
    accumulators = thresholds.streaming_accumulators(target.compute.machine)
    if len(loops) == 1 and (rest := _peel_point(loops[0], lanes, accumulators)):
        found = loops[0], rest
    else:
        lanes = target.compute.vector_bytes // reduce.dtype.itemsize
        extents = [extent_of(loop) for loop in loops]
        if not all(isinstance(extent, int) for extent in extents):
            return None
        near = thresholds.l1_share(target.compute.machine, thresholds.REMAINDERS)
        cached = len(loops) == 1 or prod(extents) * reduce.dtype.itemsize <= near
        along = [loop for loop in loops if cached and _is_contiguous(reduce, loop)]
        if len(along) != 1 or not _is_read_once(reduce, along[0]):
            return None
        found = along[0], _short_peel_point(along[0], lanes)
    loop, rest = found
    return (
        found if rest and _is_contiguous(reduce, loop) and not _fills_array(reduce, loop) else None
    )


def _is_contiguous(reduce: UOp, loop: UOp) -> bool:
    """Whether each address in a REDUCE has stride -1, 0 or 1 along the loop, and not all have 0."""
    found = False
    for node in reduce.toposort(gate=lambda u: u is reduce or u.op not in CLOSING):
        if node.op is not Ops.INDEX:
            continue
        terms, _ = affine(node.src[1])
        step = terms.pop(loop, 0)
        hidden = any(loop in term.toposort() for term in terms)
        gated = len(node.src) > 2 and loop in node.src[2].toposort()
        if hidden or gated or step not in (-1, 0, 1):
            return False
        found = found or step != 0
    return found


def _consistent_peels(reduces: Sequence[UOp], target: Target) -> dict[UOp, tuple[UOp, int]]:
    """Return the peels of all REDUCEs. Those that share several loops are peeled equally or not."""
    cuts = {node: cut for node in reduces if (cut := _choose_peel(node, target)) is not None}
    found = dict(cuts)
    for node in cuts:
        loops = loops_of(node)
        if len(loops) > 1:
            sharing = [one for one in reduces if not set(loops).isdisjoint(loops_of(one))]
            if any(loops_of(one) != loops or cuts.get(one) != cuts[node] for one in sharing):
                del found[node]
    return found


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with its reductions peeled; the same kernel if no peel is profitable."""
    lanes = target.compute.vector_bytes // 4 if target.compute.vector_widths else 0
    nodes = sink.toposort()
    reduces = [node for node in nodes if node.op is Ops.REDUCE] if lanes >= 2 else []
    cuts = _consistent_peels(reduces, target)
    if not cuts:
        return sink
    numbers = max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    parts: dict[tuple[UOp, ...], tuple[UOp, UOp, dict[UOp, UOp]]] = {}

    def peel(node: UOp, reduce: UOp) -> UOp | None:
        nonlocal numbers
        if node not in cuts:
            return None
        (loop, rest), loops = cuts[node], loops_of(node)
        if loops not in parts:
            copies = _fresh_loops((one for one in loops if one is not loop), numbers)
            numbers += len(copies) + 2
            main = UOp.range(extent_of(loop) - rest, numbers - 1, AxisKind.REDUCE)
            parts[loops] = main, UOp.range(rest, numbers, AxisKind.REDUCE), copies
        main, last, copies = parts[loops]
        inner = _fresh_loops(_inner_loops(reduce, loop), numbers)
        numbers += len(inner)
        return _peeled_reduce(reduce, loop, main, last, {**copies, **inner})

    return rewrite_once(nodes, {Ops.REDUCE: peel})[sink]


def _fresh_loops(loops: Iterable[UOp], last: int) -> dict[UOp, UOp]:
    """Copies of loops, with numbers after `last`."""
    return {
        loop: UOp(Ops.RANGE, loop.dtype, loop.src, RangeArg(number, loop.arg.kind))
        for number, loop in enumerate(loops, last + 1)
    }


def _fills_array(reduce: UOp, loop: UOp) -> bool:
    """Whether iterations of the loop fill a local array, which both parts would share."""
    return any(node.op is Ops.FILL and loop in ranges_of(node) for node in reduce.toposort())


def _inner_loops(reduce: UOp, loop: UOp) -> list[UOp]:
    """The reduction loops nested in `loop`."""
    (value,) = values_of(reduce)
    closed = [u for u in value.toposort() if u.op is Ops.REDUCE and loop in ranges_of(u)]
    return list(dict.fromkeys(inner for node in closed for inner in loops_of(node)))


def _peeled_reduce(reduce: UOp, loop: UOp, main: UOp, rest: UOp, others: dict[UOp, UOp]) -> UOp:
    """The reduction as a main loop and a remainder loop, with `others` as its other loops.

    The two parts share no loop, because a loop has one parent.
    """
    (value,) = values_of(reduce)
    inside = list(value.toposort())
    after = rest + UOp.const(dtypes.int, extent_of(main))
    first = substitute_ranges(inside, {loop: main}, {})
    own = {inner: (other,) for inner, other in others.items()}
    second = substitute_ranges(inside, {loop: after, **others}, own)
    op, dtype = reduce.arg.op, reduce.dtype
    loops = loops_of(reduce)
    mine = tuple(main if one is loop else one for one in loops)
    its = tuple(rest if one is loop else others[one] for one in loops)
    both = tuple(
        UOp(Ops.REDUCE, dtype, (part, *own), reduce.arg)
        for part, own in ((first, mine), (second, its))
    )
    return UOp(op, dtype, both)
