"""What a solver proves of addresses, and what it finds where they are wrong."""

from __future__ import annotations

import builtins

import pytest

from helpers import proofs
from helpers.races import races
from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import ArgumentError
from weft.device.program import LinearProgram
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind


def buffer(slot, size):
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)


def special(name, size):
    return UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, size),), name)


def copying(index, size, gate=None, width=1):
    """One load from a buffer and one store to another, at one place."""
    dtype = dtypes.float.vec(width) if width > 1 else dtypes.float
    gates = () if gate is None else (gate,)
    load = UOp(Ops.LOAD, dtype, (
        buffer(1, size).index(index, *gates), *((UOp.const(dtype, 0.0),) if gates else ()),
    ))  # fmt: skip
    store = UOp(Ops.STORE, dtypes.void, (buffer(0, size).index(index, *gates), load))
    nodes = tuple(UOp.sink(store).toposort())[:-1]
    return LinearProgram("copy", nodes)


def proved(program):
    pytest.importorskip("z3", reason="the solver of weft[proof] is not installed")
    return proofs.unproven(program)


ITEM = special("lidx0", 32)


@pytest.mark.parametrize(
    "index, size",
    [
        (ITEM, 32),
        (ITEM // 4 * 4 + ITEM % 4, 32),
        (ITEM // 8 + ITEM % 8 * 4, 32),
        (special("gidx0", 7) * 5 + special("gidx1", 5), 35),
        ((special("gidx0", 9) - 4).maximum(0), 5),
        ((special("gidx0", 9) < 3).where(special("gidx0", 9), UOp.const(dtypes.int, 2)), 3),
        (UOp.variable("n", 3, 9) - 3, 7),
    ],
)
def test_places_inside(index, size):
    assert proved(copying(index, size)) == []
    assert proved(copying(index, size - 1)), "one element less is too few"


def test_a_gate_keeps_accesses_inside():
    item = special("gidx0", 40)
    assert proved(copying(item, 33, item < 33)) == []
    (first, *_) = proved(copying(item, 33, item < 34))
    assert first.values is not None and first.values["gidx0"] == 33
    assert "33 elements" in str(first) and "copy" in str(first)


def test_a_vector_is_as_long_as_its_lanes():
    item = special("gidx0", 8)
    assert proved(copying(item * 4, 32, width=4)) == []
    assert len(proved(copying(item * 4, 31, width=4))) == 2


def test_loaded_values_are_unconstrained():
    table = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), (), 2)
    row = UOp(Ops.LOAD, dtypes.int, (table.index(special("gidx0", 8)),))
    assert proved(copying(row, 64))
    inside = (UOp.const(dtypes.int, -1) < row) & (row < 64)
    assert proved(copying(row, 64, inside)) == []


def loaded(place, count=1):
    """Numbers of a read-only table."""
    table = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(64), (), 2)
    return UOp(Ops.LOAD, dtypes.int.vec(count) if count > 1 else dtypes.int, (table.index(place),))


def test_a_lane_is_computed_as_its_vector_is():
    rows = loaded(special("gidx0", 8) * 4, 4)
    zero, last = (UOp.const(rows.dtype, value) for value in (0, 30))
    limited = (rows < zero).where(zero, rows)
    limited = (limited < last).where(limited, last)
    for lane in range(4):
        assert proved(copying(limited.gep(lane), 31)) == []
        assert proved(copying(limited.gep(lane), 30))
        assert proved(copying(rows.gep(lane), 31))
    both = UOp(Ops.VECTORIZE, dtypes.int.vec(2), (limited.gep(3), special("gidx0", 8)))
    assert proved(copying(both.gep(0), 31)) == [] and proved(copying(both.gep(1), 8)) == []
    assert proved(copying(both.gep(0), 30)) and proved(copying(both.gep(1), 7))


def test_overflow_wraps_around():
    row = loaded(special("gidx0", 8))
    twice = row + row
    gate = (UOp.const(dtypes.int, -1) < twice) & (twice < 8)
    assert proved(copying(twice, 8, gate)) == []
    # twice the least of all numbers is 0
    (first, *_) = proved(copying(row, 64, gate))
    assert first.values is not None and dtypes.int.min in first.values.values()
    above = gate & (UOp.const(dtypes.int, -1) < row)
    assert proved(copying(row, 4, above)) == [], "and of no number above"
    narrow = row.cast(dtypes.short)
    gate = (UOp.const(dtypes.short, -1) < narrow) & (narrow < 8)
    assert proved(copying(narrow.cast(dtypes.int), 8, gate)) == []
    assert proved(copying(row, 8, gate)), "the higher half of it may be anything"


def test_equal_loads_of_read_only_memory_are_equal():
    item = special("gidx0", 8)
    row, again = loaded(item * 2), loaded(item + item)
    assert row is not again
    gate = (UOp.const(dtypes.int, -1) < again) & (again < 8)
    assert proved(copying(row, 8, gate)) == []
    assert proved(copying(loaded(item), 8, gate)), "another place"
    changed = UOp(Ops.STORE, dtypes.void, (row.src[0].src[0].index(item), UOp.const(dtypes.int, 9)))
    nodes = [*copying(row, 8, gate).uops]
    nodes += [node for node in changed.toposort() if node not in nodes]
    assert proved(LinearProgram("changed", tuple(nodes))), "somebody writes to it"


def test_loops_end_before_their_end():
    loop = UOp.range(6, 0, AxisKind.LOOP)
    nodes = list(copying(loop, 6).uops)
    program = LinearProgram("loop", (*nodes, UOp(Ops.ENDRANGE, dtypes.void, (loop,))))
    assert proved(program) == []


def test_without_a_solver(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "z3":
            raise ImportError("no z3 here")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ArgumentError, match=r"weft\[proof\]"):
        proofs.unproven(copying(ITEM, 32))


# ---- work items that meet --------------------------------------------------------------------


def meeting(where, read, *, barrier=True, again=None):
    """Each work item stores at one place of shared memory and loads another."""
    shared = UOp(Ops.DEFINE_LOCAL, dtypes.float.ptr(64, AddrSpace.LOCAL), (), "tile")
    store = UOp(Ops.STORE, dtypes.void, (shared.index(where), UOp.const(dtypes.float, 1.0)))
    load = UOp(Ops.LOAD, dtypes.float, (shared.index(read),))
    out = UOp(Ops.STORE, dtypes.void, (buffer(0, 64).index(ITEM), load))
    nodes = list(UOp.sink(store).toposort())[:-1]
    if barrier:
        nodes.append(UOp(Ops.BARRIER, dtypes.void, (), "full"))
    nodes += [node for node in UOp.sink(out).toposort() if node not in nodes][:-1]
    if again is None:
        return LinearProgram("meet", tuple(nodes))
    loop = UOp.range(4, 0, AxisKind.REDUCE)
    end = UOp(Ops.ENDRANGE, dtypes.void, (loop,))
    return LinearProgram(
        "meet", (*loop.toposort(), *(n for n in nodes if n is not loop), *again, end)
    )


def test_a_barrier_between_a_store_and_others_loads():
    other = (ITEM + 1) % 32
    assert races(meeting(ITEM, other)) == []
    (race,) = races(meeting(ITEM, other, barrier=False))
    assert race.array == "tile" and len(race.accesses) == 2
    assert races(meeting(ITEM, ITEM, barrier=False)) == [], "its own place is each one's own"


def test_two_stores_in_one_place():
    assert races(meeting(ITEM // 2, ITEM))
    assert races(meeting(ITEM % 8 * 4 + ITEM // 8, ITEM)) == []


def test_the_next_turn_of_a_loop():
    """Without a barrier after the loads the next iteration may overwrite what is still read."""
    other = (ITEM + 1) % 32
    free = UOp(Ops.BARRIER, dtypes.void, (), "free")
    assert races(meeting(ITEM, other, again=[]))
    assert races(meeting(ITEM, other, again=[free])) == []


def test_two_tiles_in_turn_need_one_barrier():
    loop = UOp.range(4, 0, AxisKind.REDUCE)
    tile = loop % 2 * 32
    other = (ITEM + 1) % 32
    assert races(meeting(tile + ITEM, tile + other, again=[])) == []


def test_unknown_indices_may_collide():
    table = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(32), (), 2)
    row = UOp(Ops.LOAD, dtypes.int, (table.index(ITEM),))
    assert races(meeting(row, ITEM))
    assert races(meeting(ITEM, row)) == [], "whatever is read was stored before the barrier"
