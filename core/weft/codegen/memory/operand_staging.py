"""Operand packing and staging: copy reused operands to shared memory or to a packed local array.
Also: shared-memory tiling, double buffering.

in:  a lowered kernel whose loops are what they will be, one of them `loop`
out: the same, where operands that several iterations or work items inside `loop` read are copied
     to an array by a FILL, once in each iteration of `loop` (less often, if they do not depend on
     it), and read from there; by PACK, operands of several iterations of `loop`, before it

On a launch grid the work items of a group copy together (`tile_copies`), and the array is in shared
memory. It may hold several tiles: those of later iterations are copied while one is used. On other
targets the array is private and packed in the order in which it is read. In both cases the loops
inside and outside of `loop` decide what the array holds.

Source: K. Goto, R. van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS
2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.base.dtype import AddrSpace, dtypes
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.ranges import (
    CLOSING,
    Fill,
    extent_of,
    loop_order,
    loops_of,
    max_trip_count,
    ranges_of,
)
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.codegen.vectorization.packed_dot import words_of
from weft.codegen.workgroups.tile_copies import Copying, Staged
from weft.device import ComputeCaps
from weft.uop import AxisKind, Ops, UOp

# The order of an array's axes, outermost first: sums go through it block by block.
_LAYOUT = {
    AxisKind.LOOP: 0, AxisKind.REDUCE: 1, AxisKind.UNROLL: 2, AxisKind.LOCAL: 3,
    AxisKind.UPCAST: 4, AxisKind.VECTOR: 5,
}  # fmt: skip
_BEFORE_LANES = 2.5
_SERIAL = frozenset({AxisKind.LOOP, AxisKind.REDUCE})


def candidates(sink: UOp, loop: UOp, before: bool = False) -> list[Staged]:
    """The operands to stage in `loop`, or before it: those that are read more than once."""
    nodes = list(sink.toposort())
    ranges = [node for node in nodes if node.op is Ops.RANGE]
    inner = [r for r in ranges if _is_inside(r, loop) or (before and r is loop)]
    group = [r for r in inner if r.arg.kind is AxisKind.LOCAL]
    repeated = group or [r for r in inner if r.arg.kind is AxisKind.LOOP]
    nests = _nests(nodes)
    held = frozenset(
        r for node in nodes if node.op is Ops.WMMA for r in node.src[2:-1] if r.op is Ops.RANGE
    )
    words = words_of(nodes)  # are copied as words, not number by number
    parts = {u for word in words for u in word.toposort() if u.op is Ops.LOAD}
    found: list[Staged] = []
    for node in nodes:
        load = words.get(node, node)
        nest = nests.get(load, frozenset())
        if node in parts or loop not in nest or load.src[0].src[0].op is not Ops.DEFINE_GLOBAL:
            continue
        around = ranges_of(node)
        mine = [r for r in inner if r in around]
        again = any(r in nest and r not in around for r in repeated)
        if before:
            again = loop not in around
        fixed = all(not r.src[0].variables() for r in mine)
        if mine and again and fixed and not any(u.op in CLOSING for u in node.toposort()):
            found.append(_staged(node, _steps(load), mine, bool(group), held))
    return found


def _nests(nodes: Sequence[UOp]) -> dict[UOp, frozenset[UOp]]:
    """For each LOAD the ranges of the loops in which its value is used."""
    nests: dict[UOp, frozenset[UOp]] = {}
    for root in nodes:
        if root.op not in (Ops.STORE, Ops.REDUCE):
            continue
        closed = frozenset(loops_of(root)) if root.op is Ops.REDUCE else frozenset[UOp]()
        nest = closed.union(*(ranges_of(source) for source in root.src))
        for node in root.toposort(gate=lambda u, root=root: u is root or u.op not in CLOSING):
            if node.op is Ops.LOAD:
                nests[node] = nests.get(node, frozenset()) | nest
    return nests


def _is_inside(one: UOp, loop: UOp) -> bool:
    kind = one.arg.kind
    if kind is AxisKind.GLOBAL or one is loop:
        return False
    return kind is AxisKind.LOCAL or loop_order(one) > loop_order(loop)


def _staged(
    load: UOp, steps: dict[UOp, int], mine: list[UOp], shared: bool, held: frozenset[UOp]
) -> Staged:
    """held: the ranges over what a lane holds of a fragment.

    Fragments lie whole, lane by lane: what lanes read at once is one piece of memory.
    """

    def place(r: UOp) -> tuple[float, object]:
        whole = shared and held and r.arg.kind is AxisKind.UPCAST and r not in held
        return (_BEFORE_LANES if whole else _LAYOUT[r.arg.kind], loop_order(r))

    order = sorted(mine, key=place)
    strides: dict[UOp, int] = {}
    size = 1
    for r in reversed(order):
        strides[r] = size
        size *= max_trip_count(r)
    return Staged(load, tuple(order), strides, steps, size)


def _steps(load: UOp) -> dict[UOp, int]:
    return affine(load.src[0].src[1])[0]


def laid_out(
    sink: UOp, loop: UOp, found: Sequence[Staged], depth: int, compute: ComputeCaps
) -> Iterator[tuple[Staged, Copying]]:
    """Each of `found` with its layout in shared memory, and how a group copies it."""
    group = tuple(r for r in _group(list(sink.toposort())) if _is_inside(r, loop))
    for one in found:
        copying = Copying(loop, group, depth if loop in ranges_of(one.load) else 1, compute)
        yield copying.padded(one), copying


def depth_at_most(sink: UOp, loop: UOp, found: Sequence[Staged]) -> int:
    """The most buffers for the tiles of `found`: 1 if those of later iterations cannot be copied
    ahead. The first ones are copied before `loop`, in the loops around it.
    """
    extent = extent_of(loop)
    moving = [one for one in found if loop in ranges_of(one.load)]
    nodes = [node for node in sink.toposort() if node.op is Ops.RANGE]
    around = [r for r in nodes if r.arg.kind in _SERIAL and loop_order(r) < loop_order(loop)]
    if not isinstance(extent, int) or any(set(around) - ranges_of(one.load) for one in moving):
        return 1
    return extent if moving else 1


def run(sink: UOp, loop: UOp, depth: int, compute: ComputeCaps, before: bool = False) -> UOp:
    """The kernel with the `candidates` staged, on a launch grid with `depth` buffers for each."""
    nodes = list(sink.toposort())
    numbers = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    arrays = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    made: dict[UOp, UOp] = {}
    shared = any(_is_inside(r, loop) for r in _group(nodes))
    for staged in candidates(sink, loop, before):
        load = staged.load
        if shared:
            ((tile, copying),) = laid_out(sink, loop, [staged], depth, compute)
            whole = load.dtype.ptr(tile.size * copying.tiles(tile), AddrSpace.LOCAL)
            array = UOp(Ops.DEFINE_LOCAL, whole, (), f"tile{len(made)}")
            fill, at, used = copying.filled(tile, array, numbers)
            numbers += used
        else:
            whole = load.dtype.ptr(staged.size, AddrSpace.REG)
            array = UOp(Ops.DEFINE_REG, whole, (), arrays + len(made))
            places, loops = _private_copy(staged, numbers, compute)
            numbers += len(loops)
            value = substitute_ranges(list(load.toposort()), places, {})
            store = UOp(Ops.STORE, dtypes.void, (array.index(staged.place(places)), value))
            fill = UOp(Ops.FILL, dtypes.void, (store, *loops), Fill())
            at = staged.place({r: r for r in staged.inside})
        made[load] = UOp(Ops.LOAD, load.dtype, (array.index(at), fill))
    return replace_nodes(nodes, made)


def _group(nodes: Sequence[UOp]) -> list[UOp]:
    """The ranges of a group's work items, the slowest first."""
    group = [u for u in nodes if u.op is Ops.RANGE and u.arg.kind is AxisKind.LOCAL]
    return sorted(group, key=loop_order)


def _private_copy(
    staged: Staged, number: int, compute: ComputeCaps
) -> tuple[dict[UOp, UOp], tuple[UOp, ...]]:
    """Loops over all of an array, in the order of memory; lanes remain lanes.

    If adjacent lanes are not contiguous in memory, as many contiguous elements as there are lanes
    are read for each: squares, which are transposed in registers. The last square may overlap the
    previous one.
    """
    order: list[UOp] = []
    for r in sorted(staged.inside, key=lambda r: -abs(staged.steps.get(r, 1 << 62))):
        # a loop whose last part is shorter is nested in the loop over its parts
        parts = ranges_of(r.src[0]).intersection(staged.inside)
        order += [one for one in (*parts, r) if one not in order]
    across, side = _transposed_loop(staged, compute)
    places: dict[UOp, UOp] = {}
    loops: list[UOp] = []
    for r in order:
        if r is across:
            squares = UOp.range(
                -(-max_trip_count(r) // side), number + len(loops), AxisKind.LOOP, r.dtype
            )
            inner = UOp.range(side, number + len(loops) + 1, AxisKind.UPCAST, r.dtype)
            last, start = r.const_like(max_trip_count(r) - side), squares * r.const_like(side)
            if max_trip_count(r) % side:
                start = UOp(Ops.WHERE, r.dtype, (start < last, start, last))
            places[r] = start + inner
            loops += [squares, inner]
            continue
        end = substitute_ranges(list(r.src[0].toposort()), places, {})
        kind = r.arg.kind if r.arg.kind is AxisKind.VECTOR else AxisKind.LOOP
        places[r] = UOp.range(end, number + len(loops), kind, r.dtype)
        loops.append(places[r])
    return places, tuple(sorted(loops, key=loop_order))


def _transposed_loop(staged: Staged, compute: ComputeCaps) -> tuple[UOp | None, int]:
    """The loop over contiguous memory, if the lanes are not contiguous; and the number of lanes."""
    lanes = next((r for r in staged.inside if r.arg.kind is AxisKind.VECTOR), None)
    load = staged.load
    if lanes is None or load.op is not Ops.LOAD or len(load.src) > 1 or load.dtype is dtypes.bool:
        return None, 0
    side = max_trip_count(lanes)
    jumps = abs(staged.steps.get(lanes, 0)) > 1 and side & (side - 1) == 0
    if not jumps or 2 * side > compute.vector_registers:
        return None, 0
    ends = {end for r in staged.inside for end in r.src[0].toposort()}
    for r in staged.inside:
        fits = isinstance(extent_of(r), int) and max_trip_count(r) >= side and r not in ends
        if staged.steps.get(r) == 1 and fits and r.arg.kind in _SERIAL:
            return r, side
    return None, 0
