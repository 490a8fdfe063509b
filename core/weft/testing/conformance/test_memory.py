"""Bytes that go in come out, memory is reused, and what cannot be is refused."""

from __future__ import annotations

import gc
import random

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CapabilityError, OutOfMemory
from weft.device import NO_HINTS, Buffer
from weft.testing.resources import is_visible, memory_in_use


def random_bytes(nbytes: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(nbytes)


@pytest.mark.parametrize("nbytes", [1, 3, 64, 4096, 4097, 1 << 20])
def test_round_trip(weft_device, weft_bytes, nbytes):
    data = random_bytes(nbytes)
    buffer = Buffer(weft_device.id, nbytes, dtypes.uint8).copy_in(data)
    assert bytes(buffer.copy_out()) == data


def test_two_buffers_do_not_share(weft_device, weft_bytes):
    if weft_device.capabilities.memory.persistent:
        pytest.skip("two buffers of one place are the same bytes")
    one = Buffer(weft_device.id, 64, dtypes.uint8).copy_in(random_bytes(64, 1))
    other = Buffer(weft_device.id, 64, dtypes.uint8).copy_in(random_bytes(64, 2))
    assert bytes(one.copy_out()) == random_bytes(64, 1)
    assert bytes(other.copy_out()) == random_bytes(64, 2)


def test_many_buffers_are_alive_at_once(weft_device, weft_bytes):
    if weft_device.capabilities.memory.persistent:
        pytest.skip("two buffers of one place are the same bytes")
    sizes = [1, 5, 64, 100, 257, 4096] * 20
    buffers = [
        Buffer(weft_device.id, size, dtypes.uint8).copy_in(random_bytes(size, seed))
        for seed, size in enumerate(sizes)
    ]
    del buffers[::3]  # freed memory is reused by other buffers, live memory is not
    gc.collect()
    more = [
        Buffer(weft_device.id, size, dtypes.uint8).copy_in(random_bytes(size, -seed - 1))
        for seed, size in enumerate(sizes)
    ]
    kept = [seed for seed in range(len(sizes)) if seed % 3]
    for seed, buffer in zip(kept, buffers, strict=True):
        assert bytes(buffer.copy_out()) == random_bytes(sizes[seed], seed), f"buffer {seed}"
    for seed, buffer in enumerate(more):
        assert bytes(buffer.copy_out()) == random_bytes(sizes[seed], -seed - 1), f"later {seed}"


def test_what_was_copied_in_may_change_afterwards(weft_device, weft_bytes):
    data = bytearray(random_bytes(5000))
    buffer = Buffer(weft_device.id, 5000, dtypes.uint8).copy_in(data)
    data[:] = bytes(5000)
    assert bytes(buffer.copy_out()) == random_bytes(5000)


def test_what_was_copied_out_does_not_change(weft_device, weft_bytes):
    buffer = Buffer(weft_device.id, 100, dtypes.uint8).copy_in(random_bytes(100))
    out = buffer.copy_out()
    buffer.copy_in(bytes(100))
    weft_device.synchronize()
    assert bytes(out) == random_bytes(100)


def test_overwriting(weft_device, weft_bytes):
    buffer = Buffer(weft_device.id, 100, dtypes.uint8).copy_in(random_bytes(100, 1))
    buffer.copy_in(random_bytes(100, 2))
    assert bytes(buffer.copy_out()) == random_bytes(100, 2)


def test_nothing_is_allocated_before_it_is_touched(weft_device):
    buffer = Buffer(weft_device.id, 1000, dtypes.float32)
    assert not buffer.is_allocated
    assert buffer.allocate().is_allocated


def test_no_elements(weft_device):
    buffer = Buffer(weft_device.id, 0, dtypes.float32).copy_in(b"")
    assert bytes(buffer.copy_out()) == b""


def test_freed_memory_is_reused(weft_device):
    if weft_device.capabilities.memory.persistent:
        pytest.skip("persistent memory is not pooled")
    gc.collect()
    weft_device.pool.drop()
    used = weft_device.pool.used_bytes
    handle = Buffer(weft_device.id, 12345, dtypes.uint8).allocate().handle
    gc.collect()
    again = Buffer(weft_device.id, 12345, dtypes.uint8).allocate()
    assert again.handle is handle
    del again
    gc.collect()
    weft_device.pool.drop()
    assert weft_device.pool.used_bytes == used
    assert weft_device.pool.kept_bytes == 0


def test_the_pool_refuses_no_bytes(weft_device):
    with pytest.raises(ArgumentError):
        weft_device.pool.acquire(0, Buffer(weft_device.id, 1, dtypes.uint8).hints)


def test_the_largest_allocation_is_honoured(weft_device):
    largest = weft_device.capabilities.memory.max_allocation
    if largest is None:
        pytest.skip("no largest allocation is declared")
    with pytest.raises(OutOfMemory):
        Buffer(weft_device.id, largest + 1, dtypes.uint8).allocate()
    try:
        whole = Buffer(weft_device.id, largest, dtypes.uint8).allocate()
    except OutOfMemory as error:
        # As much as that may not be free, but a number that is small must be true.
        assert largest > 1 << 28, f"{largest} bytes are declared: {error.because or error.summary}"
        pytest.skip(f"{largest} bytes are not free just now")
    alignment = weft_device.capabilities.memory.alignment
    if alignment is not None:
        last = whole.view(1, dtypes.uint8, (largest - 1) // alignment * alignment)
        assert bytes(last.copy_in(b"w").copy_out()) == b"w"
    del whole
    gc.collect()
    weft_device.pool.drop()


def test_running_out_of_memory_raises(weft_device, weft_bytes):
    if weft_device.capabilities.memory.persistent:
        pytest.skip("its capacity is that of a disk")
    with pytest.raises(OutOfMemory):
        Buffer(weft_device.id, 1 << 55, dtypes.uint8).allocate()
    assert Buffer(weft_device.id, 3, dtypes.uint8).copy_in(b"yes").copy_out() == b"yes"


def test_sizes_must_agree(weft_device):
    buffer = Buffer(weft_device.id, 4, dtypes.float32)
    with pytest.raises(ArgumentError):
        buffer.copy_in(b"123")
    with pytest.raises(ArgumentError):
        buffer.copy_out(bytearray(17))


def test_a_window_shows_what_is_written(weft_device, weft_bytes):
    data = random_bytes(256)
    buffer = Buffer(weft_device.id, 256, dtypes.uint8).copy_in(data)
    mapped = weft_device.allocator.map_host(buffer.handle)
    if mapped is None:
        assert not weft_device.capabilities.memory.host_visible
        pytest.skip("the host cannot see this memory")
    assert bytes(mapped) == data
    assert mapped.format == "B" and mapped.ndim == 1 and mapped.nbytes == 256
    if not mapped.readonly:
        mapped[10:13] = b"wax"
        weft_device.synchronize()
        assert bytes(buffer.copy_out()) == data[:10] + b"wax" + data[13:], "it must be no copy"
    buffer.copy_in(data[::-1])
    again = weft_device.allocator.map_host(buffer.handle)
    assert bytes(again) == data[::-1], "what is written afterwards must be seen"
    buffer.copy_in(data)
    del mapped, again
    view = buffer.as_memoryview(window=True)
    del buffer
    gc.collect()
    assert bytes(view) == data, "a window must keep its memory alive"


def test_memory_that_is_used_in_place(weft_device, weft_bytes):
    memory = bytearray(random_bytes(4096))
    try:
        buffer = Buffer.wrap(memory, device=weft_device.id)
    except CapabilityError:
        pytest.skip("this device cannot use Python's memory in place")
    assert bytes(buffer.copy_out()) == bytes(memory)
    buffer.copy_in(bytes(4096))
    weft_device.synchronize()
    assert bytes(memory) == bytes(4096), "it must be no copy"
    memory[5] = 7
    assert bytes(buffer.copy_out()) == bytes(memory)


def test_streaming_gives_all_bytes_in_order(weft_device, weft_bytes):
    data = random_bytes(1000)
    buffer = Buffer(weft_device.id, 1000, dtypes.uint8).copy_in(data)
    pieces = weft_device.allocator.stream_out(buffer.handle, 300)
    if pieces is None:
        pytest.skip("this device does not stream")
    copied = [bytes(piece) for piece in pieces]
    assert [len(piece) for piece in copied] == [300, 300, 300, 100]
    assert b"".join(copied) == data


def test_freed_memory_is_given_back(weft_device, weft_bytes):
    """By the allocator itself, without the pool: 192 MiB are allocated, written and freed in small
    pieces. The memory of the process and of those it started stays below half of that."""
    memory, allocator = weft_device.capabilities.memory, weft_device.allocator
    if memory.persistent:
        pytest.skip("its capacity is that of a disk")
    size = min(8 << 20, memory.max_allocation or 8 << 20)
    rounds = min(max(4, (192 << 20) // size), 2000)
    data = memoryview(random_bytes(size))

    def use() -> None:
        handle = allocator.allocate(size, NO_HINTS)
        allocator.copy_in(handle, data)
        allocator.free(handle, size)

    def measured() -> tuple[int | None, int]:
        weft_device.synchronize()
        gc.collect()
        return allocator.used_bytes(), memory_in_use() if is_visible() else 0

    use()
    used_before, seen = measured()
    for _ in range(rounds):
        use()
    used_after, seen_then = measured()
    said = f"{rounds} allocations of {size} bytes were freed one by one"
    if used_before is not None and used_after is not None:
        assert used_after <= used_before + size, (
            f"{said}, and used_bytes grew from {used_before} to {used_after}"
        )
    assert seen_then - seen < rounds * size // 2, (
        f"{said}, and memory in use grew by {seen_then - seen} bytes"
    )


def test_more_than_there_is_can_be_allocated_in_sequence(weft_device, weft_bytes):
    """Four times the largest allocation, in quarters: for memory that no process shows."""
    memory, allocator = weft_device.capabilities.memory, weft_device.allocator
    if memory.persistent or memory.max_allocation is None:
        pytest.skip("no largest allocation is declared")
    size = max(1, memory.max_allocation // 4)
    for number in range(16):
        try:
            handle = allocator.allocate(size, NO_HINTS)
        except OutOfMemory as error:
            if not number:
                pytest.skip(f"{size} bytes are not free just now")
            pytest.fail(f"allocation {number} of {size} bytes, all freed before: {error}")
        allocator.free(handle, size)
        del handle
