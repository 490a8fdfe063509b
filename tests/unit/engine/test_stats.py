"""Counters of what has run."""

from helpers.schedules import floats, scheduled
from weft.engine import run_schedule, stats
from weft.uop import Ops


def test_the_counters_count():
    items, _ = scheduled((floats(1, 2) * 3.0).reshape((1, 2)).reduce(Ops.ADD, (1,)).reshape((1,)))
    before = stats.kernels, stats.bytes, stats.ops
    run_schedule(items)
    assert stats.kernels == before[0] + len(items)
    assert stats.bytes > before[1] and stats.ops > before[2]


def test_peak_of_planned_memory():
    stats.reset()
    stats.count_intermediates(100, 250)
    stats.count_intermediates(50, 900)
    assert (stats.planned_bytes, stats.unplanned_bytes) == (100, 250)
    stats.reset()
    assert (stats.planned_bytes, stats.unplanned_bytes) == (0, 0)
