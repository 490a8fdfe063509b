"""What the scheduler may ask: capabilities by device name, and the settings that matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.base.settings import settings
from weft.device.capabilities import Capabilities

Lookup = Callable[[str], Capabilities]


@dataclass(frozen=True)
class ScheduleContext:
    """Handed to every pass; tests give a dict's `__getitem__` as the lookup, and need no device."""

    capabilities: Lookup

    def computes(self, device: str) -> bool:
        """Whether kernels can run there."""
        return self.capabilities(device).compute is not None

    def alignment(self, device: str) -> int | None:
        """Where sub-buffers may start, in bytes; None where there are none."""
        return self.capabilities(device).memory.alignment

    def max_buffers(self, device: str) -> int | None:
        """How many buffers one kernel may touch there: the setting, else the device's limit."""
        if settings.MAX_KERNEL_BUFFERS:
            return settings.MAX_KERNEL_BUFFERS
        compute = self.capabilities(device).compute
        return compute.limits.max_buffers if compute is not None else None
