"""Iteration skipping: branch around loop iterations that change no accumulator.

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

_WORTH = 16  # values that may be left alone for each condition that is asked


def run(nodes: Sequence[UOp]) -> list[UOp]:
    """The program with such turns skipped; itself where there are none."""
    if not any(node.op is Ops.STORE and _changed_if(node) for node in nodes):
        return list(nodes)
    every = frozenset(nodes)
    constants: dict[UOp, None] = {}
    out: list[UOp] = []
    scopes: list[set[UOp]] = [set()]
    start = None  # where the innermost loop that is open began, if it holds no other
    for node in nodes:
        if node.op is Ops.RANGE:
            start = len(out) + 1
        elif node.op in (Ops.ENDRANGE, Ops.ENDIF):
            if node.op is Ops.ENDRANGE and start is not None:
                turn = _Turn(out[start:], scopes, every).skipped()
                if turn is not None:
                    out[start:], new = turn
                    constants.update(dict.fromkeys(new))
            start = None
            scopes.pop()
        elif node.op in (Ops.IF, Ops.BARRIER):
            start = None
        out.append(node)
        if node.op in (Ops.RANGE, Ops.IF):
            scopes.append({node})
        else:
            scopes[-1].add(node)
    if not constants:
        return out
    return [*constants, *(node for node in out if node not in constants)]


class _Turn:
    """The body of a loop. scopes: what has been computed by its end; every: what ever is."""

    def __init__(self, body: list[UOp], scopes: Sequence[set[UOp]], every: frozenset[UOp]) -> None:
        self.body, self.scopes, self.every = body, scopes, every
        self.stores = [node for node in body if node.op is Ops.STORE]

    def is_known(self, node: UOp) -> bool:
        return any(node in scope for scope in self.scopes)

    def skipped(self) -> tuple[list[UOp], list[UOp]] | None:
        """The body behind a condition, and new constants; None where there is nothing to gain."""
        conditions: dict[UOp, None] = {}
        for store in self.stores:
            mine = _changed_if(store)
            if mine is None:
                return None
            conditions.update(dict.fromkeys(mine))
        values = sum(store.src[1].dtype.count for store in self.stores)
        rare = all(map(_is_rare, conditions))
        if not conditions or not rare or values < _WORTH * len(conditions):
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
        made = [u for u in below if not self.is_known(u)]
        constants = [u for u in made if u.op is Ops.CONST]
        if any(u in self.every for u in made if u.op is not Ops.CONST):
            return None
        first = [node for node in self.body if node in needed]
        asked = [u for u in made if u.op is not Ops.CONST]
        branch = UOp(Ops.IF, dtypes.void, (test,))
        rest = [node for node in self.body if node not in needed]
        body = [*first, *asked, branch, *rest, UOp(Ops.ENDIF, dtypes.void, (branch,))]
        return body, constants

    def test(self, conditions: list[UOp]) -> UOp:
        """Whether one of them may hold."""
        found = _between(conditions)
        if found is not None:
            return found
        total = conditions[0]
        for condition in conditions[1:]:
            total = UOp(Ops.OR, dtypes.bool, (total, condition))
        return total


def _changed_if(store: UOp) -> list[UOp] | None:
    """Conditions of which one holds where a STORE stores something new; None: it may always."""
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
    """Whether two integers have to be equal."""
    if condition.op is Ops.AND:
        return any(map(_is_rare, condition.src))
    return condition.op is Ops.CMPEQ and dtypes.is_int(condition.src[0].dtype)


def _between(conditions: list[UOp]) -> UOp | None:
    """One number equals one of several in a row, as two comparisons; None where it is not that."""
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
    far = number.cast(dtypes.long) - least.cast(dtypes.long)
    over = far.const_like(max(constants) - min(constants) + 1)
    return (far.const_like(-1) < far) & (far < over)


def _index(number: UOp) -> UOp:
    """What an index is cast from, where it was computed in more bits: it fits in both."""
    while number.op is Ops.CAST and number.src[0].dtype in (dtypes.int, dtypes.long):
        number = number.src[0]
    return number
