"""Index arithmetic as linear forms: `constant + sum of coefficient * term`, in one canonical order.
Also: reassociation, canonical linear forms.

A sum is read into a `Linear` once, every law of sums, products, quotients and remainders works on
the coefficients, and the result is written back as one chain of additions. Terms are in order of
where they vary: variables, hardware indices, outer loops, inner loops; so parts that do not change
in an inner loop are adjacent, and equal sums are the same node.

Only arithmetic over loop counters, variables and constants is brought to this form ("index
arithmetic"). Values that are loaded keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias
from zlib import crc32

from weft.base.dtype import DType, dtypes
from weft.base.scalars import truncate
from weft.uop.analysis import analysis
from weft.uop.bounds import Bounds, bounds_of
from weft.uop.node import UOp, memo_slot
from weft.uop.ops import GroupOp, Ops

BoundsOf: TypeAlias = Callable[[UOp], Bounds]

INDEX_DTYPES = frozenset({dtypes.int, dtypes.long})
_DATA = 1 << 40  # the place of loaded values, after every loop
_INDEX_OPS = (GroupOp.ALU - {Ops.THREEFRY, Ops.POW}) | {Ops.CAST, Ops.BIND}
_MOST_PRODUCTS = 12

_set_simple = memo_slot("_simple")


def mark_simple(node: UOp) -> UOp:
    """Record that a node is canonical; the memo is None, because a self-reference would leak."""
    _set_simple(node, None)
    return node


_OP_DIGESTS = {op: crc32(op.name.encode()) for op in Ops}


@analysis("_text_key")
def order_of(node: UOp) -> tuple[int, int]:
    """The sort key of a term of a sum: its place, and a digest that breaks ties.

    Both are equal in every process, and do not change when an op is added. The order does not
    depend on the values of bound variables.
    """
    op, arg = node.op, node.arg
    if op is Ops.BIND:
        return order_of(node.src[0])
    if op is Ops.CONST:
        place, digest = 0, hash(arg)
    elif op is Ops.DEFINE_VAR:
        place, digest = 1, crc32(arg.name.encode())
    elif op is Ops.SPECIAL:
        place, digest = 2, crc32(str(arg).encode())
    elif op is Ops.RANGE:
        place, digest = 16 + arg.id, arg.id
    else:
        place = 0
        for source in node.src:
            place = max(place, order_of(source)[0])
        digest = 0 if arg is None else crc32(repr(arg).encode())
        if op not in _INDEX_OPS:
            place = _DATA
    return place, hash((_OP_DIGESTS[op], digest, *[order_of(source)[1] for source in node.src]))


def is_index(node: UOp) -> bool:
    """Whether a node is integer arithmetic over counters, variables and constants alone."""
    return node.dtype in INDEX_DTYPES and order_of(node)[0] < _DATA


class Linear:
    """`const + sum of terms[t] * t`. Mutable while it is built; no coefficient is 0."""

    __slots__ = ("const", "terms")

    def __init__(self, terms: dict[UOp, int] | None = None, const: int = 0) -> None:
        self.terms: dict[UOp, int] = {} if terms is None else terms
        self.const = const

    def copy(self) -> Linear:
        """An independent copy."""
        return Linear(dict(self.terms), self.const)

    def add_term(self, term: UOp, coefficient: int) -> None:
        """Add `coefficient * term`, where `term` is no sum."""
        total = self.terms.get(term, 0) + coefficient
        if total:
            self.terms[term] = total
        else:
            self.terms.pop(term, None)

    def add(self, other: Linear, factor: int = 1) -> Linear:
        """Add `factor * other` in place; gives self."""
        if factor:
            for term, coefficient in other.terms.items():
                self.add_term(term, coefficient * factor)
            self.const += other.const * factor
        return self

    def scaled(self, factor: int) -> Linear:
        """A new form, `factor` times this one."""
        if factor == 0:
            return Linear()
        return Linear({t: c * factor for t, c in self.terms.items()}, self.const * factor)

    def bounds(self, bounds: BoundsOf = bounds_of) -> tuple[int, int]:
        """The least and greatest value, as if integers had no width."""
        low = high = self.const
        for term, coefficient in self.terms.items():
            least, greatest = bounds(term)
            if coefficient > 0:
                low += coefficient * least
                high += coefficient * greatest
            else:
                low += coefficient * greatest
                high += coefficient * least
        return low, high

    def fits(self, dtype: DType) -> bool:
        """Whether no value leaves the dtype, so that laws of unbounded integers hold."""
        low, high = self.bounds()
        return dtype.min <= low and high <= dtype.max


def linear_of(node: UOp, widening: bool = False) -> Linear:
    """The linear form of a node whose sources are canonical.

    widening: also through casts of 32 to 64 bits; of sums that are widened before they overflow.
    """
    form = Linear()
    stack = [(node, 1)]
    while stack:
        current, factor = stack.pop()
        op, src = current.op, current.src
        if op is Ops.CONST:
            form.const += factor * current.arg
        elif op is Ops.ADD:
            stack.append((src[1], factor))
            stack.append((src[0], factor))
        elif op is Ops.SUB:
            stack.append((src[1], -factor))
            stack.append((src[0], factor))
        elif op is Ops.NEG:
            stack.append((src[0], -factor))
        elif op is Ops.MUL and src[1].op is Ops.CONST:
            stack.append((src[0], factor * src[1].arg))
        elif op is Ops.MUL and src[0].op is Ops.CONST:
            stack.append((src[1], factor * src[0].arg))
        elif widening and op is Ops.CAST and _is_widening(current):
            stack.append((src[0], factor))
        else:
            form.add_term(current, factor)
    return form


def _is_widening(cast: UOp) -> bool:
    return cast.dtype is dtypes.long and cast.src[0].dtype is dtypes.int


def linear_terms(node: UOp) -> dict[UOp, int]:
    """The terms of a canonical sum and their coefficients, without the constant."""
    return linear_of(node).terms


def node_of(form: Linear, dtype: DType = dtypes.int) -> UOp:
    """The canonical node of a linear form whose terms are canonical; terms are cast to `dtype`."""
    total: UOp | None = None
    for term in form.terms:
        if term.dtype is not dtype:
            form = _in_dtype(form, dtype)
            break
    if form.terms:
        items = form.terms.items()
        if len(form.terms) > 1:
            items = sorted(items, key=_term_order)
        for term, coefficient in items:
            if coefficient != 1:
                factor = truncate(coefficient, dtype)
                if factor == 0:
                    continue
                term = mark_simple(UOp(Ops.MUL, dtype, (term, UOp.const(dtype, factor))))
            total = term if total is None else mark_simple(UOp(Ops.ADD, dtype, (total, term)))
    const = truncate(form.const, dtype)
    if total is None:
        return UOp.const(dtype, const)
    if const == 0:
        return total
    return mark_simple(UOp(Ops.ADD, dtype, (total, UOp.const(dtype, const))))


def _in_dtype(form: Linear, dtype: DType) -> Linear:
    """The same form, its terms cast where they must be."""
    made = Linear(const=form.const)
    for term, coefficient in form.terms.items():
        made.add_term(term if term.dtype is dtype else _cast_term(term, dtype), coefficient)
    return made


def _cast_term(term: UOp, dtype: DType) -> UOp:
    """A term in another dtype, without a cast that preserves its value."""
    if term.op is Ops.CAST and term.src[0].dtype in INDEX_DTYPES:
        low, high = bounds_of(term.src[0])
        if term.dtype.min <= low and high <= term.dtype.max:
            term = term.src[0]
            if term.dtype is dtype:
                return term
    return mark_simple(UOp(Ops.CAST, dtype, (term,)))


def _term_order(item: tuple[UOp, int]) -> tuple[int, int, int]:
    place, digest = order_of(item[0])
    return place, -abs(item[1]), digest


def product_factors(term: UOp) -> list[UOp]:
    """The factors of a term that is a product of terms."""
    factors: list[UOp] = []
    while term.op is Ops.MUL:
        factors.append(term.src[1])
        term = term.src[0]
    factors.append(term)
    return factors


def product_of(factors: Iterable[UOp], dtype: DType) -> UOp:
    """The canonical product of terms."""
    ordered = sorted(factors, key=order_of)
    product = ordered[0]
    for factor in ordered[1:]:
        product = mark_simple(UOp(Ops.MUL, dtype, (product, factor)))
    return product


def multiply(a: Linear, b: Linear, dtype: DType) -> Linear | None:
    """a * b distributed; None where that would make many terms of few."""
    if not a.terms:
        return b.scaled(a.const)
    if not b.terms:
        return a.scaled(b.const)
    if (len(a.terms) + (a.const != 0)) * (len(b.terms) + (b.const != 0)) > _MOST_PRODUCTS:
        return None
    result = Linear(const=a.const * b.const)
    for term, coefficient in a.terms.items():
        if b.const:
            result.add_term(term, coefficient * b.const)
        for other, factor in b.terms.items():
            both = product_of([*product_factors(term), *product_factors(other)], dtype)
            result.add_term(both, coefficient * factor)
    if a.const:
        for other, factor in b.terms.items():
            result.add_term(other, factor * a.const)
    return result


def divide_by_term(form: Linear, divisor: UOp) -> tuple[Linear, Linear]:
    """Quotient and rest of the terms by a symbolic divisor: form = quotient * divisor + rest.

    Terms that hold the divisor's factors and coefficient go to the quotient.
    """
    by = linear_of(divisor)
    if by.const or len(by.terms) != 1:
        return Linear(), form
    ((term, unit),) = by.terms.items()
    wanted = product_factors(term)
    quotient, rest = Linear(), Linear(const=form.const)
    for candidate, coefficient in form.terms.items():
        factors = product_factors(candidate)
        left = list(factors)
        for factor in wanted:
            if factor in left:
                left.remove(factor)
            else:
                left = factors
                break
        if len(left) == len(factors) or coefficient % unit:
            rest.add_term(candidate, coefficient)
        elif left:
            quotient.add_term(product_of(left, divisor.dtype), coefficient // unit)
        else:
            quotient.const += coefficient // unit
    return quotient, rest
