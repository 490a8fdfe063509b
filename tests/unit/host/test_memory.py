import numpy
import pytest

from weft.base.errors import OutOfMemory
from weft.device.parts import NO_HINTS
from weft.host.memory import ALIGNMENT, HostAllocator, aligned_memory


@pytest.mark.parametrize("nbytes", [1, 63, 64, 65, 1000, 1 << 20])
def test_fresh_memory_is_aligned_and_writable(nbytes):
    memory = aligned_memory(nbytes)
    assert memory.nbytes == nbytes and memory.format == "B" and not memory.readonly
    assert numpy.frombuffer(memory, dtype=numpy.uint8).ctypes.data % ALIGNMENT == 0


def test_more_than_there_is():
    with pytest.raises(OutOfMemory):
        aligned_memory(1 << 62)


def test_windows_and_wrapping_are_views_of_the_same_bytes():
    allocator = HostAllocator()
    memory = allocator.allocate(16, NO_HINTS)
    allocator.copy_in(memory, memoryview(bytes(range(16))))
    inner = allocator.view(memory, 4, 8)
    assert bytes(allocator.map_host(inner)) == bytes(range(4, 12))
    array = bytearray(b"abcd")
    wrapped = allocator.wrap(memoryview(array))
    allocator.copy_in(wrapped, memoryview(b"weft"))
    assert array == b"weft"
    into = memoryview(bytearray(4))
    allocator.copy_out(into, wrapped)
    assert bytes(into) == b"weft"
