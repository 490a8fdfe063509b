"""Keyed prefix count: replace a sum over earlier terms of equal key by a running total per key.
Also: segmented scan.

    for t: sum over u of where(u <= t and key(u) == key(t), f(u), 0)
->  an array of zeros; for t: array[key(t)] += f(t); the sum of t is array[key(t)]

The rank of an element among equal keys, which a counting sort needs, has this form; so does a
running sum per group. Quadratic work becomes linear. The array has one element per value of the
key, whose bounds must be known; it is cleared in each iteration of the enclosing loops. With u < t
instead of u <= t the sum is the value of the element before the addition.

The pass applies on one processor, which runs the iterations in order (`scatter_add.ordered_loops`).
FUSE_ARANGE=0 disables it.

in:  spec.lowered
out: spec.lowered in which such a REDUCE is a LOAD after a FILL inside the loop of t; equal values

Source: D. E. Knuth, 'The Art of Computer Programming', volume 3, section 5.2 (counting sort).
"""

from __future__ import annotations

from typing import NamedTuple

from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.axes import is_in_place
from weft.codegen.analysis.folding import folded, folded_and
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
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.indexing.one_hot_gather import split_mask
from weft.device import Target
from weft.uop import AxisKind, Ops, UOp


class _KeyedPrefix(NamedTuple):
    """A prefix sum per key: `key` and `term` of iteration t of `loop`.

    inclusive: whether iteration t itself counts.
    """

    reduce: UOp
    loop: UOp
    key: UOp
    term: UOp
    inclusive: bool


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with running totals; the same kernel if no reduction is a keyed prefix."""
    limits = target.compute.limits
    if not settings.FUSE_ARANGE or limits.global_size is not None or not limits.scratch_bytes:
        return sink
    nodes = nodes_of(sink)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if not reduces or not any(node.op is Ops.CMPLT for node in nodes):
        return sink
    found = [prefix for reduce in reduces if (prefix := _match(reduce)) is not None]
    found = [prefix for prefix in found if _is_legal(prefix, limits.scratch_bytes, sink)]
    if not found or is_in_place(nodes):
        return sink
    number = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    loop = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    totals = {one.reduce: _running_total(one, number + i, loop + i) for i, one in enumerate(found)}
    return replace_nodes(nodes, totals)


# ---- matching ----------------------------------------------------------------------------------


def _match(reduce: UOp) -> _KeyedPrefix | None:
    """The keyed prefix that a REDUCE computes; None otherwise."""
    loops, op = loops_of(reduce), reduce.arg.op
    if op is not Ops.ADD or reduce.arg.values != 1 or len(loops) != 1:
        return None
    (earlier,) = loops
    conditions, value = split_mask(reduce.src[0], reduce.dtype)
    ordered = [(one, found) for one in conditions if (found := _order(one, earlier)) is not None]
    if len(ordered) != 1:
        return None
    (order, (loop, inclusive)) = ordered[0]
    key, gate = None, UOp.const(dtypes.bool, True)
    for one in conditions:
        if one is order:
            continue
        same = _equal_key(one, earlier, loop) if key is None else None
        if same is not None:
            key = same
        elif loop in ranges_of(one):
            return None
        else:
            gate = folded_and(gate, _at(one, earlier, loop))
    if key is None or loop in ranges_of(value) or any(u.op in CLOSING for u in value.toposort()):
        return None
    term = _at(value, earlier, loop)
    term = folded(Ops.WHERE, term.dtype, (gate, term, term.const_like(0)))
    return _KeyedPrefix(reduce, loop, key, term, inclusive)


def _order(condition: UOp, earlier: UOp) -> tuple[UOp, bool] | None:
    """(the loop of t, whether t itself counts) of a condition u < t or u <= t; None otherwise."""
    if condition.op is not Ops.CMPLT or not dtypes.is_int(condition.src[0].dtype):
        return None
    (left, first), (right, last) = map(affine, condition.src)
    if left != {earlier: 1} or len(right) != 1 or last - first not in (0, 1):
        return None
    ((loop, factor),) = right.items()
    if loop.op is not Ops.RANGE or loop.arg.kind is not AxisKind.LOOP or factor != 1:
        return None
    if not isinstance(extent_of(loop), int) or extent_of(loop) != extent_of(earlier):
        return None
    return loop, last - first == 1


def _equal_key(condition: UOp, earlier: UOp, loop: UOp) -> UOp | None:
    """The key of t, if the condition says that the keys of u and t are equal; None otherwise."""
    if condition.op is not Ops.CMPEQ or not dtypes.is_int(condition.src[0].dtype):
        return None
    sides = [_inlined(side) for side in condition.src]
    for one, other in (sides, sides[::-1]):
        if loop not in ranges_of(one) and earlier not in ranges_of(other):
            return other if _at(one, earlier, loop) is other else None
    return None


def _inlined(node: UOp) -> UOp:
    """A LOAD of a local array, replaced by the value that its FILL stores, which has bounds."""
    casts: list[UOp] = []
    while node.op is Ops.CAST and dtypes.is_int(node.src[0].dtype):
        casts.append(node)
        node = node.src[0]
    fill = fill_of(node) if node.op is Ops.LOAD else None
    if fill is not None and len(loops_of(fill)) == 1 and len(values_of(fill)) == 1:
        ((store,), (loop,)) = values_of(fill), loops_of(fill)
        if store.src[0].src[1] is loop and len(node.src[0].src) == 2 == len(store.src[0].src):
            node = substitute_ranges(list(store.src[1].toposort()), {loop: node.src[0].src[1]}, {})
    for cast in reversed(casts):
        node = node.cast(cast.dtype)
    return node


def _at(node: UOp, earlier: UOp, loop: UOp) -> UOp:
    """An expression of iteration u, in iteration t."""
    return substitute_ranges(list(node.toposort()), {earlier: loop}, {})


def _is_legal(prefix: _KeyedPrefix, limit: int, sink: UOp) -> bool:
    """Whether the array fits into `limit` bytes, and iterations of the loop are consecutive."""
    key, dtype = prefix.key, prefix.reduce.dtype
    if not 0 <= key.vmin <= key.vmax or (key.vmax + 2) * dtype.itemsize > limit:
        return False
    if any(node.op in CLOSING for node in key.toposort()):
        return False
    loops = ranges_of(prefix.key) | ranges_of(prefix.term)
    order = loop_order(prefix.loop)
    outside = {loop for loop in loops if loop_order(loop) < order}
    if loops - outside != {prefix.loop}:
        return False
    return all(
        {loop for loop in ranges_of(store) if loop_order(loop) < order} == outside
        for store in sink.src
        if prefix.loop in ranges_of(store)
    )


# ---- rewriting ---------------------------------------------------------------------------------


def _running_total(prefix: _KeyedPrefix, number: int, loop: int) -> UOp:
    """The LOAD of the prefix sum of an iteration.

    number: of the new local array; loop: of the new loop that clears it.
    """
    dtype, size = prefix.reduce.dtype, int(prefix.key.vmax) + 1
    array = UOp(Ops.DEFINE_REG, dtype.ptr(size + 1, AddrSpace.REG), (), number)
    # the sum has its own element: the element of its key may change before the LOAD
    result = array.index(UOp.const(dtypes.int, size))
    every = UOp.range(size, loop, AxisKind.LOOP)
    empty = UOp(Ops.STORE, dtypes.void, (array.index(every), _zero(prefix)))
    cleared = UOp(Ops.FILL, dtypes.void, (empty, every), Fill())
    key = prefix.key if prefix.key.dtype is dtypes.long else prefix.key.cast(dtypes.int)
    place = array.index(key)
    before = UOp(Ops.LOAD, dtype, (place, cleared))
    after = UOp(Ops.ADD, dtype, (before, prefix.term))
    stores = (
        UOp(Ops.STORE, dtypes.void, (place, after)),
        UOp(Ops.STORE, dtypes.void, (result, after if prefix.inclusive else before)),
    )
    fill = UOp(Ops.FILL, dtypes.void, stores, Fill(values=2))
    return UOp(Ops.LOAD, dtype, (result, fill))


def _zero(prefix: _KeyedPrefix) -> UOp:
    """Zero, with a dependence on the enclosing loops: the comparison is never true."""
    zero = prefix.term.const_like(0)
    loops = (ranges_of(prefix.key) | ranges_of(prefix.term)) - {prefix.loop}
    if not loops:
        return zero
    total, *rest = sorted(loops, key=loop_order)
    for loop in rest:
        total = total + loop
    negative = total < total.const_like(0)
    return UOp(Ops.WHERE, zero.dtype, (negative, prefix.term.const_like(1), zero))
