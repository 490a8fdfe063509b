"""Devices whose bytes outlive the process: reopened they hold what was written."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import FileError
from weft.device import Buffer, registry, storage


@pytest.fixture
def place(weft_device):
    """The name of a persistent device on which nothing is stored yet."""
    if not weft_device.capabilities.memory.persistent:
        pytest.skip("its bytes do not outlive the process")
    if storage.stored_size(weft_device.id):
        pytest.skip("something is stored there already")
    return weft_device.name


def test_what_is_written_is_there_after_reopening(place):
    Buffer(place, 100, dtypes.uint8).copy_in(bytes(range(100)))
    registry.open(place).synchronize()
    registry.close(place)
    assert storage.stored_size(place) == 100
    assert bytes(Buffer(place, 100, dtypes.uint8).copy_out()) == bytes(range(100))


def test_naming_and_viewing_touches_nothing(place):
    Buffer(place, 1 << 40, dtypes.uint8).view(1 << 20, dtypes.float32, 1 << 30)
    assert not storage.stored_size(place)


def test_reading_what_is_not_there(place):
    with pytest.raises(FileError):
        Buffer(place, 10, dtypes.uint8).copy_out()


def test_reading_beyond_the_end(place):
    Buffer(place, 10, dtypes.uint8).copy_in(bytes(10))
    with pytest.raises(FileError):
        Buffer(place, 11, dtypes.uint8).copy_out()
    with pytest.raises(FileError):
        registry.open(place).allocator.map_host(Buffer(place, 11, dtypes.uint8).handle)


def test_growing_keeps_what_was_there(place):
    Buffer(place, 10, dtypes.uint8).copy_in(b"0123456789")
    longer = Buffer(place, 20, dtypes.uint8)
    longer.view(5, dtypes.uint8, 15).copy_in(b"abcde")
    assert bytes(longer.copy_out()) == b"0123456789" + bytes(5) + b"abcde"


def test_a_shorter_write_leaves_the_rest(place):
    Buffer(place, 10, dtypes.uint8).copy_in(b"0123456789")
    Buffer(place, 4, dtypes.uint8).copy_in(b"abcd")
    assert bytes(Buffer(place, 10, dtypes.uint8).copy_out()) == b"abcd456789"


def test_it_is_neither_pooled_nor_counted(place):
    opened = registry.open(place)
    assert not opened.pool.enabled
    assert not opened.capabilities.memory.resident
