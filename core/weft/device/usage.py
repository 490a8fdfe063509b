"""How much device memory is in use: counted where memory is given and taken back, read by
statistics."""

from __future__ import annotations

from collections import defaultdict


class Usage:
    """Bytes in use, altogether and per device. Pooled memory waiting for reuse counts apart.

    :ivar resident: bytes held by live buffers, on devices whose memory counts as resident.
    :ivar peak: the most that ``resident`` has been since the last ``reset_peak``.
    :ivar pooled: bytes freed by buffers and kept for reuse.
    :ivar by_device: ``resident``, per device string.
    """

    __slots__ = ("by_device", "peak", "pooled", "resident")

    def __init__(self) -> None:
        self.resident = 0
        self.peak = 0
        self.pooled = 0
        self.by_device: defaultdict[str, int] = defaultdict(int)

    def take(self, device: str, nbytes: int) -> None:
        """A buffer got this much."""
        self.resident += nbytes
        self.by_device[device] += nbytes
        if self.resident > self.peak:
            self.peak = self.resident

    def give(self, device: str, nbytes: int) -> None:
        """A buffer gave this much back."""
        self.resident -= nbytes
        self.by_device[device] -= nbytes

    def reset_peak(self) -> None:
        """Measure the peak from now on."""
        self.peak = self.resident


usage = Usage()
"""Of this process."""
