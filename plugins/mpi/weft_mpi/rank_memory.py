"""Rank memory: allocators of this rank's device and of the devices of other ranks.

A copy between ranks is a send on one of them and a receive on the other. All ranks run their
copies in the order of the schedule, so each send meets its receive.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from weft.plugin import Allocator, BufferHints, Device, DeviceError
from weft_mpi.rank_device import RankDevice

_numbers = count(1)


class LocalMemory(Allocator[Any]):
    """The memory of this rank: that of the device below."""

    def __init__(self, device: RankDevice) -> None:
        self.device = device
        self.below: Allocator[Any] = device.below.allocator
        below = self.below
        for name in ("allocate", "copy_in", "copy_out", "free", "used_bytes", "view", "map_host",
                     "wrap", "stream_out"):  # fmt: skip
            setattr(self, name, getattr(self.below, name))
        if (planned := device.process.planned) is not None:
            count = planned.allocated
            self.allocate = lambda nbytes, hints: (count(nbytes), below.allocate(nbytes, hints))[1]
            self.free = lambda handle, nbytes: (count(-nbytes), below.free(handle, nbytes))[1]

    def allocate(self, nbytes: int, hints: BufferHints) -> Any:
        """As below; replaced by the method itself when this object is made."""
        return self.below.allocate(nbytes, hints)

    def copy_in(self, dst: Any, src: memoryview) -> None:
        """As below."""
        self.below.copy_in(dst, src)

    def copy_out(self, dst: memoryview, src: Any) -> None:
        """As below."""
        self.below.copy_out(dst, src)

    def free(self, handle: Any, nbytes: int) -> None:
        """As below."""
        self.below.free(handle, nbytes)

    def link_copy(self, dst: Any, src: Any, source: Device, nbytes: int) -> bool:
        """Receive from another rank."""
        assert isinstance(source, RankDevice)
        if source.is_own:
            return False
        process = self.device.process
        with staged(self.below, dst, nbytes, writes=True) as memory:
            process.receive(memory, source.rank)
        return True


class RemoteMemory(Allocator[int]):
    """The memory of another rank, as this one sees it: numbers without bytes."""

    def __init__(self, device: RankDevice) -> None:
        self.device = device

    def allocate(self, nbytes: int, hints: BufferHints) -> int:
        """A fresh number."""
        return next(_numbers)

    def view(self, handle: int, offset: int, nbytes: int) -> int:
        """A fresh number."""
        return next(_numbers)

    def copy_in(self, dst: int, src: memoryview) -> None:
        """Nothing: the other rank fills its memory."""

    def copy_out(self, dst: memoryview, src: int) -> None:
        """:raises DeviceError: always: the value is in another process."""
        raise DeviceError(
            "this value is in the memory of another rank",
            asked=f"reading from {self.device.id} on rank {self.device.process.rank}",
            because="a rank reads its own memory only",
            try_="x.full_tensor() gives every rank the whole value, x.local() its own part",
        )

    def stream_out(self, src: int, chunk: int) -> Iterator[memoryview] | None:
        """None: the value is in another process."""
        return None

    def link_copy(self, dst: int, src: Any, source: Device, nbytes: int) -> bool:
        """Send to the other rank what this rank has."""
        assert isinstance(source, RankDevice)
        planned = self.device.process.planned
        if source.is_own and planned is not None and planned.rates is not None:
            planned.sends(nbytes, self.device.rank)
        elif source.is_own:
            with staged(source.below.allocator, src, nbytes) as memory:
                self.device.process.send(memory, self.device.rank)
        return True


class PlannedMemory(RemoteMemory):
    """The memory of a planned rank whose kernels do not run: numbers without bytes, counted.

    All values that are read from it are zero.
    """

    def allocate(self, nbytes: int, hints: BufferHints) -> int:
        """A fresh number."""
        assert self.device.process.planned is not None
        self.device.process.planned.allocated(nbytes)
        return super().allocate(nbytes, hints)

    def free(self, handle: int, nbytes: int) -> None:
        """Count less."""
        assert self.device.process.planned is not None
        self.device.process.planned.allocated(-nbytes)

    def copy_out(self, dst: memoryview, src: int) -> None:
        """Zeros."""
        dst[:] = bytes(dst.nbytes)

    def link_copy(self, dst: int, src: Any, source: Device, nbytes: int) -> bool:
        """Receive from another rank."""
        assert isinstance(source, RankDevice)
        if not source.is_own and (planned := self.device.process.planned) is not None:
            planned.receives(nbytes, source.rank)
        return True


class staged:
    """The bytes of a handle for MPI: the memory itself if the host can map it, else a copy.

    writes: whether MPI fills them; a copy is written back at the end then.
    """

    def __init__(
        self, allocator: Allocator[Any], handle: Any, nbytes: int, writes: bool = False
    ) -> None:
        self.allocator, self.handle, self.nbytes, self.writes = allocator, handle, nbytes, writes
        self.is_copy = False

    def __enter__(self) -> memoryview:
        memory = self.allocator.map_host(self.handle)
        if memory is not None:
            return memory
        self.is_copy = True
        self.memory = memoryview(bytearray(self.nbytes))
        if not self.writes:
            self.allocator.copy_out(self.memory, self.handle)
        return self.memory

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.is_copy and self.writes and kind is None:
            self.allocator.copy_in(self.handle, self.memory)
