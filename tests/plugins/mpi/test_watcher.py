"""Ranks that wait for each other, as the watcher of faults decides it."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

watcher = pytest.importorskip("weft_mpi.watcher")


def wait(what, *ranks, number=1, **begun):
    turn = begun.get(what, 0) + 1
    return watcher.Wait(number, what, ranks, 0.0, {**begun, what: turn}, turn)


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


def test_a_rank_that_is_slow_to_leave_an_exchange_goes_on():
    left = wait("schedules", 0, 1, sum=3)
    assert not watcher.is_deadlock([left, wait("sum", 0, 1, sum=2)])
    assert watcher.is_deadlock([left, wait("sum", 0, 1, sum=3)])


def test_a_rank_that_computes_is_waited_for():
    assert not watcher.is_deadlock([wait("sum", 0, 1), None])


class StalledWait:
    """Stands for the event that ends a watcher: time passes in one wait of a minute."""

    def __init__(self, monkeypatch, waits):
        self.now, self.waits = 0.0, list(waits)
        monkeypatch.setattr(watcher, "monotonic", lambda: self.now)

    def wait(self, seconds):
        if not self.waits:
            return True
        self.now += self.waits.pop(0)
        return False


@pytest.mark.parametrize(("waits", "faults"), [([60.0] * 5, 0), ([0.2] * 30, 1)])
def test_seconds_in_which_the_machine_stalls_are_no_silence(monkeypatch, waits, faults):
    one = watcher.Watcher.__new__(watcher.Watcher)
    one.stopping = StalledWait(monkeypatch, waits)
    one.process = SimpleNamespace(rank=0, size=2, waits_for=None, survives=False)
    one.channel = SimpleNamespace(iprobe=lambda: False)
    one.silence, one.last_beat, one.before, one.after, one.told = 0.0, 0.0, 1, 1, None
    one.neighbour = None
    found = []
    monkeypatch.setattr(one, "_send", lambda *_: None)
    monkeypatch.setattr(
        one, "_fault", lambda text: (found.append(text), one.stopping.waits.clear())
    )
    one._exchange_messages()
    assert len(found) == faults


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_a_stopped_process_cannot_run():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert watcher.can_run(child.pid)
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        assert not watcher.can_run(child.pid)
    finally:
        child.kill()
        child.communicate()
    assert not watcher.can_run(None)
