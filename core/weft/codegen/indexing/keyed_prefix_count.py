"""Keyed prefix count: replace a sum over earlier terms of equal key by a running total per key.

    for t: sum over u of where(u <= t and key(u) == key(t), f(u), 0)
->  an array of zeros; for t: array[key(t)] += f(t), and what is there now is the sum of t

That is the place of an element among its equals, of which a sort by counting is made, and any
running sum by groups: terms times terms become terms. The array has an element for every value that
a key may have, which its bounds must tell; it begins anew for every turn of the loops around. With
u < t the sum is what was there before.

Only where one processor goes through the turns in their order (`scatter.ordered_loops`). Not with
FUSE_ARANGE=0.

in:  spec.lowered
out: spec.lowered, in which such a REDUCE is a LOAD after a FILL that stands in the loop of t. All
     values are equal

Source: D. E. Knuth, 'The Art of Computer Programming', volume 3, section 5.2 (counting sort).
"""

from __future__ import annotations

from typing import NamedTuple

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.axes import is_in_place
from weft.codegen.analysis.folding import folded
from weft.codegen.analysis.ranges import (
    CLOSING,
    Fill,
    extent_of,
    fill_of,
    loop_order,
    loops_of,
    ranges_of,
    values_of,
)
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.codegen.indexing.one_hot_gather import both, masked
from weft.device.capabilities import Target
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops


class _Rank(NamedTuple):
    """turn: the loop of t. key, term: in terms of it. whole: whether t itself counts."""

    reduce: UOp
    turn: UOp
    key: UOp
    term: UOp
    whole: bool


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with arrays that count; itself where there is nothing of the kind."""
    limits = target.compute.limits
    if not settings.FUSE_ARANGE or limits.global_size is not None or not limits.scratch_bytes:
        return sink
    nodes = list(sink.toposort())
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if not reduces or not any(node.op is Ops.CMPLT for node in nodes):
        return sink
    found = [rank for reduce in reduces if (rank := _rank(reduce)) is not None]
    found = [rank for rank in found if _fits(rank, limits.scratch_bytes, sink)]
    if not found or is_in_place(nodes):
        return sink
    number = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    loop = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    made = {rank.reduce: _counted(rank, number + i, loop + i) for i, rank in enumerate(found)}
    return replace_nodes(nodes, made)


# ---- what is one -------------------------------------------------------------------------------


def _rank(reduce: UOp) -> _Rank | None:
    loops, op = loops_of(reduce), reduce.arg.op
    if op is not Ops.ADD or reduce.arg.values != 1 or len(loops) != 1:
        return None
    (before,) = loops
    conditions, value = masked(reduce.src[0], reduce.dtype)
    ordered = [(one, found) for one in conditions if (found := _order(one, before)) is not None]
    if len(ordered) != 1:
        return None
    (order, (turn, whole)) = ordered[0]
    key, gate = None, UOp.const(dtypes.bool, True)
    for one in conditions:
        if one is order:
            continue
        same = _same_key(one, before, turn) if key is None else None
        if same is not None:
            key = same
        elif turn in ranges_of(one):
            return None
        else:
            gate = both(gate, _at(one, before, turn))
    if key is None or turn in ranges_of(value) or any(u.op in CLOSING for u in value.toposort()):
        return None
    term = _at(value, before, turn)
    term = folded(Ops.WHERE, term.dtype, (gate, term, term.const_like(0)))
    return _Rank(reduce, turn, key, term, whole)


def _order(condition: UOp, before: UOp) -> tuple[UOp, bool] | None:
    """(t, whether t itself counts) where the condition is u < t or u <= t."""
    if condition.op is not Ops.CMPLT or not dtypes.is_int(condition.src[0].dtype):
        return None
    (left, first), (right, last) = map(affine, condition.src)
    if left != {before: 1} or len(right) != 1 or last - first not in (0, 1):
        return None
    ((turn, factor),) = right.items()
    counted = turn.op is Ops.RANGE and turn.arg.kind is AxisKind.LOOP and factor == 1
    if not counted or not isinstance(extent_of(turn), int) or extent_of(turn) != extent_of(before):
        return None
    return turn, last - first == 1


def _same_key(condition: UOp, before: UOp, turn: UOp) -> UOp | None:
    """The key of t, where the condition is that it is that of u."""
    if condition.op is not Ops.CMPEQ or not dtypes.is_int(condition.src[0].dtype):
        return None
    sides = [_inlined(side) for side in condition.src]
    for one, other in (sides, sides[::-1]):
        if turn not in ranges_of(one) and before not in ranges_of(other):
            return other if _at(one, before, turn) is other else None
    return None


def _inlined(node: UOp) -> UOp:
    """What is read from an array on chip, as it was computed: so its bounds are known."""
    around: list[UOp] = []
    while node.op is Ops.CAST and dtypes.is_int(node.src[0].dtype):
        around.append(node)
        node = node.src[0]
    fill = fill_of(node) if node.op is Ops.LOAD else None
    if fill is not None and len(loops_of(fill)) == 1 and len(values_of(fill)) == 1:
        ((store,), (loop,)) = values_of(fill), loops_of(fill)
        if store.src[0].src[1] is loop and len(node.src[0].src) == 2 == len(store.src[0].src):
            node = substitute_ranges(list(store.src[1].toposort()), {loop: node.src[0].src[1]}, {})
    for cast in reversed(around):
        node = node.cast(cast.dtype)
    return node


def _at(node: UOp, before: UOp, turn: UOp) -> UOp:
    return substitute_ranges(list(node.toposort()), {before: turn}, {})


def _fits(rank: _Rank, room: int, sink: UOp) -> bool:
    """Whether the array has room, and turns come one after the other in the loops around."""
    key, dtype = rank.key, rank.reduce.dtype
    if not 0 <= key.vmin <= key.vmax or (key.vmax + 2) * dtype.itemsize > room:
        return False
    if any(node.op in CLOSING for node in key.toposort()):
        return False
    around = ranges_of(rank.key) | ranges_of(rank.term)
    mine = loop_order(rank.turn)
    outside = {loop for loop in around if loop_order(loop) < mine}
    if around - outside != {rank.turn}:
        return False
    return all(
        {loop for loop in ranges_of(store) if loop_order(loop) < mine} == outside
        for store in sink.src
        if rank.turn in ranges_of(store)
    )


# ---- how it is done ----------------------------------------------------------------------------


def _counted(rank: _Rank, number: int, loop: int) -> UOp:
    """What reads the sum of a turn. number: of the first array; loop: of a new loop."""
    dtype, size = rank.reduce.dtype, int(rank.key.vmax) + 1
    array = UOp(Ops.DEFINE_REG, dtype.ptr(size + 1, AddrSpace.REG), (), number)
    # the sum stands behind the others, since one that is read again could be read too early
    here = array.index(UOp.const(dtypes.int, size))
    every = UOp.range(size, loop, AxisKind.LOOP)
    around = (ranges_of(rank.key) | ranges_of(rank.term)) - {rank.turn}
    empty = UOp(Ops.STORE, dtypes.void, (array.index(every), _zero(rank, around)))
    cleared = UOp(Ops.FILL, dtypes.void, (empty, every), Fill())
    place = array.index(rank.key if rank.key.dtype is dtypes.long else rank.key.cast(dtypes.int))
    so_far = UOp(Ops.LOAD, dtype, (place, cleared))
    total = UOp(Ops.ADD, dtype, (so_far, rank.term))
    stores = (
        UOp(Ops.STORE, dtypes.void, (place, total)),
        UOp(Ops.STORE, dtypes.void, (here, total if rank.whole else so_far)),
    )
    fill = UOp(Ops.FILL, dtypes.void, stores, Fill(values=2))
    return UOp(Ops.LOAD, dtype, (here, fill))


def _zero(rank: _Rank, around: frozenset[UOp]) -> UOp:
    """Zero, anew in every turn of the loops around: the comparison never holds."""
    zero = rank.term.const_like(0)
    if not around:
        return zero
    first, *rest = sorted(around, key=loop_order)
    for loop in rest:
        first = first + loop
    return UOp(Ops.WHERE, zero.dtype, (first < first.const_like(0), rank.term.const_like(1), zero))
