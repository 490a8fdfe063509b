"""Buffers of a context: sizes, windows, links, refusal."""

from __future__ import annotations

import pytest

from weft.plugin import BufferHints, DeviceId, OutOfMemory
from weft_opencl.allocator import BufferAllocator
from weft_opencl.driver import OpenCLDevice


@pytest.fixture
def allocator(either):
    return BufferAllocator(either)


def filled(allocator, data):
    memory = allocator.allocate(len(data), BufferHints())
    allocator.copy_in(memory, memoryview(data))
    return memory


def content(allocator, memory, nbytes):
    out = bytearray(nbytes)
    allocator.copy_out(memoryview(out), memory)
    return bytes(out)


@pytest.mark.parametrize("nbytes", [1, 3, 64, 65, 4097, 3 << 20])
def test_any_size_there_and_back(allocator, nbytes):
    data = bytes(i % 251 for i in range(nbytes))
    memory = filled(allocator, data)
    assert content(allocator, memory, nbytes) == data
    allocator.free(memory, nbytes)


def test_copies_that_are_not_waited_for_keep_their_order(allocator):
    """And what they copy from may be overwritten at once."""
    targets = [filled(allocator, bytes(100)) for _ in range(3)]
    source = bytearray(100)
    for turn in range(200):
        source[:] = bytes([turn]) * 100
        allocator.copy_in(targets[turn % 3], memoryview(source))
    assert [content(allocator, target, 100)[50] for target in targets] == [198, 199, 197]


def test_a_window_of_a_window_lies_in_the_whole(allocator, either):
    step = either.facts.alignment
    data = bytes(i % 251 for i in range(4 * step))
    whole = filled(allocator, data)
    inner = allocator.view(allocator.view(whole, step, 3 * step), step, 10)
    assert inner.offset == 2 * step
    assert content(allocator, inner, 10) == data[2 * step : 2 * step + 10]
    allocator.copy_in(inner, memoryview(b"0123456789"))
    assert content(allocator, whole, 4 * step)[2 * step : 2 * step + 10] == b"0123456789"


def test_the_host_sees_shared_memory_and_no_other(allocator, either):
    memory = filled(allocator, b"abcd")
    window = allocator.map_host(memory)
    if not either.facts.windows:
        assert window is None
        return
    assert bytes(window) == b"abcd"
    window[1:3] = b"XY"
    assert content(allocator, memory, 4) == b"aXYd"


def test_names_of_one_device_are_linked(allocator, either):
    other = OpenCLDevice(DeviceId("OPENCL", "other"), either.handle, either.facts)
    theirs = BufferAllocator(other)
    source, target = filled(theirs, b"12345"), filled(allocator, b"00000")
    assert allocator.link_copy(target, source, other, 5)
    assert content(allocator, target, 5) == b"12345"
    group = either.capabilities.memory.link_group
    assert group is not None and group == other.capabilities.memory.link_group


def test_more_than_there_is(allocator):
    with pytest.raises(OutOfMemory) as caught:
        allocator.allocate(1 << 60, BufferHints())
    assert caught.value.try_
