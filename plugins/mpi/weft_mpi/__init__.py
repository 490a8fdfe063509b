"""Ranks of an MPI program as weft devices: ``MPI:r`` is the device of rank r.

Every rank runs the same program and makes the same schedules. It runs the kernels of its own
device, and exchanges values with the others by MPI. Importing this module does not start MPI:
opening a device does.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import (
    Allocator,
    Collective,
    CollectiveRunner,
    CompiledProgram,
    Compiler,
    Device,
    DeviceFamily,
    DeviceId,
    DType,
    GraphRunner,
    Launch,
    Renderer,
    Runner,
    hookimpl,
)
from weft_mpi.comparison import compare
from weft_mpi.exchange import Exchange
from weft_mpi.rank_device import RankDevice, canonical, open_rank
from weft_mpi.rank_memory import LocalMemory, PlannedMemory, RemoteMemory

weft_api = (1, 1)


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family; its numbers are the ranks. It is never the default device."""
    about = "processes of an MPI program: MPI:<rank> is the device of one of them"
    return [DeviceFamily("MPI", priority=-10, canonical=canonical, about=about)]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """Starts MPI at the first call, which every rank has to make.

    :raises DeviceUnavailable: if there is no MPI, no such rank, or a difference between ranks.
    """
    return open_rank(id)


@hookimpl
def weft_allocator(device: RankDevice) -> Allocator:
    """The memory of the device below; of other ranks, numbers without memory."""
    if not device.is_own:
        return RemoteMemory(device)
    planned = device.process.planned
    return LocalMemory(device) if planned is None or not planned.rates else PlannedMemory(device)


@hookimpl
def weft_renderer(device: RankDevice) -> Renderer:
    """That of the device below."""
    return device.below.renderer


@hookimpl
def weft_compiler(device: RankDevice) -> Compiler | None:
    """That of the device below."""
    return device.below.compiler


@hookimpl
def weft_runner(device: RankDevice, program: CompiledProgram) -> Runner:
    """That of the device below. Kernels of other ranks are not loaded here."""
    runner = device.below.runner(program)
    planned = device.process.planned
    return runner if planned is None else planned.runner(runner, program)


@hookimpl
def weft_graph(device: RankDevice, launches: Sequence[Launch]) -> GraphRunner | None:
    """That of the device below."""
    return None if device.process.planned else device.below.graph(launches)


@hookimpl
def weft_collective(
    devices: Sequence[RankDevice], collective: Collective, dtype: DType
) -> CollectiveRunner:
    """One call of MPI."""
    return Exchange(devices, collective, dtype)


@hookimpl
def weft_schedule(devices: Sequence[RankDevice], items: Sequence[str]) -> None:
    """Compare the schedule with those of the other ranks."""
    compare(devices, items)
