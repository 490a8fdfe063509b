"""Kernel scheduling: turn a tensor graph into an ordered list of kernels and copies."""

from __future__ import annotations

from weft.schedule.context import ScheduleContext
from weft.schedule.item import ScheduleItem
from weft.schedule.item_order import create_schedule_with_vars, kernel_writes, sorted_writes
from weft.schedule.memory_planning import Layout
from weft.schedule.multi import layout_of
from weft.schedule.pipeline import kernelize_map

__all__ = [
    "Layout",
    "ScheduleContext",
    "ScheduleItem",
    "create_schedule_with_vars",
    "kernel_writes",
    "kernelize_map",
    "layout_of",
    "sorted_writes",
]
