"""Kernel scheduling: convert a tensor graph to an ordered list of kernels and copies."""

from __future__ import annotations

from weft.schedule.arange import is_counter
from weft.schedule.assigns import preserved_copy
from weft.schedule.context import ScheduleContext
from weft.schedule.item import ScheduleItem, stored_slots
from weft.schedule.item_order import (
    create_schedule_with_vars,
    kernel_writes,
    overwritten_by,
    sorted_writes,
)
from weft.schedule.kernel_ast import TwoValues
from weft.schedule.kernels import root_buffer
from weft.schedule.memory_planning import Layout, Lifetime, plan_memory
from weft.schedule.multi import layout_of
from weft.schedule.pipeline import kernelize_map
from weft.schedule.schedule_template import (
    BoundSchedule,
    NewMemory,
    ScheduleTemplate,
    placeholder,
)

__all__ = [
    "BoundSchedule",
    "Layout",
    "Lifetime",
    "NewMemory",
    "ScheduleContext",
    "ScheduleItem",
    "ScheduleTemplate",
    "TwoValues",
    "create_schedule_with_vars",
    "is_counter",
    "kernel_writes",
    "kernelize_map",
    "layout_of",
    "overwritten_by",
    "placeholder",
    "plan_memory",
    "preserved_copy",
    "root_buffer",
    "sorted_writes",
    "stored_slots",
]
