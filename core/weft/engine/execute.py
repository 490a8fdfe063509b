"""Execution: run a schedule, item by item, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from weft.base import trace
from weft.base.interrupts import Undisturbed
from weft.base.settings import settings
from weft.device import Buffer, registry
from weft.engine.capture import recording
from weft.engine.launch_list import LaunchList, launch_list
from weft.engine.lower_items import ExecItem, lower_schedule_item
from weft.engine.process_group import compare_schedules, is_local
from weft.engine.programs import prepare
from weft.engine.report import report_intermediates, report_schedule
from weft.engine.runners import ViewRunner
from weft.engine.stats import stats
from weft.schedule import BoundSchedule, Layout, ScheduleItem, ScheduleTemplate
from weft.schedule.structural_key import Structure
from weft.uop import Ops, UOp, sharding_seen

_COMPILED, _NO_LIST = object(), object()


def lower_schedule(
    items: Iterable[ScheduleItem], values: Mapping[UOp, int] | None = None
) -> list[ExecItem]:
    """Compile all kernels before the first one runs, so that a compile error changes no memory."""
    items = list(items)
    several = sharding_seen()
    if several:
        compare_schedules(items)
    prepare(
        (item.ast, item.bufs[0].device)
        for item in items
        if item.ast.op is Ops.SINK and (not several or is_local(item))
    )
    return [lower_schedule_item(item, values) for item in items]


def run_schedule(
    items: Iterable[ScheduleItem],
    values: Mapping[UOp, int] | None = None,
    layout: Layout | None = None,
    unneeded: Mapping[int, Sequence[Buffer]] | None = None,
    done: list[ExecItem] | None = None,
) -> None:
    """Compile and run `items`.

    values: of the variables of the schedule. layout: how its intermediates share memory, for the
    statistics. unneeded: by number of the item, memory that may be freed then; it is freed during a
    recording, which keeps all steps alive. done: receives each launched step, so that the position
    of a failure is known; Ctrl-C waits until the step is entered.
    """
    items = list(items)
    if settings.DEBUG >= 3:
        report_schedule(items)
    if layout is not None and layout.arenas:
        _count_intermediates(layout)
    steps = lower_schedule(items, values)
    if (recorder := recording()) is None:
        run_steps(steps, done)
        return
    for place, step in enumerate(steps):
        run_steps([step], done)
        if not isinstance(step.prg, ViewRunner):
            recorder.follow(step)
        for buffer in unneeded.get(place, ()) if unneeded else ():
            if recorder.is_changing(buffer):
                buffer.deallocate()
    recorder.add(steps)


def run_again(
    template: ScheduleTemplate, structure: Structure, bound: Callable[[], BoundSchedule]
) -> BoundSchedule | None:
    """Run a template that has run before, by its launch list. None: it has none, nothing has run.

    bound: binds the template to memory, without items.
    """
    if recording() is not None or stats.timing or trace.enabled():
        return None
    if template.prepared is None:
        template.prepared = _COMPILED  # from this first run on
    elif template.prepared is _COMPILED:
        template.prepared = launch_list(template, structure) or _NO_LIST
    launches = template.prepared
    if launches.__class__ is not LaunchList or settings.DEBUG >= 2:
        return None
    filled = bound()
    if filled.layout.arenas:
        _count_intermediates(filled.layout)
    launches.run(filled.memory)
    return filled


def run_steps(steps: Sequence[ExecItem], done: list[ExecItem] | None = None) -> None:
    """Run compiled items, and wait until all have finished. done: as for `run_schedule`."""
    # without observers, do not wait to measure times
    watched = trace.enabled("run")
    wait = stats.timing or settings.DEBUG >= 2 or watched
    run = _run_traced if watched else ExecItem.run
    if done is None:
        for step in steps:
            run(step, wait=wait)
    else:
        with Undisturbed() as undisturbed:
            for step in steps:
                run(step, wait=wait)
                done.append(step)
                undisturbed.pause()
    if not wait:
        _wait_for({buffer.device for step in steps for buffer in step.bufs})


def _run_traced(step: ExecItem, wait: bool) -> None:
    """Run a step inside a trace span."""
    with trace.span("run", name=step.prg.name, device=step.bufs[0].device) as span:
        seconds = step.run(wait=wait)
        program = step.prg.p and step.prg.p.program
        span.note(seconds=seconds, program=program, metadata=step.metadata)


def _count_intermediates(layout: Layout) -> None:
    """Add the memory of intermediates to the statistics."""
    stats.count_intermediates(layout.planned, layout.unplanned)
    trace.point("arenas", arenas=layout.arenas, planned=layout.planned, unplanned=layout.unplanned)
    if settings.DEBUG >= 2:
        report_intermediates(layout)


def _wait_for(devices: set[str]) -> None:
    for device in devices:
        registry.open(device).synchronize()
