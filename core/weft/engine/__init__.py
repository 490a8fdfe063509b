"""From a schedule to results: programs, runners, execution, counters."""

from __future__ import annotations

from weft.engine.execute import lower_schedule, run_again, run_schedule
from weft.engine.host_functions import HOST_FUNCTIONS, HostCallStep
from weft.engine.lower_items import ExecItem, lower_schedule_item
from weft.engine.programs import bound_program_for, forget_programs, program_for
from weft.engine.stats import stats

__all__ = [
    "HOST_FUNCTIONS",
    "ExecItem",
    "HostCallStep",
    "bound_program_for",
    "forget_programs",
    "lower_schedule",
    "lower_schedule_item",
    "program_for",
    "run_again",
    "run_schedule",
    "stats",
]
