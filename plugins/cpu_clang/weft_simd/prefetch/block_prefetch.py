"""Software prefetch of blocks: a blocked transpose loads cache lines of a later block.

in:  the nodes of an expanded kernel      out: LOADs that nobody uses (PREFETCH_L2)

The rows of a transposed square are far apart in memory, and the hardware prefetcher does not follow
them. Each square loads as many contiguous cache lines as it has rows. These lines belong to a block
that is read some blocks later. The loops over one block together prefetch one whole later block.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.plugin import (
    CLOSING,
    PREFETCH_L2,
    AddrSpace,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    affine,
    dtypes,
    folded,
    loop_order,
    ranges_of,
    replace_nodes,
    trip_count,
)
from weft_simd import thresholds

_FEWEST = 8  # rows of a square
_SOON = 4  # pieces between what is read and what is asked for


def block_prefetches(nodes: Sequence[UOp], stored: set[UOp], machine: MachineModel) -> list[UOp]:
    """The prefetch LOADs. stored: what the kernel writes to; machine: its last-level cache
    holds what is not larger."""
    if any(node.op in CLOSING for node in nodes):
        return []
    loads = [node for node in nodes if node.op is Ops.LOAD]
    if len(loads) < _FEWEST or len(stored) != 1 or not _are_alike(loads, stored, machine):
        return []
    found = _square(loads, machine)
    if found is None:
        return []
    first, inside, size = found
    return _prefetch_loads(first, inside, size, len(loads))


def _are_alike(loads: Sequence[UOp], stored: set[UOp], machine: MachineModel) -> bool:
    """Whether all read lines of one large buffer, in the same loops."""
    index, around = loads[0].src[0], ranges_of(loads[0])
    kind = index.src[0].dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
        return False
    if index.src[0] in stored or kind.size < 1 or kind.nbytes <= machine.last_level_bytes:
        return False
    return all(
        load.dtype.itemsize == machine.line_bytes
        and load.arg is None
        and len(load.src) == 1
        and len(load.src[0].src) == 2
        and load.src[0].src[0] is index.src[0]
        and ranges_of(load) == around
        for load in loads
    )


def _square(loads: Sequence[UOp], machine: MachineModel) -> tuple[UOp, list[UOp], int] | None:
    """(the first of these loads, the loops over a piece, its elements); None where they are no
    rows of one, or pieces do not come one after the other."""
    sums = {load: affine(load.src[0].src[1]) for load in loads}
    first = min(loads, key=lambda load: sums[load][1])
    terms, start = sums[first]
    apart = sorted(constant - start for _, constant in sums.values())
    rows, step, lanes = len(loads), apart[1], first.dtype.count
    if any(other != terms for other, _ in sums.values()):
        return None
    loops = sorted((term for term in terms if term.op is Ops.RANGE), key=loop_order)
    if apart != [step * row for row in range(rows)] or ranges_of(first) != frozenset(loops):
        return None
    terms = _whole(terms)
    shared = [term for term in terms if term.op is not Ops.RANGE]  # among threads
    least = thresholds.page_share(machine, thresholds.LEAST_BLOCK)
    most = thresholds.l2_share(machine, thresholds.BLOCK)
    for many in range(1, len(loops) + 1):
        outside, inside = loops[:-many], loops[-many:]
        nearest = outside[-1] if outside else shared[0] if len(shared) == 1 else None
        parts = [(1, lanes), (step, rows), *((terms[loop], trip_count(loop)) for loop in inside)]
        size = _run_of(parts)
        fits = least <= size * first.dtype.scalar().itemsize <= most
        if fits and nearest is not None and terms[nearest] == size:
            return first, inside, size
    return None


def _whole(terms: Mapping[UOp, int]) -> dict[UOp, int]:
    """Two loops that threads share as one are one again where memory goes on between them: the
    quotient and the remainder of a number are the number."""
    found = dict(terms)
    for term, factor in terms.items():
        if term.op is Ops.MOD and term.src[1].op is Ops.CONST:
            over = next((u for u in terms if u.op is Ops.IDIV and u.src == term.src), None)
            if over is not None and terms[over] == factor * term.src[1].arg:
                del found[term], found[over]
                found[term.src[0]] = found.get(term.src[0], 0) + factor
    return found


def _run_of(parts: Sequence[tuple[int, int]]) -> int:
    """How many elements one after the other these steps and counts reach; 0: they are not."""
    size = 1
    for step, count in sorted(parts):
        if step != size:
            return 0
        size *= count
    return size


def _prefetch_loads(first: UOp, inside: Sequence[UOp], size: int, rows: int) -> list[UOp]:
    """As many lines of a later piece as a square reads, another part of it in every turn."""
    pointer, at = first.src[0].src
    scalar, lanes, dtype = first.dtype.scalar(), first.dtype.count, at.dtype
    zeros = {loop: loop.const_like(0) for loop in inside}
    start = replace_nodes(list(at.toposort()), zeros).simplify()
    ahead, last = _SOON * size, pointer.dtype.size - (_SOON + 1) * size  # type: ignore[attr-defined]
    more = folded(Ops.CMPLT, dtypes.bool, (start, start.const_like(last + 1)), None)
    start = folded(Ops.WHERE, dtype, (more, start + start.const_like(ahead), start), None)
    turn, each = UOp.const(dtype, 0), rows * lanes
    for loop in inside:
        turn = turn * turn.const_like(trip_count(loop)) + loop.cast(dtype)
    place = (start + turn * turn.const_like(each)).simplify()
    found = []
    for row in range(rows):
        index = folded(Ops.ADD, dtype, (place, place.const_like(row * lanes)), None)
        found.append(UOp(Ops.LOAD, scalar, (pointer.index(index),), PREFETCH_L2))
    return found
