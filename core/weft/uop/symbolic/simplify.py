"""Symbolic simplification: bring integer and boolean expressions to canonical form.
Also: canonicalization, expression normalization.

`simplify` simplifies a graph bottom-up and caches the result of each node on the node. `symbolic`
is the same as a rule set, for passes with further rules; `symbolic_simple` (in identities) holds
the cheap rules.

Source: S. Muchnick, 'Advanced Compiler Design and Implementation' (1997), section 12.3 (algebraic
simplification and reassociation).
"""

from __future__ import annotations

from collections.abc import Callable

from weft.base import trace
from weft.base.dtype import dtypes
from weft.uop.analyses import provide
from weft.uop.bounds import bounds_of
from weft.uop.matcher import PatternMatcher
from weft.uop.node import UOp, memo_slot
from weft.uop.ops import GroupOp, Ops
from weft.uop.pattern import UPat
from weft.uop.symbolic.conditions import choose, compare, conjoin, disjoin, maximum
from weft.uop.symbolic.divmod import divide, gather, modulo
from weft.uop.symbolic.identities import symbolic_simple
from weft.uop.symbolic.sums import (
    INDEX_DTYPES,
    is_index,
    linear_of,
    mark_simple,
    multiply,
    node_of,
    product_factors,
    product_of,
)

_simple_of: Callable[[UOp], UOp | None] = UOp._simple.__get__  # type: ignore[attr-defined]
_set_simple = memo_slot("_simple")


def _sum(node: UOp) -> UOp | None:
    """A tree of ADD, SUB and NEG as one canonical linear form."""
    form = linear_of(node)
    if any(term.op is Ops.MOD for term in form.terms):
        form = gather(form, node.dtype)
    result = node_of(form, node.dtype)
    return None if result is node else result


def _product(node: UOp) -> UOp | None:
    """MUL, distributed over sums if the result has few terms; otherwise with sorted factors."""
    dtype = node.dtype
    form = multiply(linear_of(node.src[0]), linear_of(node.src[1]), dtype)
    if form is not None:
        result = node_of(gather(form, dtype), dtype)
    else:
        result = product_of([*product_factors(node.src[0]), *product_factors(node.src[1])], dtype)
    return None if result is node else result


def _shift_left(node: UOp) -> UOp | None:
    """x << c  ->  x * 2**c"""
    amount = node.src[1]
    if amount.op is not Ops.CONST or not 0 <= amount.arg < node.dtype.bitsize - 1:
        return None
    return node.src[0] * UOp.const(node.dtype, 1 << amount.arg)


def _cast(node: UOp) -> UOp | None:
    """cast(a + b*c) -> cast(a) + cast(b)*c   to a wider integer, where nothing wraps before"""
    source = node.src[0]
    if source.op is Ops.CAST and source.src[0].dtype in INDEX_DTYPES:
        low, high = bounds_of(source.src[0])
        if source.dtype.min <= low and high <= source.dtype.max:
            return source.src[0].cast(node.dtype)
    if source.op not in (Ops.ADD, Ops.MUL):
        return None
    form = linear_of(source)
    if not form.fits(source.dtype) or not form.fits(node.dtype):
        return None
    result = node_of(form, node.dtype)
    return None if result is node else result


_INDEX_RULES: dict[Ops, Callable[[UOp], UOp | None]] = {
    Ops.ADD: _sum, Ops.SUB: _sum, Ops.NEG: _sum, Ops.MUL: _product, Ops.IDIV: divide,
    Ops.MOD: modulo, Ops.MAX: maximum, Ops.SHL: _shift_left,
}  # fmt: skip
_COMPARISONS = GroupOp.Comparison


def _divide_data(node: UOp) -> UOp | None:
    """(x // c) // d -> x // (c*d)   for positive constants and any sign of x"""
    inner, divisor = node.src
    if (
        inner.op is Ops.IDIV
        and divisor.op is inner.src[1].op is Ops.CONST
        and divisor.arg > 0
        and inner.src[1].arg > 0
        and divisor.arg * inner.src[1].arg <= node.dtype.max
    ):
        both = UOp.const(node.dtype, divisor.arg * inner.src[1].arg)
        return UOp(Ops.IDIV, node.dtype, (inner.src[0], both))
    return None


def canonical(node: UOp) -> UOp | None:
    """The simplified form of a node with canonical sources; None if no law applies."""
    op, dtype = node.op, node.dtype
    if op in _UNCHANGED:
        return None
    law = _law_for(node)
    if law is not None:
        result = law(node)
        if result is not None:
            if trace.enabled("rule"):
                trace.point(
                    "rule", set="symbolic", rule=law, pattern=None, before=node, after=result
                )
            return result
    result = symbolic_simple.rewrite(node)
    if result is not None or op in (Ops.GEP, Ops.VECTORIZE):
        return result
    if op in GroupOp.ALU and (dtypes.is_int(dtype) or dtype is dtypes.bool):
        low, high = bounds_of(node)
        if low == high:
            return UOp.const(dtype, low)
        if op is Ops.IDIV:
            return _divide_data(node)
    return None


def _law_for(node: UOp) -> Callable[[UOp], UOp | None] | None:
    """The law that applies before the identities; None if there is none."""
    op, dtype = node.op, node.dtype
    if op is Ops.WHERE:
        return choose
    if dtype is dtypes.bool:
        return _boolean_law(node)
    if dtype not in INDEX_DTYPES:
        return None
    law = _INDEX_RULES.get(op)
    if law is not None:
        return law if is_index(node) else None
    if op is Ops.CAST and node.src[0].dtype in INDEX_DTYPES and is_index(node):
        return _cast
    return None


def _boolean_law(node: UOp) -> Callable[[UOp], UOp | None] | None:
    op = node.op
    if op is Ops.AND:
        return conjoin
    if op is Ops.OR:
        return disjoin
    if op in _COMPARISONS and node.src[0].dtype in INDEX_DTYPES:
        if is_index(node.src[0]) and is_index(node.src[1]):
            return compare
    return None


# leaves and structure
_UNCHANGED = frozenset(Ops) - GroupOp.Elementwise - {Ops.GEP}


def simplify(root: UOp) -> UOp:
    """An equal node in canonical form."""
    try:
        known = _simple_of(root)
    except AttributeError:
        pass
    else:
        return root if known is None else known
    path, pending = [root], [iter(root.src)]
    while path:
        for source in pending[-1]:
            if not hasattr(source, "_simple"):
                path.append(source)
                pending.append(iter(() if source.op is Ops.FILL else source.src))
                break
        else:
            pending.pop()
            _simplify_node(path.pop())
    return _known(root)


def _simplify_node(node: UOp) -> None:
    """Cache the simplified form of a node with simplified sources."""
    if hasattr(node, "_simple"):
        return
    if node.op is Ops.FILL:
        # a simplified copy of a FILL would run in addition to it, and add its terms twice
        mark_simple(node)
        return
    src = node.src
    for source in src:
        if _simple_of(source) is not None:
            src = tuple([_known(source) for source in src])
            break
    rebuilt = node
    if src is not node.src:
        rebuilt = UOp(node.op, node.dtype, src, node.arg)
        if hasattr(rebuilt, "_simple"):
            _set_simple(node, _known(rebuilt))
            return
    result = canonical(rebuilt)
    if result is None:
        mark_simple(rebuilt)
        result = rebuilt
    else:
        result = simplify(result)
        if rebuilt is not node and rebuilt is not result:
            _set_simple(rebuilt, result)
    _set_simple(node, None if result is node else result)


def _known(node: UOp) -> UOp:
    known = _simple_of(node)
    return node if known is None else known


_SIMPLIFIED = UPat(GroupOp.Elementwise | {Ops.GEP}, name="node")
symbolic = PatternMatcher([(_SIMPLIFIED, canonical)], "symbolic")

provide("simplify", simplify)
