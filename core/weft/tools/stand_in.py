"""A family of devices whose programs are made and not run, by an architecture that is not here.

Its capabilities and its renderer are those that the family's plugin offers offline; its memory
keeps no bytes, and what is read from it is zeros. Every launch is written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.device import (
    Allocator,
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
from weft.testing.counting import CountingAllocator, Nowhere


@dataclass(frozen=True)
class Planned:
    """One launch: which program, over which memory, how large.

    :ivar nbytes: of each buffer, in the order of the program's slots.
    """

    program: CompiledProgram
    nbytes: tuple[int, ...]
    global_size: Dims | None
    local_size: Dims | None
    values: tuple[int, ...]


@dataclass(eq=False)
class StandIn:
    """A plugin made by hand.

    :param offline: the device whose code is generated.
    :ivar launches: in order.
    """

    offline: OpenDevice
    launches: list[Planned] = field(default_factory=list)
    weft_api: tuple[int, int] = API_VERSION

    @hookimpl
    def weft_devices(self) -> list[DeviceFamily]:
        """The family itself."""
        return [DeviceFamily(self.offline.id.family, about="generates code, runs nothing")]

    @hookimpl
    def weft_open(self, id: DeviceId) -> Device:
        """As many of them as are asked for."""
        return Device(id, self.offline.capabilities)

    @hookimpl
    def weft_allocator(self) -> Allocator[Any]:
        """Memory that keeps nothing."""
        return CountingAllocator()

    @hookimpl
    def weft_renderer(self) -> Any:
        """The plugin's own."""
        return self.offline.renderer

    @hookimpl
    def weft_runner(self, program: CompiledProgram) -> _Writer:
        """Somebody who writes launches down."""
        return _Writer(self, program)


class _Writer:
    def __init__(self, plan: StandIn, program: CompiledProgram) -> None:
        self.plan = plan
        self.program = program

    def __call__(
        self,
        handles: Sequence[Nowhere],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        nbytes = tuple(handle.nbytes for handle in handles)
        self.plan.launches.append(
            Planned(self.program, nbytes, global_size, local_size, tuple(values))
        )
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
