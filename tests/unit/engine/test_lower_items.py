"""ScheduleItem -> ExecItem."""

from helpers.schedules import floats, read, scheduled
from weft.engine import lower_schedule_item
from weft.uop import Ops


def test_an_item_is_lowered_to_something_that_runs():
    (item,), result = scheduled(floats(1, 2) + floats(3, 4))
    step = lower_schedule_item(item)
    assert step.bufs == item.bufs
    assert Ops.STORE in [u.op for u in step.prg.p.uops]
    assert step.prg.p.name in step.prg.p.src
    assert step.run() >= 0
    assert read(result) == [4, 6]
