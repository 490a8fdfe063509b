"""Memory of the process: alignment, windows, wrapping, refusal."""

from __future__ import annotations

import array
import gc
import os

import pytest

from weft import Tensor
from weft.plugin import BufferHints, OutOfMemory
from weft_cpu_clang.allocator import ALIGNMENT, HUGE_PAGE, LARGE, ProcessAllocator

SIZES = [1, 3, 64, 65, 4096, LARGE - 1, LARGE, LARGE + 1, 5 << 20]


@pytest.fixture
def allocator():
    return ProcessAllocator()


@pytest.mark.parametrize("nbytes", SIZES)
def test_aligned_exact_and_writable(allocator, nbytes):
    memory = allocator.allocate(nbytes, BufferHints())
    assert memory.address % ALIGNMENT == 0
    assert len(memory.window) == nbytes
    data = bytes(i % 251 for i in range(nbytes))
    allocator.copy_in(memory, memoryview(data))
    out = bytearray(nbytes)
    allocator.copy_out(memoryview(out), memory)
    assert bytes(out) == data


def test_large_memory_begins_with_a_huge_page(allocator):
    for nbytes in (2 * HUGE_PAGE, (5 << 20) + 1):
        assert allocator.allocate(nbytes, BufferHints()).address % HUGE_PAGE == 0


def test_windows_share_bytes_and_keep_the_whole_alive(allocator):
    whole = allocator.allocate(100, BufferHints())
    allocator.copy_in(whole, memoryview(bytes(range(100))))
    part = allocator.view(whole, 10, 20)
    inner = allocator.view(part, 5, 3)
    assert inner.address == whole.address + 15
    del whole, part
    gc.collect()
    assert bytes(allocator.map_host(inner)) == bytes([15, 16, 17])


def test_wrap_writes_through(allocator):
    owner = bytearray(8)
    memory = allocator.wrap(memoryview(owner))
    allocator.copy_in(memory, memoryview(b"abcdefgh"))
    assert owner == b"abcdefgh"


def test_wrap_refuses_read_only_memory(allocator):
    assert allocator.wrap(memoryview(b"constant")) is None


def test_more_than_there_is(allocator):
    with pytest.raises(OutOfMemory) as caught:
        allocator.allocate(1 << 60, BufferHints())
    assert caught.value.try_


def test_a_tensor_over_memory_at_an_address_shares_it():
    numbers = array.array("i", [1, 2, 3, 4])
    x = Tensor.from_blob(numbers.buffer_info()[0], (2, 2), dtype="int32", device="CPU")
    assert (x + 1).tolist() == [[2, 3], [4, 5]]
    numbers[2] = 9
    assert (x + 1).tolist() == [[2, 3], [10, 5]]
    x[0] = 7
    x.realize()
    assert list(numbers) == [7, 7, 9, 4]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("nbytes", [100, LARGE, 5 << 20])
def test_a_forked_child_has_memory_of_its_own(allocator, nbytes):
    memory = allocator.allocate(nbytes, BufferHints())
    memory.window[:4] = b"mine"
    child = os.fork()
    if not child:
        kept = bytes(memory.window[:4]) == b"mine"
        memory.window[:4] = b"his!"
        os._exit(0 if kept else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert bytes(memory.window[:4]) == b"mine"
