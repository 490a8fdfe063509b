"""GPUs that are not here: sources, PTX and machine code for them can be made, nothing runs."""

from __future__ import annotations

from weft.plugin import Device, DeviceId
from weft_cuda.capabilities import describe, passes_of
from weft_cuda.chip import Chip


class OfflineGpu(Device):
    """An architecture without hardware."""

    def __init__(self, chip: Chip) -> None:
        super().__init__(
            DeviceId("CUDA", chip.arch), describe(chip, "offline"), passes=passes_of(chip)
        )
        self.chip = chip
