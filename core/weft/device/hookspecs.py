"""Hook specifications: what a device plugin may implement.

A device that computes needs the six hooks that are marked (``weft_compiler`` only where source is
not what is loaded), a storage device the three marked ``**``.

Routing. ``weft_devices`` and ``weft_locate`` are called on every plugin they concern. Every other
hook names one device and is called only on the plugins that declared its family: an implementation
need not test which device it was given, and may leave out any argument it does not use.

A plugin's module also states ``weft_api = (major, minor)``: the version of this file that it was
written for.
"""

# pyright: reportReturnType=false
# A specification has no body that could return.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import pluggy

from weft.base.deferred_dataclass import dataclass

if TYPE_CHECKING:
    from weft.base.dtype import DType
    from weft.device.identity import DeviceFamily, DeviceId
    from weft.device.machine import MachineFact
    from weft.device.parts import (
        Allocator,
        CollectiveRunner,
        Compiler,
        Device,
        GraphRunner,
        Renderer,
        Runner,
    )
    from weft.device.program import CompiledProgram, Launch
    from weft.uop import Collective

API_VERSION = (1, 1)
"""Of the hooks and of what they exchange: a plugin's major must equal ours, its minor not exceed
it."""

PROJECT = "weft"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def weft_devices() -> Iterable[DeviceFamily]:  # **
    """Declare the families this plugin serves, or extends. Called once; must not import drivers nor
    touch hardware."""


@hookspec(firstresult=True)
def weft_locate(source: str | PathLike[str]) -> DeviceId | None:
    """Say which device already holds this file or URL; None if it is not for you. Must not open
    it. The entry-point group ``weft.locations`` names the schemes of a plugin (``file`` for paths):
    for other sources it is not imported."""


@hookspec(firstresult=True)
def weft_open(id: DeviceId) -> Device:  # **
    """Open one device. Called at most once per id and process.
    Raise DeviceUnavailable when the driver or the hardware is missing, with the reason."""


@hookspec(firstresult=True)
def weft_offline(family: str, arch: str) -> Device | None:
    """A Device of this architecture with no hardware behind it: for goldens, process replay and
    cross-compiling."""


@hookspec(firstresult=True)
def weft_measure(device: Device) -> Iterable[MachineFact] | None:
    """Measure the machine of this device, for ``weft tune``: yield each fact once it is known. Keep
    them: a device that is opened later has them in ``ComputeCaps.machine``. None: there is nothing
    to measure."""


@hookspec(firstresult=True)
def weft_allocator(device: Device) -> Allocator[Any]:  # **
    """The allocator, which allocates and copies this device's memory. Called once per device."""


@hookspec(firstresult=True)
def weft_renderer(device: Device) -> Renderer | None:  # *
    """The renderer, which prints a linear program as source for this device."""


@hookspec(firstresult=True)
def weft_compiler(device: Device) -> Compiler | None:  # *
    """The compiler of source to bytes. Its fingerprint is a part of the key of the disk cache."""


@hookspec(firstresult=True)
def weft_runner(device: Device, program: CompiledProgram) -> Runner | None:  # *
    """Load one program and return what launches it. Called once per program and device."""


@hookspec(firstresult=True)
def weft_graph(device: Device, launches: Sequence[Launch]) -> GraphRunner | None:
    """Bind launches (`ComputeCaps.graph_from` in a row at least) into one replayable submission;
    None to let the engine launch them one by one."""


@hookspec(firstresult=True)
def weft_collective(
    devices: Sequence[Device], collective: Collective, dtype: DType
) -> CollectiveRunner | None:
    """Return what carries out a collective of devices of one ``MemoryCaps.collective_group``.
    Called once per collective of a schedule, before the schedule runs."""


@hookspec
def weft_schedule(devices: Sequence[Device], items: Sequence[str]) -> None:
    """Check a schedule before it runs, if some of its devices are not addressable: processes that
    run one program must have equal schedules. `items` has a line per item, in order; what follows
    a tab may differ. Raise DeviceError where they differ."""


# ---- deprecation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deprecation:
    """A hook or a name that will be removed.

    :param name: a hook, ``weft_...``, or a name of ``weft.plugin``.
    :param since: the version of the hooks that deprecates it; the next major one removes it.
    :param successor: what to use instead: a hook, or a name of ``weft.plugin``.
    """

    name: str
    since: tuple[int, int]
    successor: str

    def __str__(self) -> str:
        major, minor = self.since
        return (
            f"{self.name} is deprecated since version {major}.{minor} of the hooks "
            f"and goes with {major + 1}.0: use {self.successor}"
        )


DEPRECATED: tuple[Deprecation, ...] = ()
"""None at present."""


def notes_on(module: object, listed: Sequence[Deprecation] | None = None) -> list[str]:
    """A line for every listed hook that a plugin implements."""
    return [
        str(each)
        for each in (DEPRECATED if listed is None else listed)
        if each.name.startswith("weft_") and hasattr(module, each.name)
    ]


def successor_of(name: str, listed: Sequence[Deprecation] | None = None) -> Deprecation | None:
    """The deprecation of a name of ``weft.plugin``, if any."""
    found = DEPRECATED if listed is None else listed
    return next((each for each in found if each.name == name), None)


def is_due(each: Deprecation) -> bool:
    """Whether it should be removed by now: in the next major version after its deprecation."""
    return each.since[0] < API_VERSION[0]
