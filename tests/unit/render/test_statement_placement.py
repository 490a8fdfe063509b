"""What may be written where it is used."""

from __future__ import annotations

from weft.base.dtype import AddrSpace, dtypes
from weft.render.statement_placement import inlinable
from weft.uop import Ops, UOp

ZERO = UOp.const(dtypes.int, 0)


def test_used_once_moves_and_used_twice_does_not(write):
    a, b = write.buffer(1, dtypes.float), write.buffer(2, dtypes.float)
    x, y = a.index(ZERO).load(), b.index(ZERO).load()
    once, twice = x + 1.0, y * 2.0
    store = write.buffer(0, dtypes.float).index(ZERO).store(once + twice * twice)
    moved = inlinable(write.program(store).uops)
    assert {x, y, once} <= set(moved)
    assert twice not in moved


def test_nothing_moves_into_a_loop(write):
    x = write.buffer(1, dtypes.float).index(ZERO).load() + 1.0
    loop = UOp.range(4, 0)
    store = write.buffer(0, dtypes.float).index(loop).store(x)
    index, value = store.src
    uops = value.toposort() | index.toposort()
    moved = inlinable([*uops, store, UOp(Ops.ENDRANGE, dtypes.void, (loop,))])
    assert x not in moved


def test_a_read_does_not_move_past_a_write(write):
    acc = UOp(Ops.DEFINE_REG, dtypes.float.ptr(1, AddrSpace.REG), (), 0)
    place = acc.index(ZERO)
    old = place.load()
    write_acc = place.store(UOp.const(dtypes.float, 5.0))
    out = write.buffer(0, dtypes.float).index(ZERO)
    late = out.store(old)
    before = [*out.toposort(), acc, place, old]
    five = write_acc.src[1]
    assert old not in inlinable([*before, five, write_acc, late])
    assert old in inlinable([*before, late, five, write_acc])


def test_a_sum_of_a_read_does_not_carry_it_past_a_write(write):
    acc = UOp(Ops.DEFINE_REG, dtypes.float.ptr(1, AddrSpace.REG), (), 0)
    place = acc.index(ZERO)
    old = place.load()
    more = old + 1.0
    five = UOp.const(dtypes.float, 5.0)
    write_acc = place.store(five)
    out = write.buffer(0, dtypes.float).index(ZERO)
    late = out.store(more)
    before = [*out.toposort(), acc, place, old, more.src[1], more]
    moved = inlinable([*before, five, write_acc, late])
    assert more in moved and old not in moved


def test_vectors_with_extracted_lanes_keep_a_name(write):
    a = write.buffer(1, dtypes.float)
    vector = a.index(ZERO).load(dtype=dtypes.float.vec(4)) * UOp.const(dtypes.float, 2.0).broadcast(
        4
    )
    store = write.buffer(0, dtypes.float).index(ZERO).store(vector.gep(2))
    moved = inlinable(write.program(store).uops)
    assert vector not in moved and vector.gep(2) in moved


def test_a_write_to_another_register_is_no_obstacle(write):
    acc, other = (
        UOp(Ops.DEFINE_REG, dtypes.float.ptr(1, AddrSpace.REG), (), i).index(ZERO) for i in (0, 1)
    )
    old, five = acc.load(), UOp.const(dtypes.float, 5.0)
    out = write.buffer(0, dtypes.float).index(ZERO)
    elsewhere, late = other.store(five), out.store(old)
    before = [*out.toposort(), *(u for u in acc.toposort() if u is not ZERO), old, *other.src[:1]]
    assert old in inlinable([*before, other, five, elsewhere, late])


def test_two_vectors_that_lanes_are_picked_from_need_no_name(write):
    a, b = (write.buffer(slot, dtypes.float).index(ZERO) for slot in (1, 2))
    four = dtypes.float.vec(4)
    x, y = a.load(dtype=four), b.load(dtype=four)
    both = UOp(Ops.CAT, dtypes.float.vec(8), (x, y))
    low, high = both.gep((0, 4, 1, 5)), both.gep((2, 6, 3, 7))
    place = write.buffer(0, dtypes.float)
    stores = [place.index(ZERO + 4 * at).store(part) for at, part in enumerate((low, high))]
    moved = inlinable(write.program(*stores).uops, shuffles=True)
    assert both in moved and x not in moved and y not in moved  # they are written twice
    assert both not in inlinable(write.program(*stores).uops)
    whole = write.buffer(3, dtypes.float).index(ZERO).store(both)
    assert both not in inlinable(write.program(*stores, whole).uops, shuffles=True)
