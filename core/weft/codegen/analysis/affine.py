"""Affine analysis: write an index expression as {term: factor} and a constant.
Also: scalar evolution.

Vectorization, loop coalescing and the expander use it to find the stride of an address along a
loop. A term is a RANGE, a variable, or any node that is not a sum or a product with a constant.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): affine
subscripts; LLVM's ScalarEvolution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.base.dtype import DType, dtypes
from weft.codegen.analysis.ranges import loop_order, ranges_of
from weft.uop import Ops, UOp
from weft.uop.symbolic.sums import linear_of

Affine = tuple[dict[UOp, int], int]


def affine(node: UOp) -> Affine:
    """The affine form of an integer expression: nonzero factors by term, and the constant."""
    # index arithmetic is widened before it can overflow, so these casts are exact
    form = linear_of(node, widening=True)
    return form.terms, form.const


def affine_through_casts(node: UOp) -> Affine:
    """The affine form of an expression, also through a narrowing cast whose operand fits."""
    terms, constant = affine(node)
    result: dict[UOp, int] = {}
    for term, factor in terms.items():
        wide = term.src[0] if term.op is Ops.CAST and term.dtype is dtypes.int else term
        fits = wide.dtype is dtypes.long and 0 <= wide.vmin and wide.vmax <= dtypes.int.max
        inner, offset = affine(wide) if fits else ({term: 1}, 0)
        constant += offset * factor
        for inner_term, inner_factor in inner.items():
            result[inner_term] = result.get(inner_term, 0) + inner_factor * factor
    return result, constant


def from_affine(
    terms: Mapping[UOp, int],
    constant: int,
    order: Callable[[UOp], tuple[object, ...]],
    dtype: DType = dtypes.int,
) -> UOp:
    """The expression of an affine form: terms in ascending `order`, the constant last.

    If the outermost loops come first, the part that is invariant in an inner loop is a common
    subexpression. Addresses that differ by a constant share everything else.
    """
    total: UOp | None = None
    for term in sorted(terms, key=order):
        factor = terms[term]
        part = term.cast(dtype)
        if factor != 1:
            part = part * UOp.const(dtype, factor)
        total = part if total is None else total + part
    if total is None:
        return UOp.const(dtype, constant)
    return total if constant == 0 else total + UOp.const(dtype, constant)


def loops_first(term: UOp) -> tuple[object, ...]:
    """The sort key of affine terms: loops, outermost first, then other terms."""
    return (0, loop_order(term)) if term.op is Ops.RANGE else (1, term.op)


def innermost_loop_order(term: UOp) -> tuple[object, ...]:
    """The sort key of affine terms: the innermost loop of each; terms without a loop come first."""
    ranges = ranges_of(term)
    if not ranges:
        return (-1, -1, str(term.arg))
    return (*max(map(loop_order, ranges)), term.op)
