"""Clamped gather: read a computed index at a valid address and select the result afterwards.
Also: if-conversion of loads, load speculation, if conversion.

    gate ? table[f(i)] : other   ->   where(gate, table[where(gate, f(i), 0)], other)

An index that is loaded from memory, or computed with floats, is compared with its bounds before
the table is read. One processor would branch at each element, or at each vector lane. The rewritten
load is unconditional, so the comparison and the select are vector operations.

in:  spec.lowered
out: spec.lowered in which no gate of a load depends on memory, if the index without its computed
     part is provably in bounds

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001), chapter 7
(if-conversion); LLVM's speculation of loads that are known to be dereferenceable.
"""

from __future__ import annotations

from weft.plugin import (
    CLOSING,
    AddrSpace,
    Ops,
    PtrDType,
    UOp,
    affine,
    alternative_of,
    conjunction,
    conjuncts,
    fill_of,
    from_affine,
    is_computed_index,
    loops_first,
    nodes_of,
    rewrite_once,
)


def run(sink: UOp) -> UOp:
    """The kernel with clamped gathers; the same kernel if it has none."""
    nodes = nodes_of(sink)
    if not any(node.op is Ops.INDEX and len(node.src) > 2 for node in nodes):
        return sink
    computed: set[UOp] = set()
    for node in nodes:
        if node.op in CLOSING or is_computed_index(node) or not computed.isdisjoint(node.src):
            computed.add(node)
    new: dict[UOp, UOp] = {}

    def clamp(node: UOp, load: UOp) -> UOp | None:
        gated = len(node.src[0].src) > 2
        return _clamped_load(load, node.src[0], computed, new) if gated else None

    return rewrite_once(nodes, {Ops.LOAD: clamp}, new)[sink]


def _clamped_load(load: UOp, old_index: UOp, computed: set[UOp], new: dict[UOp, UOp]) -> UOp | None:
    """The select that replaces a gated load; None if its address may be out of bounds.

    old_index: the INDEX before the rewrite. computed: old nodes that depend on memory or floats.
    """
    pointer, other = load.src[0].src[0], alternative_of(load)
    kind = pointer.dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL or kind.size < 1:
        return None
    if other is None or fill_of(load) is not None:
        return None
    terms, constant = affine(old_index.src[1])
    clamped = [term for term in terms if term in computed]
    conditions = conjuncts(old_index.src[2])
    bounds = [new[condition] for condition in conditions if condition in computed]
    rest = [new[condition] for condition in conditions if condition not in computed]
    if not clamped or not bounds:
        return None
    dtype = old_index.src[1].dtype
    factors = {new[term]: factor for term, factor in terms.items() if term not in computed}
    fixed = from_affine(factors, constant, loops_first, dtype)
    if fixed.vmin < 0 or fixed.vmax >= kind.size:
        return None
    gate = conjunction(bounds)
    for term in clamped:
        index = new[term]
        safe = UOp(Ops.WHERE, index.dtype, (gate, index, index.const_like(0)))
        if any(_implies_nonnegative(condition, index) for condition in bounds):
            # redundant, but it tells the C compiler that no lane needs sign extension
            safe = UOp(Ops.MAX, index.dtype, (safe, index.const_like(0)))
        factors[safe] = factors.get(safe, 0) + terms[term]
    at = from_affine(factors, constant, loops_first, dtype)
    gates, others = ((conjunction(rest),), (other,)) if rest else ((), ())
    place = UOp(Ops.INDEX, load.src[0].dtype, (pointer, at, *gates))
    value = UOp(Ops.LOAD, load.dtype, (place, *others), load.arg)
    return UOp(Ops.WHERE, load.dtype, (gate, value, other))


def _implies_nonnegative(condition: UOp, number: UOp) -> bool:
    """Whether a condition is a lower bound of at least zero for `number`."""
    lower = condition.src[0] if condition.op is Ops.CMPLT else None
    bound = lower is not None and lower.op is Ops.CONST and lower.arg >= -1
    return bound and condition.src[1] is number
