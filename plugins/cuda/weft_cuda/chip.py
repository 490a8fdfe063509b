"""What is known of one GPU, and of those that are not here.

The numbers of a GPU that is there are read from its driver. Those of an architecture without
hardware behind it are what every chip of it has, from the CUDA C++ Programming Guide's table of
technical specifications by compute capability.
"""

from __future__ import annotations

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
    :param registers: 32-bit registers that a block may use.
    :param memory_bytes: of the device; None where there is none.
    :param pools: the driver allocates in stream order.
    """

    arch: str
    name: str = ""
    block_threads: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = ((1 << 31) - 1, 65535, 65535)
    shared_bytes: int = 48 << 10
    registers: int = 65536
    memory_bytes: int | None = None
    pools: bool = False

    @property
    def capability(self) -> int:
        """Compute capability as one number: 90 for ``sm_90a``."""
        return int("".join(c for c in self.arch if c.isdigit()))


_OFFLINE = Chip("sm_75", "offline")
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
"""Those that can be asked for without hardware."""


def offline_chip(arch: str) -> Chip | None:
    """What every chip of this architecture has; None for a name that is not known."""
    return replace(_OFFLINE, arch=arch) if arch in ARCHITECTURES else None


def architecture(major: int, minor: int) -> str:
    """What NVRTC calls a compute capability; where a chip has features of its own, with them."""
    return f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")
