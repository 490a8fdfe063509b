"""Scatter: turn a reduction over indexed terms into indexed stores to the output.

    for v: out[v] = last t with at(t) == v, if there is one ? f(t) : old(v)
->  for v: out[v] = old(v); for t: if 0 <= at(t) < n: out[at(t)] = f(t)

    for v: out[v] = old(v) + sum over t of where(at(t) == v, f(t), 0)
->  for v: out[v] = old(v); for t: if 0 <= at(t) < n: out[at(t)] += f(t)

The first is `x[index] = value`, `scatter`, `index_copy`; the second `scatter_add` and what is like
it, with products and maxima instead of sums as well. Where old(v) is out[v] as it was, the first
loop goes as well: a few elements that are written into a large tensor in place cost no more than
they are. What is computed of the sum afterwards, or is added to few places, is left to `scatter`,
whose arrays are on chip.

The terms keep their order, so that of several at one place the last one counts: no loop over terms
is written out, is lanes, or is shared by threads (`Kernel.ordered`). Only where one processor does
all of it. Not with FUSE_ARANGE=0.

in:  spec.lowered
out: spec.lowered with a STORE at a place that is looked up, which `linearize` puts after the STORE
     of what was there before

Source: none known; sound because every term meets one output and the terms keep their order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.base.intmath import ceildiv
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.ranges import extent_of, loop_order, loops_of, max_trip_count, ranges_of
from weft.codegen.analysis.substitution import fold_conditions, replace_nodes, substitute_ranges
from weft.codegen.indexing.one_hot_gather import Replacement, both
from weft.codegen.indexing.scatter_add import Term, start_of, with_places
from weft.device.capabilities import Target
from weft.device.program import indexed_stores_of
from weft.uop.args import AxisKind
from weft.uop.evaluate import identity_element
from weft.uop.node import UOp
from weft.uop.ops import Ops


class _Put(NamedTuple):
    """What is stored at the places of terms: `value`, where the last turn is `reduce`."""

    store: UOp
    term: Term
    old: UOp
    value: UOp | None  # in terms of the turn that the reduce gives; None: the term is taken in

    @property
    def in_place(self) -> bool:
        """Whether what is not put anywhere stays as it is in memory."""
        old = self.old
        return old.op is Ops.LOAD and len(old.src) == 1 and old.src[0] is self.store.src[0]


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with such stores; itself where there are none."""
    limits = target.compute.limits
    if not settings.FUSE_ARANGE or limits.global_size is not None:
        return sink
    nodes = list(sink.toposort())
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if len(reduces) != 1 or any(node.op is Ops.FILL for node in nodes):
        return sink
    puts = [put for store in sink.src if (put := _put(store, reduces[0])) is not None]
    if len(puts) < len(sink.src) or not all(_worth(put, limits.scratch_bytes) for put in puts):
        return sink
    own = {_buffer(put.store) for put in puts}
    reads = {node for node in nodes if node.op is Ops.LOAD and _buffer(node) in own}
    if len(own) < len(puts) or reads - {put.old for put in puts if put.in_place}:
        return sink
    before = [_before(put) for put in puts if not put.in_place]
    return UOp.sink(*before, *map(_stored, puts), arg=sink.arg)


def ordered_loops(store: UOp) -> frozenset[UOp]:
    """The loops of a STORE whose turns may meet in one place: those over terms."""
    if store not in indexed_stores_of(store.toposort()):
        return frozenset()
    return ranges_of(store).difference(affine(store.src[0].src[1])[0])


def _buffer(access: UOp) -> UOp:
    return access.src[0].src[0]


# ---- what is one -------------------------------------------------------------------------------


def _put(store: UOp, reduce: UOp) -> _Put | None:
    index, value = store.src
    if len(index.src) > 2 or not _whole(store):
        return None
    op = reduce.arg.op
    term = with_places(reduce, None)
    if term is None or not any(u.op is Ops.LOAD for u in term.pick.at.toposort()):
        return None
    if not affine(term.pick.at)[0].keys().isdisjoint(loops_of(reduce)):
        return None  # these loops are told from the others by that
    if reduce.dtype is not dtypes.bool:
        if value is reduce:
            return _Put(store, term, start_of(term), None)
        if value.op is op and reduce in value.src:
            old = value.src[1] if value.src[0] is reduce else value.src[0]
            from_nothing = start_of(term).arg == identity_element(op, reduce.dtype)
            plain = from_nothing and reduce not in old.toposort()
            return _Put(store, term, old, None) if plain else None
    chosen = value.op is Ops.WHERE and value.src[0].op is Ops.CMPLT
    if not chosen or op is not Ops.MAX or not _counts(term):
        return None
    asked, new, old = value.src
    hit = asked.src[1] is reduce and asked.src[0].op is Ops.CONST and asked.src[0].arg == 0
    if not hit or reduce in old.toposort():
        return None
    return _Put(store, term, old, new)


def _whole(store: UOp) -> bool:
    """Whether every element has turns of its own: its address is a sum of all its loops."""
    loops = ranges_of(store)
    if not all(isinstance(extent_of(loop), int) for loop in loops):
        return False
    if any(loop.arg.kind is not AxisKind.LOOP for loop in loops):
        return False
    return loops == affine(store.src[0].src[1])[0].keys()


def _counts(term: Term) -> bool:
    """Whether the values of a maximum number its turns from one on, and it starts at zero."""
    if not dtypes.is_int(term.reduce.dtype) or term.reduce.src[0].src[2].arg != 0:
        return False
    numbers, first = affine(term.value)
    reach = 0
    for loop in sorted(loops_of(term.reduce), key=loop_order, reverse=True):
        if numbers.get(loop, 0) <= reach:
            return False
        reach += numbers.pop(loop) * (max_trip_count(loop) - 1)
    return not numbers and first > 0 and term.value.vmax <= term.reduce.dtype.max


def _worth(put: _Put, scratch: int) -> bool:
    """Sums whose outputs are on chip at once are left there; what is put has no other way.

    Nor have terms of which every element of a row has a place of its own: blocks of rows on chip
    would ask each of them, block by block (1000 x 256 places of 2000 x 256 terms: 16 ms to 1.5).
    """
    if put.value is not None or put.in_place or _each_its_own(put):
        return True
    loops = ranges_of(put.term.reduce)
    inside = loops - {put.term.pick.loop} - ranges_of(put.term.pick.at)
    size = math.prod(map(max_trip_count, (put.term.pick.loop, *inside)))
    blocks = ceildiv(size * put.store.src[1].dtype.itemsize, max(scratch, 1))
    return blocks > 1


def _each_its_own(put: _Put) -> bool:
    """Whether the places of terms depend on loops of the output inside that over the places."""
    place = loop_order(put.term.pick.loop)
    own = ranges_of(put.term.reduce) & ranges_of(put.term.pick.at)
    return any(loop_order(loop) > place for loop in own)


# ---- how it is done ----------------------------------------------------------------------------


def _shared(put: _Put) -> frozenset[UOp]:
    """The outermost loops of the output, over arrays of which each has places of its own."""
    place = loop_order(put.term.pick.loop)
    return frozenset(loop for loop in ranges_of(put.store) if loop_order(loop) < place)


def _fresh(put: _Put, first: int) -> dict[UOp, UOp]:
    """The loops of the second STORE, terms where the places were."""
    place, shared = put.term.pick.loop, _shared(put)
    made: dict[UOp, UOp] = {}
    rest = sorted(ranges_of(put.store) - shared, key=loop_order)
    terms = sorted(loops_of(put.term.reduce), key=loop_order)
    for loop in (*terms, *(loop for loop in rest if loop is not place)):
        made[loop] = UOp.range(loop.src[0], first + len(made), AxisKind.LOOP, loop.dtype)
    return made


def _before(put: _Put) -> UOp:
    """What was there before, everywhere."""
    return UOp(Ops.STORE, dtypes.void, (put.store.src[0], put.old))


def _stored(put: _Put) -> UOp:
    """The STORE over terms instead of places."""
    term, index = put.term, put.store.src[0]
    pick, replaced = term.pick, Replacement(term.pick)
    gate = pick.inside
    for condition in term.conditions:
        gate = both(gate, replaced.value(condition))
    place = replaced.value(index.src[1])
    where = UOp(Ops.INDEX, index.dtype, (index.src[0], place, *_asked(gate)))
    if put.value is None:
        other = (UOp.const(term.reduce.dtype, 0),) if _asked(gate) else ()
        so_far = UOp(Ops.LOAD, term.reduce.dtype, (where, *other))
        both_of = (so_far, replaced.value(term.value))
        value = UOp(term.reduce.arg.op, term.reduce.dtype, both_of)
    else:
        turn = replaced.value(term.value)
        named = replace_nodes(list(put.value.toposort()), {term.reduce: turn})
        value = fold_conditions(replaced.value(named))
    store = UOp(Ops.STORE, dtypes.void, (where, value))
    ranges = [node for node in put.store.toposort() if node.op is Ops.RANGE]
    first = 1 + max(node.arg.id for node in ranges)
    return substitute_ranges(list(store.toposort()), _fresh(put, first), {})


def _asked(gate: UOp) -> tuple[UOp, ...]:
    return () if gate.op is Ops.CONST and gate.arg is True else (gate,)
