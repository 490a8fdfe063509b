"""Affine analysis: write an index expression as {term: factor} and a constant.

Everything that asks how an address moves with a loop (vectorising, merging loops, the expander)
asks it here. A term is a RANGE, a variable, or whatever is not a sum or a product with a constant.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): affine
subscripts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.base.dtype import DType, dtypes
from weft.uop.node import UOp
from weft.uop.ops import Ops

Affine = tuple[dict[UOp, int], int]


def affine(node: UOp) -> Affine:
    """The sum that an integer expression is, its terms without factor zero."""
    terms: dict[UOp, int] = {}
    constant = 0
    stack = [(node, 1)]
    while stack:
        current, factor = stack.pop()
        op = current.op
        if op is Ops.CONST:
            constant += factor * current.arg
        elif op is Ops.ADD:
            stack.append((current.src[1], factor))
            stack.append((current.src[0], factor))
        elif op is Ops.SUB:
            stack.append((current.src[1], -factor))
            stack.append((current.src[0], factor))
        elif op is Ops.NEG:
            stack.append((current.src[0], -factor))
        elif op is Ops.MUL and current.src[1].op is Ops.CONST:
            stack.append((current.src[0], factor * current.src[1].arg))
        elif op is Ops.MUL and current.src[0].op is Ops.CONST:
            stack.append((current.src[1], factor * current.src[0].arg))
        elif op is Ops.CAST and current.dtype is dtypes.long and current.src[0].dtype is dtypes.int:
            # sums are widened before they can overflow, so a cast adds nothing
            stack.append((current.src[0], factor))
        else:
            total = terms.get(current, 0) + factor
            if total:
                terms[current] = total
            else:
                terms.pop(current, None)
    return terms, constant


def affine_through_casts(node: UOp) -> Affine:
    """`affine`, also of a sum that was made wide and is narrow again."""
    terms, constant = affine(node)
    found: dict[UOp, int] = {}
    for term, factor in terms.items():
        wide = term.src[0] if term.op is Ops.CAST and term.dtype is dtypes.int else term
        fits = wide.dtype is dtypes.long and 0 <= wide.vmin and wide.vmax <= dtypes.int.max
        inner, more = affine(wide) if fits else ({term: 1}, 0)
        constant += more * factor
        for one, times in inner.items():
            found[one] = found.get(one, 0) + times * factor
    return found, constant


def from_affine(
    terms: Mapping[UOp, int],
    constant: int,
    order: Callable[[UOp], object],
    dtype: DType = dtypes.int,
) -> UOp:
    """The expression of a sum: terms in ascending `order`, the constant last.

    With the outermost loops first, what does not change in an inner loop is a subexpression; with
    the constant last, neighbouring addresses share all but that.
    """
    total: UOp | None = None
    for term in sorted(terms, key=order):  # type: ignore[arg-type]
        factor = terms[term]
        part = term.cast(dtype)
        if factor != 1:
            part = part * UOp.const(dtype, factor)
        total = part if total is None else total + part
    if total is None:
        return UOp.const(dtype, constant)
    return total if constant == 0 else total + UOp.const(dtype, constant)
