"""Predicate simplification: comparisons, conjunctions and choices of index arithmetic.

The canonical form of a comparison is `sum < constant`, or its negation. The terms have no common
factor, and the first is positive. Two bounds on one sum therefore simplify to one, or to an
interval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import gcd

from weft.base.dtype import DType, dtypes
from weft.uop.bounds import Bounds, bounds_of
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.symbolic.sums import (
    BoundsOf,
    Linear,
    is_index,
    linear_of,
    mark_simple,
    node_of,
    order_of,
)

TRUE = UOp.const(dtypes.bool, True)
FALSE = UOp.const(dtypes.bool, False)


def negation(condition: UOp) -> UOp:
    """not condition, as `condition != True`; a double negation is undone."""
    if condition.op is Ops.CONST:
        return FALSE if condition.arg else TRUE
    positive = negated(condition)
    if positive is not None:
        return positive
    return mark_simple(UOp(Ops.CMPNE, dtypes.bool, (condition, TRUE)))


def negated(condition: UOp) -> UOp | None:
    """The c of a `c != True`; None for anything else."""
    if condition.op is Ops.CMPNE and condition.src[1] is TRUE:
        return condition.src[0]
    return None


def less_than(form: Linear, limit: int, bounds: BoundsOf = bounds_of) -> UOp:
    """form < limit as a canonical condition, in 64 bits where 32 could overflow."""
    whole, limit = limit, limit - form.const
    terms = form.terms
    low, high = Linear(terms).bounds(bounds)
    if high < limit:
        return TRUE
    if low >= limit:
        return FALSE
    dtype = _dtype_of(terms)
    if low <= dtype.min or high > dtype.max or not dtype.min < limit <= dtype.max:
        # without its constant the sum, or its negation, would wrap
        least, greatest = form.bounds(bounds)
        if least < dtype.min or greatest > dtype.max:
            dtype = dtypes.long
        value = UOp.const(dtype, whole)
        return mark_simple(UOp(Ops.CMPLT, dtypes.bool, (node_of(form, dtype), value)))
    common = gcd(*terms.values())
    if common > 1:
        terms = {t: c // common for t, c in terms.items()}
        limit = -(-limit // common)
    terms, limit = _without_small(terms, limit, bounds)
    first = min(terms, key=order_of) if len(terms) > 1 else next(iter(terms))
    if terms[first] < 0:
        # -s < k  is  not (s < 1 - k)
        return negation(_compare({t: -c for t, c in terms.items()}, 1 - limit))
    return _compare(terms, limit)


def _dtype_of(terms: Iterable[UOp]) -> DType:
    """long where one of the terms is, else int."""
    return dtypes.long if any(t.dtype is dtypes.long for t in terms) else dtypes.int


def _without_small(
    terms: dict[UOp, int], limit: int, bounds: BoundsOf
) -> tuple[dict[UOp, int], int]:
    """g*a + b < limit  ->  a < ceil((limit - b) / g)   when b does not change the right side."""
    while len(terms) > 1:
        for unit in sorted({abs(c) for c in terms.values()}, reverse=True):
            if unit == 1:
                return terms, limit
            small = Linear({t: c for t, c in terms.items() if c % unit})
            low, high = small.bounds(bounds)
            if -((low - limit) // unit) == -((high - limit) // unit):
                # ceil((limit - b) / unit) is one number for every b
                terms = {t: c // unit for t, c in terms.items() if c % unit == 0}
                limit = -((high - limit) // unit)
                break
        else:
            return terms, limit
    return terms, limit


def _compare(terms: dict[UOp, int], limit: int) -> UOp:
    if len(terms) == 1 and limit > 0:
        ((term, coefficient),) = terms.items()
        if coefficient == 1 and term.op is Ops.IDIV and term.src[1].op is Ops.CONST:
            divisor = term.src[1].arg
            inner = linear_of(term.src[0])
            if divisor > 0 and limit * divisor <= term.dtype.max and inner.fits(term.dtype):
                # x // d < k  is  x < k*d  for k, d > 0 and any sign of x
                return less_than(inner, limit * divisor)
    dtype = _dtype_of(terms)
    node = UOp(Ops.CMPLT, dtypes.bool, (node_of(Linear(terms), dtype), UOp.const(dtype, limit)))
    return mark_simple(node)


def compare(node: UOp) -> UOp | None:
    """CMPLT, CMPNE or CMPEQ of canonical index arithmetic."""
    a, b = node.src
    left, right = linear_of(a), linear_of(b)
    if not (left.fits(a.dtype) and right.fits(b.dtype)):
        return None
    difference = left.copy().add(right, -1)
    if node.op is Ops.CMPLT:
        made = less_than(difference, 0) if difference.fits(a.dtype) else None
    else:
        made = _equality(difference, node.op, a)
    return None if made is node else made


def _equality(difference: Linear, op: Ops, a: UOp) -> UOp | None:
    same = TRUE if op is Ops.CMPEQ else FALSE
    other = FALSE if op is Ops.CMPEQ else TRUE
    low, high = difference.bounds()
    if low == high == 0:
        return same
    if low > 0 or high < 0:
        return other
    common = gcd(*difference.terms.values())
    if difference.const % common:
        return other
    if not difference.fits(a.dtype):
        return None
    first = min(difference.terms, key=order_of)
    if difference.terms[first] < 0:
        common = -common
    sum_ = node_of(Linear({t: c // common for t, c in difference.terms.items()}), a.dtype)
    value = UOp.const(a.dtype, -(difference.const // common))
    return mark_simple(UOp(op, dtypes.bool, (sum_, value)))


# ---- conjunctions --------------------------------------------------------------------------------


def conjuncts(condition: UOp, ops: Collection[Ops] = (Ops.AND,)) -> list[UOp]:
    """The parts of a chain of AND (or of other operations on booleans), each once, in order."""
    found: dict[UOp, None] = {}
    stack = [condition]
    while stack:
        node = stack.pop()
        if node.op in ops and node.dtype is dtypes.bool:
            stack += (node.src[1], node.src[0])
        else:
            found[node] = None
    return list(found)


def _as_bound(condition: UOp) -> tuple[UOp, bool, int] | None:
    """(x, True, k) of x < k, (x, False, k) of not (x < k), None of anything else."""
    positive = negated(condition)
    node = condition if positive is None else positive
    if node.op is Ops.CMPLT and node.src[1].op is Ops.CONST and is_index(node.src[0]):
        return node.src[0], positive is None, node.src[1].arg
    return None


def all_of(conditions: Iterable[UOp]) -> UOp:
    """The conjunction in canonical form: the tightest bounds only, FALSE where two exclude."""
    upper: dict[UOp, int] = {}
    lower: dict[UOp, int] = {}
    others: dict[UOp, None] = {}
    for condition in conditions:
        if condition is FALSE:
            return FALSE
        bound = _as_bound(condition)
        if condition is TRUE:
            continue
        if bound is None:
            if negation(condition) in others:
                return FALSE
            others[condition] = None
            continue
        number, below, limit = bound
        if below:
            upper[number] = min(limit, upper.get(number, limit))
        else:
            lower[number] = max(limit, lower.get(number, limit))
    for number, limit in upper.items():
        if lower.get(number, limit - 1) >= limit:
            return FALSE
    parts = [negation(_bound_node(number, limit)) for number, limit in lower.items()]
    parts += [_bound_node(number, limit) for number, limit in upper.items()]
    parts = sorted([*parts, *others], key=order_of)
    if not parts:
        return TRUE
    result = parts[0]
    for part in parts[1:]:
        result = mark_simple(UOp(Ops.AND, dtypes.bool, (result, part)))
    return result


def _bound_node(number: UOp, limit: int) -> UOp:
    return mark_simple(UOp(Ops.CMPLT, dtypes.bool, (number, UOp.const(number.dtype, limit))))


def any_of(conditions: Iterable[UOp]) -> UOp:
    """The disjunction in canonical form: the negation of the conjunction of negations, as ORs."""
    opposite = all_of([negation(condition) for condition in conditions])
    if opposite.op is Ops.CONST:
        return negation(opposite)
    parts = sorted([negation(part) for part in conjuncts(opposite)], key=order_of)
    result = parts[0]
    for part in parts[1:]:
        result = mark_simple(UOp(Ops.OR, dtypes.bool, (result, part)))
    return result


def conjoin(node: UOp) -> UOp | None:
    """AND of booleans."""
    made = all_of(conjuncts(node))
    return None if made is node else made


def disjoin(node: UOp) -> UOp | None:
    """OR of booleans."""
    made = any_of(conjuncts(node, (Ops.OR,)))
    return None if made is node else made


# ---- choices -------------------------------------------------------------------------------------


def choose(node: UOp) -> UOp | None:
    """WHERE over a scalar condition, of any dtype."""
    condition, yes, no = node.src
    if condition.dtype is not dtypes.bool:
        return None
    if condition.op is Ops.CONST:
        return yes if condition.arg else no
    if yes is no:
        return yes
    positive = negated(condition)
    if positive is not None:
        return UOp(Ops.WHERE, node.dtype, (positive, no, yes))
    if node.dtype is dtypes.bool:
        if yes is TRUE and no is FALSE:
            return condition
        if yes is FALSE and no is TRUE:
            return negation(condition)
    if yes.op is Ops.WHERE and yes.src[0] is condition:
        return UOp(Ops.WHERE, node.dtype, (condition, yes.src[1], no))
    if no.op is Ops.WHERE and no.src[0] is condition:
        return UOp(Ops.WHERE, node.dtype, (condition, yes, no.src[2]))
    if yes.op is Ops.WHERE and yes.src[2] is no and yes.src[0].dtype is condition.dtype:
        # c ? (d ? a : b) : b  ->  (c and d) ? a : b
        both = all_of([*conjuncts(condition), *conjuncts(yes.src[0])])
        return UOp(Ops.WHERE, node.dtype, (both, yes.src[1], no))
    return None


def maximum(node: UOp) -> UOp | None:
    """MAX of canonical index arithmetic, where the bounds of the difference decide."""
    a, b = node.src
    left, right = linear_of(a), linear_of(b)
    if left.fits(a.dtype) and right.fits(b.dtype):
        low, high = left.add(right, -1).bounds()
        if low >= 0:
            return a
        if high <= 0:
            return b
    if order_of(b) < order_of(a):
        return UOp(Ops.MAX, node.dtype, (b, a))
    return None


# ---- under a condition ---------------------------------------------------------------------------


def bounds_given(condition: UOp | None) -> dict[UOp, Bounds]:
    """The bounds of terms that a conjunction implies, if narrower than their own.

    For `sum < k` with one unbounded side, each single term's own bound is derived too.
    """
    known: dict[UOp, Bounds] = {}
    if condition is None:
        return known
    for part in conjuncts(condition):
        bound = _as_bound(part)
        if bound is None:
            continue
        number, below, limit = bound
        form = linear_of(number)
        if not form.fits(number.dtype):
            continue
        for term, coefficient in form.terms.items():
            rest = Linear({t: c for t, c in form.terms.items() if t is not term}, form.const)
            rest_low, rest_high = rest.bounds(lambda t: known.get(t) or bounds_of(t))
            low, high = known.get(term) or bounds_of(term)
            if below == (coefficient > 0):
                # coefficient * term <= limit - 1 - rest, or its mirror image
                slack = limit - 1 - rest_low if below else -(limit - rest_high)
                high = min(high, slack // abs(coefficient))
            else:
                slack = limit - rest_high if not below else -(limit - 1 - rest_low)
                low = max(low, -(-slack // abs(coefficient)))
            if low <= high and (low, high) != bounds_of(term):
                known[term] = (low, high)
    return known


def simplify_given(condition: UOp | None, node: UOp) -> UOp:
    """A simpler node that is equal to `node` if `condition` is true; else its value is undefined.

    Terms that the condition bounds are replaced by variables with these bounds during the
    simplification.
    """
    known = bounds_given(condition)
    below = node.toposort()
    bounded = {
        term: UOp.variable(f"_given{position}", int(low), int(high), term.dtype)
        for position, (term, (low, high)) in enumerate(known.items())
        if term in below and term.op is not Ops.CONST
    }
    if not bounded:
        return node.simplify()
    replaced = node.substitute(bounded).simplify()
    back = {variable: term for term, variable in bounded.items()}
    return replaced.substitute(back).simplify()
