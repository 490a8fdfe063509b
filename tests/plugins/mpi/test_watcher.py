"""Ranks that wait for each other, as the watcher of faults decides it."""

import pytest

watcher = pytest.importorskip("weft_mpi.watcher")


def wait(what, *ranks, number=1):
    return watcher.Wait(number, what, ranks, 0.0)


def test_ranks_of_one_exchange_go_on():
    assert not watcher.is_deadlock([wait("sum", 0, 1, number=3), wait("sum", 0, 1, number=5)])


def test_exchanges_of_two_groups_go_on():
    states = [wait("sum a", 0, 1), wait("sum a", 0, 1), wait("sum b", 2, 3), wait("sum b", 2, 3)]
    assert not watcher.is_deadlock(states)


def test_a_message_goes_on_while_others_wait_for_its_ranks():
    states = [wait("message", 0, 1), wait("message", 0, 1), wait("sum", 0, 1, 2)]
    assert not watcher.is_deadlock(states)


def test_different_exchanges_wait_for_each_other():
    assert watcher.is_deadlock([wait("sum", 0, 1), wait("maximum", 0, 1)])
    ring = [wait("message 0 1", 0, 1), wait("message 1 2", 1, 2), wait("message 2 0", 2, 0)]
    assert watcher.is_deadlock(ring)


def test_a_rank_that_computes_is_waited_for():
    assert not watcher.is_deadlock([wait("sum", 0, 1), None])
