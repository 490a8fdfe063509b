"""Files through Tensor: lazily read windows, copies of only the requested bytes, writing by
assignment."""

import os

import numpy
import pytest

from weft.base import trace
from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError, FileError
from weft.device import registry
from weft.tensor import Tensor

ARRAY = numpy.arange(64, dtype=numpy.float32)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "w:1.bin"
    path.write_bytes(b"header!!" + ARRAY.tobytes())
    return path


@pytest.fixture
def reads(monkeypatch):
    """Every (offset, length) that is read from files."""
    from weft_disk.mapping import StoredFile

    found = []
    real = StoredFile.read

    def reading(self, into, offset):
        found.append((offset, into.nbytes))
        real(self, into, offset)

    monkeypatch.setattr(StoredFile, "read", reading)
    return found


def window(path, begin=8, end=8 + 256):
    return Tensor.from_file(path)[begin:end].bitcast(dtypes.float32)


def test_opening_viewing_and_realizing_read_nothing(path, reads):
    whole = Tensor.from_file(path)
    assert whole.shape == (264,) and whole.dtype == dtypes.uint8
    assert whole.device == f"DISK:{os.path.realpath(path)}"
    values = window(path).reshape(8, 8)
    values.realize()
    assert values.shape == (8, 8) and reads == []


def test_just_the_window_is_copied(path, reads):
    there = window(path, 8 + 16, 8 + 48).to("REF")
    assert there.tolist() == ARRAY[4:12].tolist()
    assert reads == [(24, 32)]


def test_a_copy_to_a_device_takes_one_road(path):
    events = []
    stop = trace.subscribe(events.append)
    try:
        window(path).to("REF").realize()
    finally:
        stop()
    copies = [event for event in events if event.name == "copy"]
    assert [event.facts["nbytes"] for event in copies] == [256]


def test_numpy_and_data_read_the_window(path, reads):
    assert (window(path).numpy() == ARRAY).all()
    assert bytes(Tensor.from_file(path)[:6].data()) == b"header"
    assert reads == [(8, 256), (0, 6)]


def test_writing_through_assignment(path):
    whole = Tensor.from_file(path)
    whole[8:24] = Tensor([9.0, 8.0, 7.0, 6.0], device="REF").bitcast(dtypes.uint8)
    written = numpy.frombuffer(path.read_bytes()[8:], dtype=numpy.float32)
    assert written[:4].tolist() == [9, 8, 7, 6] and (written[4:] == ARRAY[4:]).all()
    assert path.read_bytes()[:8] == b"header!!"
    whole[:6] = list(b"HEADER")
    assert path.read_bytes()[:8] == b"HEADER!!"
    assert bytes(whole[:8].data()) == b"HEADER!!"


def test_a_written_value_is_computed_on_another_device_first(path):
    whole = Tensor.from_file(path)
    values = whole[8:].bitcast(dtypes.float32).to("REF")
    whole[8:] = (values * 2).bitcast(dtypes.uint8)
    assert (numpy.frombuffer(path.read_bytes()[8:], dtype=numpy.float32) == ARRAY * 2).all()


def test_making_a_file(tmp_path):
    device = str(registry.locate(tmp_path / "new.bin"))
    target = Tensor.empty(16, dtype=dtypes.uint8, device=device)
    target[4:8] = Tensor(list(b"weft"), dtype=dtypes.uint8)
    assert (tmp_path / "new.bin").read_bytes() == bytes(4) + b"weft" + bytes(8)


def test_files_do_not_compute(path):
    with pytest.raises(CapabilityError):
        (window(path) + 1).realize()


def test_a_file_cut_short_later(path):
    values = window(path)
    os.truncate(path, 100)
    with pytest.raises(FileError):
        values.to("REF").realize()


def test_nothing_there(tmp_path):
    with pytest.raises(FileError):
        Tensor.from_file(tmp_path / "missing")


def test_an_empty_file(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    empty = Tensor.from_file(tmp_path / "empty")
    assert empty.shape == (0,) and empty.tolist() == []


def test_unaligned_windows(path):
    odd = Tensor.from_file(path)[1:9].bitcast(dtypes.int16)
    wanted = numpy.frombuffer(path.read_bytes()[1:9], dtype=numpy.int16)
    assert odd.to("REF").tolist() == wanted.tolist()
