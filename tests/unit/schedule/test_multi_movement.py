"""What movement does to a cut."""

import pytest

from helpers.graphs import buffer
from weft.schedule.multi_movement import moved_parts, reshaped_bounds
from weft.schedule.multi_parts import Sharded
from weft.uop import Ops, Shard, UOp
from weft.uop.sharding import stacked


def moved(shape, shard, move):
    """(node, parts) of a movement over a value of `shape` in two parts."""
    parts = []
    for place, device in enumerate("XY"):
        local = shard.local_shape(shape, place)
        size = 1
        for extent in local:
            size *= extent
        parts.append(buffer(size, device=device).reshape(local))
    node = move(stacked(parts, shard))
    return node, moved_parts(node, Sharded(tuple(parts), ("X", "Y"), shard))


@pytest.mark.parametrize(
    ("old", "axis", "bounds", "new", "expected"),
    [
        ((4, 6), 0, (0, 2, 4), (24,), Shard(0, (0, 12, 24))),
        ((4, 6), 0, (0, 2, 4), (4, 2, 3), Shard(0, (0, 2, 4))),
        ((4, 6), 0, (0, 2, 4), (2, 12), Shard(0, (0, 1, 2))),
        ((4, 6), 0, (0, 1, 4), (2, 12), None),
        ((4, 6), 1, (0, 3, 6), (24,), None),
        ((4, 6), 1, (0, 3, 6), (4, 1, 6), Shard(2, (0, 3, 6))),
        ((4, 6), 1, (0, 3, 6), (2, 2, 6, 1), Shard(2, (0, 3, 6))),
        ((24,), 0, (0, 12, 24), (4, 6), Shard(0, (0, 2, 4))),
        ((24,), 0, (0, 13, 24), (4, 6), None),
        ((1, 4), 0, (0, 1, 1), (4,), Shard(0, (0, 4, 4))),
        ((0, 8), 1, (0, 4, 8), (0, 4), None),
    ],
)
def test_a_reshape_keeps_the_cut_where_whole_blocks_lie_in_one_part(
    old, axis, bounds, new, expected
):
    assert reshaped_bounds(Shard(axis, bounds), old, new) == expected


def test_a_permute_takes_the_cut_along():
    _, found = moved((4, 6), Shard(1, (0, 4, 6)), lambda x: x.permute((1, 0)))
    assert found.shard == Shard(0, (0, 4, 6))
    assert [part.shape for part in found.parts] == [(4, 4), (2, 4)]


def test_an_expand_of_another_axis_is_local_and_of_the_cut_one_is_not():
    _, found = moved((1, 4), Shard(1, (0, 2, 4)), lambda x: x.expand((3, 4)))
    assert [part.shape for part in found.parts] == [(3, 2), (3, 2)]
    assert moved((1, 4), Shard(0, (0, 1, 1)), lambda x: x.expand((3, 4)))[1] is None


def test_a_pad_along_the_cut_grows_the_parts_at_the_edges():
    _, found = moved((4,), Shard(0, (0, 2, 4)), lambda x: x.pad(((1, 3),)))
    assert found.shard == Shard(0, (0, 3, 8))
    assert [part.arg for part in found.parts] == [((1, 0),), ((0, 3),)]


def test_a_shrink_along_the_sharded_axis_moves_no_data():
    _, found = moved((6,), Shard(0, (0, 3, 6)), lambda x: x.shrink(((1, 5),)))
    assert found.shard == Shard(0, (0, 2, 4))
    assert [part.arg for part in found.parts] == [((1, 3),), ((0, 2),)]
    _, found = moved((6,), Shard(0, (0, 3, 6)), lambda x: x.shrink(((4, 6),)))
    assert [part.shape for part in found.parts] == [(0,), (2,)]


def test_a_flip_along_the_cut_lets_the_parts_change_places():
    _, found = moved((5,), Shard(0, (0, 3, 5)), lambda x: x.flip((True,)))
    assert found.shard == Shard(0, (0, 2, 5))
    assert [(part.shape, part.device) for part in found.parts] == [((2,), "X"), ((3,), "Y")]
    assert all(part.src[0].base.op is Ops.COPY for part in found.parts)
    _, found = moved((5, 2), Shard(0, (0, 3, 5)), lambda x: x.flip((False, True)))
    assert not any(n.op is Ops.COPY for part in found.parts for n in part.toposort())


def test_movement_of_a_replicated_value():
    parts = (buffer(4), buffer(4, device="Y"))
    node = stacked(parts, Shard()).reshape((2, 2)).permute((1, 0)).src[0]
    found = moved_parts(node, Sharded(parts, ("X", "Y")))
    assert found.shard == Shard() and [part.shape for part in found.parts] == [(2, 2), (2, 2)]
    assert isinstance(node, UOp)
