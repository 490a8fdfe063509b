"""Host memory whose fresh bytes are poison: a value read before it is written shows in any
result."""

from __future__ import annotations

from weft.device import BufferHints
from weft.host import HostAllocator

POISON = 0xFF
"""NaN in every float dtype, -1 or the greatest value in every integer one."""


class PoisonedAllocator(HostAllocator):
    """As the host's, but fresh memory is filled with POISON."""

    def allocate(self, nbytes: int, hints: BufferHints) -> memoryview:
        """Poisoned bytes. :raises OutOfMemory: if there are none."""
        return self.poison(super().allocate(nbytes, hints))

    def poison(self, memory: memoryview) -> memoryview:
        """Fill with POISON."""
        import numpy

        numpy.frombuffer(memory, dtype=numpy.uint8)[:] = POISON
        return memory
