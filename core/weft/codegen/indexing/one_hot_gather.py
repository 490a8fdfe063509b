"""One-hot gather: replace a reduction that selects one term by an indexed load.

    sum over r of where(i == r, f(r), 0)   ->   where(0 <= i < n, f(i), 0)

That is what indexing by a tensor, gather, an embedding, a product with one-hot rows and the pick of
a label are before this pass. The comparison may be one of several that are and-ed, its counter may
be scaled and shifted, and there may be one such counter per axis. The loads of f are gated by the
bounds, so that no address beside the table is ever touched. MAX and sums of truths are likewise.

A float that is *multiplied* by a mask is another matter: 0 * inf is NaN, and one such element in
the table is in every sum. Only FUSE_ARANGE=2 takes the table to be finite; FUSE_ARANGE=0 leaves all
loops as they are.

in:  spec.lowered
out: spec.lowered with fewer ranges, all values equal (but -0.0, which a sum makes 0.0)

Source: none known; sound because every other term of the reduction is its identity.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.base.dtype import DType, dtypes
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.folding import folded
from weft.codegen.analysis.ranges import fill_of, loops_of, ranges_of
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_ZERO_STAYS = frozenset({Ops.CAST, Ops.NEG, Ops.TRUNC, Ops.SQRT})


class Pick(NamedTuple):
    """A loop of which one turn counts: its range, which turn, and whether there is such a turn.

    settled: the comparison that holds there, and need not be asked again; None if it must be.
    """

    loop: UOp
    at: UOp
    inside: UOp
    settled: UOp | None


def run(sink: UOp) -> UOp:
    """The kernel without the loops that pick one of their turns."""
    nodes = sink.toposort()
    if not settings.FUSE_ARANGE or not any(map(_compares_integers, nodes)):
        return sink
    made: dict[UOp, UOp] = {}
    for node in nodes:
        src = tuple([made[source] for source in node.src])
        same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        if node.op is Ops.REDUCE and node.arg.values == 1:
            same = _without_loops(same)
        made[node] = same
    return made[sink]


def _compares_integers(node: UOp) -> bool:
    return node.op in (Ops.CMPEQ, Ops.CMPNE) and dtypes.is_int(node.src[0].dtype)


def _without_loops(reduce: UOp) -> UOp:
    """One picked loop after the other."""
    while reduce.op is Ops.REDUCE and (picked := _picked(reduce)) is not None:
        reduce = picked
    return reduce


def _picked(reduce: UOp) -> UOp | None:
    """`reduce` with one loop less; None where every turn counts."""
    value, op = reduce.src[0], reduce.arg.op
    loops = loops_of(reduce)
    if op is Ops.MAX and reduce.dtype is not dtypes.bool:
        # a maximum of floors and one value: of two turns or more, one is the floor
        if value.op is not Ops.WHERE or value.src[2].op is not Ops.CONST:
            return None
        conditions, rest, floor = all_of(value.src[0]), value.src[1], value.src[2]
    elif op is Ops.ADD or op is Ops.MAX:
        conditions, rest = masked(value, reduce.dtype)
        floor = UOp.const(reduce.dtype, 0)
    else:
        return None
    pick = pick_among(conditions, frozenset(loops))
    if pick is None:
        return None
    floored = op is Ops.MAX and reduce.dtype is not dtypes.bool
    if floored and pick.loop.src[0].vmin < 2:
        return None
    replaced = Replacement(pick)
    condition = pick.inside
    for other in conditions:
        if other is not pick.settled:
            condition = both(condition, replaced.value(other))
    there = replaced.value(rest)
    if floored:
        there = UOp(Ops.MAX, reduce.dtype, (there, floor))
    chosen = _gated(condition, there, floor)
    left = tuple(loop for loop in loops if loop is not pick.loop)
    if not left:
        return chosen
    return UOp(Ops.REDUCE, reduce.dtype, (chosen, *left), reduce.arg)


# ---- taking masks off --------------------------------------------------------------------------


def masked(value: UOp, dtype: DType) -> tuple[list[UOp], UOp]:
    """(conditions, rest) such that `value` is rest where all conditions hold, and 0 elsewhere."""
    conditions: list[UOp] = []
    around: list[tuple[Ops, DType, UOp | None]] = []
    while True:
        op = value.op
        if value.dtype is dtypes.bool and op is not Ops.WHERE:
            conditions += all_of(value)
            value = UOp.const(dtypes.bool, True)
            break
        if op is Ops.WHERE and _is_zero(value.src[2]):
            conditions += all_of(value.src[0])
            value = value.src[1]
        elif op is Ops.WHERE and _is_zero(value.src[1]):
            conditions += all_of(_negated(value.src[0]))
            value = value.src[2]
        elif op in _ZERO_STAYS:
            around.append((op, value.dtype, None))
            value = value.src[0]
        elif op is Ops.MUL and (sides := _mask_first(value)) is not None:
            around.append((op, value.dtype, sides[1]))
            value = sides[0]
        else:
            break
    for op, kind, other in reversed(around):
        value = _rebuilt(op, kind, value, other)
    return conditions, value


def _rebuilt(op: Ops, dtype: DType, value: UOp, other: UOp | None) -> UOp:
    if op is Ops.CAST and value.op is Ops.CONST:
        return UOp.const(dtype, value.arg)
    if other is None:
        return UOp(op, dtype, (value,))
    return other if value.op is Ops.CONST and value.arg == 1 else UOp(op, dtype, (value, other))


def _mask_first(product: UOp) -> tuple[UOp, UOp] | None:
    """The factors of a product, the one that a mask makes zero first; 0 * inf is no 0."""
    if dtypes.is_float(product.dtype) and settings.FUSE_ARANGE < 2:
        return None
    for mask, other in (product.src, product.src[::-1]):
        inner = mask
        while inner.op in _ZERO_STAYS:
            inner = inner.src[0]
        if inner.dtype is dtypes.bool or (inner.op is Ops.WHERE and _is_zero(inner.src[2])):
            return mask, other
    return None


def _is_zero(node: UOp) -> bool:
    return node.op is Ops.CONST and node.arg == 0


def all_of(condition: UOp) -> list[UOp]:
    """The conditions that are and-ed (or, being truths, multiplied)."""
    found: list[UOp] = []
    stack = [condition]
    while stack:
        node = stack.pop()
        if node.op is Ops.AND or (node.op is Ops.MUL and node.dtype is dtypes.bool):
            stack += reversed(node.src)
        else:
            found.append(node)
    return found


def _negated(condition: UOp) -> UOp:
    if condition.op is Ops.CMPNE:
        return UOp(Ops.CMPEQ, dtypes.bool, condition.src)
    return UOp(Ops.CMPNE, dtypes.bool, (condition, UOp.const(dtypes.bool, True)))


# ---- solving for a counter ---------------------------------------------------------------------


def pick_among(conditions: list[UOp], loops: frozenset[UOp]) -> Pick | None:
    for condition in conditions:
        sides = _equated(condition)
        if sides is None:
            continue
        for counter, other in (sides, sides[::-1]):
            if ranges_of(counter).isdisjoint(loops):
                continue
            found = _solved(counter, other, loops, condition)
            if found is not None:
                return found
    return None


def _equated(condition: UOp) -> tuple[UOp, UOp] | None:
    """The two integers that a condition says are equal."""
    if condition.op is Ops.CMPEQ:
        sides = condition.src
    elif condition.op is Ops.CMPNE and condition.dtype is dtypes.bool:
        inner, truth = condition.src
        if truth.op is not Ops.CONST or truth.arg is not True:
            return None
        if inner.op is Ops.CMPNE:
            sides = inner.src
        else:
            return None
    else:
        return None
    return (sides[0], sides[1]) if dtypes.is_int(sides[0].dtype) else None


def _solved(counter: UOp, other: UOp, loops: frozenset[UOp], equality: UOp) -> Pick | None:
    """The loop r of factor * r + ... == other, r being one of `loops`.

    A counter over several axes is undone from its largest factor on: r is the quotient, and the
    comparison stays, now for the remainder.
    """
    bare = _uncast(counter)
    if bare is None or bare.vmin < counter.dtype.min or bare.vmax > counter.dtype.max:
        return None
    terms, constant = affine(bare)
    below = ranges_of(other)
    closed = sorted((t for t in terms if t in loops), key=lambda t: -abs(terms[t]))
    for loop in closed:
        factor = terms[loop]
        rest = {term: f for term, f in terms.items() if term is not loop}
        if loop in below or any(loop in ranges_of(term) for term in rest):
            continue
        if abs(factor) != 1:
            inner = {term: f for term, f in rest.items() if term in loops}
            reach = sum(f * (term.src[0].vmax - 1) for term, f in inner.items())
            if inner and (min(inner.values()) < 0 or not reach < factor):
                continue
            rest = {term: f for term, f in rest.items() if term not in inner}
        at = other
        if rest or constant or factor != 1:
            at = other.cast(dtypes.long)
            for term, f in rest.items():
                at = at - term.cast(dtypes.long) * UOp.const(dtypes.long, f)
            if constant:
                at = at - UOp.const(dtypes.long, constant)
        if factor != 1:
            at = folded(Ops.IDIV, dtypes.long, (at, UOp.const(dtypes.long, factor)))
        inside = _within(at, loop)
        if inside is not None:
            settled = equality if abs(factor) == 1 else None
            return Pick(loop, at.cast(loop.dtype), inside, settled)
    return None


def _uncast(counter: UOp) -> UOp | None:
    """An integer expression without the conversions around it that change no value of it."""
    while counter.op is Ops.CAST and dtypes.is_int(counter.src[0].dtype):
        source = counter.src[0]
        if source.vmin < counter.dtype.min or source.vmax > counter.dtype.max:
            return None
        counter = source
    return counter


def _within(at: UOp, loop: UOp) -> UOp | None:
    """0 <= at < the number of turns, in the dtype of `at`; what every value fulfils is left out."""
    dtype, end = at.dtype, loop.src[0]
    result = UOp.const(dtypes.bool, True)
    if at.vmin < 0:
        result = both(result, UOp(Ops.CMPLT, dtypes.bool, (UOp.const(dtype, -1), at)))
    if end.op is not Ops.CONST:
        if dtype is dtypes.ulong:
            return None  # no dtype holds both
        wide = (at.cast(dtypes.long), end.cast(dtypes.long))
        result = both(result, UOp(Ops.CMPLT, dtypes.bool, wide))
    elif at.vmax >= end.arg:
        result = both(result, UOp(Ops.CMPLT, dtypes.bool, (at, UOp.const(dtype, end.arg))))
    return result


# ---- putting the place in ----------------------------------------------------------------------


class Replacement:
    """Expressions with a place instead of a range; loads that depend on it gated by its bounds."""

    def __init__(self, pick: Pick) -> None:
        self.pick, self.gate = pick, pick.inside
        self.made: dict[UOp, UOp] = {pick.loop: pick.at}

    def value(self, root: UOp) -> UOp:
        """`root` where the loop is at its place; nodes that do not depend on it stay."""
        loop, made = self.pick.loop, self.made
        for node in root.toposort(gate=lambda u: loop in ranges_of(u)):
            if node in made:
                continue
            if loop not in ranges_of(node):
                made[node] = node
                continue
            src = tuple([made[source] for source in node.src])
            made[node] = self._rebuilt(node, src)
        return made[root]

    def _rebuilt(self, node: UOp, src: tuple[UOp, ...]) -> UOp:
        op = node.op
        if op is Ops.LOAD and self.pick.loop in ranges_of(node.src[0]):
            return self._gated_load(node, src)
        if op in GroupOp.ALU:
            return folded(op, node.dtype, src, node.arg)
        return UOp(op, node.dtype, src, node.arg)

    def _gated_load(self, node: UOp, src: tuple[UOp, ...]) -> UOp:
        if self.gate.op is Ops.CONST:
            return UOp(Ops.LOAD, node.dtype, src, node.arg)
        index, rest = src[0], src[1:]
        gate = self.gate
        if len(index.src) > 2:
            gate = both(gate, index.src[2])
        else:
            rest = (UOp.const(node.dtype, 0), *rest)
        place = UOp(Ops.INDEX, index.dtype, (*index.src[:2], gate), index.arg)
        after = rest if fill_of(node) is None else (*rest[:-1], src[-1])
        return UOp(Ops.LOAD, node.dtype, (place, *after), node.arg)


def both(a: UOp, b: UOp) -> UOp:
    if a is b:
        return a
    return folded(Ops.AND, dtypes.bool, (a, b))


def _gated(condition: UOp, value: UOp, otherwise: UOp) -> UOp:
    """where(condition, value, otherwise); a load that gives 0 under the very condition is that."""
    if (
        value.op is Ops.LOAD
        and len(value.src[0].src) > 2
        and value.src[0].src[2] is condition
        and otherwise is value.src[1]
        and _is_zero(otherwise)
    ):
        return value
    return folded(Ops.WHERE, value.dtype, (condition, value, otherwise))
