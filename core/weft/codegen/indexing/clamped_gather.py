"""Clamped gather: read a computed index at a valid address and select the result afterwards.

    gate ? table[f(i)] : other   ->   where(gate, table[where(gate, f(i), 0)], other)

A place that comes from memory, or by way of floats, is compared with its bounds before it is read.
One processor would branch at every element, or at every lane of a vector; so it reads an element
that exists whatever is asked for, and compares and chooses for a vector at once.

in:  spec.lowered
out: spec.lowered in which no gate of a load depends on what is in memory, as far as can be shown
     that the place without its computed part is in its buffer

Source: none known; sound because the clamped address is in bounds and the select restores the
value.
"""

from __future__ import annotations

from weft.base.dtype import AddrSpace, PtrDType, dtypes
from weft.codegen.analysis.affine import affine, from_affine
from weft.codegen.analysis.ranges import CLOSING, alternative_of, fill_of, loop_order
from weft.uop.node import UOp
from weft.uop.ops import Ops


def run(sink: UOp) -> UOp:
    """The kernel with such loads; itself where there are none."""
    nodes = list(sink.toposort())
    if not any(node.op is Ops.INDEX and len(node.src) > 2 for node in nodes):
        return sink
    from_memory: set[UOp] = set()
    for node in nodes:
        if node.op in CLOSING or is_computed_index(node):
            from_memory.add(node)
        elif any(source in from_memory for source in node.src):
            from_memory.add(node)
    made: dict[UOp, UOp] = {}
    for node in nodes:
        src = tuple([made[source] for source in node.src])
        same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        made[node] = same
        if node.op is Ops.LOAD and len(node.src[0].src) > 2:
            found = _within(same, made, node.src[0], from_memory)
            made[node] = same if found is None else found
    return made[sink]


def is_computed_index(node: UOp) -> bool:
    """Whether a place that is made of this is more than a sum of loops: worth a vector of them."""
    return node.op is Ops.LOAD or dtypes.is_float(node.dtype.scalar())


def _within(load: UOp, made: dict[UOp, UOp], before: UOp, from_memory: set[UOp]) -> UOp | None:
    """The choice that a gated load becomes; None where its place might not be there."""
    pointer, other = load.src[0].src[0], alternative_of(load)
    known = isinstance(pointer.dtype, PtrDType) and pointer.dtype.space is AddrSpace.GLOBAL
    if not known or pointer.dtype.size < 1 or other is None or fill_of(load) is not None:
        return None
    terms, constant = affine(before.src[1])
    looked_up = [term for term in terms if term in from_memory]
    asked, plain = [], []
    for condition in _conjuncts(before.src[2]):
        (asked if condition in from_memory else plain).append(made[condition])
    if not looked_up or not asked:
        return None
    dtype = before.src[1].dtype
    fixed = {made[term]: times for term, times in terms.items() if term not in from_memory}
    without = from_affine(fixed, constant, loop_order_of, dtype)
    if without.vmin < 0 or without.vmax >= pointer.dtype.size:
        return None
    gate = _all(asked)
    for term in looked_up:
        there = made[term]
        chosen = UOp(Ops.WHERE, there.dtype, (gate, there, there.const_like(0)))
        if any(_says_no_less_than_zero(condition, there) for condition in asked):
            # changes nothing, but says so to the compiler: no sign has to be extended lane by lane
            chosen = UOp(Ops.MAX, there.dtype, (chosen, there.const_like(0)))
        fixed[chosen] = fixed.get(chosen, 0) + terms[term]
    at = from_affine(fixed, constant, loop_order_of, dtype)
    if plain:
        place = UOp(Ops.INDEX, load.src[0].dtype, (pointer, at, _all(plain)))
        value = UOp(Ops.LOAD, load.dtype, (place, other), load.arg)
    else:
        place = UOp(Ops.INDEX, load.src[0].dtype, (pointer, at))
        value = UOp(Ops.LOAD, load.dtype, (place,), load.arg)
    return UOp(Ops.WHERE, load.dtype, (gate, value, other))


def loop_order_of(term: UOp) -> tuple[object, ...]:
    """Loops from the outermost inwards, and after them what is no loop."""
    return (0, loop_order(term)) if term.op is Ops.RANGE else (1, term.op)


def _says_no_less_than_zero(condition: UOp, number: UOp) -> bool:
    below = condition.src[0] if condition.op is Ops.CMPLT else None
    bound = below is not None and below.op is Ops.CONST and below.arg >= -1
    return bound and condition.src[1] is number


def _conjuncts(gate: UOp) -> list[UOp]:
    found, stack = [], [gate]
    while stack:
        node = stack.pop()
        if node.op is Ops.AND:
            stack.extend(reversed(node.src))
        else:
            found.append(node)
    return found


def _all(conditions: list[UOp]) -> UOp:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole & condition
    return whole
