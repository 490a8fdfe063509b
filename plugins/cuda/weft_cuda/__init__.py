"""NVIDIA GPUs as weft devices: CUDA C++, NVRTC, the driver's interface.

Every part is in the file of its name; this one answers the hooks. Importing touches neither driver
nor hardware. Hooks import what they need: where there is no driver, nothing else is imported.
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
    GraphRunner,
    Launch,
    hookimpl,
)

if TYPE_CHECKING:
    from weft_cuda.compiler import NvrtcCompiler
    from weft_cuda.device import Gpu
    from weft_cuda.offline import OfflineGpu
    from weft_cuda.renderer import CudaRenderer
    from weft_cuda.runner import KernelRunner

weft_api = (1, 0)


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family; a GPU is named by its number."""
    return [DeviceFamily("CUDA", priority=100, about="NVIDIA GPUs, with NVRTC")]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """:raises DeviceUnavailable: if there is no driver, no such GPU, or no compiler."""
    from weft_cuda.driver import driver_of_process

    driver_of_process()  # first: the modules of the device import the code generator
    from weft_cuda.device import open_gpu

    return open_gpu(id)


@hookimpl
def weft_offline(arch: str) -> Device | None:
    """A GPU to generate code for, such as ``sm_80``."""
    from weft_cuda.chip import offline_chip

    chip = offline_chip(arch)
    if chip is None:
        return None
    from weft_cuda.offline import OfflineGpu

    return OfflineGpu(chip)


@hookimpl
def weft_allocator(device: Gpu) -> Allocator:
    """The device's memory."""
    return device.allocator


@hookimpl
def weft_renderer() -> CudaRenderer:
    """CUDA C++."""
    from weft_cuda.renderer import CudaRenderer

    return CudaRenderer()


@hookimpl
def weft_compiler(device: Gpu | OfflineGpu) -> NvrtcCompiler:
    """NVRTC for this chip."""
    from weft_cuda.compiler import NvrtcCompiler

    return NvrtcCompiler(device.chip.arch)


@hookimpl
def weft_runner(device: Gpu, program: CompiledProgram) -> KernelRunner:
    """A launch of the loaded function."""
    from weft_cuda.runner import KernelRunner

    return KernelRunner(device.context, program)


@hookimpl
def weft_graph(device: Gpu, launches: Sequence[Launch]) -> GraphRunner | None:
    """One CUDA graph; None where the back end has none."""
    from weft_cuda.graph import LaunchGraph

    return LaunchGraph.of(device.context, launches)
