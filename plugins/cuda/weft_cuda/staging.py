"""Copies between the host and a GPU through pinned memory, two pieces in flight.

Python's memory may be moved to disk at any time, so the GPU cannot copy it by itself. Bytes go
through two buffers that are pinned: while the GPU copies one, the host fills or empties the other.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from weft_cuda.driver import Context

PIECE = 4 << 20
"""Bytes of one buffer: large enough that starting a copy costs little beside it."""


class _Slot:
    """One pinned buffer, and the event after which it may be used again."""

    def __init__(self, context: Context) -> None:
        self.address = context.pinned(PIECE)
        memory = (ctypes.c_char * PIECE).from_address(self.address)
        self.window = memoryview(memory).cast("B")
        self.event = context.event()
        self.busy = False


class Staging:
    """The pinned buffers of one GPU, made when they are first needed."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._slots: list[_Slot] = []
        self._next = 0
        self._lock = threading.Lock()

    def copy_in(self, dst: int, src: memoryview) -> None:
        """Copy to the device. `src` may be reused at once; the copy may still be running."""
        with self._lock:
            for start in range(0, src.nbytes, PIECE):
                piece = src[start : start + PIECE]
                slot = self._slot()
                slot.window[: piece.nbytes] = piece
                self._context.to_device(dst + start, slot.address, piece.nbytes)
                self._used(slot)

    def copy_out(self, dst: memoryview, src: int) -> None:
        """From the device, after all work so far."""
        waiting: list[tuple[_Slot, memoryview]] = []
        with self._lock:
            for start in range(0, dst.nbytes, PIECE):
                piece = dst[start : start + PIECE]
                if len(waiting) == 2:
                    self._arrived(*waiting.pop(0))
                slot = self._slot()
                self._context.to_host(slot.address, src + start, piece.nbytes)
                self._used(slot)
                waiting.append((slot, piece))
            for slot, piece in waiting:
                self._arrived(slot, piece)

    def close(self) -> None:
        """Give the pinned memory back."""
        with self._lock:
            for slot in self._slots:
                slot.window.release()
                self._context.free_pinned(slot.address)
            self._slots.clear()

    def _slot(self) -> _Slot:
        """The one that was used longest ago, free again."""
        if not self._slots:
            self._slots = [_Slot(self._context) for _ in range(2)]
        slot = self._slots[self._next]
        self._next ^= 1
        self._free(slot)
        return slot

    def _used(self, slot: _Slot) -> None:
        self._context.record(slot.event)
        slot.busy = True

    def _free(self, slot: _Slot) -> None:
        if slot.busy:
            self._context.wait(slot.event)
            slot.busy = False

    def _arrived(self, slot: _Slot, piece: Any) -> None:
        self._free(slot)
        piece[:] = slot.window[: piece.nbytes]
