"""One file: checked reads and writes, growing, and everything that can go wrong."""

import errno
import gc
import os
import threading

import pytest

from weft.base.errors import FileError
from weft_disk import mapping
from weft_disk.mapping import StoredFile

DATA = bytes(range(200))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(DATA)
    return path


def read(file, nbytes, offset=0):
    into = memoryview(bytearray(nbytes))
    file.read(into, offset)
    return bytes(into)


def test_reading_and_writing_at_offsets(path):
    file = StoredFile(path, 200)
    assert read(file, 10, 7) == DATA[7:17]
    file.write(memoryview(b"weft"), 8)
    assert read(file, 10, 7) == DATA[7:8] + b"weft" + DATA[12:17]


@pytest.mark.parametrize("size", [0, 5, 16])
def test_a_file_shorter_than_asked(tmp_path, size):
    path = tmp_path / "short"
    path.write_bytes(bytes(size))
    file = StoredFile(path, 17)
    for attempt in (lambda: read(file, 17), lambda: file.window(0, 17)):
        with pytest.raises(FileError) as caught:
            attempt()
        assert caught.value.because == f"the file has {size} bytes"
        assert caught.value.asked == "bytes 0 to 17"


def test_a_file_cut_short_after_it_was_opened(path):
    file = StoredFile(path, 200)
    read(file, 200)
    window = file.window(0, 100)
    os.truncate(path, 50)
    for attempt in (lambda: read(file, 100), lambda: file.window(0, 100)):
        with pytest.raises(FileError):
            attempt()
    assert read(file, 50) == DATA[:50]
    assert bytes(window[:50]) == DATA[:50]


def test_a_file_cut_short_while_it_is_read(path, monkeypatch):
    real = mapping._read_some

    def cutting(fd, into):
        os.truncate(path, 20)
        return real(fd, into)

    monkeypatch.setattr(mapping, "_read_some", cutting)
    with pytest.raises(FileError) as caught:
        read(StoredFile(path, 200), 200)
    assert caught.value.because == "the file has 20 bytes"


def test_reads_that_come_in_pieces(path, monkeypatch):
    real = mapping._read_some
    monkeypatch.setattr(mapping, "_read_some", lambda fd, into: real(fd, into[:7]))
    assert read(StoredFile(path, 200), 150, 30) == DATA[30:180]


def test_windows_at_any_offset(tmp_path):
    path = tmp_path / "big"
    content = os.urandom(20_000)
    path.write_bytes(content)
    file = StoredFile(path, len(content))
    for offset, nbytes in ((0, 1), (4095, 2), (4097, 9000), (19_999, 1)):
        assert bytes(file.window(offset, nbytes)) == content[offset : offset + nbytes]
    window = file.window(5000, 10)
    assert window.readonly
    file.write(memoryview(b"weft"), 5000)
    assert bytes(window[:4]) == b"weft", "a window sees what is written"
    del file
    assert bytes(window[4:]) == content[5004:5010], "a window outlives its file object"


def test_growing_reserves_the_whole_length(tmp_path):
    path = tmp_path / "new"
    file = StoredFile(path, 1000)
    file.write(memoryview(b"x"), 0)
    assert path.stat().st_size == 1000
    file.write(memoryview(b"y"), 2000)
    assert path.stat().st_size == 2001


def full_disk(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_when_reserving(path, monkeypatch):
    monkeypatch.setattr(os, "posix_fallocate", full_disk, raising=False)
    with pytest.raises(FileError) as caught:
        StoredFile(path, 1 << 20).write(memoryview(b"x"), 0)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.try_ == "free some space, or save to another disk"
    assert path.read_bytes() == DATA, "what was there is untouched"
    with pytest.raises(FileError):
        StoredFile(path.with_name("new"), 1 << 20).write(memoryview(b"x"), 0)
    assert not path.with_name("new").exists(), "no empty file is left"


def test_a_full_disk_when_writing(path, monkeypatch):
    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(FileError) as caught:
        StoredFile(path, 200).write(memoryview(b"x"), 0)
    assert caught.value.errno == errno.ENOSPC


def test_writes_that_stop_moving(path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda fd, data: 0)
    with pytest.raises(FileError):
        StoredFile(path, 200).write(memoryview(b"x"), 0)


def test_a_file_system_that_cannot_reserve(tmp_path, monkeypatch):
    def unsupported(*arguments):
        raise OSError(errno.EOPNOTSUPP, "no")

    monkeypatch.setattr(os, "posix_fallocate", unsupported, raising=False)
    file = StoredFile(tmp_path / "new", 100)
    file.write(memoryview(b"weft"), 10)
    assert read(file, 4, 10) == b"weft"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_special_files_are_refused():
    with pytest.raises(FileError) as caught:
        StoredFile("/dev/full", 1).write(memoryview(b"x"), 0)
    assert "not a regular file" in caught.value.because


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_does_not_make_us_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError):
        read(StoredFile(tmp_path / "pipe", 1), 1)


def test_a_folder_is_no_file(tmp_path):
    for attempt in (
        lambda: read(StoredFile(tmp_path, 1), 1),
        lambda: StoredFile(tmp_path, 1).write(memoryview(b"x"), 0),
    ):
        with pytest.raises(FileError) as caught:
            attempt()
        assert caught.value.errno == errno.EISDIR


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileError) as caught:
        StoredFile(tmp_path / "no" / "w", 1).write(memoryview(b"x"), 0)
    assert caught.value.errno == errno.ENOENT


def test_a_file_as_a_folder(path):
    with pytest.raises(FileError) as caught:
        StoredFile(path / "w", 1).write(memoryview(b"x"), 0)
    assert caught.value.errno == errno.ENOTDIR


def refuse_writing(monkeypatch, code):
    """Permissions do not bind the superuser, so the refusal itself is made."""
    real = os.open

    def refusing(path, flags, mode=0o777):
        if flags & os.O_RDWR:
            raise OSError(code, os.strerror(code))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", refusing)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_file_that_may_only_be_read(path, monkeypatch, code):
    refuse_writing(monkeypatch, code)
    file = StoredFile(path, 200)
    assert read(file, 200) == DATA
    assert bytes(file.window(0, 200)) == DATA
    with pytest.raises(FileError) as caught:
        file.write(memoryview(b"x"), 0)
    assert caught.value.errno == code
    assert caught.value.because == os.strerror(code)
    assert "write" in caught.value.summary and str(path) in caught.value.summary


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may do everything"
)
def test_permissions_for_real(path):
    path.chmod(0o400)
    file = StoredFile(path, 200)
    assert read(file, 200) == DATA
    with pytest.raises(FileError):
        file.write(memoryview(b"x"), 0)


def test_reading_does_not_make_a_file(tmp_path):
    with pytest.raises(FileError) as caught:
        read(StoredFile(tmp_path / "w", 4), 4)
    assert caught.value.errno == errno.ENOENT
    assert list(tmp_path.iterdir()) == []


def test_failed_flushes_are_reported(path, monkeypatch):
    file = StoredFile(path, 200)
    file.flush()
    file.write(memoryview(b"x"), 0)
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(FileError):
        file.flush()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files cannot be counted here")
def test_files_are_closed_with_their_last_holder(path):
    gc.collect()  # of what others left
    before = len(os.listdir("/proc/self/fd"))
    files = [StoredFile(path, 200) for _ in range(20)]
    for file in files:
        file.write(memoryview(b"x"), 0)
        read(file, 1)
    assert len(os.listdir("/proc/self/fd")) == before + 20
    del file, files
    assert len(os.listdir("/proc/self/fd")) == before


def test_threads_do_not_mix_their_places(tmp_path):
    path = tmp_path / "shared"
    file = StoredFile(path, 8000)
    file.write(memoryview(bytes(8000)), 0)
    wrong = []

    def work(number):
        for _ in range(50):
            file.write(memoryview(bytes([number]) * 1000), number * 1000)
            if read(file, 1000, number * 1000) != bytes([number]) * 1000:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
