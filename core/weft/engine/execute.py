"""Run a schedule, item by item, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.base import trace
from weft.base.settings import settings
from weft.device import registry
from weft.engine.lower_items import ExecItem, lower_schedule_item
from weft.engine.report import report_schedule
from weft.engine.stats import stats
from weft.schedule import ScheduleItem
from weft.uop import UOp


def lower_schedule(
    items: Iterable[ScheduleItem], values: Mapping[UOp, int] | None = None
) -> list[ExecItem]:
    """Everything compiled before anything runs, so that a kernel that cannot be compiled changes
    no memory."""
    return [lower_schedule_item(item, values) for item in items]


def run_schedule(items: Iterable[ScheduleItem], values: Mapping[UOp, int] | None = None) -> None:
    """Compile and run `items`. Values are those of the variables, as the schedule gave them."""
    items = list(items)
    if settings.DEBUG >= 3:
        report_schedule(items)
    steps = lower_schedule(items, values)
    # without anybody to read them, times are not worth waiting for
    wait = stats.timing or settings.DEBUG >= 2 or trace.enabled()
    for step in steps:
        with trace.span("run", name=step.prg.name):
            step.run(wait=wait)
    if not wait:
        _wait_for({buffer.device for step in steps for buffer in step.bufs})


def _wait_for(devices: set[str]) -> None:
    for device in devices:
        registry.open(device).synchronize()
