"""NULL: a device that computes nothing and counts everything.

It takes any kernel and forgets any bytes, so that scheduling and code generation can be measured
and tested at any size. What is read from it is zeros. The counts are in ``counts``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.base.dtype import dtypes
from weft.device import (
    Allocator,
    BufferHints,
    Capabilities,
    CompiledProgram,
    ComputeCaps,
    Device,
    DeviceFamily,
    DeviceId,
    Dims,
    Feature,
    KernelLimits,
    LinearProgram,
    MemoryCaps,
    Renderer,
    Runner,
)
from weft.device.hookspecs import hookimpl
from weft.uop import GroupOp, PatternMatcher, UOp

weft_api = (1, 0)


@dataclass
class Counts:
    """What happened since the last ``reset``.

    :ivar launches: how often any kernel ran.
    :ivar by_name: the same, per kernel name.
    :ivar programs: kernels rendered.
    :ivar allocations: allocations made (reuse of pooled memory is none).
    :ivar allocated_bytes: their sizes added up.
    :ivar bytes_in: written by the host.
    :ivar bytes_out: read by the host.
    """

    launches: int = 0
    by_name: Counter[str] = field(default_factory=Counter)
    programs: int = 0
    allocations: int = 0
    allocated_bytes: int = 0
    bytes_in: int = 0
    bytes_out: int = 0

    def reset(self) -> None:
        """Start from nothing."""
        self.__init__()  # type: ignore[misc]


counts = Counts()
"""Of this process."""


@dataclass(frozen=True)
class Nowhere:
    """A handle: a size, and no bytes."""

    nbytes: int


class CountingAllocator(Allocator[Nowhere]):
    """Keeps no bytes."""

    def allocate(self, nbytes: int, hints: BufferHints) -> Nowhere:
        """Counts, and gives nothing."""
        counts.allocations += 1
        counts.allocated_bytes += nbytes
        return Nowhere(nbytes)

    def copy_in(self, dst: Nowhere, src: memoryview) -> None:
        """Forgets."""
        counts.bytes_in += src.nbytes

    def copy_out(self, dst: memoryview, src: Nowhere) -> None:
        """Zeros."""
        counts.bytes_out += dst.nbytes
        dst[:] = bytes(dst.nbytes)

    def view(self, handle: Nowhere, offset: int, nbytes: int) -> Nowhere:
        """Nothing of nothing."""
        return Nowhere(nbytes)


class CountingRenderer:
    """Writes the names of the operations, one a line."""

    language = "null"
    native_ops = GroupOp.ALU
    rules: PatternMatcher | None = None

    def render(self, program: LinearProgram) -> str:
        """A listing that differs where programs do."""
        counts.programs += 1
        number: dict[UOp, int] = {}
        lines = [program.name]
        for node in program.uops:
            number[node] = len(number)
            src = " ".join(f"%{number[source]}" for source in node.src if source in number)
            lines.append(f"%{number[node]} {node.op.name} {node.dtype} {src} {node.arg!r}")
        return "\n".join(lines)


class CountingRunner:
    """Runs nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(
        self,
        handles: Sequence[Nowhere],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Counts a launch that took no time."""
        counts.launches += 1
        counts.by_name[self.name] += 1
        return 0.0 if wait else None


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family, never the default."""
    about = "computes nothing, counts kernels, launches and bytes"
    return [DeviceFamily("NULL", priority=-2000, about=about)]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """There is nothing to open."""
    compute = ComputeCaps(
        dtypes=frozenset(dtypes.all) - {dtypes.void},
        limits=KernelLimits(max_buffers=None),
        features=frozenset({Feature.PARALLEL_COMPILE}),
    )
    caps = Capabilities(MemoryCaps(), compute, "counting device", fingerprint="null-1")
    return Device(id, caps)


@hookimpl
def weft_allocator() -> Allocator[Nowhere]:
    """Keeps no bytes."""
    return CountingAllocator()


@hookimpl
def weft_renderer() -> Renderer:
    """A listing."""
    return CountingRenderer()


@hookimpl
def weft_runner(program: CompiledProgram) -> Runner:
    """Counts."""
    return CountingRunner(program.name)
