"""A family of devices whose programs are made and not run, by an architecture that is not here.

Its capabilities and its renderer are those that the family's plugin offers offline; its memory
keeps no bytes, and what is read from it is zeros. Everything that would happen on it is written
down in its order: what is written to its memory, launches, copies, what is read.
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
    OpenDevice,
    Registry,
)
from weft.device.discovery import installed_plugins
from weft.device.hookspecs import API_VERSION, hookimpl


@dataclass(frozen=True)
class Room:
    """A handle: some bytes of an allocation, which are nowhere.

    :ivar allocation: its place in ``StandIn.allocations``.
    :ivar offset: in bytes.
    """

    allocation: int
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Allocation:
    """Memory that the program asked a device for. :ivar image: what image it is, if it is one."""

    device: str
    nbytes: int
    image: DType | None = None


@dataclass(frozen=True)
class Written:
    """Bytes from the host. :ivar data: the digest by which ``StandIn.data`` has them."""

    room: Room
    data: str


@dataclass(frozen=True)
class Read:
    """Bytes that the host asked for."""

    room: Room


@dataclass(frozen=True)
class Copied:
    """Bytes from one device of the family to another, or within one."""

    room: Room
    source: Room


@dataclass(frozen=True)
class Planned:
    """One launch: which program, over which memory, how large.

    :ivar rooms: in the order of the program's slots.
    """

    program: CompiledProgram
    rooms: tuple[Room, ...]
    global_size: Dims | None
    local_size: Dims | None
    values: tuple[int, ...]

    @property
    def nbytes(self) -> tuple[int, ...]:
        """Of each buffer."""
        return tuple(room.nbytes for room in self.rooms)


Step: TypeAlias = Written | Read | Copied | Planned


@dataclass(eq=False)
class StandIn:
    """A plugin made by hand.

    :param offline: the device whose code is generated.
    :ivar steps: all that happens, in order.
    :ivar allocations: all memory, in the order in which it was asked for.
    :ivar data: what was written, by its digest.
    """

    offline: OpenDevice
    steps: list[Step] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    data: dict[str, bytes] = field(default_factory=dict)
    weft_api: tuple[int, int] = API_VERSION

    @property
    def launches(self) -> list[Planned]:
        """The launches among the steps."""
        return [step for step in self.steps if isinstance(step, Planned)]

    @hookimpl
    def weft_devices(self) -> list[DeviceFamily]:
        """The family itself."""
        return [DeviceFamily(self.offline.id.family, about="generates code, runs nothing")]

    @hookimpl
    def weft_open(self, id: DeviceId) -> Device:
        """As many of them as are asked for, which copy to each other."""
        given = self.offline.capabilities
        return Device(id, replace(given, memory=replace(given.memory, link_group=id.family)))

    @hookimpl
    def weft_allocator(self, device: Device) -> Allocator[Any]:
        """Memory that keeps nothing."""
        return _Memory(self, str(device.id))

    @hookimpl
    def weft_renderer(self) -> Any:
        """The plugin's own."""
        return self.offline.renderer

    @hookimpl
    def weft_runner(self, program: CompiledProgram) -> _Writer:
        """Somebody who writes launches down."""
        return _Writer(self, program)


class _Memory(Allocator[Room]):
    def __init__(self, plan: StandIn, device: str) -> None:
        self.plan = plan
        self.device = device

    def allocate(self, nbytes: int, hints: BufferHints) -> Room:
        self.plan.allocations.append(Allocation(self.device, nbytes, hints.image))
        return Room(len(self.plan.allocations) - 1, 0, nbytes)

    def view(self, handle: Room, offset: int, nbytes: int) -> Room:
        return Room(handle.allocation, handle.offset + offset, nbytes)

    def copy_in(self, dst: Room, src: memoryview) -> None:
        digest = hashlib.sha256(src).hexdigest()[:16]
        if digest not in self.plan.data:
            self.plan.data[digest] = bytes(src)
        self.plan.steps.append(Written(dst, digest))

    def copy_out(self, dst: memoryview, src: Room) -> None:
        self.plan.steps.append(Read(src))
        dst[:] = bytes(dst.nbytes)

    def link_copy(self, dst: Room, src: Any, source: Device, nbytes: int) -> bool:
        self.plan.steps.append(Copied(dst, src))
        return True


class _Writer:
    def __init__(self, plan: StandIn, program: CompiledProgram) -> None:
        self.plan = plan
        self.program = program

    def __call__(
        self,
        handles: Sequence[Room],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        step = Planned(self.program, tuple(handles), global_size, local_size, tuple(values))
        self.plan.steps.append(step)
        return 0.0 if wait else None


def stand_in(family: str, arch: str) -> tuple[Registry, StandIn]:
    """A registry in which this family is an architecture that is not here.

    :raises UnknownDevice: if no plugin serves the family.
    :raises CapabilityError: if it offers no such architecture.
    """
    plan = StandIn(Registry().offline(family, arch))
    others = [p for p in installed_plugins() if p.family != plan.offline.id.family]
    own = Registry(others)
    own.register(plan, plan.offline.id.family)
    return own, plan
