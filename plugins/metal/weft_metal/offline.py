"""GPUs that are not here: sources for them can be generated and read, nothing runs."""

from __future__ import annotations

from weft.plugin import Device, DeviceId
from weft_metal.capabilities import ARCHITECTURES, describe


class OfflineGpu(Device):
    """An architecture without hardware."""


def offline_gpu(arch: str) -> OfflineGpu | None:
    """A GPU of this architecture; None for another name."""
    if arch not in ARCHITECTURES:
        return None
    return OfflineGpu(DeviceId("METAL", arch), describe(arch, f"offline {arch}", arch))
