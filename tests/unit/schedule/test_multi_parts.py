"""Parts cut, carried and joined, as graphs: no device is needed to see what is copied."""

import pytest

from helpers.graphs import buffer
from weft.base.dtype import dtypes
from weft.schedule.multi_parts import (
    EVERYWHERE,
    Sharded,
    computed_on,
    concatenated,
    constant,
    copied,
    gathered,
    resharded,
    sliced,
)
from weft.uop import Ops, Shard, UOp

HALVES = Shard(0, (0, 2, 4))


def copies(*nodes):
    """How many elements are copied, each COPY by itself."""
    return [n.size for n in UOp.sink(*nodes).toposort() if n.op is Ops.COPY]


def two(size=2):
    return Sharded(
        (buffer(size), buffer(size, device="Y")), ("X", "Y"), Shard(0, (0, size, 2 * size))
    )


def test_a_cut_is_a_window_and_the_whole_is_itself():
    x = buffer(4)
    assert sliced(x, None, 0, 0) is x and sliced(x, 0, 0, 4) is x
    assert sliced(x, 0, 1, 3) is x.shrink(((1, 3),))
    empty = sliced(x, 0, 2, 2)
    assert empty.base.op is Ops.CONST and empty.shape == (0,) and empty.device == "X"


def test_constants_and_counters_are_made_where_they_are_wanted():
    count = UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg="X"),), 4)
    there = copied(count + 1, "Y")
    assert there.device == "Y" and not copies(there)
    number = copied(UOp.const(dtypes.float, 2.0), "Y")
    assert number.op is Ops.CONST and number.device == "Y"
    spread_out = UOp.const(dtypes.float, 2.0).reshape((1,)).expand((3,))
    assert computed_on(spread_out, "Y").device == "Y"
    assert computed_on(buffer(), "Y") is None


def test_expanded_values_are_expanded_after_the_copy():
    x = buffer(4).reshape((1, 4)).expand((100, 4))
    there = copied(x, "Y")
    assert there.shape == (100, 4) and there.device == "Y" and copies(there) == [4]
    assert copied(x, "X") is x


def test_pieces_are_joined_without_arithmetic_on_their_values():
    left, right = buffer(2), buffer(3)
    whole = concatenated([(0, left), (2, right)], 0, 5)
    assert whole.op is Ops.WHERE and whole.shape == (5,)
    assert concatenated([(0, left)], 0, 2) is left


def test_gathering_copies_only_remote_shards():
    spread = two()
    assert copies(gathered(spread, (4,), "X")) == [2]
    assert copies(gathered(spread, (4,), "Z")) == [2, 2]
    whole = Sharded(spread.parts, spread.devices)
    assert gathered(whole, (2,), "Y") is spread.parts[1]


@pytest.mark.parametrize("shard", [HALVES, EVERYWHERE, Shard(0, (0, 3, 4))], ids=str)
def test_redistribution_copies_only_missing_elements(shard):
    spread = two()
    found = resharded(spread, (4,), spread.devices, shard)
    assert [part.shape for part in found.parts] == [shard.local_shape((4,), i) for i in range(2)]
    assert [part.device for part in found.parts] == ["X", "Y"]
    lacking = {HALVES: 0, EVERYWHERE: 4, Shard(0, (0, 3, 4)): 1}[shard]
    assert sum(copies(*found.parts)) == lacking


def test_a_cut_along_another_axis_is_an_exchange_of_blocks():
    parts = tuple(buffer(8, device=d).reshape((2, 4)) for d in "XY")
    spread = Sharded(parts, ("X", "Y"), Shard(0, (0, 2, 4)))
    found = resharded(spread, (4, 4), ("X", "Y"), Shard(1, (0, 2, 4)))
    assert [part.shape for part in found.parts] == [(4, 2), (4, 2)]
    assert copies(*found.parts) == [4, 4]


def test_empty_parts_are_constants():
    found = resharded(two(), (4,), ("X", "Y", "Z"), Shard(0, (0, 4, 4, 4)))
    assert [part.shape for part in found.parts] == [(4,), (0,), (0,)]
    assert found.parts[2].device == "Z" and found.parts[2].base.op is Ops.CONST


def test_constant_of_rank_zero_has_no_movement():
    assert constant(dtypes.int, 3, (), "X").op is Ops.CONST
