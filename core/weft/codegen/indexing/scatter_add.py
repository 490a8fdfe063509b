"""Scatter-add: add each term of an indexed reduction to its output once.

    for v: for d: sum over t of where(at(t) == v, f(t, d), 0)
->  for blocks of v: an array of zeros; for t: if at(t) is in the block: for d: array[at(t), d] += f

That is what the gradient of an embedding or of a gather is before this pass, and `scatter`,
`index_add`, a histogram: every output went through all terms to find its own. Now every block does,
and each term is added where it belongs; outputs times terms become outputs plus terms. The terms of
one output are added in the order of t, as before. Maxima, products and truths are likewise.

`gather` is the other direction, an output counter in place of that of a sum; it comes first. Only
where one processor does all of it: work items would have to wait for each other. Not with
FUSE_ARANGE=0.

in:  spec.lowered
out: spec.lowered, in which such a REDUCE is a LOAD from an array on chip, that one FILL sets to the
     identity and another one adds to. All values are equal

Source: none known; sound because every term meets one output and the terms keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.base.dtype import AddrSpace, dtypes
from weft.base.intmath import ceildiv, round_up
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.axes import is_in_place
from weft.codegen.analysis.folding import folded
from weft.codegen.analysis.ranges import (
    CLOSING,
    Fill,
    extent_of,
    loop_order,
    loops_of,
    max_trip_count,
    ranges_of,
    values_of,
)
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.codegen.indexing.one_hot_gather import Pick, Replacement, all_of, both, masked, pick_among
from weft.device.capabilities import Feature, Target
from weft.uop.args import AxisKind
from weft.uop.evaluate import identity_element
from weft.uop.node import UOp
from weft.uop.ops import Ops

_LANES = 16  # elements that are added at once where they lie side by side
_GAIN = 2  # how many times less work there has to be
_PARTS = 8  # blocks for threads to share
_LONG_ROWS = 16  # elements of a row beside which asking for its place in every block is nothing
_SHORTEST = 4  # terms


class Term(NamedTuple):
    """A REDUCE of terms that have places: where they go, under which conditions, and what goes."""

    reduce: UOp
    pick: Pick
    conditions: tuple[UOp, ...]
    value: UOp


class _Plan(NamedTuple):
    """around: the loops that have an array each; inside: those that an array has as axes beside
    the places, of which `block` are in one array. Both outermost first."""

    place: UOp
    block: int
    around: tuple[UOp, ...]
    inside: tuple[UOp, ...]


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with arrays that terms are added to; itself where there is nothing of the kind."""
    limits = target.compute.limits
    if not settings.FUSE_ARANGE or limits.global_size is not None or not limits.scratch_bytes:
        return sink
    nodes = list(sink.toposort())
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if not reduces or any(node.op is Ops.FILL for node in nodes):
        return sink
    sums: list[Term] = []
    for reduce in reduces:
        found = with_places(reduce, sums[0].pick.loop if sums else None)
        if found is None:
            return sink  # loops that go through all places are needed all the same
        sums.append(found)
    plan = _planned(sink, sums, target)
    return sink if plan is None else _Scatter(nodes, sums, plan).run()


# ---- what is one -------------------------------------------------------------------------------


def with_places(reduce: UOp, place: UOp | None) -> Term | None:
    """A REDUCE as a sum of terms with places, if it is one. place: the loop to solve for."""
    value, op, dtype = reduce.src[0], reduce.arg.op, reduce.dtype
    if reduce.arg.values != 1 or any(node.op in CLOSING for node in value.toposort()):
        return None
    if not all(isinstance(extent_of(loop), int) for loop in loops_of(reduce)):
        return None
    if op is Ops.ADD or dtype is dtypes.bool:
        conditions, rest = masked(value, dtype)
    elif value.op is Ops.WHERE and _stays(value, op):
        conditions, rest = all_of(value.src[0]), value.src[1]
    else:
        return None
    if op is Ops.MUL and dtype is dtypes.bool:
        return None
    known = ranges_of(reduce) if place is None else frozenset((place,))
    outputs = frozenset(loop for loop in known if loop.dtype is dtypes.int and _is_counted(loop))
    pick = pick_among(conditions, outputs)
    if pick is None or not ranges_of(pick.at).issuperset(loops_of(reduce)):
        return None  # the sum so far of a place must be read anew in every turn
    others = tuple(one for one in conditions if one is not pick.settled)
    return Term(reduce, pick, others, rest)


def _is_counted(loop: UOp) -> bool:
    return loop.arg.kind is AxisKind.LOOP and isinstance(extent_of(loop), int)


def _stays(value: UOp, op: Ops) -> bool:
    """Whether what is not chosen leaves a product or maximum as it is."""
    other = value.src[2]
    if other.op is not Ops.CONST:
        return False
    if other.arg == identity_element(op, value.dtype):
        return True
    return op is Ops.MAX and dtypes.is_int(value.dtype) and value.src[1].vmin >= other.arg


def start_of(one: Term) -> UOp:
    """What an output is where no term goes."""
    op, dtype, value = one.reduce.arg.op, one.reduce.dtype, one.reduce.src[0]
    if op is Ops.ADD or dtype is dtypes.bool:
        return UOp.const(dtype, 0)
    return value.src[2]


# ---- how it is done ----------------------------------------------------------------------------


def _planned(sink: UOp, sums: Sequence[Term], target: Target) -> _Plan | None:
    """Which loops have arrays of their own, and how many places are in one; None: not worth it."""
    place = sums[0].pick.loop
    loops = frozenset[UOp]().union(*(ranges_of(one.reduce) for one in sums))
    if not all(_is_counted(loop) for loop in loops):
        return None
    around = tuple(
        loop
        for loop in sorted(loops, key=loop_order)
        if loop is not place and _stays_outside(loop, place, sums)
    )
    inside = tuple(
        loop for loop in sorted(loops, key=loop_order) if loop is not place and loop not in around
    )
    if any(not {place, *around} <= ranges_of(store) for store in sink.src):
        return None
    row = math.prod(map(max_trip_count, inside))
    terms = max(math.prod(map(max_trip_count, loops_of(one.reduce))) for one in sums)
    places = max_trip_count(place)
    room = target.compute.limits.scratch_bytes // (2 if row >= _LONG_ROWS else 1)
    block = min(places, room // (row * sum(one.reduce.dtype.itemsize for one in sums)))
    if block < 1 or terms < _SHORTEST:
        return None
    if row >= _LONG_ROWS and target.compute.has(Feature.THREADS) and not around:
        block = min(block, ceildiv(places, _PARTS))
    block = ceildiv(places, ceildiv(places, block))
    if _LANES < block < places:
        block = round_up(block, _LANES) if block * row * 2 <= room else block // _LANES * _LANES
    if places % block and is_in_place(list(sink.toposort())):
        block = max(size for size in range(1, block + 1) if places % size == 0)
    lanes = min(row, _LANES)
    now = terms * places * row / _LANES
    then = terms * ceildiv(places, block) * 2 + terms * row / lanes + 2 * places * row / _LANES
    if now < _GAIN * then:
        return None
    return _Plan(place, block, around, inside)


def _stays_outside(loop: UOp, place: UOp, sums: Sequence[Term]) -> bool:
    """Whether a loop around that over the places has an array for each of its turns.

    Not one along which terms lie side by side and have one place; nor one inside.
    """
    if loop_order(loop) > loop_order(place):
        return False
    return any(loop in ranges_of(one.pick.at) for one in sums) or _step(loop, sums) != 1


def _step(loop: UOp, sums: Sequence[Term]) -> int:
    """How far apart in memory the terms of neighbours are."""
    reads = (u for one in sums for u in one.value.toposort() if u.op is Ops.LOAD)
    steps = (abs(affine(read.src[0].src[1])[0].get(loop, 0)) for read in reads)
    return min((step for step in steps if step), default=0)


class _Scatter:
    def __init__(self, nodes: list[UOp], sums: Sequence[Term], plan: _Plan) -> None:
        self.nodes, self.sums, self.plan = nodes, sums, plan
        ranges = [node for node in nodes if node.op is Ops.RANGE]
        self.number = 1 + max(node.arg.id for node in ranges)
        self.copies: dict[tuple[UOp, ...], dict[UOp, UOp]] = {}
        used = frozenset[UOp]().union(*(ranges_of(store) for store in nodes[-1].src))
        rest = sorted(used.difference(plan.around), key=loop_order)
        places = max_trip_count(plan.place)
        self.outputs = {loop: self.fresh(loop) for loop in plan.around}
        self.first = UOp.const(dtypes.int, 0)  # place of a block
        self.blocks = ceildiv(places, plan.block)
        counter = None
        if self.blocks > 1:
            counter = self.loop(self.blocks)
            start = counter * UOp.const(dtypes.int, plan.block)
            last = UOp.const(dtypes.int, places - plan.block)
            self.first = start
            if places % plan.block:  # the last block overlaps the one before it
                self.first = UOp(Ops.WHERE, dtypes.int, (start < last, start, last))
        for loop in rest:
            self.outputs[loop] = self.loop(plan.block) if loop is plan.place else self.fresh(loop)
        mine = [self.outputs[loop] for loop in plan.around]
        self.outside = mine if counter is None else [*mine, counter]
        axes = [plan.place, *sorted(plan.inside, key=lambda loop: -_step(loop, sums))]
        self.strides: dict[UOp, int] = {}
        self.size = 1
        for loop in reversed(axes):
            self.strides[loop] = self.size
            self.size *= plan.block if loop is plan.place else max_trip_count(loop)

    def loop(self, turns: int) -> UOp:
        self.number += 1
        return UOp.range(turns, self.number - 1, AxisKind.LOOP)

    def fresh(self, loop: UOp) -> UOp:
        self.number += 1
        return UOp.range(loop.src[0], self.number - 1, AxisKind.LOOP, loop.dtype)

    def run(self) -> UOp:
        # of sums over the same loops all terms are gone through together, of others one after
        # the other: they have no loop in common
        for loops in dict.fromkeys(loops_of(one.reduce) for one in self.sums):
            mine = dict.fromkeys((*loops, *self.plan.inside))
            self.copies[loops] = {loop: self.fresh(loop) for loop in mine}
        nodes, made = self.nodes, {}
        marks = {one.reduce: UOp(Ops.NOOP, one.reduce.dtype, (), i) for i, one in self.numbered()}
        here = folded(Ops.ADD, dtypes.int, (self.outputs[self.plan.place], self.first))
        values = {**self.outputs, self.plan.place: here}
        sink = substitute_ranges(list(replace_nodes(nodes, marks).toposort()), values, {})
        for i, one in self.numbered():
            made[marks[one.reduce]] = self.scattered(one, i)
        return replace_nodes(list(sink.toposort()), made)

    def numbered(self) -> Iterable[tuple[int, Term]]:
        return enumerate(self.sums)

    def scattered(self, one: Term, number: int) -> UOp:
        """What reads the sum, from the array that it is in."""
        dtype, op = one.reduce.dtype, one.reduce.arg.op
        array = UOp(Ops.DEFINE_REG, dtype.ptr(self.size, AddrSpace.REG), (), number)
        every = self.loop(self.size)
        empty = UOp(Ops.STORE, dtypes.void, (array.index(every), self.anew(start_of(one))))
        cleared = UOp(Ops.FILL, dtypes.void, (empty, every), Fill())
        at, gate, value = self.term(one)
        copies = self.copies[loops_of(one.reduce)]
        place = array.index(self.address(at, copies), gate)
        so_far = UOp(Ops.LOAD, dtype, (place, UOp.const(dtype, 0), cleared))
        store = UOp(Ops.STORE, dtypes.void, (place, UOp(op, dtype, (so_far, value))))
        depends = ranges_of(store)
        loops = [loop for loop in copies.values() if loop in depends]
        fill = UOp(Ops.FILL, dtypes.void, (store, *loops), Fill())
        here = self.outputs[self.plan.place]
        return UOp(Ops.LOAD, dtype, (array.index(self.address(here, self.outputs)), fill))

    def anew(self, start: UOp) -> UOp:
        """`start`, in the loops whose turns each have an array to begin with.

        It depends on nothing else that would keep it there: the comparison never holds.
        """
        if not self.outside:
            return start
        turn = self.outside[0]
        for loop in self.outside[1:]:
            turn = turn + loop
        other = UOp.const(start.dtype, 0 if start.arg else 1)
        return UOp(Ops.WHERE, start.dtype, (turn < turn.const_like(0), other, start))

    def term(self, one: Term) -> tuple[UOp, UOp, UOp]:
        """(place in its block, whether it has one, what is added) of a term."""
        pick, replaced = one.pick, Replacement(one.pick)
        narrow = pick.at.src[0] if pick.at.op is Ops.CAST else pick.at
        gate = UOp.const(dtypes.bool, True)
        if narrow.dtype.itemsize > pick.at.dtype.itemsize:
            gate = pick.inside  # what is cut off may look like a place
        for condition in one.conditions:
            gate = both(gate, replaced.value(condition))
        values = {**self.outputs, **self.copies[loops_of(one.reduce)]}
        at, gate, value = (
            substitute_ranges(list(part.toposort()), values, {})
            for part in (pick.at, gate, replaced.value(one.value))
        )
        far = at.cast(dtypes.long)
        if self.first.op is not Ops.CONST:
            far = far - self.first.cast(dtypes.long)
        block = far.const_like(self.plan.block)
        gate = both(both(far.const_like(-1) < far, far < block), gate)
        return far, gate, value

    def address(self, place: UOp, loops: dict[UOp, UOp]) -> UOp:
        """Where an element is in an array, as wide as `place`: a place may be anything."""
        total = place.const_like(0)
        for loop, stride in self.strides.items():
            part = place if loop is self.plan.place else loops[loop].cast(place.dtype)
            part = folded(Ops.MUL, place.dtype, (part, part.const_like(stride)))
            total = folded(Ops.ADD, place.dtype, (total, part))
        return total


def accumulates(fill: UOp) -> bool:
    """Whether a FILL adds to what its array holds: its turns have an order, and are done once."""
    arrays = {store.src[0].src[0] for store in values_of(fill)}
    return any(
        node.op is Ops.LOAD and node.src[0].src[0] in arrays
        for store in values_of(fill)
        for node in store.src[1].toposort(gate=lambda u: u.op not in CLOSING)
    )


def ordered_loops(fill: UOp) -> frozenset[UOp]:
    """The loops that may neither be written out nor be lanes: those whose turns may meet in one
    place of an array that is added to, and those that have an array each."""
    if not accumulates(fill):
        return frozenset()
    moving = [affine(store.src[0].src[1])[0] for store in values_of(fill)]
    meeting = (loop for loop in loops_of(fill) if not all(loop in terms for terms in moving))
    return frozenset(meeting) | ranges_of(fill)
