"""Item lowering: from ScheduleItem to ExecItem, which can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.errors import WeftError
from weft.base.provenance import describe
from weft.base.settings import settings
from weft.device import Buffer, registry
from weft.engine import lapack as lapack  # enters its functions into the table
from weft.engine.host_functions import HostCallStep
from weft.engine.process_group import is_local
from weft.engine.programs import bound_program_for
from weft.engine.report import report
from weft.engine.runners import (
    CollectiveStep,
    CopyRunner,
    KernelRunner,
    RemoteKernel,
    ViewRunner,
    cost_of,
)
from weft.engine.stats import stats
from weft.schedule import ScheduleItem
from weft.uop import Ops, UOp


@dataclass(eq=False)
class ExecItem:
    """One runnable step: `prg` on `bufs`.

    `prg.p.uops` is its linear program, `prg.p.src` its source. is_local: whether this process has a
    share in it.
    """

    prg: KernelRunner | CopyRunner | CollectiveStep | HostCallStep | RemoteKernel | ViewRunner
    bufs: tuple[Buffer, ...]
    metadata: tuple[Any, ...] = ()
    values: Mapping[UOp, int] = field(default_factory=dict[UOp, int])
    is_local: bool = True

    def run(self, values: Mapping[UOp, int] | None = None, wait: bool = True) -> float | None:
        """Run it; seconds that it took when `wait`, else None."""
        if not self.is_local:
            return None
        known = self.values if values is None else {**self.values, **values}
        seconds = self.prg(self.bufs, known, wait)
        self._count(seconds, known)
        if settings.DEBUG >= 2:
            report(self, seconds)
        return seconds

    @property
    def places(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of the buffers that it writes, and of those that it reads."""
        if isinstance(self.prg, KernelRunner):
            program = self.prg.p.program
            return program.outs, program.ins
        if isinstance(self.prg, RemoteKernel):
            return self.prg.places
        if isinstance(self.prg, CollectiveStep):
            count = self.prg.ast.arg.devices
            return tuple(range(count)), tuple(range(count, 2 * count))
        if isinstance(self.prg, HostCallStep):
            return (0,), tuple(range(1, len(self.bufs)))
        return (0,), (1,)

    def _count(self, seconds: float | None, known: Mapping[UOp, int]) -> None:
        if isinstance(self.prg, KernelRunner):
            stats.kernels += 1
            ops, nbytes = cost_of(self.prg, known)
            stats.ops += ops
            stats.bytes += nbytes
        elif isinstance(self.prg, (CopyRunner, CollectiveStep)):
            stats.copies += 1
            stats.bytes += self.bufs[0].nbytes
        elif isinstance(self.prg, HostCallStep):
            stats.host_calls += 1
        if seconds is not None:
            stats.seconds += seconds


def lower_schedule_item(item: ScheduleItem, values: Mapping[UOp, int] | None = None) -> ExecItem:
    """Compile the kernel of an item. Raises what code generation and compiler raise, with the
    Tensor methods that the kernel computes, and where they were called."""
    known = values or {}
    if item.ast.op is Ops.COPY:
        return ExecItem(CopyRunner(), item.bufs, item.metadata, known, is_local(item))
    if item.ast.op is Ops.COLLECTIVE:
        devices = [registry.open(buffer.device) for buffer in item.outputs]
        step = CollectiveStep(item.ast, devices)
        return ExecItem(step, item.bufs, item.metadata, known, is_local(item))
    if item.ast.op is Ops.HOST_CALL:
        call = HostCallStep(item.ast, registry.open(item.bufs[0].device))
        return ExecItem(call, item.bufs, item.metadata, known, is_local(item))
    if item.ast.op is Ops.BUFFER_VIEW:
        return ExecItem(ViewRunner(), item.bufs, item.metadata, known)
    if not is_local(item):
        return ExecItem(RemoteKernel(item.ast), item.bufs, item.metadata, known, False)
    try:
        kernel, arguments = bound_program_for(item.ast, item.bufs[0].device)
    except WeftError as error:
        _add_location(error, item)
        raise
    return ExecItem(
        kernel, item.bufs, item.metadata, {**known, **arguments} if arguments else known
    )


def _add_location(error: WeftError, item: ScheduleItem) -> None:
    """Add the lines of user code that the failing kernel computes."""
    from_lines = [describe_metadata(m) for m in item.metadata]
    if from_lines:
        error.add_note("while preparing the kernel of " + ", ".join(dict.fromkeys(from_lines)))


def describe_metadata(metadata: Any) -> str:
    """`name (file:line)` of one recorded Tensor method."""
    from_where = getattr(metadata, "where", None)
    return str(metadata) if from_where is None else f"{metadata} ({describe(from_where)})"
