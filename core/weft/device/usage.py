"""Memory statistics: device memory in use, counted where memory is allocated and freed."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from weft.base.weak import WeakMembers


class Usage:
    """Bytes in use, altogether and per device. Pooled memory waiting for reuse counts apart.

    :ivar peak: the most that ``resident`` has been since the last ``reset_peak``.
    :ivar pools: the pools that are counted here. They count dead buffers when they are read.
    """

    __slots__ = ("_by_device", "_pooled", "_resident", "peak", "pools")

    def __init__(self) -> None:
        self._resident = self._pooled = 0
        self.peak = 0
        self._by_device: defaultdict[str, int] = defaultdict(int)
        self.pools: WeakMembers[Any] = WeakMembers()

    def _settled(self) -> Usage:
        for pool in self.pools:
            pool.settle()
        return self

    @property
    def resident(self) -> int:
        """Bytes held by live buffers, on devices whose memory counts as resident."""
        return self._settled()._resident

    @property
    def by_device(self) -> defaultdict[str, int]:
        """``resident``, per device string."""
        return self._settled()._by_device

    @property
    def pooled(self) -> int:
        """Bytes freed by buffers and kept for reuse."""
        return self._settled()._pooled

    def take(self, device: str, nbytes: int) -> None:
        """A buffer got this much."""
        self._resident += nbytes
        self._by_device[device] += nbytes
        if self._resident > self.peak:
            self.peak = max(self.peak, self.resident)  # without what has died meanwhile

    def give(self, device: str, nbytes: int) -> None:
        """A buffer gave this much back."""
        self._resident -= nbytes
        self._by_device[device] -= nbytes

    def keep(self, nbytes: int) -> None:
        """So much more, or less, is kept for reuse."""
        self._pooled += nbytes

    def reset_peak(self) -> None:
        """Measure the peak from now on."""
        self.peak = self.resident


usage = Usage()
"""Of this process."""
