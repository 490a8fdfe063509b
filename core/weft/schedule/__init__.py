"""Kernel scheduling: turn a tensor graph into an ordered list of kernels and copies."""

from __future__ import annotations

from weft.schedule.context import ScheduleContext
from weft.schedule.item import ScheduleItem
from weft.schedule.item_order import (
    create_schedule_with_vars,
    kernel_writes,
    overwritten_by,
    sorted_writes,
)
from weft.schedule.kernels import root_buffer
from weft.schedule.memory_planning import Layout, Lifetime, plan_memory
from weft.schedule.multi import layout_of
from weft.schedule.pipeline import kernelize_map

__all__ = [
    "Layout",
    "Lifetime",
    "ScheduleContext",
    "ScheduleItem",
    "create_schedule_with_vars",
    "kernel_writes",
    "kernelize_map",
    "layout_of",
    "overwritten_by",
    "plan_memory",
    "root_buffer",
    "sorted_writes",
]
