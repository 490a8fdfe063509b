"""What is known of one GPU, and of those that are not here.

The numbers of a GPU that is there are read from its driver. Those of an architecture without
hardware behind it are what every chip of it has, from the CUDA C++ Programming Guide's table of
technical specifications by compute capability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Chip:
    """One GPU, or an architecture.

    :param arch: what NVRTC calls it, such as ``"sm_80"``.
    :param name: for people.
    :param block_threads: how many threads a block may have altogether.
    :param block: largest block per dimension.
    :param grid: largest grid per dimension.
    :param shared_bytes: shared memory that a block may declare.
    :param most_shared_bytes: what it may have if the launch requests it.
    :param registers: 32-bit registers that a block may use.
    :param memory_bytes: of the device; None where there is none.
    :param pools: the driver allocates in stream order.
    :param processors: multiprocessors, each of which runs some blocks at a time; 0: not known.
    :param processor_threads: threads that one of them runs at a time.
    :param warp: threads that run in step.
    """

    arch: str
    name: str = ""
    block_threads: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = ((1 << 31) - 1, 65535, 65535)
    shared_bytes: int = 48 << 10
    most_shared_bytes: int = 48 << 10
    registers: int = 65536
    memory_bytes: int | None = None
    pools: bool = False
    processors: int = 0
    processor_threads: int = 1024
    warp: int = 32

    @property
    def capability(self) -> int:
        """Compute capability as one number: 90 for ``sm_90a``."""
        return int("".join(c for c in self.arch if c.isdigit()))


def read_chip(ask: Callable[[str], int], name: str, memory_bytes: int) -> Chip:
    """The properties of a GPU, from its driver.

    :param ask: returns an attribute of the device by its name, without its prefix.
    """
    return Chip(
        arch=architecture(ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR")),
        name=name,
        block_threads=ask("MAX_THREADS_PER_BLOCK"),
        block=(ask("MAX_BLOCK_DIM_X"), ask("MAX_BLOCK_DIM_Y"), ask("MAX_BLOCK_DIM_Z")),
        grid=(ask("MAX_GRID_DIM_X"), ask("MAX_GRID_DIM_Y"), ask("MAX_GRID_DIM_Z")),
        shared_bytes=ask("MAX_SHARED_MEMORY_PER_BLOCK"),
        most_shared_bytes=ask("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        registers=ask("MAX_REGISTERS_PER_BLOCK"),
        memory_bytes=memory_bytes,
        pools=bool(ask("MEMORY_POOLS_SUPPORTED")),
        processors=ask("MULTIPROCESSOR_COUNT"),
        processor_threads=ask("MAX_THREADS_PER_MULTIPROCESSOR"),
        warp=ask("WARP_SIZE"),
    )


_OFFLINE = Chip("sm_75", "offline")
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
"""Those that are available without hardware."""
_MOST_SHARED = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227, 100: 227, 120: 99}
"""KiB of shared memory of one block, by compute capability times ten."""


def offline_chip(arch: str) -> Chip | None:
    """What every chip of this architecture has; None for a name that is not known."""
    if arch not in ARCHITECTURES:
        return None
    chip = replace(_OFFLINE, arch=arch)
    return replace(chip, most_shared_bytes=_MOST_SHARED[chip.capability] << 10)


def architecture(major: int, minor: int) -> str:
    """What NVRTC calls a compute capability; where a chip has features of its own, with them."""
    return f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")
