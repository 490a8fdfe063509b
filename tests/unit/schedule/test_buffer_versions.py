"""What a version of memory is called, however the graph is rebuilt."""

from helpers.graphs import buffer
from weft.schedule.buffer_versions import version_of, written_versions
from weft.uop import Ops, UOp


def test_versions_count_the_writes_below():
    a = buffer()
    first = a.assign(a + 1)
    second = first.reshape((2, 2)).assign(first.reshape((2, 2)) * 2)
    assert [version_of(v) for v in (a, first, second)] == [(a, 0), (a, 1), (a, 2)]
    assert version_of(second.permute((1, 0))) == (a, 2)


def test_the_value_that_is_written_does_not_matter():
    a = buffer()
    assert version_of(a.assign(a + 1)) == version_of(a.assign(a * 2))


def test_copies_are_identified_by_their_tag():
    a = buffer()
    kept = UOp(Ops.CONTIGUOUS, a.dtype, (a,), ("kept", 3))
    assert version_of(kept) == (("kept", 3), 0)
    assert version_of(kept.assign(a)) == (("kept", 3), 1)


def test_only_pending_writes_count():
    a, b = buffer(), buffer()
    first = a.assign(b)
    second = first.assign(first + 1)
    assert written_versions(UOp.sink(second)) == {(a, 0), (a, 1)}
    done = UOp(Ops.ASSIGN, a.dtype, (a, UOp(Ops.KERNEL, src=(a, b))))
    assert written_versions(UOp.sink(done + b.assign(a))) == {(b, 0)}
