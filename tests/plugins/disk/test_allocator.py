"""Extents: nothing is opened before bytes move; sizes of what is there."""

from pathlib import Path

import pytest

from weft.base.errors import FileError
from weft.device import Capabilities, DeviceId
from weft.device.parts import NO_HINTS
from weft_disk.allocator import FileAllocator, FileDevice


@pytest.fixture
def made(tmp_path):
    def allocator(path: Path):
        return FileAllocator(FileDevice(DeviceId("DISK", str(path)), Capabilities(), path))

    return allocator


def test_capacity(made, tmp_path):
    path = tmp_path / "w"
    assert made(path).capacity() is None
    path.write_bytes(b"12345")
    assert made(path).capacity() == 5
    with pytest.raises(FileError):
        made(path / "below a file").capacity()


def test_views_add_up_and_touch_nothing(made, tmp_path):
    allocator = made(tmp_path / "missing")
    extent = allocator.allocate(1 << 50, NO_HINTS)
    inner = allocator.view(allocator.view(extent, 1000, 500), 20, 30)
    assert (inner.offset, inner.nbytes) == (1020, 30)
    assert inner.file is extent.file
    assert not (tmp_path / "missing").exists()


def test_streaming(made, tmp_path):
    path = tmp_path / "w"
    path.write_bytes(bytes(range(100)))
    allocator = made(path)
    extent = allocator.view(allocator.allocate(100, NO_HINTS), 10, 50)
    pieces = [bytes(piece) for piece in allocator.stream_out(extent, 20)]
    assert [len(piece) for piece in pieces] == [20, 20, 10]
    assert b"".join(pieces) == bytes(range(10, 60))


def test_each_allocation_opens_the_file_of_its_time(made, tmp_path):
    path = tmp_path / "w"
    path.write_bytes(b"old")
    allocator = made(path)
    old = allocator.allocate(3, NO_HINTS)
    into = memoryview(bytearray(3))
    allocator.copy_out(into, old)
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "new").replace(path)
    fresh = allocator.allocate(3, NO_HINTS)
    allocator.copy_out(into, fresh)
    assert bytes(into) == b"new"
    allocator.copy_out(into, old)
    assert bytes(into) == b"old"


def test_closing_the_device_lets_go(made, tmp_path):
    path = tmp_path / "w"
    path.write_bytes(b"old")
    allocator = made(path)
    extent = allocator.allocate(3, NO_HINTS)
    into = memoryview(bytearray(3))
    allocator.copy_out(into, extent)
    allocator.device.close()
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "new").replace(path)
    allocator.copy_out(into, extent)
    assert bytes(into) == b"new", "touched afresh"
