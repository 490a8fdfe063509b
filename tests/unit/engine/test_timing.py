"""The stopwatch leaves out what a thread waited for a processor, and never more than there was."""

from __future__ import annotations

import itertools

import pytest

from weft.engine import timing
from weft.engine.timing import timed, wait_time


@pytest.fixture
def clock(monkeypatch):
    """Seconds pass as given: (at each read of the clock, waited at each read)."""

    def go(times, waits, others=(0.0, 0.0)):
        monkeypatch.setattr(timing, "perf_counter", itertools.chain(times).__next__)
        monkeypatch.setattr(timing, "wait_time", itertools.chain(waits).__next__)
        monkeypatch.setattr(timing, "_other_threads_time", itertools.chain(others).__next__)
        return timed(lambda: "result")

    return go


def test_time_without_waiting_is_from_call_to_return(clock):
    assert clock([0.0, 1.0, 3.0], [5.0, 5.0]) == (2.0, "result")


def test_waiting_is_taken_off_all_that_it_may_lie_in(clock):
    assert clock([0.0, 1.0, 9.0, 10.0], [5.0, 11.0]) == (4.0, "result")


def test_waiting_while_other_threads_worked_stays_in(clock):
    assert clock([0.0, 1.0, 9.0], [5.0, 11.0], [2.0, 4.0]) == (8.0, "result")
    assert clock([0.0, 1.0, 9.0, 10.0], [5.0, 11.0], [2.0, 2.1]) == (4.0, "result")


def test_a_real_call_takes_some_time():
    seconds, total = timed(lambda: sum(range(1000)))
    assert 0 < seconds < 60 and total == 499500


def test_nothing_takes_less_than_no_time(clock):
    assert clock([0.0, 1.0, 2.0, 3.0], [0.0, 7.0]) == (0.0, "result")


def test_wait_time_is_zero_without_system_counters(monkeypatch, tmp_path):
    assert wait_time() >= 0.0
    monkeypatch.setattr(timing, "_COUNTED", False)
    assert wait_time() == 0.0
    monkeypatch.setattr(timing, "_COUNTED", True)
    for name, text in (("none", None), ("short", "12"), ("odd", "a b c")):
        if text is not None:
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(timing, "_FILE", str(tmp_path / name))
        assert wait_time() == 0.0
    (tmp_path / "good").write_text("12 2500000000 7\n")
    monkeypatch.setattr(timing, "_FILE", str(tmp_path / "good"))
    assert wait_time() == 2.5
