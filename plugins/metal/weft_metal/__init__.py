"""Apple GPUs as weft devices: Metal Shading Language, command buffers, memory shared with the host.

Every part is in the file of its name; this one answers the hooks. Importing loads nothing native:
the Metal framework is imported when a device is opened; if it is missing, opening says why.
Hooks import what they need: where the framework is missing, nothing else is imported.
Architectures that are not here can be generated code for by name (`weft_offline`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft.plugin import (
    Allocator,
    CompiledProgram,
    Device,
    DeviceFamily,
    DeviceId,
    GraphRunner,
    Launch,
    hookimpl,
)

if TYPE_CHECKING:
    from weft.plugin import CStyleRenderer
    from weft_metal.compiler import MetalCompiler
    from weft_metal.gpu import Gpu
    from weft_metal.runner import PipelineRunner

weft_api = (1, 0)


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family, numbered as the system lists its GPUs; the system's own choice is the first."""
    return [DeviceFamily("METAL", priority=40, about="Apple GPUs, with Metal")]


@hookimpl
def weft_open(id: DeviceId) -> Gpu:
    """:raises DeviceUnavailable: without the framework, or without such a GPU."""
    from weft_metal.framework import load_framework

    load_framework()  # first: it is missing on most systems
    from weft_metal.gpu import Gpu

    return Gpu(id)


@hookimpl
def weft_offline(arch: str) -> Device | None:
    """A GPU family to generate code for: apple7 (M1), apple8 (M2) or apple9 (M3 and later)."""
    from weft_metal.offline import offline_gpu

    return offline_gpu(arch)


@hookimpl
def weft_allocator(device: Gpu) -> Allocator[Any]:
    """Buffers in shared storage."""
    from weft_metal.allocator import SharedAllocator

    return SharedAllocator(device)


@hookimpl
def weft_renderer() -> CStyleRenderer:
    """Metal Shading Language."""
    from weft_metal.renderer import MetalRenderer

    return MetalRenderer()


@hookimpl
def weft_compiler(device: Device) -> MetalCompiler | None:
    """The framework's own compiler; none for a GPU that is not here."""
    from weft_metal.compiler import MetalCompiler
    from weft_metal.gpu import Gpu

    return MetalCompiler(device) if isinstance(device, Gpu) else None


@hookimpl
def weft_runner(device: Gpu, program: CompiledProgram) -> PipelineRunner:
    """A compute pipeline."""
    from weft_metal.runner import PipelineRunner

    return PipelineRunner(device, program)


@hookimpl
def weft_graph(device: Gpu, launches: Sequence[Launch]) -> GraphRunner | None:
    """An indirect command buffer where the GPU has them, otherwise all in one command buffer."""
    from weft_metal.graph import OneSubmission
    from weft_metal.indirect import IndirectGraph

    return IndirectGraph.of(device, launches) or OneSubmission(device, launches)
