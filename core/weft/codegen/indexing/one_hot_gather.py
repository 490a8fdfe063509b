"""One-hot gather: replace a reduction that selects one term by an indexed load.

    sum over r of where(i == r, f(r), 0)   ->   where(0 <= i < n, f(i), 0)

Indexing by a tensor, gather, an embedding, a product with one-hot rows and the selection of a label
have this form. The comparison may be one of several conjuncts, its counter may be scaled and
shifted, and each axis may have its own counter. The bounds gate the loads of f, so no address
outside the table is read. MAX and boolean sums are handled in the same way.

A float that is multiplied by a mask is different: 0 * inf is NaN, so one infinite element of the
table makes every sum NaN. FUSE_ARANGE=2 assumes that the table is finite; FUSE_ARANGE=0 disables
the pass.

in:  spec.lowered
out: spec.lowered with fewer ranges, equal values (except -0.0, which a sum makes 0.0)

Source: none known; sound because every other term of the reduction is its identity.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.base.dtype import DType, dtypes
from weft.base.settings import settings
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.folding import folded, folded_and, refolded
from weft.codegen.analysis.ranges import loops_of, ranges_of
from weft.codegen.analysis.traversal import Rule, nodes_of, rewrite_once
from weft.uop import GroupOp, Ops, UOp, conjuncts

CONJUNCTIONS = (Ops.AND, Ops.MUL)
"""Of booleans: a product is a conjunction too."""

_ZERO_PRESERVING = frozenset({Ops.CAST, Ops.NEG, Ops.TRUNC, Ops.SQRT})


class Selection(NamedTuple):
    """A loop of which only iteration `at` contributes, if `inside` holds.

    implied: the comparison that holds in this iteration; None if it must still be evaluated.
    """

    loop: UOp
    at: UOp
    inside: UOp
    implied: UOp | None


def run(sink: UOp) -> UOp:
    """The kernel without reduction loops that select one iteration."""
    nodes = nodes_of(sink)
    if not settings.FUSE_ARANGE or not any(map(_compares_integers, nodes)):
        return sink
    return rewrite_once(nodes, {Ops.REDUCE: _without_selecting_loops})[sink]


def _compares_integers(node: UOp) -> bool:
    return node.op in (Ops.CMPEQ, Ops.CMPNE) and dtypes.is_int(node.src[0].dtype)


def _without_selecting_loops(node: UOp, reduce: UOp) -> UOp | None:
    """REDUCE without each loop that selects one iteration; None for a REDUCE of several values."""
    if node.arg.values != 1:
        return None
    while reduce.op is Ops.REDUCE and (smaller := _without_one_loop(reduce)) is not None:
        reduce = smaller
    return reduce


def _without_one_loop(reduce: UOp) -> UOp | None:
    """`reduce` without one loop that selects an iteration; None if there is no such loop."""
    value, op = reduce.src[0], reduce.arg.op
    loops = loops_of(reduce)
    if op is Ops.MAX and reduce.dtype is not dtypes.bool:
        # a maximum of a constant floor and one value: with two iterations, one is the floor
        if value.op is not Ops.WHERE or value.src[2].op is not Ops.CONST:
            return None
        conditions, rest, floor = conjuncts(value.src[0], CONJUNCTIONS), value.src[1], value.src[2]
    elif op is Ops.ADD or op is Ops.MAX:
        conditions, rest = split_mask(value, reduce.dtype)
        floor = UOp.const(reduce.dtype, 0)
    else:
        return None
    selection = find_selection(conditions, frozenset(loops))
    if selection is None:
        return None
    floored = op is Ops.MAX and reduce.dtype is not dtypes.bool
    if floored and selection.loop.src[0].vmin < 2:
        return None
    selected = SelectedIteration(selection)
    condition = selection.inside
    for other in conditions:
        if other is not selection.implied:
            condition = folded_and(condition, selected.value(other))
    term = selected.value(rest)
    if floored:
        term = UOp(Ops.MAX, reduce.dtype, (term, floor))
    result = _select(condition, term, floor)
    left = tuple(loop for loop in loops if loop is not selection.loop)
    if not left:
        return result
    return UOp(Ops.REDUCE, reduce.dtype, (result, *left), reduce.arg)


# ---- splitting a value into its mask and the rest ----------------------------------------------


def split_mask(value: UOp, dtype: DType) -> tuple[list[UOp], UOp]:
    """(conditions, rest) such that `value` is rest where all conditions hold, and 0 elsewhere."""
    conditions: list[UOp] = []
    outer: list[tuple[Ops, DType, UOp | None]] = []
    while True:
        op = value.op
        if value.dtype is dtypes.bool and op is not Ops.WHERE:
            conditions += conjuncts(value, CONJUNCTIONS)
            value = UOp.const(dtypes.bool, True)
            break
        if op is Ops.WHERE and _is_zero(value.src[2]):
            conditions += conjuncts(value.src[0], CONJUNCTIONS)
            value = value.src[1]
        elif op is Ops.WHERE and _is_zero(value.src[1]):
            conditions += conjuncts(_negated(value.src[0]), CONJUNCTIONS)
            value = value.src[2]
        elif op in _ZERO_PRESERVING:
            outer.append((op, value.dtype, None))
            value = value.src[0]
        elif op is Ops.MUL and (sides := _mask_first(value)) is not None:
            outer.append((op, value.dtype, sides[1]))
            value = sides[0]
        else:
            break
    for op, kind, other in reversed(outer):
        value = _apply(op, kind, value, other)
    return conditions, value


def _apply(op: Ops, dtype: DType, value: UOp, other: UOp | None) -> UOp:
    """`op` of a value without its mask; a product with the constant 1 is the other factor."""
    if op is Ops.CAST and value.op is Ops.CONST:
        return UOp.const(dtype, value.arg)
    if other is None:
        return UOp(op, dtype, (value,))
    return other if value.op is Ops.CONST and value.arg == 1 else UOp(op, dtype, (value, other))


def _mask_first(product: UOp) -> tuple[UOp, UOp] | None:
    """The factors of a product, the masked one first; None if no factor is masked.

    0 * inf is NaN, so a product of floats counts only with FUSE_ARANGE=2.
    """
    if dtypes.is_float(product.dtype) and settings.FUSE_ARANGE < 2:
        return None
    for mask, other in (product.src, product.src[::-1]):
        inner = mask
        while inner.op in _ZERO_PRESERVING:
            inner = inner.src[0]
        if inner.dtype is dtypes.bool or (inner.op is Ops.WHERE and _is_zero(inner.src[2])):
            return mask, other
    return None


def _is_zero(node: UOp) -> bool:
    return node.op is Ops.CONST and node.arg == 0


def _negated(condition: UOp) -> UOp:
    if condition.op is Ops.CMPNE:
        return UOp(Ops.CMPEQ, dtypes.bool, condition.src)
    return UOp(Ops.CMPNE, dtypes.bool, (condition, UOp.const(dtypes.bool, True)))


# ---- solving an equation for a loop ------------------------------------------------------------


def find_selection(conditions: list[UOp], loops: frozenset[UOp]) -> Selection | None:
    """The selection of one iteration of one of `loops` by an equality; None if there is none."""
    for condition in conditions:
        sides = _equation(condition)
        if sides is None:
            continue
        for counter, other in (sides, sides[::-1]):
            if ranges_of(counter).isdisjoint(loops):
                continue
            selection = _solve(counter, other, loops, condition)
            if selection is not None:
                return selection
    return None


def _equation(condition: UOp) -> tuple[UOp, UOp] | None:
    """The two sides of a condition that is an equality of integers; None otherwise."""
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


def _solve(counter: UOp, other: UOp, loops: frozenset[UOp], equality: UOp) -> Selection | None:
    """The solution of `factor * r + ... == other` for a loop r of `loops`.

    A counter over several axes is solved from its largest factor on: r is the quotient, and the
    equality remains for the remainder.
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
        inside = _is_in_loop(at, loop)
        if inside is not None:
            implied = equality if abs(factor) == 1 else None
            return Selection(loop, at.cast(loop.dtype), inside, implied)
    return None


def _uncast(counter: UOp) -> UOp | None:
    """An integer expression without casts that preserve its value; None after a lossy cast."""
    while counter.op is Ops.CAST and dtypes.is_int(counter.src[0].dtype):
        source = counter.src[0]
        if source.vmin < counter.dtype.min or source.vmax > counter.dtype.max:
            return None
        counter = source
    return counter


def _is_in_loop(at: UOp, loop: UOp) -> UOp | None:
    """The condition 0 <= at < trip count, without parts that the bounds of `at` imply."""
    dtype, end = at.dtype, loop.src[0]
    result = UOp.const(dtypes.bool, True)
    if at.vmin < 0:
        result = folded_and(result, UOp(Ops.CMPLT, dtypes.bool, (UOp.const(dtype, -1), at)))
    if end.op is not Ops.CONST:
        if dtype is dtypes.ulong:
            return None  # no integer dtype holds both sides
        wide = (at.cast(dtypes.long), end.cast(dtypes.long))
        result = folded_and(result, UOp(Ops.CMPLT, dtypes.bool, wide))
    elif at.vmax >= end.arg:
        result = folded_and(result, UOp(Ops.CMPLT, dtypes.bool, (at, UOp.const(dtype, end.arg))))
    return result


# ---- evaluating the selected iteration ---------------------------------------------------------


class SelectedIteration:
    """Evaluates expressions in the selected iteration; its bounds gate loads that depend on it."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.new: dict[UOp, UOp] = {selection.loop: selection.at}
        self.rules: dict[Ops, Rule] = {
            **dict.fromkeys(GroupOp.ALU, refolded),
            Ops.LOAD: self._gate_load,
        }

    def value(self, root: UOp) -> UOp:
        """`root` in the selected iteration; nodes that do not depend on the loop are unchanged."""
        loop = self.selection.loop
        nodes = root.toposort(gate=lambda u: loop in ranges_of(u))
        return rewrite_once(nodes, self.rules, self.new)[root]

    def _gate_load(self, node: UOp, load: UOp) -> UOp | None:
        gate = self.selection.inside
        if self.selection.loop not in ranges_of(node.src[0]) or gate.op is Ops.CONST:
            return None
        index, rest = load.src[0], load.src[1:]
        if len(index.src) > 2:
            gate = folded_and(gate, index.src[2])
        else:
            rest = (UOp.const(load.dtype, 0), *rest)
        place = UOp(Ops.INDEX, index.dtype, (*index.src[:2], gate), index.arg)
        return UOp(Ops.LOAD, load.dtype, (place, *rest), load.arg)


def _select(condition: UOp, value: UOp, otherwise: UOp) -> UOp:
    """where(condition, value, otherwise); only the load if it is gated by the same condition."""
    if (
        value.op is Ops.LOAD
        and len(value.src[0].src) > 2
        and value.src[0].src[2] is condition
        and otherwise is value.src[1]
        and _is_zero(otherwise)
    ):
        return value
    return folded(Ops.WHERE, value.dtype, (condition, value, otherwise))
