"""What a device plugin may implement.

A device that computes needs the six hooks that are marked (``weft_compiler`` only where source is
not what is loaded), a storage device the three marked ``**``.

Routing. ``weft_devices`` and ``weft_locate`` are asked of every plugin they concern. Every other
hook names one device and is asked only of the plugins that declared its family: an implementation
never tests whose device it was given, and may leave out any argument it does not need.

Besides the hooks a plugin's module states ``weft_api = (major, minor)``: the version of this file
that it was written for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from weft.device.identity import DeviceFamily, DeviceId
    from weft.device.parts import Allocator, Compiler, Device, GraphRunner, Renderer, Runner
    from weft.device.program import CompiledProgram, Launch

API_VERSION = (1, 0)
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
    it."""


@hookspec(firstresult=True)
def weft_open(id: DeviceId) -> Device:  # **
    """Open one device. Called at most once per id and process.
    Raise DeviceUnavailable when the driver or the hardware is missing, with the reason."""


@hookspec(firstresult=True)
def weft_offline(family: str, arch: str) -> Device | None:
    """A Device of this architecture with no hardware behind it: for goldens, process replay and
    cross-compiling."""


@hookspec(firstresult=True)
def weft_allocator(device: Device) -> Allocator:  # **
    """Who gives and copies this device's bytes. Called once per device."""


@hookspec(firstresult=True)
def weft_renderer(device: Device) -> Renderer | None:  # *
    """Who turns a linear program into source for this device."""


@hookspec(firstresult=True)
def weft_compiler(device: Device) -> Compiler | None:  # *
    """Who turns source into bytes. Its fingerprint keys the disk cache."""


@hookspec(firstresult=True)
def weft_runner(device: Device, program: CompiledProgram) -> Runner | None:  # *
    """Load one program and return what launches it. Called once per program and device."""


@hookspec(firstresult=True)
def weft_graph(device: Device, launches: Sequence[Launch]) -> GraphRunner | None:
    """Bind launches (`ComputeCaps.graph_from` in a row at least) into one replayable submission;
    None to let the engine launch them one by one."""
