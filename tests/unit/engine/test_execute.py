"""Schedules run in order, on the reference device."""

import pytest

from helpers.schedules import floats, read, scheduled
from weft.base import trace
from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.engine import run_schedule
from weft.schedule import Layout, ScheduleItem
from weft.uop import Ops, UOp


def test_a_schedule_computes():
    items, result = scheduled(floats(1, 2, 3) * floats(4, 5, 6) + 1.0)
    run_schedule(items)
    assert read(result) == [5, 11, 19]


def test_everything_is_compiled_before_anything_runs():
    good, _ = scheduled(floats(1, 2) + 1.0)
    x = floats(1, 2)
    target = good[0].ast.src[0].src[0]
    broken = ScheduleItem(
        UOp.sink(target.store(UOp(Ops.UNIQUE, dtypes.float, arg=0))), good[0].bufs
    )
    with pytest.raises(SpecError, match="no value inside a kernel"):
        run_schedule([*good, broken])
    assert not good[0].bufs[0].is_allocated
    assert read(x) == [1, 2]


def test_steps_and_arenas_are_published():
    items, result = scheduled(floats(1, 2) * 31.0)
    events = []
    stop = trace.subscribe(events.append, only=["run", "arenas"])
    try:
        run_schedule(items, layout=Layout({}, (("REF", 64),), 128))
    finally:
        stop()
    arenas, run = events
    assert (arenas.name, arenas.facts["planned"], arenas.facts["unplanned"]) == ("arenas", 64, 128)
    assert (run.name, run.facts["device"]) == ("run", "REF") and run.facts["seconds"] >= 0
    assert read(result) == [31, 62]
