"""That no two work items of a group touch one place of shared memory at a time, proved.

A tool of the tests: it needs z3 (see `proofs`). Between two barriers the work items of a group are
in no order. For each pair of accesses that may stand between the same two, of which one is a STORE,
a solver is asked for two work items, turns of their loops and values for which both are at one
place. All work items reach a barrier in the same turn of the loops around it; in loops without one
each is where it likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.base.dtype import AddrSpace
from weft.device.program import LinearProgram
from weft.testing.proofs import Access, Finding, Formulas, solver_library, values_of
from weft.uop import Ops, UOp

_GROUP = "lidx"

# how far along a loop with barriers a copy of its body is: "first", or a turn and the next one
Turns = dict[UOp, str]


@dataclass(eq=False)
class _Walk:
    """The program with the bodies of loops that hold barriers written out: phases of accesses."""

    nodes: Sequence[UOp]
    ends: dict[int, int]
    phases: list[list[tuple[Access, Turns]]] = field(default_factory=lambda: [[]])

    def run(self, start: int, stop: int, conditions: tuple[UOp, ...], turns: Turns) -> None:
        place = start
        while place < stop:
            node = self.nodes[place]
            if node.op is Ops.BARRIER:
                self.phases.append([])
            elif node.op is Ops.RANGE and self.has_barrier(place):
                end = self.ends[place]
                for copies in self.copies(node):
                    for copy in copies:
                        self.run(place + 1, end, conditions, {**turns, node: copy})
                    if copies == ("first",):
                        self.phases.append([])
                place = end
            elif node.op is Ops.IF:
                conditions = (*conditions, node.src[0])
            elif node.op is Ops.ENDIF:
                conditions = conditions[:-1]
            elif node.op in (Ops.LOAD, Ops.STORE) and _is_shared(node):
                self.phases[-1].append((Access(node, conditions), turns))
            place += 1

    def copies(self, loop: UOp) -> list[tuple[str, ...]]:
        """The first turn comes after what stands before the loop; any turn before the next one."""
        end = loop.src[0]
        if end.op is Ops.CONST and end.arg == 1:
            return [("only",)]
        return [("first",), ("this", "next")]

    def has_barrier(self, place: int) -> bool:
        return any(node.op is Ops.BARRIER for node in self.nodes[place : self.ends[place]])


def _is_shared(node: UOp) -> bool:
    return node.src[0].op is Ops.INDEX and node.src[0].src[0].dtype.space is AddrSpace.LOCAL


def _ends(nodes: Sequence[UOp]) -> dict[int, int]:
    """Where each RANGE is closed."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for place, node in enumerate(nodes):
        if node.op is Ops.RANGE:
            opened.append(place)
        elif node.op is Ops.ENDRANGE:
            found[opened.pop()] = place
    return found


def races(program: LinearProgram, seconds: float = 10.0) -> list[Finding]:
    """Pairs of accesses to shared memory that may meet, or may for all we know.

    :param seconds: that the solver has for each pair.
    :raises ArgumentError: where there is no solver.
    """
    nodes = program.uops
    walk = _Walk(nodes, _ends(nodes))
    walk.run(0, len(nodes), (), {})
    found: list[Finding] = []
    done: set[Any] = set()
    for phase in walk.phases:
        for first, second in _pairs(phase):
            key = (_key(first), _key(second))
            if key not in done:
                done.add(key)
                found += _meeting(program, first, second, seconds)
    return found


def _key(one: tuple[Access, Turns]) -> Any:
    access, turns = one
    return access.node, access.conditions, tuple(sorted((u.arg.id, t) for u, t in turns.items()))


def _pairs(
    phase: list[tuple[Access, Turns]],
) -> Iterator[tuple[tuple[Access, Turns], tuple[Access, Turns]]]:
    for number, first in enumerate(phase):
        for second in phase[number:]:
            stores = Ops.STORE in (first[0].node.op, second[0].node.op)
            if stores and first[0].pointer is second[0].pointer:
                yield first, second


def _meeting(
    program: LinearProgram,
    first: tuple[Access, Turns],
    second: tuple[Access, Turns],
    seconds: float,
) -> list[Finding]:
    z3 = solver_library()
    sides = [_Side(number, turns) for number, (_, turns) in enumerate((first, second))]
    begins, facts = [], []
    for side, (access, _) in zip(sides, (first, second)):
        begins.append(side.of(access.index))
        facts += [side.of(gate) for gate in access.gates]
        side.place(program)
        facts += [*side.facts, *side.turned]
    others = [a != b for a, b in zip(sides[0].place(program), sides[1].place(program))]
    if not others:
        return []
    (a, b), (long, wide) = begins, (first[0].width, second[0].width)
    solver = z3.Solver()
    solver.set("timeout", int(seconds * 1000))
    solver.add(*facts, z3.Or(*others), a < b + wide, b < a + long)
    answer = solver.check()
    if answer == z3.unsat:
        return []
    name = first[0].pointer.arg
    return [
        Finding(
            program.name, f"{first[0]} and {second[0]}", f"work items meet in {name}",
            values_of(solver) if answer == z3.sat else None,
        )
    ]  # fmt: skip


class _Side(Formulas):
    """The formulas of one of the two work items."""

    def __init__(self, side: int, turns: Turns) -> None:
        super().__init__()
        self.side = side
        self.turns = turns
        self.turned: list[Any] = []
        self.rename = self.named

    def named(self, node: UOp, name: str) -> str:
        """Groups are the same, work items are not; nor is what is loaded by them."""
        if node.op is Ops.SPECIAL and not node.arg.startswith(_GROUP):
            return name
        return f"{name}.{self.side}"

    def place(self, program: LinearProgram) -> list[Any]:
        """Which of its group a work item is."""
        found = [u for u in program.uops if u.op is Ops.SPECIAL and u.arg.startswith(_GROUP)]
        return [self.of(node) for node in found]

    def number(self, node: UOp, name: str) -> Any:
        copy = self.turns.get(node)
        if copy is None:
            return super().number(node, name)
        if copy in ("first", "only"):
            return self.z3.IntVal(0)
        turn = self.z3.Int(f"{name}.this")
        value = turn + 1 if copy == "next" else turn
        self.turned += [turn >= 0, value < self.of_end(node)]
        return value
