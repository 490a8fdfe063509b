"""OpenCL devices as weft devices: OpenCL C, the driver's own compiler, pyopencl.

Every part is in the file of its name; this one answers the hooks. ``OPENCL:1`` is the second device
(graphics processors come first), ``OPENCL:pocl`` the first one whose platform or device is called
something like that. Importing touches nothing: hooks import what they need, pyopencl when a device
is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.plugin import (
    Allocator,
    CompiledProgram,
    Device,
    DeviceFamily,
    DeviceId,
    DeviceUnavailable,
    Launch,
    hookimpl,
)
from weft_opencl.locators import spell

if TYPE_CHECKING:
    from weft_opencl.allocator import Memory
    from weft_opencl.compiler import DriverCompiler
    from weft_opencl.driver import OpenCLDevice
    from weft_opencl.graph import LaunchGraph
    from weft_opencl.offline import OfflineDevice
    from weft_opencl.renderer import OpenCLRenderer
    from weft_opencl.runner import KernelRunner

weft_api = (1, 0)


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family. A processor's own device is quicker than OpenCL on it, so that goes first."""
    return [
        DeviceFamily("OPENCL", priority=5, canonical=spell, about="OpenCL devices, by pyopencl")
    ]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """:raises DeviceUnavailable: without pyopencl, without a driver, without such a device."""
    from weft_opencl.driver import open_device

    return open_device(id)


@hookimpl
def weft_offline(arch: str) -> Device | None:
    """A device to generate code for: ``pocl``, OpenCL on an x86-64 processor, or ``gpu``, what
    most graphics processors have: halves and doubles, groups of 256, 32 KiB of local memory."""
    from weft_opencl.offline import offline_device

    return offline_device(arch.lower())


@hookimpl
def weft_allocator(device: Device) -> Allocator[Memory]:
    """:raises DeviceUnavailable: if the device is not here."""
    from weft_opencl.allocator import BufferAllocator
    from weft_opencl.driver import OpenCLDevice

    if isinstance(device, OpenCLDevice):
        return BufferAllocator(device)
    raise DeviceUnavailable(
        "this device is not here",
        asked=f"memory of {device.id}",
        because="it was made to generate code for, with nothing behind it",
    )


@hookimpl
def weft_renderer(device: OpenCLDevice | OfflineDevice) -> OpenCLRenderer:
    """The renderer for the OpenCL C of this device."""
    from weft_opencl.renderer import OpenCLRenderer

    return OpenCLRenderer(device.facts)


@hookimpl
def weft_compiler(device: Device) -> DriverCompiler | None:
    """The driver's compiler; None where there is no driver."""
    from weft_opencl.compiler import DriverCompiler
    from weft_opencl.driver import OpenCLDevice

    return DriverCompiler(device) if isinstance(device, OpenCLDevice) else None


@hookimpl
def weft_graph(device: Device, launches: Sequence[Launch]) -> LaunchGraph | None:
    """The launches with their arguments kept between replays; None if some are of others."""
    from weft_opencl.driver import OpenCLDevice
    from weft_opencl.graph import LaunchGraph

    return LaunchGraph.of(device, launches) if isinstance(device, OpenCLDevice) else None


@hookimpl
def weft_runner(device: OpenCLDevice, program: CompiledProgram) -> KernelRunner:
    """A kernel of the loaded program on the device's queue."""
    from weft_opencl.runner import KernelRunner

    return KernelRunner(device, program)
