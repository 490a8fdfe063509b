"""Predicate simplification: use the gate of an access to simplify its address and the gate.

in:  spec.lowered
out: the same, where gates and addresses that go round are sums, and one gate does for a product

Moving windows back over what they were taken of (the gradient of a convolution is the case that
matters) is a view that goes round: with x < 58 and k < 3 the place is (x + 58 k) % 59, gated by
that being less than 56. As 58 = 59 - 1 this is x - k, or x - k + 59 where that is negative, and
then the gate is closed. So under the gate the remainder is x - k, the quotient is k, and the gate
is 0 <= x - k < 56: the form that padding has, which loops, lanes and panels can work with.

A product of two elements that are both gated alike, and 0 where the gate is closed, is chosen as a
whole instead; the factor whose address is in its buffer anyhow is then read without asking. Where
only one of them is gated the other is read at the address that it has under that gate.

Source: none known; sound because an address has no effect where its gate is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.base.dtype import PtrDType, dtypes
from weft.base.scalars import is_positive_zero
from weft.codegen.analysis.affine import affine, from_affine
from weft.codegen.analysis.ranges import alternative_of, fill_of, loop_order, ranges_of
from weft.codegen.analysis.traversal import nodes_of
from weft.uop.node import UOp
from weft.uop.ops import Ops

_ROUNDS = 4  # after which what is left of divisions stays


class _Round(NamedTuple):
    """`number % size` and `number // size`, as they are where `gate` holds."""

    number: UOp
    size: int
    rest: UOp
    quotient: UOp
    gate: UOp


def run(sink: UOp) -> UOp:
    """The kernel with simpler gates; itself where there is nothing to do."""
    nodes = nodes_of(sink)
    if not any(node.op is Ops.INDEX and len(node.src) > 2 for node in nodes):
        return sink
    made: dict[UOp, UOp] = {}
    for node in nodes:
        src = tuple([made[source] for source in node.src])
        same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        if node.op is Ops.INDEX and len(src) > 2:
            same = _straight(same)
        elif node.op is Ops.MUL and dtypes.is_float(node.dtype):
            same = _chosen(_under_the_gate_of_one(same, node.src))
        elif node.op is Ops.WHERE and src[2].op is Ops.CONST:
            same = _with_another(same)
        made[node] = same
    return made[sink]


def _with_another(choice: UOp) -> UOp:
    """`gate ? element : c` -> the element, with c where its gate is closed: one gate for both."""
    gate, load, other = choice.src
    if load.op is Ops.CONST:
        return gate if load.arg is True and other.arg is False else choice
    if load.op is Ops.WHERE:
        own, rest = load.src[0], (load.src[1], other)
        if set(conjuncts(own)) == set(conjuncts(gate)):
            return UOp(Ops.WHERE, choice.dtype, (gate, *rest))
        return choice
    if load.op is not Ops.LOAD or len(load.src[0].src) < 3 or fill_of(load) is not None:
        return choice
    if alternative_of(load) is None or set(conjuncts(load.src[0].src[2])) != set(conjuncts(gate)):
        return choice
    return UOp(Ops.LOAD, load.dtype, (load.src[0], other, *load.src[2:]), load.arg)


# ---- going round ---------------------------------------------------------------------------------


def _straight(index: UOp) -> UOp:
    """An INDEX whose gate and address do not go round, as far as its gate says so."""
    pointer, at, gate = index.src
    conditions, changed = _said_by(gate, at)
    if changed:
        conditions = [condition.substitute(changed) for condition in conditions]
        at = at.substitute(changed).simplify()
    else:
        conditions = conjuncts(gate)
    at, settled = _within(at, conditions)
    if not changed and settled is conditions:
        return index
    whole = settled[0]
    for condition in settled[1:]:
        whole = whole & condition
    return UOp(Ops.INDEX, index.dtype, (pointer, at, whole.simplify()))


def _within(at: UOp, conditions: list[UOp]) -> tuple[UOp, list[UOp]]:
    """An address and conditions without what divides a number that other conditions keep between
    two multiples of the divisor. The list that was given where there is none.

    What is divided is part of a condition or it is not, so that none is made simpler by itself.
    """
    for _ in range(_ROUNDS):
        divisions = [
            node
            for node in UOp.sink(at, *conditions).toposort()
            if node.op in (Ops.MOD, Ops.IDIV) and node.src[1].op is Ops.CONST
        ]
        if not divisions:
            break
        bounds = _bounds(conditions)
        changed: dict[UOp, UOp] = {}
        for node in divisions:
            number, size = node.src[0], node.src[1].arg
            terms, constant = affine(number)
            known = bounds.get(frozenset(terms.items()))
            if known is None or size < 1:
                continue
            least, most = (bound + constant for bound in known)
            if 0 <= least <= most and least // size == most // size:
                turns = least // size
                rest = number - number.const_like(turns * size)
                changed[node] = rest if node.op is Ops.MOD else number.const_like(turns)
        if not changed:
            break
        at = at.substitute(changed).simplify()
        whole = [condition.substitute(changed).simplify() for condition in conditions]
        conditions = [part for condition in whole for part in conjuncts(condition)]
    return at, conditions


def _bounds(conditions: list[UOp]) -> dict[frozenset[tuple[UOp, int]], tuple[int, int]]:
    """Between which numbers conditions keep sums, by their terms."""
    found: dict[frozenset[tuple[UOp, int]], tuple[int, int]] = {}
    for condition in conditions:
        less, beyond = condition, False
        if condition.op is Ops.CMPNE and condition.src[1].op is Ops.CONST:
            less, beyond = condition.src[0], condition.src[1].arg is True
            if not beyond:
                continue
        if less.op is not Ops.CMPLT or less.src[0].dtype not in (dtypes.int, dtypes.long):
            continue
        left, right = less.src
        if right.op is Ops.CONST:  # sum < c, or not
            number, bound, below = left, right.arg - (0 if beyond else 1), not beyond
        elif left.op is Ops.CONST:  # c < sum, or not
            number, bound, below = right, left.arg + (0 if beyond else 1), beyond
        else:
            continue
        terms, constant = affine(number)
        key = frozenset(terms.items())
        least = sum(min(f * u.vmin, f * u.vmax) for u, f in terms.items())
        most = sum(max(f * u.vmin, f * u.vmax) for u, f in terms.items())
        least, most = found.get(key, (least, most))
        bound -= constant
        found[key] = (least, min(most, bound)) if below else (max(least, bound), most)
    return found


def _said_by(gate: UOp, at: UOp) -> tuple[list[UOp], dict[UOp, UOp]]:
    """The conditions of a gate, and what under it becomes of what goes round in it and in `at`."""
    changed: dict[UOp, UOp] = {}
    conditions = []
    for condition in conjuncts(gate):
        found = _round_of(condition)
        if found is None:
            conditions.append(condition)
            continue
        conditions.append(found.gate)
        for node in (*at.toposort(), *gate.toposort()):
            if node.op in (Ops.MOD, Ops.IDIV) and node.src[0] is found.number:
                if node.src[1].op is Ops.CONST and node.src[1].arg == found.size:
                    changed[node] = found.rest if node.op is Ops.MOD else found.quotient
    return conditions, changed


def conjuncts(gate: UOp) -> list[UOp]:
    """The conditions that have to hold for a gate to be open."""
    found, stack = [], [gate]
    while stack:
        node = stack.pop()
        if node.op is Ops.AND and node.dtype is dtypes.bool:
            stack.extend(reversed(node.src))
        else:
            found.append(node)
    return found


def _round_of(condition: UOp) -> _Round | None:
    """(number % size) < bound   ->   0 <= rest < bound   when wrapping round closes the gate."""
    if condition.op is not Ops.CMPLT or condition.src[1].op is not Ops.CONST:
        return None
    remainder, bound = condition.src[0], condition.src[1].arg
    if remainder.op is not Ops.MOD or remainder.src[1].op is not Ops.CONST:
        return None
    number, size = remainder.src[0], remainder.src[1].arg
    if size < 2 or number.vmin < 0:
        return None
    terms, constant = affine(number)
    if any(term.op is not Ops.RANGE for term in terms):
        return None
    times = {term: (factor + size // 2) // size for term, factor in terms.items()}
    rest = {term: factor - times[term] * size for term, factor in terms.items()}
    whole = (constant + size // 2) // size
    left = constant - whole * size
    least = left + sum(min(f * term.vmin, f * term.vmax) for term, f in rest.items())
    most = left + sum(max(f * term.vmin, f * term.vmax) for term, f in rest.items())
    if not any(times.values()) or not (bound - size <= least and least > -size and most < size):
        return None
    dtype = number.dtype
    place = from_affine({t: f for t, f in rest.items() if f}, left, loop_order, dtype)
    quotient = from_affine({t: f for t, f in times.items() if f}, whole, loop_order, dtype)
    gate = place < place.const_like(bound)
    if least < 0:
        gate = gate & (place.const_like(-1) < place)
    return _Round(number, size, place, quotient, gate)


# ---- one gate for a product ----------------------------------------------------------------------


def _chosen(product: UOp) -> UOp:
    """a * b   ->   gate ? a * b : 0   when one gate is that of both, and b can be read anyhow."""
    a, b = product.src
    gate = gate_of(a)
    if gate is None or gate_of(b) is not gate:
        return product
    for one, other in ((a, b), (b, a)):
        if _is_inside(one.src[0]):
            pointer, at, _ = one.src[0].src
            free = UOp(Ops.LOAD, one.dtype, (UOp(Ops.INDEX, pointer.dtype, (pointer, at)),))
            value = UOp(Ops.MUL, product.dtype, (other, free))
            return UOp(Ops.WHERE, product.dtype, (gate, value, value.const_like(0)))
    return product


def _under_the_gate_of_one(product: UOp, factors: Sequence[UOp]) -> UOp:
    """a * b, where a has a gate and is 0 where that is closed: b is read where it is under it.

    Under a closed gate b is whichever element that address is of, times zero. factors: as they
    were before their own addresses were made simpler.
    """
    src = list(product.src)
    for one, other in ((0, 1), (1, 0)):
        gate, free = gate_of(factors[one]), src[other]
        if gate is None or free.op is not Ops.LOAD or fill_of(free) is not None:
            continue
        if gate_of(free) is gate:
            continue
        index = _index_under(gate, free.src[0])
        if index is not None:
            src[other] = UOp(Ops.LOAD, free.dtype, (index, *free.src[1:]), free.arg)
    changed = any(new is not old for new, old in zip(src, product.src))
    return UOp(Ops.MUL, product.dtype, tuple(src), product.arg) if changed else product


def _index_under(gate: UOp, index: UOp) -> UOp | None:
    """An INDEX as it is under a gate that is not its own; None where that changes nothing.

    It stays in its buffer where the gate is closed: as numbers say where it has no gate of its own.
    Where it has one, quotients alone become others of the same values, each of loops of its own,
    and so nothing that its own gate lets through can be anywhere else.
    """
    pointer, at, *own = index.src
    _, changed = _said_by(gate, UOp.sink(at, *own))
    changed = {node: new for node, new in changed.items() if node in UOp.sink(at, *own).toposort()}
    if not changed:
        return None
    if own and not _stays_inside(at, own[0], changed):
        return None
    parts = [part.substitute(changed).simplify() for part in (at, *own)]
    found = UOp(Ops.INDEX, index.dtype, (pointer, *parts))
    return found if own or _is_inside(found) else None


def _stays_inside(at: UOp, gate: UOp, changed: dict[UOp, UOp]) -> bool:
    """Whether what changes can be looked at as numbers that depend on nothing else."""
    numbers: dict[UOp, None] = {}
    loops: set[UOp] = set()
    for node, new in changed.items():
        if node.op is not Ops.IDIV or new.vmin < node.vmin or new.vmax > node.vmax:
            return False
        numbers[node.src[0]] = None
    for number in numbers:
        mine = ranges_of(number)
        if not loops.isdisjoint(mine):
            return False
        loops |= mine
    opened = {node: node.const_like(0) for node in changed}
    rest = ranges_of(UOp.sink(at.substitute(opened), gate.substitute(opened)))
    return loops.isdisjoint(rest)


def gate_of(load: UOp) -> UOp | None:
    """The gate of an element that is +0 where it is closed."""
    if load.op is not Ops.LOAD or len(load.src[0].src) < 3 or fill_of(load) is not None:
        return None
    other = alternative_of(load)
    zero = other is not None and other.op is Ops.CONST and is_positive_zero(other.arg)
    return load.src[0].src[2] if zero else None


def _is_inside(index: UOp) -> bool:
    """Whether an address is in its buffer, whatever its gate says."""
    pointer = index.src[0].dtype
    at = index.src[1]
    assert isinstance(pointer, PtrDType)
    return bool(pointer.size > 0 and at.vmin >= 0 and at.vmax < pointer.size)
