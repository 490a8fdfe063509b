"""Dry run: a device that generates code for an architecture and records operations without
executing them.

Capabilities and renderer are those that the family's plugin offers offline. Memory has no content,
and reads give zeros. All operations are recorded in order: writes to memory, launches, copies,
reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from weft.base.dtype import DType
from weft.device import (
    Allocator,
    BufferHints,
    CompiledProgram,
    Device,
    DeviceFamily,
    DeviceId,
    Dims,
    Feature,
    OpenDevice,
    Registry,
    installed_plugins,
)
from weft.device.hookspecs import API_VERSION, hookimpl


@dataclass(frozen=True)
class MemoryRange:
    """A handle: a range of an allocation, without memory.

    :ivar allocation: its place in ``DryRun.allocations``.
    :ivar offset: in bytes.
    """

    allocation: int
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Allocation:
    """Memory that the program allocated. :ivar image: its image dtype, if it is an image."""

    device: str
    nbytes: int
    image: DType | None = None


@dataclass(frozen=True)
class HostWrite:
    """A write of bytes from the host. :ivar data: their digest, the key in ``DryRun.data``."""

    target: MemoryRange
    data: str


@dataclass(frozen=True)
class HostRead:
    """A read of bytes by the host."""

    source: MemoryRange


@dataclass(frozen=True)
class DeviceCopy:
    """A copy from one device of the family to another, or within one."""

    target: MemoryRange
    source: MemoryRange


@dataclass(frozen=True)
class KernelLaunch:
    """One launch: its program, memory and size.

    :ivar buffers: in the order of the program's slots.
    """

    program: CompiledProgram
    buffers: tuple[MemoryRange, ...]
    global_size: Dims | None
    local_size: Dims | None
    values: tuple[int, ...]

    @property
    def nbytes(self) -> tuple[int, ...]:
        """The size of each buffer."""
        return tuple(buffer.nbytes for buffer in self.buffers)


Step: TypeAlias = HostWrite | HostRead | DeviceCopy | KernelLaunch


@dataclass(eq=False)
class DryRun:
    """A plugin whose devices record operations and execute none.

    :param offline: the device whose code is generated.
    :ivar steps: all operations, in order.
    :ivar allocations: all memory, in the order of allocation.
    :ivar data: written bytes, by their digest.
    """

    offline: OpenDevice
    steps: list[Step] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    data: dict[str, bytes] = field(default_factory=dict)
    weft_api: tuple[int, int] = API_VERSION

    @property
    def launches(self) -> list[KernelLaunch]:
        """The launches among the steps."""
        return [step for step in self.steps if isinstance(step, KernelLaunch)]

    @hookimpl
    def weft_devices(self) -> list[DeviceFamily]:
        """The family itself."""
        return [DeviceFamily(self.offline.id.family, about="generates code, runs nothing")]

    @hookimpl
    def weft_open(self, id: DeviceId) -> Device:
        """Any number of devices, which copy to each other."""
        given = self.offline.capabilities
        compute = given.compute
        if compute is not None:  # ready kernels would be built for a device that is not here
            compute = replace(compute, features=compute.features - {Feature.READY_KERNELS})
        memory = replace(given.memory, link_group=id.family)
        linked = replace(given, memory=memory, compute=compute)
        device = self.offline.device
        return Device(id, linked, passes=device.passes, choose=device.choose)

    @hookimpl
    def weft_allocator(self, device: Device) -> Allocator[Any]:
        """Memory without content."""
        return _Memory(self, str(device.id))

    @hookimpl
    def weft_renderer(self) -> Any:
        """The renderer of the plugin."""
        return self.offline.renderer

    @hookimpl
    def weft_runner(self, program: CompiledProgram) -> _Writer:
        """A runner that records launches."""
        return _Writer(self, program)


class _Memory(Allocator[MemoryRange]):
    def __init__(self, plan: DryRun, device: str) -> None:
        self.plan = plan
        self.device = device

    def allocate(self, nbytes: int, hints: BufferHints) -> MemoryRange:
        self.plan.allocations.append(Allocation(self.device, nbytes, hints.image))
        return MemoryRange(len(self.plan.allocations) - 1, 0, nbytes)

    def view(self, handle: MemoryRange, offset: int, nbytes: int) -> MemoryRange:
        return MemoryRange(handle.allocation, handle.offset + offset, nbytes)

    def copy_in(self, dst: MemoryRange, src: memoryview) -> None:
        digest = hashlib.sha256(src).hexdigest()[:16]
        if digest not in self.plan.data:
            self.plan.data[digest] = bytes(src)
        self.plan.steps.append(HostWrite(dst, digest))

    def copy_out(self, dst: memoryview, src: MemoryRange) -> None:
        self.plan.steps.append(HostRead(src))
        dst[:] = bytes(dst.nbytes)

    def link_copy(self, dst: MemoryRange, src: Any, source: Device, nbytes: int) -> bool:
        self.plan.steps.append(DeviceCopy(dst, src))
        return True


class _Writer:
    def __init__(self, plan: DryRun, program: CompiledProgram) -> None:
        self.plan = plan
        self.program = program

    def __call__(
        self,
        handles: Sequence[MemoryRange],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        step = KernelLaunch(self.program, tuple(handles), global_size, local_size, tuple(values))
        self.plan.steps.append(step)
        return 0.0 if wait else None


def dry_run(family: str, arch: str) -> tuple[Registry, DryRun]:
    """A registry in which this family is an architecture that is not here.

    :raises UnknownDevice: if no plugin serves the family.
    :raises CapabilityError: if it offers no such architecture.
    """
    plan = DryRun(Registry().offline(family, arch))
    others = [p for p in installed_plugins() if p.family != plan.offline.id.family]
    own = Registry(others)
    own.register(plan, plan.offline.id.family)
    return own, plan
