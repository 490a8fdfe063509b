"""Operands that a loop reads again and again are brought on chip first: STAGE.

in:  a lowered kernel whose loops are what they will be, one of them `loop`
out: the same, where what is read inside `loop` and serves several of the turns or work items in it
     is copied to an array by a FILL, once in each turn of `loop` (or less often: where it depends
     on none), and read from there

On a launch grid the work items of a group copy together and the array is shared memory; elsewhere
it is an array of its own, packed in the order in which it will be read. Both are one thing here:
what is inside the loop and what is outside it decides what an array holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weft.base.dtype import AddrSpace, dtypes
from weft.codegen.affine import affine
from weft.codegen.fold import folded
from weft.codegen.ranges import CLOSING, Fill, extent_of, loop_order, ranges_of
from weft.codegen.substitute import replace_nodes, substitute_ranges
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

# The order of an array's axes, outermost first: sums go through it block by block.
_LAYOUT = {
    AxisKind.LOOP: 0, AxisKind.REDUCE: 1, AxisKind.UNROLL: 2, AxisKind.LOCAL: 3,
    AxisKind.UPCAST: 4, AxisKind.VECTOR: 5,
}  # fmt: skip
_PAD = 4  # elements that keep columns of shared memory in different banks


@dataclass(frozen=True)
class Staged:
    """One LOAD to be staged: the ranges that its array has as axes, and how long a row of it is.

    strides: of each range in the array; size: elements of the array.
    """

    load: UOp
    inside: tuple[UOp, ...]
    strides: dict[UOp, int]
    size: int

    @property
    def nbytes(self) -> int:
        return self.size * self.load.dtype.itemsize


def candidates(sink: UOp, loop: UOp) -> list[Staged]:
    """What would be staged in `loop`: nothing where every operand is read once."""
    nodes = list(sink.toposort())
    ranges = [node for node in nodes if node.op is Ops.RANGE]
    inner = [r for r in ranges if _is_inside(r, loop)]
    group = [r for r in inner if r.arg.kind is AxisKind.LOCAL]
    turns = group or [r for r in inner if r.arg.kind is AxisKind.LOOP]
    found = []
    for node in nodes:
        if node.op is not Ops.LOAD or node.src[0].src[0].op is not Ops.DEFINE_GLOBAL:
            continue
        around = ranges_of(node)
        mine = [r for r in inner if r in around]
        again = any(r not in around for r in turns)
        fixed = all(isinstance(extent_of(r), int) for r in mine)
        if mine and again and fixed and not any(u.op in CLOSING for u in node.toposort()):
            found.append(_staged(node, mine, bool(group)))
    return found


def _is_inside(one: UOp, loop: UOp) -> bool:
    kind = one.arg.kind
    if kind is AxisKind.GLOBAL or one is loop:
        return False
    return kind is AxisKind.LOCAL or loop_order(one) > loop_order(loop)


def _staged(load: UOp, mine: list[UOp], shared: bool) -> Staged:
    order = sorted(mine, key=lambda r: (_LAYOUT[r.arg.kind], loop_order(r)))
    steps = _steps(load)
    columns = [r for r in order if _LAYOUT[r.arg.kind] > _LAYOUT[AxisKind.UNROLL]]
    # work items that go along memory put down what they read a row apart
    crossing = shared and columns and steps.get(order[-1]) != 1
    strides: dict[UOp, int] = {}
    size = 1
    for r in reversed(order):
        if crossing and columns and r not in columns and size == _count(columns):
            size += _PAD
        strides[r] = size
        size *= int(extent_of(r))
    return Staged(load, tuple(order), strides, size)


def _steps(load: UOp) -> dict[UOp, int]:
    return affine(load.src[0].src[1])[0]


def _count(loops: Sequence[UOp]) -> int:
    return math.prod(int(extent_of(r)) for r in loops)


def run(sink: UOp, loop: UOp) -> UOp:
    """The kernel with what `candidates` found staged."""
    nodes = list(sink.toposort())
    numbers = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    arrays = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    made: dict[UOp, UOp] = {}
    for staged in candidates(sink, loop):
        group = [r for r in _group(nodes) if _is_inside(r, loop)]
        if group:
            name, space, op = f"tile{len(made)}", AddrSpace.LOCAL, Ops.DEFINE_LOCAL
            array = UOp(op, staged.load.dtype.ptr(staged.size, space), (), name)
            places, loops = _spread(staged, group, numbers)
        else:
            space, op = AddrSpace.REG, Ops.DEFINE_REG
            array = UOp(op, staged.load.dtype.ptr(staged.size, space), (), arrays + len(made))
            places, loops = _alone(staged, numbers)
        numbers += len(loops)
        value = substitute_ranges(list(staged.load.toposort()), places, {})
        store = UOp(Ops.STORE, dtypes.void, (array.index(_at(staged, places)), value))
        meet = f"tiles of {loop.arg.id}" if group else ""
        fill = UOp(Ops.FILL, dtypes.void, (store, *loops), Fill(meet=meet))
        at = _at(staged, {r: r for r in staged.inside})
        made[staged.load] = UOp(Ops.LOAD, staged.load.dtype, (array.index(at), fill))
    return replace_nodes(nodes, made)


def _group(nodes: Sequence[UOp]) -> list[UOp]:
    """The ranges of a group's work items, the slowest first."""
    group = [u for u in nodes if u.op is Ops.RANGE and u.arg.kind is AxisKind.LOCAL]
    return sorted(group, key=loop_order)


def _spread(
    staged: Staged, group: list[UOp], number: int
) -> tuple[dict[UOp, UOp], tuple[UOp, ...]]:
    """Where each work item copies from, turn by turn; neighbours copy what lies side by side."""
    item = UOp.const(dtypes.int, 0)
    for r in group:
        item = _plus(_times(item, int(extent_of(r))), r.cast(dtypes.int))
    turns = _count(staged.inside) // _count(group)
    loops = (UOp.range(turns, number, AxisKind.LOOP),) if turns > 1 else ()
    flat = _plus(_times(loops[0], _count(group)), item) if loops else item
    steps = _steps(staged.load)
    places: dict[UOp, UOp] = {}
    for r in sorted(staged.inside, key=lambda r: abs(steps.get(r, 1 << 62))):
        extent = UOp.const(dtypes.int, int(extent_of(r)))
        places[r] = (flat % extent).simplify().cast(r.dtype)
        flat = (flat // extent).simplify()
    return places, loops


def _alone(staged: Staged, number: int) -> tuple[dict[UOp, UOp], tuple[UOp, ...]]:
    """Loops of its own over all of an array; lanes stay lanes."""
    places = {
        r: UOp.range(
            r.src[0],
            number + i,
            r.arg.kind if r.arg.kind is AxisKind.VECTOR else AxisKind.LOOP,
            r.dtype,
        )
        for i, r in enumerate(staged.inside)
    }
    return places, tuple(sorted(places.values(), key=loop_order))


def _at(staged: Staged, places: dict[UOp, UOp]) -> UOp:
    at = UOp.const(dtypes.int, 0)
    for r in staged.inside:
        at = _plus(at, _times(places[r].cast(dtypes.int), staged.strides[r]))
    return at


def _plus(a: UOp, b: UOp) -> UOp:
    return folded(Ops.ADD, a.dtype, (a, b), None)


def _times(a: UOp, factor: int) -> UOp:
    return folded(Ops.MUL, a.dtype, (a, a.const_like(factor)), None)
