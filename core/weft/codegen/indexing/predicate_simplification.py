"""Predicate simplification: use the gate of an access to simplify its address and the gate.

in:  spec.lowered
out: spec.lowered in which gates and addresses with remainders are affine where their gate implies
     it, and a product has one gate

The gradient of a convolution adds windows to their input through a view with a remainder. For
x < 58 and k < 3 its index is (x + 58 k) % 59, and its gate is that index < 56. Because 58 = 59 - 1,
the index is x - k, or x - k + 59 where x - k is negative and the gate is false. So under the gate
the remainder is x - k, the quotient is k, and the gate is 0 <= x - k < 56. Padding has the same
form, and vectorization and operand packing can use it.

A product of two gated elements with the same gate becomes one select; a factor whose address is
always in bounds is then loaded without a gate. If only one factor has a gate, the address of the
other one is simplified under that gate.

Source: LLVM's CorrelatedValuePropagation and ConstraintElimination passes. An address has no effect
where its gate is false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from weft.base.dtype import PtrDType, dtypes
from weft.base.scalars import is_positive_zero
from weft.codegen.analysis.affine import affine, from_affine
from weft.codegen.analysis.folding import conjunction
from weft.codegen.analysis.ranges import alternative_of, fill_of, loop_order, ranges_of
from weft.codegen.analysis.traversal import nodes_of, rewrite_once
from weft.codegen.thresholds import DIVISION_ROUNDS
from weft.uop import Ops, UOp, conjuncts


class _WrapFree(NamedTuple):
    """The values of `number % divisor` and `number // divisor` where `gate` holds."""

    number: UOp
    divisor: int
    remainder: UOp
    quotient: UOp
    gate: UOp


def run(sink: UOp) -> UOp:
    """The kernel with simplified gates and addresses; the same kernel if it has no gates."""
    nodes = nodes_of(sink)
    if not any(node.op is Ops.INDEX and len(node.src) > 2 for node in nodes):
        return sink
    return rewrite_once(nodes, _RULES)[sink]


def _merge_gates(node: UOp, select: UOp) -> UOp | None:
    """`gate ? element : c`   ->   the element with alternative c, if it has the same gate"""
    gate, load, other = select.src
    if other.op is not Ops.CONST:
        return None
    if load.op is Ops.CONST:
        return gate if load.arg is True and other.arg is False else None
    if load.op is Ops.WHERE:
        same = set(conjuncts(load.src[0])) == set(conjuncts(gate))
        return UOp(Ops.WHERE, select.dtype, (gate, load.src[1], other)) if same else None
    if load.op is not Ops.LOAD or len(load.src[0].src) < 3 or fill_of(load) is not None:
        return None
    if alternative_of(load) is None or set(conjuncts(load.src[0].src[2])) != set(conjuncts(gate)):
        return None
    return UOp(Ops.LOAD, load.dtype, (load.src[0], other, *load.src[2:]), load.arg)


# ---- remainders ----------------------------------------------------------------------------------


def _simplify_index(node: UOp, index: UOp) -> UOp | None:
    """A gated INDEX   ->   the same without remainders and quotients that its gate makes affine"""
    if len(index.src) < 3:
        return None
    pointer, at, gate = index.src
    conditions, changed = _implied_by(gate, at)
    if changed:
        conditions = [condition.substitute(changed) for condition in conditions]
        at = at.substitute(changed).simplify()
    else:
        conditions = conjuncts(gate)
    at, simpler = _without_divisions(at, conditions)
    if not changed and simpler is conditions:
        return None
    return UOp(Ops.INDEX, index.dtype, (pointer, at, conjunction(simpler).simplify()))


def _without_divisions(at: UOp, conditions: list[UOp]) -> tuple[UOp, list[UOp]]:
    """An address and its conditions without divisions whose quotient the conditions determine.

    The result holds the same list of conditions if nothing changes. A condition on the dividend
    itself has no division of it, so no condition is simplified by itself.
    """
    for _ in range(DIVISION_ROUNDS):
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
                quotient = least // size
                rest = number - number.const_like(quotient * size)
                changed[node] = rest if node.op is Ops.MOD else number.const_like(quotient)
        if not changed:
            break
        at = at.substitute(changed).simplify()
        whole = [condition.substitute(changed).simplify() for condition in conditions]
        conditions = [part for condition in whole for part in conjuncts(condition)]
    return at, conditions


def _bounds(conditions: list[UOp]) -> dict[frozenset[tuple[UOp, int]], tuple[int, int]]:
    """The least and greatest value of each sum under the conditions, by its terms."""
    found: dict[frozenset[tuple[UOp, int]], tuple[int, int]] = {}
    for condition in conditions:
        less, negated = condition, False
        if condition.op is Ops.CMPNE and condition.src[1].op is Ops.CONST:
            less, negated = condition.src[0], condition.src[1].arg is True
            if not negated:
                continue
        if less.op is not Ops.CMPLT or less.src[0].dtype not in (dtypes.int, dtypes.long):
            continue
        left, right = less.src
        if right.op is Ops.CONST:  # sum < c, or its negation
            number, bound, upper = left, right.arg - (0 if negated else 1), not negated
        elif left.op is Ops.CONST:  # c < sum, or its negation
            number, bound, upper = right, left.arg + (0 if negated else 1), negated
        else:
            continue
        terms, constant = affine(number)
        forms = [(terms, bound - constant)]
        forms += _multiplied(terms, bound - constant, upper)
        for form, limit in forms:
            key = frozenset(form.items())
            least, most = found.get(key) or _interval(form)
            found[key] = (least, min(most, limit)) if upper else (max(least, limit), most)
    return found


def _multiplied(
    terms: Mapping[UOp, int], bound: int, upper: bool
) -> list[tuple[dict[UOp, int], int]]:
    """x + z // d <= b   ->   d x + z <= d b + d - 1, and   x + z // d >= b   ->   d x + z >= d b

    The terms without the quotient and the bound; nothing if there is not one such quotient.
    """
    quotients = [u for u, f in terms.items() if u.op is Ops.IDIV and f == 1]
    if len(quotients) != 1 or quotients[0].src[1].op is not Ops.CONST:
        return []
    (quotient,) = quotients
    number, size = quotient.src[0], quotient.src[1].arg
    if size < 1 or number.vmin < 0:
        return []
    inner, constant = affine(number)
    found = {u: f * size for u, f in terms.items() if u is not quotient}
    for term, factor in inner.items():
        found[term] = found.get(term, 0) + factor
    return [(found, bound * size + (size - 1 if upper else 0) - constant)]


def _interval(terms: Mapping[UOp, int], constant: int = 0) -> tuple[int, int]:
    """The least and greatest value of an affine form."""
    least = sum(min(f * u.vmin, f * u.vmax) for u, f in terms.items())
    most = sum(max(f * u.vmin, f * u.vmax) for u, f in terms.items())
    return least + constant, most + constant


def _implied_by(gate: UOp, at: UOp) -> tuple[list[UOp], dict[UOp, UOp]]:
    """The simplified conditions of a gate, and replacements for divisions in it and in `at`."""
    changed: dict[UOp, UOp] = {}
    conditions: list[UOp] = []
    for condition in conjuncts(gate):
        found = _wrap_free(condition)
        if found is None:
            conditions.append(condition)
            continue
        conditions.append(found.gate)
        for node in (*at.toposort(), *gate.toposort()):
            if node.op in (Ops.MOD, Ops.IDIV) and node.src[0] is found.number:
                if node.src[1].op is Ops.CONST and node.src[1].arg == found.divisor:
                    changed[node] = found.remainder if node.op is Ops.MOD else found.quotient
    return conditions, changed


def _wrap_free(condition: UOp) -> _WrapFree | None:
    """(number % size) < bound   ->   0 <= remainder < bound   if the gate excludes wrapping"""
    if condition.op is not Ops.CMPLT or condition.src[1].op is not Ops.CONST:
        return None
    modulo, bound = condition.src[0], condition.src[1].arg
    if modulo.op is not Ops.MOD or modulo.src[1].op is not Ops.CONST:
        return None
    number, size = modulo.src[0], modulo.src[1].arg
    if size < 2 or number.vmin < 0:
        return None
    terms, constant = affine(number)
    if any(term.op is not Ops.RANGE for term in terms):
        return None
    # divide each factor by `size`, rounding to nearest
    quotients = {term: (factor + size // 2) // size for term, factor in terms.items()}
    rests = {term: factor - quotients[term] * size for term, factor in terms.items()}
    whole = (constant + size // 2) // size
    left = constant - whole * size
    least, most = _interval(rests, left)
    if not any(quotients.values()) or not (bound - size <= least and -size < least and most < size):
        return None
    dtype = number.dtype
    remainder = from_affine({t: f for t, f in rests.items() if f}, left, loop_order, dtype)
    quotient = from_affine({t: f for t, f in quotients.items() if f}, whole, loop_order, dtype)
    gate = remainder < remainder.const_like(bound)
    if least < 0:
        gate = gate & (remainder.const_like(-1) < remainder)
    return _WrapFree(number, size, remainder, quotient, gate)


# ---- one gate for a product ----------------------------------------------------------------------


def _gate_product(node: UOp, product: UOp) -> UOp | None:
    """A product of floats   ->   one gate for both factors, if that is possible"""
    if not dtypes.is_float(product.dtype):
        return None
    return _select_product(_use_gate_of_other_factor(product, node.src))


def _select_product(product: UOp) -> UOp:
    """a * b   ->   gate ? a * b : 0   if it gates both, and one address is in bounds"""
    a, b = product.src
    gate = gate_of(a)
    if gate is None or gate_of(b) is not gate:
        return product
    for one, other in ((a, b), (b, a)):
        if _is_in_bounds(one.src[0]):
            pointer, at, _ = one.src[0].src
            load = UOp(Ops.LOAD, one.dtype, (UOp(Ops.INDEX, pointer.dtype, (pointer, at)),))
            value = UOp(Ops.MUL, product.dtype, (other, load))
            return UOp(Ops.WHERE, product.dtype, (gate, value, value.const_like(0)))
    return product


def _use_gate_of_other_factor(product: UOp, factors: Sequence[UOp]) -> UOp:
    """Simplify the address of a factor under the gate of the other one.

    Where the gate is false the other factor is 0, so any element may be loaded. factors: the
    factors before their own addresses were simplified.
    """
    src = list(product.src)
    for one, other in ((0, 1), (1, 0)):
        gate, free = gate_of(factors[one]), src[other]
        if gate is None or free.op is not Ops.LOAD or fill_of(free) is not None:
            continue
        if gate_of(free) is gate:
            continue
        index = _simplify_under(gate, free.src[0])
        if index is not None:
            src[other] = UOp(Ops.LOAD, free.dtype, (index, *free.src[1:]), free.arg)
    changed = any(new is not old for new, old in zip(src, product.src))
    return UOp(Ops.MUL, product.dtype, tuple(src), product.arg) if changed else product


def _simplify_under(gate: UOp, index: UOp) -> UOp | None:
    """An INDEX simplified under the gate of another one; None if nothing changes.

    The new address must be in bounds where the gate is false, too. Without a gate of its own, its
    bounds prove it. With one, only quotients may change, to expressions with the same range over
    loops that nothing else uses; so the own gate admits the same addresses.
    """
    pointer, at, *own = index.src
    _, changed = _implied_by(gate, UOp.sink(at, *own))
    changed = {node: new for node, new in changed.items() if node in UOp.sink(at, *own).toposort()}
    if not changed:
        return None
    if own and not _keeps_addresses(at, own[0], changed):
        return None
    parts = [part.substitute(changed).simplify() for part in (at, *own)]
    found = UOp(Ops.INDEX, index.dtype, (pointer, *parts))
    return found if own or _is_in_bounds(found) else None


def _keeps_addresses(at: UOp, gate: UOp, changed: dict[UOp, UOp]) -> bool:
    """Whether the changed quotients have the same range and loops that nothing else uses."""
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
    zeros = {node: node.const_like(0) for node in changed}
    rest = ranges_of(UOp.sink(at.substitute(zeros), gate.substitute(zeros)))
    return loops.isdisjoint(rest)


def gate_of(load: UOp) -> UOp | None:
    """The gate of a load whose alternative is +0; None otherwise."""
    if load.op is not Ops.LOAD or len(load.src[0].src) < 3 or fill_of(load) is not None:
        return None
    other = alternative_of(load)
    zero = other is not None and other.op is Ops.CONST and is_positive_zero(other.arg)
    return load.src[0].src[2] if zero else None


def _is_in_bounds(index: UOp) -> bool:
    """Whether an address is in its buffer even where its gate is false."""
    pointer = index.src[0].dtype
    at = index.src[1]
    assert isinstance(pointer, PtrDType)
    return bool(pointer.size > 0 and at.vmin >= 0 and at.vmax < pointer.size)


_RULES = {Ops.INDEX: _simplify_index, Ops.MUL: _gate_product, Ops.WHERE: _merge_gates}
