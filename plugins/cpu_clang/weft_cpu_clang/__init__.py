"""The CPU as a weft device: C with vector types, clang, objects loaded into this process.

Every part is in the file of its name; this one answers the hooks. Opening the device looks for a
compiler and asks it once what it knows (the answers are kept on disk); importing touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.plugin import (
    Allocator,
    CompiledProgram,
    CStyleRenderer,
    Device,
    DeviceFamily,
    DeviceId,
    Launch,
    MachineFact,
    hookimpl,
)
from weft_cpu_clang.allocator import ProcessAllocator
from weft_cpu_clang.capabilities import describe
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.graph import LaunchTable
from weft_cpu_clang.offline import offline_toolchain
from weft_cpu_clang.renderer import clang_renderer
from weft_cpu_clang.runner import FunctionRunner, parts_of
from weft_cpu_clang.threads import pool, wanted
from weft_cpu_clang.toolchain import Toolchain, find_toolchain
from weft_cpu_clang.tuning import measure, tuning_of
from weft_simd import choose, passes

weft_api = (1, 0)


class Processor(Device):
    """The CPU of this process with the compiler found for it.

    :param threads: how many of them compute.
    """

    def __init__(self, id: DeviceId, toolchain: Toolchain, threads: int = 1) -> None:
        tuning = tuning_of(toolchain, threads)
        can = describe(toolchain, tuning.machine)
        super().__init__(id, can, passes=passes, choose=choose, tuning=tuning)
        self.toolchain = toolchain
        self.threads = threads


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family; its numbers are separate devices that share the processor."""
    return [DeviceFamily("CPU", priority=10, about="this computer's processor, by way of clang")]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """:raises DeviceUnavailable: if there is no compiler to be found.
    :raises ArgumentError: if `WEFT_CPU_THREADS` is no number of threads."""
    return Processor(id, find_toolchain(), wanted())


@hookimpl
def weft_offline(arch: str) -> Device | None:
    """A processor to generate code for: x86-64, x86-64-v3, x86-64-v4 or aarch64."""
    toolchain = offline_toolchain(arch)
    return None if toolchain is None else Processor(DeviceId("CPU", arch), toolchain)


@hookimpl
def weft_measure(device: Processor) -> Iterator[MachineFact] | None:
    """The clock, multiply-adds, and each cache of this processor."""
    compute = device.capabilities.compute
    return None if compute is None else measure(device.toolchain, compute.machine)


@hookimpl
def weft_allocator() -> Allocator:
    """Memory of this process, aligned."""
    return ProcessAllocator()


@hookimpl
def weft_renderer(device: Processor) -> CStyleRenderer:
    """C with clang's vector extensions."""
    return clang_renderer(device.toolchain.facts)


@hookimpl
def weft_compiler(device: Processor) -> ClangCompiler:
    """clang, source on its input and object on its output."""
    return ClangCompiler(device.toolchain)


@hookimpl
def weft_runner(device: Processor, program: CompiledProgram) -> FunctionRunner:
    """The runner of a loaded function, with several threads if that is profitable."""
    shared = parts_of(program.program, device.threads) > 1
    return FunctionRunner(program, pool(device.toolchain, device.threads) if shared else None)


@hookimpl
def weft_graph(device: Processor, launches: Sequence[Launch]) -> LaunchTable | None:
    """One call for all of them."""
    return LaunchTable.of(launches, device.toolchain)
