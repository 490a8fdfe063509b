"""Bytes that go in come out, memory is reused, and what cannot be is refused."""

from __future__ import annotations

import gc
import random

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, OutOfMemory
from weft.device import Buffer


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
        weft_device.pool.take(0, Buffer(weft_device.id, 1, dtypes.uint8).hints)


def test_the_largest_allocation_is_honoured(weft_device):
    largest = weft_device.capabilities.memory.max_allocation
    if largest is None:
        pytest.skip("no largest allocation is declared")
    with pytest.raises(OutOfMemory):
        Buffer(weft_device.id, largest + 1, dtypes.uint8).allocate()


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
        pytest.skip("the host cannot see this memory")
    assert bytes(mapped) == data
    assert mapped.format == "B" and mapped.ndim == 1 and mapped.nbytes == 256
    del mapped
    view = buffer.as_memoryview(window=True)
    del buffer
    gc.collect()
    assert bytes(view) == data, "a window must keep its memory alive"


def test_streaming_gives_all_bytes_in_order(weft_device, weft_bytes):
    data = random_bytes(1000)
    buffer = Buffer(weft_device.id, 1000, dtypes.uint8).copy_in(data)
    pieces = weft_device.allocator.stream_out(buffer.handle, 300)
    if pieces is None:
        pytest.skip("this device does not stream")
    copied = [bytes(piece) for piece in pieces]
    assert [len(piece) for piece in copied] == [300, 300, 300, 100]
    assert b"".join(copied) == data
