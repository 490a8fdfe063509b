"""Iteration skipping: branch around loop iterations that change no accumulator.
Also: loop unswitching by branches.

    for t: sum0 = at == v ? sum0 + x : sum0; sum1 = at == v + 1 ? sum1 + x : sum1
->  for t: if (at - v is 0 or 1) { the same }

in:  spec.linear
out: spec.linear with IF and ENDIF in such loops

Where each of many accumulators compares an index with a constant row or column, almost no iteration
changes any of them. An example is the gradient of an embedding. The sources of the conditions are
computed first, and the rest of the body is in a branch.

Source: none known; sound because a skipped iteration would store every accumulator unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import AddrSpace, Ops, PtrDType, UOp, affine, dtypes
from weft_simd import thresholds
from weft_simd.transforms.innermost_loops import replace_innermost


def run(nodes: Sequence[UOp]) -> list[UOp]:
    """The program with branches around iterations; the same program if no loop qualifies."""
    if not any(node.op is Ops.STORE and _update_conditions(node) for node in nodes):
        return list(nodes)
    every = frozenset(nodes)

    def replace(loop: list[UOp], scopes: list[set[UOp]]) -> list[UOp] | None:
        body = _LoopBody(loop[1:-1], scopes, every).with_branch()
        return None if body is None else [loop[0], *body, loop[-1]]

    return replace_innermost(nodes, replace)


class _LoopBody:
    """The body of a loop.

    scopes: the nodes that are visible at its end. every: all nodes of the program.
    """

    def __init__(self, body: list[UOp], scopes: Sequence[set[UOp]], every: frozenset[UOp]) -> None:
        self.body, self.scopes, self.every = body, scopes, every
        self.stores = [node for node in body if node.op is Ops.STORE]

    def is_known(self, node: UOp) -> bool:
        return any(node in scope for scope in self.scopes)

    def with_branch(self) -> list[UOp] | None:
        """The body with a branch; None if a branch is not profitable."""
        conditions: dict[UOp, None] = {}
        for store in self.stores:
            own = _update_conditions(store)
            if own is None:
                return None
            conditions.update(dict.fromkeys(own))
        values = sum(store.src[1].dtype.count for store in self.stores)
        rare = all(map(_is_rare, conditions))
        if not conditions or not rare or values < thresholds.SKIPPED_VALUES * len(conditions):
            return None
        inside = set(self.body)
        needed: set[UOp] = set()
        for condition in conditions:
            below = condition.toposort(gate=inside.__contains__)
            needed.update(u for u in below if u in inside)
        written = {store.src[0] for store in self.stores}
        if any(node.op is Ops.LOAD and node.src[0] in written for node in needed):
            return None
        test = self.test(list(conditions))
        below = test.toposort(gate=lambda u: not self.is_known(u))
        added = [u for u in below if not self.is_known(u)]
        constants = [u for u in added if u.op is Ops.CONST]
        if any(u in self.every for u in added if u.op is not Ops.CONST):
            return None
        first = [node for node in self.body if node in needed]
        tests = [u for u in added if u.op is not Ops.CONST]
        branch = UOp(Ops.IF, dtypes.void, (test,))
        rest = [node for node in self.body if node not in needed]
        end = UOp(Ops.ENDIF, dtypes.void, (branch,))
        return [*constants, *first, *tests, branch, *rest, end]

    def test(self, conditions: list[UOp]) -> UOp:
        """The disjunction of the conditions, as a range check if possible."""
        in_range = _range_check(conditions)
        if in_range is not None:
            return in_range
        total = conditions[0]
        for condition in conditions[1:]:
            total = UOp(Ops.OR, dtypes.bool, (total, condition))
        return total


def _update_conditions(store: UOp) -> list[UOp] | None:
    """Conditions of which one holds if a STORE changes its accumulator; None if it always may."""
    place, value = store.src
    pointer = place.src[0].dtype
    if not isinstance(pointer, PtrDType) or pointer.space is not AddrSpace.REG:
        return None
    conditions: list[UOp] = []
    while value.op is Ops.WHERE and value.src[0].dtype is dtypes.bool:
        conditions.append(value.src[0])
        value = value.src[2]
    same = value.op is Ops.LOAD and value.src == (place,)
    return conditions if same else None


def _is_rare(condition: UOp) -> bool:
    """Whether a condition needs the equality of two integers."""
    if condition.op is Ops.AND:
        return any(map(_is_rare, condition.src))
    return condition.op is Ops.CMPEQ and dtypes.is_int(condition.src[0].dtype)


def _range_check(conditions: list[UOp]) -> UOp | None:
    """Equalities of a number with consecutive numbers as two comparisons; None for others."""
    if len(conditions) < 3 or any(one.op is not Ops.CMPEQ for one in conditions):
        return None
    shared = set(conditions[0].src).intersection(*(one.src for one in conditions))
    if len(shared) != 1 or any(one.src[0].dtype is not dtypes.int for one in conditions):
        return None
    (number,) = shared
    others = [one.src[0] if one.src[1] is number else one.src[1] for one in conditions]
    sums = [affine(_index(other)) for other in others]
    if any(terms != sums[0][0] for terms, _ in sums):
        return None
    constants = [constant for _, constant in sums]
    least = others[constants.index(min(constants))]
    distance = number.cast(dtypes.long) - least.cast(dtypes.long)
    count = distance.const_like(max(constants) - min(constants) + 1)
    return (distance.const_like(-1) < distance) & (distance < count)


def _index(number: UOp) -> UOp:
    """An index without casts between integer widths, which preserve its value."""
    while number.op is Ops.CAST and number.src[0].dtype in (dtypes.int, dtypes.long):
        number = number.src[0]
    return number
