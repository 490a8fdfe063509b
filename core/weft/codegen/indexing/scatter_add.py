"""Scatter-add: add each term of an indexed reduction to its output once.
Also: histogram, privatized accumulation, scatter add.

    for v: for d: sum over t of where(at(t) == v, f(t, d), 0)
->  for blocks of v: an array of zeros; for t: if at(t) is in the block: for d: array[at(t), d] += f

The gradient of an embedding or gather, `scatter`, `index_add` and a histogram have this form: each
output iterates over all terms to find its own. After the pass each block of outputs iterates over
the terms once; outputs times terms become outputs plus terms. The terms of one output are added in
the order of t, as before. Maxima, products and boolean reductions are handled in the same way.

`one_hot_gather` is the other direction and runs first: it solves for a loop of the reduction, this
pass for a loop of the output. The pass applies on one processor, because work items would need
atomic additions. FUSE_ARANGE=0 disables it.

in:  spec.lowered
out: spec.lowered in which such a REDUCE is a LOAD from a local array that one FILL initializes and
     another one adds to; equal values

Source: none known; sound because every term has one output and the terms keep their order.
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
from weft.codegen.analysis.folding import added, folded_and, scaled
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
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.indexing.one_hot_gather import (
    CONJUNCTIONS,
    SelectedIteration,
    Selection,
    find_selection,
    split_mask,
)
from weft.codegen.thresholds import BLOCKS, LONG_ROW, MIN_SPEEDUP, MIN_TERMS, vector_lanes
from weft.device import Feature, Target
from weft.uop import AxisKind, Ops, UOp, conjuncts, identity_element


class Term(NamedTuple):
    """A REDUCE of indexed terms: the output index of a term, further conditions, and its value."""

    reduce: UOp
    selection: Selection
    conditions: tuple[UOp, ...]
    value: UOp


class _Plan(NamedTuple):
    """The local arrays: `block` outputs along the loop `output`, and all of the loops `inside`.

    Each iteration of the loops `outside` has its own array. Both are outermost first.
    """

    output: UOp
    block: int
    outside: tuple[UOp, ...]
    inside: tuple[UOp, ...]


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with scatter-adds; the same kernel if no reduction is one."""
    limits = target.compute.limits
    if not settings.FUSE_ARANGE or limits.global_size is not None or not limits.scratch_bytes:
        return sink
    nodes = nodes_of(sink)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if not reduces or any(node.op is Ops.FILL for node in nodes):
        return sink
    sums: list[Term] = []
    for reduce in reduces:
        term = match_term(reduce, sums[0].selection.loop if sums else None)
        if term is None:
            return sink  # the other reduction needs the loop over all outputs
        sums.append(term)
    plan = _make_plan(sink, sums, target)
    return sink if plan is None else _ScatterAdd(nodes, sums, plan).run()


# ---- matching ----------------------------------------------------------------------------------


def match_term(reduce: UOp, output: UOp | None) -> Term | None:
    """The term of a REDUCE of indexed terms; None otherwise. output: the only loop to solve for."""
    value, op, dtype = reduce.src[0], reduce.arg.op, reduce.dtype
    if reduce.arg.values != 1 or any(node.op in CLOSING for node in value.toposort()):
        return None
    if not all(isinstance(extent_of(loop), int) for loop in loops_of(reduce)):
        return None
    if op is Ops.ADD or dtype is dtypes.bool:
        conditions, rest = split_mask(value, dtype)
    elif value.op is Ops.WHERE and _is_neutral_otherwise(value, op):
        conditions, rest = conjuncts(value.src[0], CONJUNCTIONS), value.src[1]
    else:
        return None
    if op is Ops.MUL and dtype is dtypes.bool:
        return None
    known = ranges_of(reduce) if output is None else frozenset((output,))
    outputs = frozenset(loop for loop in known if loop.dtype is dtypes.int and _is_fixed_loop(loop))
    selection = find_selection(conditions, outputs)
    if selection is None or not ranges_of(selection.at).issuperset(loops_of(reduce)):
        return None  # the partial sum would be invariant in a loop, and loaded only once
    others = tuple(one for one in conditions if one is not selection.implied)
    return Term(reduce, selection, others, rest)


def _is_fixed_loop(loop: UOp) -> bool:
    """Whether a loop is an output loop with a constant trip count."""
    return loop.arg.kind is AxisKind.LOOP and isinstance(extent_of(loop), int)


def _is_neutral_otherwise(value: UOp, op: Ops) -> bool:
    """Whether the alternative of a select does not change a product or maximum."""
    other = value.src[2]
    if other.op is not Ops.CONST:
        return False
    if other.arg == identity_element(op, value.dtype):
        return True
    return op is Ops.MAX and dtypes.is_int(value.dtype) and value.src[1].vmin >= other.arg


def initial_value(term: Term) -> UOp:
    """The value of an output without terms."""
    op, dtype, value = term.reduce.arg.op, term.reduce.dtype, term.reduce.src[0]
    if op is Ops.ADD or dtype is dtypes.bool:
        return UOp.const(dtype, 0)
    return value.src[2]


# ---- rewriting ---------------------------------------------------------------------------------


def _make_plan(sink: UOp, sums: Sequence[Term], target: Target) -> _Plan | None:
    """The loops and block size of the local arrays; None if a scatter-add is not profitable."""
    output = sums[0].selection.loop
    loops = frozenset[UOp]().union(*(ranges_of(one.reduce) for one in sums))
    if not all(_is_fixed_loop(loop) for loop in loops):
        return None
    others = sorted(loops - {output}, key=loop_order)
    outside = tuple(loop for loop in others if _has_own_array(loop, output, sums))
    inside = tuple(loop for loop in others if loop not in outside)
    if any(not {output, *outside} <= ranges_of(store) for store in sink.src):
        return None
    row = math.prod(map(max_trip_count, inside))
    terms = max(math.prod(map(max_trip_count, loops_of(one.reduce))) for one in sums)
    outputs = max_trip_count(output)
    limit = target.compute.limits.scratch_bytes // (2 if row >= LONG_ROW else 1)
    block = min(outputs, limit // (row * sum(one.reduce.dtype.itemsize for one in sums)))
    if block < 1 or terms < MIN_TERMS:
        return None
    if row >= LONG_ROW and target.compute.has(Feature.THREADS) and not outside:
        block = min(block, ceildiv(outputs, BLOCKS))
    block = ceildiv(outputs, ceildiv(outputs, block))
    vector = vector_lanes(target.compute.machine)
    if vector < block < outputs:
        block = round_up(block, vector) if block * row * 2 <= limit else block // vector * vector
    if outputs % block and is_in_place(list(sink.toposort())):
        block = max(size for size in range(1, block + 1) if outputs % size == 0)
    lanes = min(row, vector)
    before = terms * outputs * row / vector
    after = terms * ceildiv(outputs, block) * 2 + terms * row / lanes + 2 * outputs * row / vector
    return _Plan(output, block, outside, inside) if before >= MIN_SPEEDUP * after else None


def _has_own_array(loop: UOp, output: UOp, sums: Sequence[Term]) -> bool:
    """Whether each iteration of a loop around the output loop has its own array.

    A loop along which contiguous terms have the same output index is an axis of the array instead.
    """
    if loop_order(loop) > loop_order(output):
        return False
    return any(loop in ranges_of(one.selection.at) for one in sums) or _stride(loop, sums) != 1


def _stride(loop: UOp, sums: Sequence[Term]) -> int:
    """The least stride of the loads of terms along a loop; 0 if none depends on it."""
    reads = (u for one in sums for u in one.value.toposort() if u.op is Ops.LOAD)
    steps = (abs(affine(read.src[0].src[1])[0].get(loop, 0)) for read in reads)
    return min((step for step in steps if step), default=0)


class _ScatterAdd:
    def __init__(self, nodes: list[UOp], sums: Sequence[Term], plan: _Plan) -> None:
        self.nodes, self.sums, self.plan = nodes, sums, plan
        ranges = [node for node in nodes if node.op is Ops.RANGE]
        self.number = 1 + max(node.arg.id for node in ranges)
        self.term_loops: dict[tuple[UOp, ...], dict[UOp, UOp]] = {}
        used = frozenset[UOp]().union(*(ranges_of(store) for store in nodes[-1].src))
        rest = sorted(used.difference(plan.outside), key=loop_order)
        outputs = max_trip_count(plan.output)
        self.output_loops = {loop: self.fresh(loop) for loop in plan.outside}
        self.first = UOp.const(dtypes.int, 0)  # the first output of a block
        self.blocks = ceildiv(outputs, plan.block)
        counter = None
        if self.blocks > 1:
            counter = self.loop(self.blocks)
            start = counter * UOp.const(dtypes.int, plan.block)
            last = UOp.const(dtypes.int, outputs - plan.block)
            self.first = start
            if outputs % plan.block:  # the last block overlaps the one before it
                self.first = UOp(Ops.WHERE, dtypes.int, (start < last, start, last))
        for loop in rest:
            own = loop is plan.output
            self.output_loops[loop] = self.loop(plan.block) if own else self.fresh(loop)
        outside = [self.output_loops[loop] for loop in plan.outside]
        self.outside = outside if counter is None else [*outside, counter]
        axes = [plan.output, *sorted(plan.inside, key=lambda loop: -_stride(loop, sums))]
        self.strides: dict[UOp, int] = {}
        self.size = 1
        for loop in reversed(axes):
            self.strides[loop] = self.size
            self.size *= plan.block if loop is plan.output else max_trip_count(loop)

    def loop(self, extent: int) -> UOp:
        """A new output loop."""
        self.number += 1
        return UOp.range(extent, self.number - 1, AxisKind.LOOP)

    def fresh(self, loop: UOp) -> UOp:
        """A new output loop with the extent of another loop."""
        self.number += 1
        return UOp.range(loop.src[0], self.number - 1, AxisKind.LOOP, loop.dtype)

    def run(self) -> UOp:
        # reductions over the same loops share one loop nest over their terms; others have nests
        # without common loops
        for loops in dict.fromkeys(loops_of(one.reduce) for one in self.sums):
            nest = dict.fromkeys((*loops, *self.plan.inside))
            self.term_loops[loops] = {loop: self.fresh(loop) for loop in nest}
        marks = {one.reduce: UOp(Ops.NOOP, one.reduce.dtype, (), i) for i, one in self.numbered()}
        own = self.output_loops[self.plan.output]
        values = {**self.output_loops}
        values[self.plan.output] = added(own, self.first)
        marked = replace_nodes(self.nodes, marks)
        sink = substitute_ranges(list(marked.toposort()), values, {})
        results = {marks[one.reduce]: self.scatter(one, i) for i, one in self.numbered()}
        return replace_nodes(list(sink.toposort()), results)

    def numbered(self) -> Iterable[tuple[int, Term]]:
        return enumerate(self.sums)

    def scatter(self, one: Term, number: int) -> UOp:
        """The LOAD of a finished sum from its local array. number: of the array."""
        dtype, op = one.reduce.dtype, one.reduce.arg.op
        array = UOp(Ops.DEFINE_REG, dtype.ptr(self.size, AddrSpace.REG), (), number)
        every = self.loop(self.size)
        initial = self.in_outer_loops(initial_value(one))
        empty = UOp(Ops.STORE, dtypes.void, (array.index(every), initial))
        cleared = UOp(Ops.FILL, dtypes.void, (empty, every), Fill())
        at, gate, value = self.term(one)
        loops = self.term_loops[loops_of(one.reduce)]
        place = array.index(self.address(at, loops), gate)
        partial = UOp(Ops.LOAD, dtype, (place, UOp.const(dtype, 0), cleared))
        store = UOp(Ops.STORE, dtypes.void, (place, UOp(op, dtype, (partial, value))))
        ranges = ranges_of(store)
        closed = [loop for loop in loops.values() if loop in ranges]
        fill = UOp(Ops.FILL, dtypes.void, (store, *closed), Fill())
        own = self.output_loops[self.plan.output]
        return UOp(Ops.LOAD, dtype, (array.index(self.address(own, self.output_loops)), fill))

    def in_outer_loops(self, value: UOp) -> UOp:
        """`value` with a dependence on the loops that each have their own array.

        Without it the initialization would be hoisted; the comparison is never true.
        """
        if not self.outside:
            return value
        total = self.outside[0]
        for loop in self.outside[1:]:
            total = total + loop
        other = UOp.const(value.dtype, 0 if value.arg else 1)
        return UOp(Ops.WHERE, value.dtype, (total < total.const_like(0), other, value))

    def term(self, one: Term) -> tuple[UOp, UOp, UOp]:
        """(index in its block, whether it is in the block, value) of a term."""
        selection, selected = one.selection, SelectedIteration(one.selection)
        uncast = selection.at.src[0] if selection.at.op is Ops.CAST else selection.at
        gate = UOp.const(dtypes.bool, True)
        if uncast.dtype.itemsize > selection.at.dtype.itemsize:
            gate = selection.inside  # a truncated index may look valid
        for condition in one.conditions:
            gate = folded_and(gate, selected.value(condition))
        values = {**self.output_loops, **self.term_loops[loops_of(one.reduce)]}
        at, gate, value = (
            substitute_ranges(list(part.toposort()), values, {})
            for part in (selection.at, gate, selected.value(one.value))
        )
        index = at.cast(dtypes.long)
        if self.first.op is not Ops.CONST:
            index = index - self.first.cast(dtypes.long)
        block = index.const_like(self.plan.block)
        in_block = folded_and(index.const_like(-1) < index, index < block)
        return index, folded_and(in_block, gate), value

    def address(self, index: UOp, loops: dict[UOp, UOp]) -> UOp:
        """The position of an element in an array, in the dtype of `index`, which may be invalid."""
        total = index.const_like(0)
        for loop, stride in self.strides.items():
            part = index if loop is self.plan.output else loops[loop].cast(index.dtype)
            total = added(total, scaled(part, stride))
        return total


def accumulates(fill: UOp) -> bool:
    """Whether a FILL adds to its array, so that its iterations are ordered and run once."""
    arrays = {store.src[0].src[0] for store in values_of(fill)}
    return any(
        node.op is Ops.LOAD and node.src[0].src[0] in arrays
        for store in values_of(fill)
        for node in store.src[1].toposort(gate=lambda u: u.op not in CLOSING)
    )


def ordered_loops(fill: UOp) -> frozenset[UOp]:
    """The loops of an accumulating FILL that must be neither unrolled nor vectorized.

    Different iterations may add to the same element, or have different arrays.
    """
    if not accumulates(fill):
        return frozenset()
    indices = [affine(store.src[0].src[1])[0] for store in values_of(fill)]
    shared = (loop for loop in loops_of(fill) if not all(loop in terms for terms in indices))
    return frozenset(shared) | ranges_of(fill)
