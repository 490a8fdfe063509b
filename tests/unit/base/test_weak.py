"""Weak containers that run no Python when a member dies."""

import gc
import sys

import pytest

from weft.base.weak import WeakKeys, WeakMembers


class Thing:
    pass


def test_a_mapping_drops_dead_keys():
    one, other = Thing(), Thing()
    table = WeakKeys({one: 1})
    table[other] = 2
    assert (table[one], table.get(other), table.get(Thing(), 7)) == (1, 2, 7)
    assert one in table and Thing() not in table and len(table) == 2
    assert table.setdefault(one, 5) == 1
    assert table.items() == [(one, 1), (other, 2)]
    table[one] = 3
    assert dict(table.items()) == {one: 3, other: 2}
    del table[other]
    with pytest.raises(KeyError):
        table[other]
    del other, one
    assert len(table) == 0 and table.items() == []


def test_a_set_drops_dead_members():
    one, other = Thing(), Thing()
    members = WeakMembers([one, one])
    members.add(other)
    assert list(members) == [one, other] and one in members and len(members) == 2
    members.discard(other)
    members.discard(other)
    assert list(members) == [one] and other not in members
    members.add(other)
    ring = [one]
    ring.append(ring)
    del one, ring
    gc.collect()
    assert list(members) == [other]


@pytest.mark.parametrize("kind", [WeakKeys, WeakMembers])
def test_no_python_runs_when_a_member_dies(kind):
    thing = Thing()
    table = kind({thing: 1}) if kind is WeakKeys else kind([thing])
    called = []
    sys.setprofile(lambda frame, event, _: called.append(event))
    del thing
    sys.setprofile(None)
    assert len(table) == 0 and set(called) <= {"c_call", "c_return"}
