"""That no two work items of a group touch one place of shared memory at a time, by exhaustion.

A tool of the tests. Between two barriers the work items of a group are in no order. For every such
stretch of a program the places that each work item stores to and loads from are counted out, for
all work items and all turns of loops: no place that one of them stores to may be touched by
another. All work items reach a barrier in the same turn of the loops around it; in loops without
one each is where it likes. A gate or an address that depends on what is loaded, or on the group,
may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.base.dtype import AddrSpace, PtrDType
from weft.device import LinearProgram
from weft.testing.proofs import Access
from weft.uop import Ops, UOp

_GROUP = "lidx"
_MOST = 1 << 24  # places that are counted out for one access

# how far along a loop with barriers a copy of its body is: its first turn, any turn, the one after
Turns = dict[UOp, str]


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
                for copies in _copies(node):
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

    def has_barrier(self, place: int) -> bool:
        return any(node.op is Ops.BARRIER for node in self.nodes[place : self.ends[place]])


def _copies(loop: UOp) -> list[tuple[str, ...]]:
    """The first turn comes after what stands before the loop; any turn before the next one."""
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
    """Where each RANGE is closed."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for place, node in enumerate(nodes):
        if node.op is Ops.RANGE:
            opened.append(place)
        elif node.op is Ops.ENDRANGE:
            found[opened.pop()] = place
    return found


def races(program: LinearProgram) -> list[Race]:
    """A race for each array and each stretch between barriers that has one."""
    nodes = program.uops
    if not any(node.op is Ops.DEFINE_LOCAL for node in nodes):
        return []
    walk = _Walk(nodes, _ends(nodes))
    walk.run(0, len(nodes), (), {})
    items = [u for u in nodes if u.op is Ops.SPECIAL and u.arg.startswith(_GROUP)]
    found: dict[tuple[str, tuple[str, ...]], Race] = {}
    done: set[Any] = set()
    for phase in walk.phases:
        arrays = dict.fromkeys(access.pointer for access, _ in phase)
        for array in arrays:
            mine = [one for one in phase if one[0].pointer is array]
            key = tuple((one.node, one.conditions, tuple(turns.items())) for one, turns in mine)
            if key not in done and any(one.node.op is Ops.STORE for one, _ in mine):
                done.add(key)
                for race in _meetings(program.name, array, mine, items):
                    found.setdefault((race.array, race.accesses), race)
    return list(found.values())


def _meetings(
    name: str, array: UOp, phase: list[tuple[Access, Turns]], items: list[UOp]
) -> Iterator[Race]:
    import numpy

    shared = list(dict.fromkeys(
        loop for access, turns in phase for loop in turns
        if turns[loop] != "first" and loop in _all_of(access)
    ))  # fmt: skip
    assert isinstance(array.dtype, PtrDType)
    size = array.dtype.size
    count = math.prod(_end(loop) for loop in shared)
    nobody = -1
    first = numpy.full(count * size, nobody)
    by: dict[int, Access] = {}
    order = sorted(phase, key=lambda one: one[0].node.op is not Ops.STORE)
    for access, turns in order:
        where, who = _touched(access, turns, items, shared, size)
        other = (first[where] != nobody) & (first[where] != who)
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
    access: Access, turns: Turns, items: list[UOp], shared: list[UOp], size: int
) -> tuple[Any, Any]:
    """The places (a copy of the array for every turn of `shared`), and which work item is there."""
    import numpy

    used = _all_of(access)
    own = [u for u in used if u.op is Ops.RANGE and u not in turns]
    axes = [*shared, *items, *own]
    shape = tuple(_end(axis) for axis in axes)
    if math.prod(shape) * access.width > _MOST:
        own, axes, shape = [], [*shared, *items], shape[: len(shared) + len(items)]
    numbers = dict(zip(axes, numpy.indices(shape, dtype=numpy.int64, sparse=True)))
    values: dict[UOp, Any] = dict(numbers)
    possible = numpy.ones(shape, bool)
    for loop, copy in turns.items():
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
    """An expression for all work items and turns; None where it depends on anything else."""
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
