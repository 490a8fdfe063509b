"""Memory statistics: device memory in use, counted where memory is allocated and freed."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from weft.base.weak import WeakMembers


class Usage:
    """Bytes in use, in total and per device. Pooled memory that is kept for reuse counts
    separately.

    :ivar peak: the greatest ``resident`` since the last ``reset_peak``.
    :ivar pools: the pools that this object counts. Reading a counter processes freed buffers first.
    """

    __slots__ = ("_by_device", "_pooled", "_resident", "peak", "pools")

    def __init__(self) -> None:
        self._resident = self._pooled = 0
        self.peak = 0
        self._by_device: defaultdict[str, int] = defaultdict(int)
        self.pools: WeakMembers[Any] = WeakMembers()

    def _updated(self) -> Usage:
        for pool in self.pools:
            pool.process_returned()
        return self

    @property
    def resident(self) -> int:
        """Bytes held by live buffers, on devices whose memory counts as resident."""
        return self._updated()._resident

    @property
    def by_device(self) -> defaultdict[str, int]:
        """``resident``, per device string."""
        return self._updated()._by_device

    @property
    def pooled(self) -> int:
        """Bytes freed by buffers and kept for reuse."""
        return self._updated()._pooled

    def allocated(self, device: str, nbytes: int) -> None:
        """Count memory that a buffer allocated."""
        self._resident += nbytes
        self._by_device[device] += nbytes
        if self._resident > self.peak:
            self.peak = max(self.peak, self.resident)  # without buffers that were freed meanwhile

    def freed(self, device: str, nbytes: int) -> None:
        """Count memory that a buffer freed."""
        self._resident -= nbytes
        self._by_device[device] -= nbytes

    def keep(self, nbytes: int) -> None:
        """Change the bytes that are kept for reuse by `nbytes`, which may be negative."""
        self._pooled += nbytes

    def reset_peak(self) -> None:
        """Measure the peak from now on."""
        self.peak = self.resident


usage = Usage()
"""The memory statistics of this process."""
