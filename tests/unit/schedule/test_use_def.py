"""Who uses whom, through movement."""

from helpers.graphs import buffer, writes
from weft.schedule.use_def import is_pending, is_stored, uses_in
from weft.uop import UOp


def test_uses_go_through_movement():
    x = buffer(4)
    moved = x.reshape((2, 2)).permute((1, 0))
    total = moved + 1
    found = uses_in(UOp.sink(total))
    assert found.order == [x, total]
    assert [(u.user, u.source) for u in found.of[x]] == [(total, moved)]
    assert list(found.sinks) == [total]


def test_values_written_by_kernels_are_stored():
    x = buffer(4)
    (write,) = writes(x + 1)
    assert is_stored(x) and is_stored(write)
    assert not is_stored(x + 1) and not is_stored(x.assign(x + 1))
    for node in UOp.sink(write * 2, x.assign(x + 1)).toposort():
        assert is_pending(node) is not is_stored(node)
    assert uses_in(UOp.sink(write * 2)).order == [write, write * 2]
