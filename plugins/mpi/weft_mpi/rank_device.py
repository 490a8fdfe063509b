"""Rank devices: one device per rank, on a device of that rank's machine.

``MPI:2`` computes on the default device of rank 2, ``MPI:2/CUDA:1`` on the named one.
"""

from __future__ import annotations

from dataclasses import replace

from weft.plugin import (
    Device,
    DeviceId,
    DeviceUnavailable,
    OpenDevice,
    UnknownDevice,
    open_device,
)
from weft_mpi.process import Process, current

GROUP = "mpi"


class RankDevice(Device):
    """The device of one rank.

    :param rank: its process.
    :param process: this process.
    :param below: the device of this process that computes; for other ranks, one of the same kind.
    """

    def __init__(self, id: DeviceId, rank: int, process: Process, below: OpenDevice) -> None:
        own = below.capabilities
        memory = replace(
            own.memory,
            link_group=GROUP,
            collective_group=GROUP,
            addressable=rank == process.rank,
            resident=rank == process.rank,
        )
        name = f"rank {rank} of {process.size}, {own.name}"
        super().__init__(
            id,
            replace(own, memory=memory, name=name),
            passes=below.device.passes,
            choose=below.device.choose,
        )
        self.rank = rank
        self.process = process
        self.below = below
        if not self.is_own or type(below.device).synchronize is Device.synchronize:
            # nothing is waited for: the core leaves the call out
            self.synchronize = super().synchronize

    @property
    def is_own(self) -> bool:
        """Whether it is the device of this process."""
        return self.rank == self.process.rank

    def synchronize(self) -> None:
        """Wait for the device below."""
        self.below.synchronize()


def canonical(locator: str) -> str:
    """The one spelling of ``rank`` or ``rank/DEVICE``.

    :raises UnknownDevice: if the rank is no number.
    """
    rank, slash, below = locator.partition("/")
    rank = rank.strip() or "0"
    if not (rank.isascii() and rank.isdigit()):
        raise UnknownDevice(
            "devices of this family are ranks",
            asked=f"MPI:{locator}",
            because=f"{rank!r} is not a number of digits only",
            try_='"MPI:1" for the device of rank 1, "MPI:1/CPU" for one of its devices',
        )
    number = str(int(rank))
    return f"{number}/{DeviceId.parse(below)}" if slash and below else number


def open_rank(id: DeviceId) -> RankDevice:
    """The device of a rank; starts MPI.

    :raises DeviceUnavailable: if there is no such rank.
    """
    process = current()
    number, _, below = id.locator.partition("/")
    rank = int(number)
    if rank >= process.size:
        raise DeviceUnavailable(
            "this program has no such rank",
            asked=str(id),
            because=f"it runs as {process.size} process{'es' * (process.size > 1)} of MPI",
            try_=f"weft run -n {rank + 1} program.py",
        )
    return RankDevice(id, rank, process, open_device(below or None))
