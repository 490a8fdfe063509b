"""Apple GPUs as weft devices: Metal Shading Language, command buffers, memory shared with the host.

Every part is in the file of its name; this one answers the hooks. Importing loads nothing native:
the Metal framework is imported when a device is opened; if it is missing, opening says why.
Architectures that are not here can be generated code for by name (`weft_offline`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.plugin import (
    Allocator,
    CompiledProgram,
    CStyleRenderer,
    Device,
    DeviceFamily,
    DeviceId,
    GraphRunner,
    Launch,
    hookimpl,
)
from weft_metal.allocator import SharedAllocator
from weft_metal.capabilities import ARCHITECTURES, describe
from weft_metal.compiler import MetalCompiler
from weft_metal.gpu import Gpu
from weft_metal.graph import OneSubmission
from weft_metal.indirect import IndirectGraph
from weft_metal.renderer import MetalRenderer
from weft_metal.runner import PipelineRunner

weft_api = (1, 0)


class OfflineGpu(Device):
    """A GPU that is not here: sources for it can be generated and read, nothing runs."""


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family, numbered as the system lists its GPUs; the system's own choice is the first."""
    return [DeviceFamily("METAL", priority=40, about="Apple GPUs, with Metal")]


@hookimpl
def weft_open(id: DeviceId) -> Gpu:
    """:raises DeviceUnavailable: without the framework, or without such a GPU."""
    return Gpu(id)


@hookimpl
def weft_offline(arch: str) -> Device | None:
    """A GPU family to generate code for: apple7 (M1), apple8 (M2) or apple9 (M3 and later)."""
    if arch not in ARCHITECTURES:
        return None
    return OfflineGpu(DeviceId("METAL", arch), describe(arch, f"offline {arch}", arch))


@hookimpl
def weft_allocator(device: Gpu) -> Allocator[Any]:
    """Buffers in shared storage."""
    return SharedAllocator(device)


@hookimpl
def weft_renderer() -> CStyleRenderer:
    """Metal Shading Language."""
    return MetalRenderer()


@hookimpl
def weft_compiler(device: Device) -> MetalCompiler | None:
    """The framework's own compiler; none for a GPU that is not here."""
    return MetalCompiler(device) if isinstance(device, Gpu) else None


@hookimpl
def weft_runner(device: Gpu, program: CompiledProgram) -> PipelineRunner:
    """A compute pipeline."""
    return PipelineRunner(device, program)


@hookimpl
def weft_graph(device: Gpu, launches: Sequence[Launch]) -> GraphRunner | None:
    """An indirect command buffer where the GPU has them, otherwise all in one command buffer."""
    return IndirectGraph.of(device, launches) or OneSubmission(device, launches)
