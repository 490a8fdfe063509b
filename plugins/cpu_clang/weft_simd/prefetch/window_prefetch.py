"""Software prefetch of windows: a windowed reduction loads the windows of a later channel.

in:  a sum of a packed product, as `coming` finds it      out: LOADs that nobody uses (PREFETCH_L1)

The windows of a tile are short pieces of rows, and the next channel is one image further in memory.
The hardware prefetcher does not follow this stride. Each iteration prefetches the piece at the same
position a few channels later.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.plugin import (
    PREFETCH_L1,
    AddrSpace,
    AxisKind,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    affine,
    extent_of,
    folded,
    from_affine,
    loop_order,
    loops_of,
    trip_count,
)
from weft_simd import thresholds

_SOON = 8  # channels later: memory has answered by then
_MOST_LINES = 4  # of one piece


def are_windows(reduce: UOp) -> bool:
    """Whether a sum is over short rows, each of them in a turn of another loop."""
    loops = sorted(loops_of(reduce), key=loop_order)
    known = all(isinstance(extent_of(loop), int) for loop in loops)
    return len(loops) > 1 and known and trip_count(loops[-1]) < 2 * _SOON


def window_prefetches(
    loops: Iterable[UOp], loads: Iterable[UOp], stored: set[UOp], machine: MachineModel
) -> list[UOp]:
    """What is to be asked for in the loops of a sum. loads: of its products; stored: what the
    kernel writes to."""
    loops = sorted(loops, key=loop_order)
    outer = loops[0]
    if any(loop.arg.kind is not AxisKind.REDUCE for loop in loops) or trip_count(outer) < 2 * _SOON:
        return []
    asked: dict[UOp, None] = {}
    line = machine.line_bytes
    near = thresholds.l2_share(machine, thresholds.PREFETCHED)
    for (pointer, _), (terms, starts) in _together(loads, stored, loops, near).items():
        itemsize = pointer.dtype.base.itemsize  # type: ignore[attr-defined]
        if abs(terms.get(outer, 0)) * itemsize < line:
            continue
        first, length, rest = _piece(loops, terms, starts, itemsize, line)
        lines = list(range(0, length, line // itemsize))
        if len(lines) > _MOST_LINES:
            continue
        last = outer.const_like(trip_count(outer) - _SOON)
        later = outer + outer.const_like(_SOON)
        soon = folded(Ops.WHERE, outer.dtype, (outer < last, later, outer), None)
        for place in dict.fromkeys((*lines, length - 1)):
            asked[_prefetch_load(pointer, rest, first + place, outer, soon)] = None
    return list(asked)


def _together(
    loads: Iterable[UOp], stored: set[UOp], loops: Sequence[UOp], near: int
) -> dict[tuple[UOp, object], tuple[Mapping[UOp, int], list[int]]]:
    """The places of those LOADs from memory that differ by constants alone: what they have in
    common, and the first element of each."""
    found: dict[tuple[UOp, object], tuple[Mapping[UOp, int], list[int]]] = {}
    for load in loads:
        pointer, at = load.src[0].src[:2]
        kind = pointer.dtype
        if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
            continue
        if pointer in stored or load.arg is not None or kind.size < 1 or kind.nbytes <= near:
            continue
        terms, constant = affine(at)
        if all(term.op is Ops.RANGE or _is_invariant(term, loops) for term in terms):
            alike = found.setdefault((pointer, frozenset(terms.items())), (terms, []))
            alike[1].extend((constant, constant + load.dtype.count - 1))
    return found


def _piece(
    loops: Sequence[UOp], terms: Mapping[UOp, int], starts: Sequence[int], itemsize: int, line: int
) -> tuple[int, int, dict[UOp, int]]:
    """The first place that a tile reads in a row, how many elements are from there to the last, and
    what else the place depends on: inner loops that stay in the row are part of it."""
    first, last, rest = min(starts), max(starts), dict(terms)
    for loop in loops[1:]:
        reach = terms.get(loop, 0) * (trip_count(loop) - 1)
        if abs(reach) * itemsize < line:
            rest.pop(loop, None)
            first, last = first + min(reach, 0), last + max(reach, 0)
    return first, last - first + 1, rest


def _prefetch_load(
    pointer: UOp, terms: Mapping[UOp, int], start: int, outer: UOp, soon: UOp
) -> UOp:
    """A LOAD of one element, inside its buffer, with `soon` for the turn of `outer`."""
    dtype = outer.dtype
    at = from_affine(dict(terms), start, _order, dtype)
    least, most = at.const_like(0), at.const_like(pointer.dtype.size - 1)  # type: ignore[attr-defined]
    inside = at.vmin >= 0 and at.vmax <= most.arg
    at = at.substitute({outer: soon})
    if not inside:
        at = folded(Ops.WHERE, dtype, (at < least, least, at), None)
        at = folded(Ops.WHERE, dtype, (at < most, at, most), None)
    place = UOp(Ops.INDEX, pointer.dtype, (pointer, at))
    return UOp(Ops.LOAD, pointer.dtype.base, (place,), PREFETCH_L1)  # type: ignore[attr-defined]


def _is_invariant(term: UOp, loops: Sequence[UOp]) -> bool:
    """Whether a term is the same in all turns of these loops, and does not come from memory."""
    return all(u.op is not Ops.LOAD and u not in loops for u in term.toposort())


def _order(term: UOp) -> tuple[int, int]:
    return loop_order(term) if term.op is Ops.RANGE else (-1, 0)
