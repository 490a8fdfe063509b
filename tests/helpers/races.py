"""Race detection: prove by enumeration that the work items of a group have no data races.

A tool of the tests. Between two barriers, the work items of a group run in any order. For each such
phase of a program, the module enumerates the addresses of shared memory that each work item stores
to and loads from, in all iterations of loops. An address that one work item stores to must not be
accessed by another. All work items reach a barrier in the same iteration of the loops around it. In
loops without a barrier, each work item may be in any iteration. A gate or an address that depends
on loaded values, or on the number of the group, may have any value.

Source: Li and Gopalakrishnan, "Scalable SMT-based verification of GPU kernel functions", FSE 2010
(barrier intervals).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from helpers.proofs import Access
from weft.base.dtype import AddrSpace, PtrDType
from weft.device import LinearProgram
from weft.uop import Ops, UOp

_GROUP = "lidx"
_MOST = 1 << 24  # places that are enumerated for one access

# the iteration of a copy of a loop body with barriers: the first, any one, the one after that
Iterations = dict[UOp, str]


@dataclass(frozen=True)
class Race:
    """Two work items of a group at one place of an array, with no barrier between."""

    program: str
    array: str
    place: int
    accesses: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.program}: {self.array}[{self.place}] in {' and '.join(self.accesses)}"


@dataclass(eq=False)
class _Unrolled:
    """The program with unrolled loops that have barriers, as phases of accesses."""

    nodes: Sequence[UOp]
    ends: dict[int, int]
    phases: list[list[tuple[Access, Iterations]]] = field(default_factory=lambda: [[]])

    def run(
        self, start: int, stop: int, conditions: tuple[UOp, ...], iterations: Iterations
    ) -> None:
        place = start
        while place < stop:
            node = self.nodes[place]
            if node.op is Ops.BARRIER:
                self.phases.append([])
            elif node.op is Ops.RANGE and self.has_barrier(place):
                end = self.ends[place]
                for copies in _copies(node):
                    for copy in copies:
                        self.run(place + 1, end, conditions, {**iterations, node: copy})
                    if copies == ("first",):
                        self.phases.append([])
                place = end
            elif node.op is Ops.IF:
                conditions = (*conditions, node.src[0])
            elif node.op is Ops.ENDIF:
                conditions = conditions[:-1]
            elif node.op in (Ops.LOAD, Ops.STORE) and _is_shared(node):
                self.phases[-1].append((Access(node, conditions), iterations))
            place += 1

    def has_barrier(self, place: int) -> bool:
        return any(node.op is Ops.BARRIER for node in self.nodes[place : self.ends[place]])


def _copies(loop: UOp) -> list[tuple[str, ...]]:
    """The copies of a loop body: the first iteration; any iteration and the next one."""
    end = loop.src[0]
    if end.op is Ops.CONST and end.arg == 1:
        return [("first",)]
    return [("first",), ("this", "next")]


def _is_shared(node: UOp) -> bool:
    if node.src[0].op is not Ops.INDEX:
        return False
    pointer = node.src[0].src[0].dtype
    return isinstance(pointer, PtrDType) and pointer.space is AddrSpace.LOCAL


def _ends(nodes: Sequence[UOp]) -> dict[int, int]:
    """The position of the ENDRANGE of each RANGE."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for place, node in enumerate(nodes):
        if node.op is Ops.RANGE:
            opened.append(place)
        elif node.op is Ops.ENDRANGE:
            found[opened.pop()] = place
    return found


def races(program: LinearProgram) -> list[Race]:
    """One race for each array and each phase between barriers that has one."""
    nodes = program.uops
    if not any(node.op is Ops.DEFINE_LOCAL for node in nodes):
        return []
    unrolled = _Unrolled(nodes, _ends(nodes))
    unrolled.run(0, len(nodes), (), {})
    items = [u for u in nodes if u.op is Ops.SPECIAL and u.arg.startswith(_GROUP)]
    found: dict[tuple[str, tuple[str, ...]], Race] = {}
    done: set[Any] = set()
    for phase in unrolled.phases:
        arrays = dict.fromkeys(access.pointer for access, _ in phase)
        for array in arrays:
            mine = [one for one in phase if one[0].pointer is array]
            key = tuple(
                (one.node, one.conditions, tuple(iterations.items())) for one, iterations in mine
            )
            if key not in done and any(one.node.op is Ops.STORE for one, _ in mine):
                done.add(key)
                for race in _conflicts(program.name, array, mine, items):
                    found.setdefault((race.array, race.accesses), race)
    return list(found.values())


def _conflicts(
    name: str, array: UOp, phase: list[tuple[Access, Iterations]], items: list[UOp]
) -> Iterator[Race]:
    import numpy

    shared = list(dict.fromkeys(
        loop for access, iterations in phase for loop in iterations
        if iterations[loop] != "first" and loop in _all_of(access)
    ))  # fmt: skip
    assert isinstance(array.dtype, PtrDType)
    size = array.dtype.size
    count = math.prod(_end(loop) for loop in shared)
    no_item = -1
    first = numpy.full(count * size, no_item)
    by: dict[int, Access] = {}
    order = sorted(phase, key=lambda one: one[0].node.op is not Ops.STORE)
    for access, iterations in order:
        where, who = _touched(access, iterations, items, shared, size)
        other = (first[where] != no_item) & (first[where] != who)
        storing = access.node.op is Ops.STORE
        if storing and not other.any():
            first[where] = who
            # two work items of this very access
            other = first[where] != who
            by.update(dict.fromkeys(numpy.unique(where).tolist(), access))
        if other.any():
            place = int(where[other][0])
            yield Race(
                name, str(array.arg), place % size, (str(by.get(place, access)), str(access))
            )
            return


def _all_of(access: Access) -> set[UOp]:
    return {u for root in (access.index, *access.gates) for u in root.toposort()}


def _end(node: UOp) -> int:
    return int(node.src[0].arg) if node.src[0].op is Ops.CONST else int(node.src[0].vmax)


def _touched(
    access: Access, iterations: Iterations, items: list[UOp], shared: list[UOp], size: int
) -> tuple[Any, Any]:
    """The accessed places (one copy of the array for each iteration of `shared`), and the work item
    of each access."""
    import numpy

    used = _all_of(access)
    own = [u for u in used if u.op is Ops.RANGE and u not in iterations]
    axes = [*shared, *items, *own]
    shape = tuple(_end(axis) for axis in axes)
    if math.prod(shape) * access.width > _MOST:
        own, axes, shape = [], [*shared, *items], shape[: len(shared) + len(items)]
    numbers = dict(zip(axes, numpy.indices(shape, dtype=numpy.int64, sparse=True)))
    values: dict[UOp, Any] = dict(numbers)
    possible = numpy.ones(shape, bool)
    for loop, copy in iterations.items():
        if copy == "first":
            values[loop] = numpy.int64(0)
        elif copy == "next" and loop in numbers:
            values[loop] = numbers[loop] + 1
            possible = possible & (values[loop] < _end(loop))
    for gate in access.gates:
        for part in _conjuncts(gate):
            holds = _value(part, values)
            possible = possible if holds is None else possible & holds
    copy_of, item = numpy.int64(0), numpy.int64(0)
    for loop in shared:
        copy_of = copy_of * _end(loop) + numbers[loop]
    for one in items:
        item = item * _end(one) + numbers[one]
    place = _value(access.index, values)
    steps = numpy.arange(access.width)
    if place is None:  # anywhere
        place, steps = numpy.int64(0), numpy.arange(size)
    where = numpy.broadcast_to(copy_of * size + place, shape)[possible]
    who = numpy.broadcast_to(item, shape)[possible]
    return (where[:, None] + steps).reshape(-1), numpy.repeat(who, len(steps))


def _conjuncts(gate: UOp) -> list[UOp]:
    stack, found = [gate], []
    while stack:
        node = stack.pop()
        if node.op is Ops.AND:
            stack.extend(node.src)
        else:
            found.append(node)
    return found


def _value(root: UOp, numbers: dict[UOp, Any]) -> Any:
    """The values of an expression for all work items and iterations; None if it depends on
    others."""
    import numpy

    values: dict[UOp, Any] = dict(numbers)
    for node in root.toposort(gate=lambda u: u not in numbers):
        if node in values:
            continue
        op = node.op
        if op is Ops.CONST:
            values[node] = numpy.asarray(node.arg)
            continue
        src: list[Any] = [values.get(source) for source in node.src]
        if not src or any(value is None for value in src):
            continue
        if op in (Ops.IDIV, Ops.MOD):
            if not src[1].all():
                continue
            quotient = numpy.sign(src[0]) * numpy.sign(src[1]) * (abs(src[0]) // abs(src[1]))
            values[node] = quotient if op is Ops.IDIV else src[0] - quotient * src[1]
        elif op is Ops.CAST:
            values[node] = src[0]
        elif op in _COMPUTED:
            values[node] = getattr(numpy, _COMPUTED[op])(*src)
    return values.get(root)


_COMPUTED = {
    Ops.ADD: "add", Ops.SUB: "subtract", Ops.MUL: "multiply", Ops.NEG: "negative",
    Ops.MAX: "maximum", Ops.CMPLT: "less", Ops.CMPNE: "not_equal", Ops.CMPEQ: "equal",
    Ops.WHERE: "where", Ops.AND: "bitwise_and", Ops.OR: "bitwise_or", Ops.XOR: "bitwise_xor",
    Ops.SHL: "left_shift", Ops.SHR: "right_shift",
}  # fmt: skip
