"""What becomes of single nodes; whole graphs are in test_multi.py."""

import pytest

from helpers.graphs import buffer, lookup
from weft.base.dtype import dtypes
from weft.base.errors import DeviceError, ScheduleError
from weft.schedule.multi_parts import Sharded
from weft.schedule.multi_rules import partitioned
from weft.uop import Ops, Shard, UOp
from weft.uop.sharding import laid_out, parts_of, stacked

DEVICES = ("X", "Y")


def halves(*shape, dtype=dtypes.float):
    local = (shape[0] // 2, *shape[1:])
    size = 1
    for extent in local:
        size *= extent
    parts = [buffer(size, dtype, device).reshape(local) for device in DEVICES]
    return stacked(parts, Shard(0, (0, shape[0] // 2, shape[0])))


def became(node):
    return partitioned(node.toposort(), lookup())[0][node]


def test_memory_in_parts_is_its_parts():
    x = halves(4)
    assert became(x) == Sharded(parts_of(x), DEVICES, x.arg)


def test_values_on_one_device_are_unchanged():
    node = buffer() * 2 + 1
    assert became(node) is node


@pytest.mark.parametrize("op", [Ops.CONTIGUOUS, Ops.DETACH, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE])
def test_markers_mark_each_part(op):
    node = UOp(op, dtypes.float, (halves(4),))
    found = became(node)
    assert [part.op for part in found.parts] == [op, op] and found.shard.axis == 0


def test_constants_of_rank_zero_are_not_sharded():
    found = became(halves(4) + UOp.const(dtypes.float, 1.0, "X"))
    assert [part.src[1] for part in found.parts] == [UOp.const(dtypes.float, 1.0)] * 2


def test_numbers_among_themselves_keep_a_place():
    found = became(UOp.const(dtypes.float, 1.0, DEVICES) + UOp.const(dtypes.float, 2.0))
    assert [part.device for part in found.parts] == list(DEVICES)


def test_a_bitcast_to_another_size_scales_the_cut():
    bytes_ = became(UOp(Ops.BITCAST, dtypes.uint8, (halves(4),)))
    assert bytes_.shard == Shard(0, (0, 8, 16)) and bytes_.parts[1].shape == (8,)
    odd = stacked([buffer(3, dtypes.uint8), buffer(5, dtypes.uint8, "Y")], Shard(0, (0, 3, 8)))
    whole = became(UOp(Ops.BITCAST, dtypes.float, (odd,)))
    assert whole.shard == Shard() and whole.parts[0].shape == (2,)


def test_reduces_of_nothing_are_the_identity():
    none = stacked([buffer(0), buffer(0, device="Y")], Shard(0, (0, 0, 0)))
    found = became(none.reduce(Ops.MUL, (0,)))
    assert [part.shape for part in found.parts] == [(1,), (1,)]


def test_one_gather_serves_all_readers():
    x = halves(4, 6)
    flat = x.permute((1, 0)).reshape((24,))
    found = became((flat + 1) * flat)
    copies = {n for part in found.parts for n in part.toposort() if n.op is Ops.COPY}
    assert len(copies) == 2


def test_layouts_that_agree_are_not_touched():
    x = halves(4)
    assert became(laid_out(x, DEVICES, x.arg)) == became(x)


def test_errors_name_both_sides():
    with pytest.raises(DeviceError, match=r"ADD of a value on \('X', 'Y'\) with one on Z"):
        became(halves(4) + buffer(4, device="Z"))
    with pytest.raises(DeviceError, match="ASSIGN"):
        became(buffer(4).assign(halves(4)))
    with pytest.raises(ScheduleError, match="buffer of its own"):
        computed = [part + 1 for part in parts_of(halves(4))]
        became(stacked(computed, Shard(0, (0, 2, 4))).assign(halves(4)))


def test_parts_come_straight_from_where_a_copy_is_from():
    host = buffer(4, device="H")
    there = host.copy_to_device("X").reshape((2, 2))
    found = became(laid_out(there, DEVICES, Shard(0, (0, 1, 2))))
    assert [part.op for part in found.parts] == [Ops.COPY, Ops.COPY]
    assert all(part.src[0].base is host for part in found.parts)
    # columns are no stretch of memory: the whole goes to X once, and its parts from there
    found = became(laid_out(there, DEVICES, Shard(1, (0, 1, 2))))
    assert found.parts[0].base.op is Ops.COPY and found.parts[1].op is Ops.COPY
    assert found.parts[1].src[0].base is found.parts[0].base


def test_a_write_from_one_device_sends_each_shard_once():
    x = halves(4)
    value = UOp(Ops.COPY, dtypes.float, (buffer(4), UOp(Ops.DEVICE, arg=DEVICES)))
    found = became(x.assign(value))
    assert [n.size for n in UOp.sink(*found.parts).toposort() if n.op is Ops.COPY] == [2]


def test_a_move_to_other_devices_gathers_on_neither_side_first():
    x = halves(4)
    found = became(laid_out(x, ("Z", "W"), Shard()))
    assert [part.shape for part in found.parts] == [(4,), (4,)]
    assert [n.size for n in UOp.sink(*found.parts).toposort() if n.op is Ops.COPY] == [2] * 4


def test_a_reduce_that_is_wanted_cut_is_scattered():
    total = halves(4, 6).reduce(Ops.ADD, (0,)).reshape((2, 3)).permute((1, 0))
    found = became(laid_out(total, DEVICES, Shard(1, (0, 1, 2))))
    assert [part.shape for part in found.parts] == [(3, 1), (3, 1)]
    assert [n.size for n in UOp.sink(*found.parts).toposort() if n.op is Ops.COPY] == [3, 3]
