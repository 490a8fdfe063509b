"""Devices that are not here: sources for them can be generated and read."""

from __future__ import annotations

from weft.plugin import Device, DeviceId
from weft_opencl.facts import OFFLINE, describe


class OfflineDevice(Device):
    """A device without hardware."""

    def __init__(self, id: DeviceId, arch: str) -> None:
        self.facts = OFFLINE[arch]
        super().__init__(id, describe(self.facts))


def offline_device(arch: str) -> OfflineDevice | None:
    """A device of this name; None for another one."""
    return OfflineDevice(DeviceId("OPENCL", arch), arch) if arch in OFFLINE else None
