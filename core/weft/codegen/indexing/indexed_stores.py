"""Scatter: convert a reduction over indexed terms to indexed stores to the output.

    for v: out[v] = last t with at(t) == v, if there is one ? f(t) : old(v)
->  for v: out[v] = old(v); for t: if 0 <= at(t) < n: out[at(t)] = f(t)

    for v: out[v] = old(v) + sum over t of where(at(t) == v, f(t), 0)
->  for v: out[v] = old(v); for t: if 0 <= at(t) < n: out[at(t)] += f(t)

The first form is `x[index] = value`, `scatter` and `index_copy`. The second is `scatter_add`, and
the same with products or maxima. If old(v) is the previous out[v], the first loop is removed too,
so writing a few elements of a large tensor in place costs only these elements. If the kernel uses
the sum further, or there are few outputs, `scatter_add` with its local arrays applies instead.

The terms keep their order, so the last of several terms with one index counts: no loop over terms
is unrolled, vectorized or shared by threads (`Kernel.ordered`). The pass applies on one processor.
FUSE_ARANGE=0 disables it.

in:  spec.lowered
out: spec.lowered with a STORE at a loaded index, which `linearization` places after the STORE of
     the old values

Source: none known; sound because every term has one output and the terms keep their order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.base.intmath import ceildiv
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.folding import folded_and, is_true
from weft.codegen.analysis.ranges import extent_of, loop_order, loops_of, max_trip_count, ranges_of
from weft.codegen.analysis.substitution import fold_conditions, replace_nodes, substitute_ranges
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.indexing.one_hot_gather import SelectedIteration
from weft.codegen.indexing.scatter_add import Term, initial_value, match_term
from weft.device import Target
from weft.device.program import indexed_stores_of
from weft.uop import AxisKind, Ops, UOp, identity_element


class _IndexedStore(NamedTuple):
    """A STORE of indexed terms over `old` values.

    value: the stored value, in terms of the REDUCE that gives the number of the last term;
    None: the term is combined with the old value.
    """

    store: UOp
    term: Term
    old: UOp
    value: UOp | None

    @property
    def in_place(self) -> bool:
        """Whether elements without terms keep their values in memory."""
        old = self.old
        return old.op is Ops.LOAD and len(old.src) == 1 and old.src[0] is self.store.src[0]


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with indexed stores; the same kernel if a store is not one."""
    limits = target.compute.limits
    if not settings.FUSE_ARANGE or limits.global_size is not None:
        return sink
    nodes = nodes_of(sink)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if len(reduces) != 1 or any(node.op is Ops.FILL for node in nodes):
        return sink
    found = [one for store in sink.src if (one := _match(store, reduces[0])) is not None]
    if len(found) < len(sink.src):
        return sink
    if not all(_is_profitable(one, limits.scratch_bytes) for one in found):
        return sink
    stored = {_buffer(one.store) for one in found}
    reads = {node for node in nodes if node.op is Ops.LOAD and _buffer(node) in stored}
    if len(stored) < len(found) or reads - {one.old for one in found if one.in_place}:
        return sink
    old = [one.store.src[0].store(one.old) for one in found if not one.in_place]
    return UOp.sink(*old, *map(_store_of_terms, found), arg=sink.arg)


def ordered_loops(store: UOp) -> frozenset[UOp]:
    """The loops over terms of a STORE; different iterations may store to the same element."""
    if store not in indexed_stores_of(store.toposort()):
        return frozenset()
    return ranges_of(store).difference(affine(store.src[0].src[1])[0])


def _buffer(access: UOp) -> UOp:
    return access.src[0].src[0]


# ---- matching ----------------------------------------------------------------------------------


def _match(store: UOp, reduce: UOp) -> _IndexedStore | None:
    """The indexed store that a STORE of an indexed reduction is; None otherwise."""
    index, value = store.src
    if len(index.src) > 2 or not _stores_every_element_once(store):
        return None
    op = reduce.arg.op
    term = match_term(reduce, None)
    if term is None or not any(u.op is Ops.LOAD for u in term.selection.at.toposort()):
        return None
    if not affine(term.selection.at)[0].keys().isdisjoint(loops_of(reduce)):
        return None  # `ordered_loops` finds the loops over terms by this property
    if reduce.dtype is not dtypes.bool:
        if value is reduce:
            return _IndexedStore(store, term, initial_value(term), None)
        if value.op is op and reduce in value.src:
            old = value.src[1] if value.src[0] is reduce else value.src[0]
            from_identity = initial_value(term).arg == identity_element(op, reduce.dtype)
            plain = from_identity and reduce not in old.toposort()
            return _IndexedStore(store, term, old, None) if plain else None
    selects = value.op is Ops.WHERE and value.src[0].op is Ops.CMPLT
    if not selects or op is not Ops.MAX or not _counts_terms(term):
        return None
    condition, new, old = value.src
    zero = condition.src[0].op is Ops.CONST and condition.src[0].arg == 0
    if condition.src[1] is not reduce or not zero or reduce in old.toposort():
        return None
    return _IndexedStore(store, term, old, new)


def _stores_every_element_once(store: UOp) -> bool:
    """Whether the address is an affine form of all output loops, and of nothing else."""
    loops = ranges_of(store)
    if not all(isinstance(extent_of(loop), int) for loop in loops):
        return False
    if any(loop.arg.kind is not AxisKind.LOOP for loop in loops):
        return False
    return loops == affine(store.src[0].src[1])[0].keys()


def _counts_terms(term: Term) -> bool:
    """Whether a maximum gives the number of the last term, counted from one, or else zero."""
    if not dtypes.is_int(term.reduce.dtype) or term.reduce.src[0].src[2].arg != 0:
        return False
    numbers, first = affine(term.value)
    last = 0
    for loop in sorted(loops_of(term.reduce), key=loop_order, reverse=True):
        if numbers.get(loop, 0) <= last:
            return False
        last += numbers.pop(loop) * (max_trip_count(loop) - 1)
    return not numbers and first > 0 and term.value.vmax <= term.reduce.dtype.max


def _is_profitable(one: _IndexedStore, scratch: int) -> bool:
    """Whether `scatter_add` cannot replace the store, or needs several local arrays for it.

    If each element of a row has its own index, `scatter_add` would test each of them in each block.
    """
    if one.value is not None or one.in_place or _has_index_per_element(one):
        return True
    selection = one.term.selection
    inside = ranges_of(one.term.reduce) - {selection.loop} - ranges_of(selection.at)
    size = math.prod(map(max_trip_count, (selection.loop, *inside)))
    blocks = ceildiv(size * one.store.src[1].dtype.itemsize, max(scratch, 1))
    return blocks > 1


def _has_index_per_element(one: _IndexedStore) -> bool:
    """Whether the index of a term depends on output loops inside the selected loop."""
    selected = loop_order(one.term.selection.loop)
    own = ranges_of(one.term.reduce) & ranges_of(one.term.selection.at)
    return any(loop_order(loop) > selected for loop in own)


# ---- rewriting ---------------------------------------------------------------------------------


def _term_loops(one: _IndexedStore, first: int) -> dict[UOp, UOp]:
    """New loops of the STORE of terms: loops over terms replace the selected output loop."""
    selected = one.term.selection.loop
    order = loop_order(selected)
    rest = [loop for loop in ranges_of(one.store) if loop_order(loop) > order]
    terms = sorted(loops_of(one.term.reduce), key=loop_order)
    return {
        loop: UOp.range(loop.src[0], number, AxisKind.LOOP, loop.dtype)
        for number, loop in enumerate((*terms, *sorted(rest, key=loop_order)), first)
    }


def _store_of_terms(one: _IndexedStore) -> UOp:
    """The STORE in loops over terms, gated by the bounds of their indices."""
    term, index = one.term, one.store.src[0]
    selected = SelectedIteration(term.selection)
    gate = term.selection.inside
    for condition in term.conditions:
        gate = folded_and(gate, selected.value(condition))
    gates = () if is_true(gate) else (gate,)
    place = UOp(Ops.INDEX, index.dtype, (index.src[0], selected.value(index.src[1]), *gates))
    if one.value is None:
        other = (UOp.const(term.reduce.dtype, 0),) if gates else ()
        old = UOp(Ops.LOAD, term.reduce.dtype, (place, *other))
        operands = (old, selected.value(term.value))
        value = UOp(term.reduce.arg.op, term.reduce.dtype, operands)
    else:
        number = selected.value(term.value)
        numbered = replace_nodes(list(one.value.toposort()), {term.reduce: number})
        value = fold_conditions(selected.value(numbered))
    store = UOp(Ops.STORE, dtypes.void, (place, value))
    ranges = [node for node in one.store.toposort() if node.op is Ops.RANGE]
    first = 1 + max(node.arg.id for node in ranges)
    return substitute_ranges(list(store.toposort()), _term_loops(one, first), {})
