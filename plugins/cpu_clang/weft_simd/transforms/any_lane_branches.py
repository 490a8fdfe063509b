"""Any-lane branches: skip an expensive alternative of a select if no lane of the vector needs it.
Also: branches on vector masks, predication.

    x = near ? cheap : costly
->  x = cheap; if (any lane is not near) { x = near ? cheap : costly }

in:  spec.linear
out: spec.linear with IF and ENDIF around such alternatives, which pass on their values in registers

A select computes both alternatives for every lane. Where one is expensive and rare (the reduction
of a large argument of sine), a branch on all lanes is cheap. Selects with the same condition share
a branch. Values that have other users, and all loads, are computed before the branch. There is no
branch where the other alternative is a constant or a source of the expensive one (a logarithm and
its argument at infinity): there the other alternative is the rare one.

Source: J. Shin, "Introducing control flow into vectorized code" (PACT 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.plugin import AFTER_LOOPS, AddrSpace, GroupOp, MachineModel, Ops, UOp, dtypes
from weft_simd import thresholds

_PURE = GroupOp.Elementwise | {Ops.VECTORIZE, Ops.GEP, Ops.CAT}
_COUNTS = GroupOp.ALU - GroupOp.Comparison - {Ops.WHERE}
_ENDS = frozenset({Ops.RANGE, Ops.ENDRANGE, Ops.IF, Ops.ENDIF, Ops.BARRIER, Ops.CUSTOM})


@dataclass(frozen=True)
class _Branch:
    """Selects with one condition; the first one is at position `place`.

    :ivar side: the source of the selects that is expensive.
    :ivar inside: nodes that only the expensive source needs, in order.
    :ivar before: nodes after `place` that the branch needs, in order.
    """

    place: int
    values: tuple[UOp, ...]
    side: int
    inside: tuple[UOp, ...]
    before: tuple[UOp, ...]


def run(nodes: Sequence[UOp], machine: MachineModel) -> list[UOp]:
    """The program with branches; the same program if no select qualifies."""
    least = thresholds.branch_operations(machine)
    nodes = list(nodes)
    if not any(map(_is_lane_select, nodes)) or sum(node.op in _COUNTS for node in nodes) < least:
        return nodes
    decided: set[UOp] = set()
    while (choice := _Search(nodes, decided, least).found()) is not None:
        nodes, names = _branched(nodes, choice)
        decided.update(choice.values)
        decided.update(names[node] for node in [*decided] if node in names)
    return nodes


def _is_lane_select(node: UOp) -> bool:
    """Whether a node selects numbers lane by lane."""
    chosen = node.op is Ops.WHERE and node.src[0].dtype.count > 1
    return chosen and not dtypes.is_bool(node.dtype)


class _Search:
    """A search for selects for which a branch is profitable.

    :ivar decided: selects that are decided.
    :ivar least: operations of an alternative for which a branch is profitable.
    :ivar block: the number of the basic block at each position.
    :ivar shares: the operations that a node needs within its block, divided among its users; an
        upper bound of the operations that a user needs alone.
    :ivar most: this bound for the sources of selects, by condition and block.
    """

    def __init__(self, nodes: Sequence[UOp], decided: set[UOp], least: int) -> None:
        self.nodes, self.decided, self.least = nodes, decided, least
        self.users: dict[UOp, list[UOp]] = {}
        self.place: dict[UOp, int] = {}
        self.block: list[int] = []
        self.shares: dict[UOp, float] = {}
        self.most: dict[tuple[UOp, int], list[float]] = {}
        block = 0
        for number, node in enumerate(nodes):
            block += node.op in _ENDS
            self.place[node] = number
            self.block.append(block)
            for source in node.src:
                self.users.setdefault(source, []).append(node)
        for number, node in enumerate(nodes):
            if node.op in _PURE and node in self.users:
                self.weigh(number, node)

    def weigh(self, number: int, node: UOp) -> None:
        """Add the operations of a node to its share."""
        block, shares = self.block[number], self.shares
        arriving = [shares.get(s, 0.0) if self.is_beside(s, number) else 0.0 for s in node.src]
        total = (node.op in _COUNTS) + sum(arriving)
        shares[node] = total / len(self.users[node])
        if _is_lane_select(node):
            most = self.most.setdefault((node.src[0], block), [0.0, 0.0, 0.0])
            most[1] += arriving[1]
            most[2] += arriving[2]

    def is_beside(self, node: UOp, place: int) -> bool:
        return self.block[self.place[node]] == self.block[place]

    def found(self) -> _Branch | None:
        """The last profitable select, because its source may contain further selects."""
        for node in reversed(self.nodes):
            if not _is_lane_select(node) or node in self.decided:
                continue
            most = self.most.get((node.src[0], self.block[self.place[node]]), [0.0, 0.0, 0.0])
            for side in (1, 2):
                if most[side] < self.least:
                    continue
                choice = self.choice(node, side, most)
                if choice is not None:
                    return choice
            self.decided.add(node)
        return None

    def choice(self, one: UOp, side: int, most: list[float]) -> _Branch | None:
        """The branch of this select, with all selects of its condition or alone; None if neither.

        `most` is set to the exact number of operations.
        """
        alike = {
            node: None for node in self.users[one.src[0]]
            if _is_lane_select(node) and node.src[0] is one.src[0] and node not in self.decided
            and self.is_beside(node, self.place[one])
        }  # fmt: skip
        for values in (tuple(sorted(alike, key=self.place.__getitem__)), (one,)):
            place = self.place[values[0]]
            inside = self.inside(values, side)
            count = sum(node.op in _COUNTS for node in inside)
            if len(values) == len(alike):
                most[side] = count  # a subset needs no more operations
            if count < self.least:
                return None
            if not {*values}.isdisjoint(inside):
                continue
            if _is_guard(values, side, inside):
                continue
            before = self.before(place, values, inside)
            if before is not None:
                return _Branch(place, values, side, inside, before)
        return None

    def inside(self, values: tuple[UOp, ...], side: int) -> tuple[UOp, ...]:
        """The nodes that only one source of these selects needs."""
        start, chosen = self.place[values[0]], {*values}
        found: dict[UOp, None] = {}
        waiting = [(self.place[v.src[side]], v.src[side]) for v in values]
        last = max(self.place[value] for value in values)
        reached = {node for _, node in waiting}
        for number in range(last, -1, -1):
            if self.block[number] != self.block[start]:
                break
            node = self.nodes[number]
            if node not in reached or node.op not in _PURE:
                continue
            if all(
                user in found or (user in chosen and node not in (user.src[0], user.src[3 - side]))
                for user in self.users[node]
            ):
                found[node] = None
                reached.update(node.src)
        return tuple(reversed(found))

    def before(
        self, place: int, values: tuple[UOp, ...], inside: tuple[UOp, ...]
    ) -> tuple[UOp, ...] | None:
        """The nodes after `place` that the branch needs; None if they cannot move before it."""
        own = {*inside}
        pending = [source for node in (*values, *inside) for source in node.src]
        found: set[UOp] = set()
        while pending:
            node = pending.pop()
            if self.place[node] < place or node in found or node in own:
                continue
            if node in values or node.op not in _PURE | {Ops.CONST, Ops.VCONST}:
                return None
            found.add(node)
            pending.extend(node.src)
        return tuple(sorted(found, key=self.place.__getitem__))


def _is_guard(values: tuple[UOp, ...], side: int, inside: tuple[UOp, ...]) -> bool:
    """Whether the other source is not computed, or is a source of the expensive one."""
    given = {source for node in inside for source in node.src}
    others = [value.src[3 - side] for value in values]
    return all(node in given or node.op not in GroupOp.Elementwise for node in others)


def _branched(nodes: Sequence[UOp], choice: _Branch) -> tuple[list[UOp], dict[UOp, UOp]]:
    """The program with one branch, and the replacements of the nodes after it."""
    zero = UOp.const(dtypes.int, 0)
    number = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    condition, constants = choice.values[0].src[0], {zero: None}
    if choice.side == 2:
        condition = condition.logical_not()
        constants.update(condition.src[1].toposort())
    starts: list[UOp] = []
    ends: list[UOp] = []
    results: dict[UOp, UOp] = {}
    for offset, value in enumerate(choice.values):
        register = UOp(Ops.DEFINE_REG, value.dtype.ptr(1, AddrSpace.REG), (), number + offset)
        at = UOp(Ops.INDEX, register.dtype, (register, zero))
        starts += [register, at, UOp(Ops.STORE, dtypes.void, (at, value.src[3 - choice.side]))]
        ends += [value, UOp(Ops.STORE, dtypes.void, (at, value))]
        results[value] = UOp(Ops.LOAD, value.dtype, (at,), AFTER_LOOPS)
    known = {*nodes[: choice.place], *choice.before}
    branch = UOp(Ops.IF, dtypes.void, (condition,))
    made = [
        *choice.before, *(() if condition in known else (condition,)), *starts, branch,
        *choice.inside, *ends, UOp(Ops.ENDIF, dtypes.void, (branch,)), *results.values(),
    ]  # fmt: skip
    moved = {*choice.inside, *choice.before, *choice.values, *constants, *made}
    head = [node for node in nodes[: choice.place] if node not in moved]
    tail = [node for node in nodes[choice.place :] if node not in moved]
    renamed, names = _renamed(tail, results)
    return [*constants, *head, *made, *renamed], names


def _renamed(nodes: Iterable[UOp], results: dict[UOp, UOp]) -> tuple[list[UOp], dict[UOp, UOp]]:
    """Nodes over the replacements of their sources, and all replacements."""
    names, out = dict(results), []
    for node in nodes:
        src = tuple(names.get(source, source) for source in node.src)
        if src != node.src:
            names[node] = node.over(src)
        out.append(names.get(node, node))
    return out, {node: name for node, name in names.items() if node not in results}
