"""The plugin as a whole: naming, locating, and files through the core's buffers and copies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError, FileError, UnknownDevice
from weft.device import Buffer, registry, storage, transfer

DATA = bytes(range(256)) * 8


@pytest.fixture(autouse=True)
def forget_devices():
    yield
    for device in list(registry.current().opened()):
        if device.id.family == "DISK":
            registry.close(device.id)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(DATA)
    return path


def stored(path):
    return storage.stored(path)


def test_a_path_has_one_spelling(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    wanted = f"DISK:{os.path.realpath(tmp_path)}/w.bin"
    for spelt in ("w.bin", "./a/../w.bin", f"{tmp_path}/a/../w.bin"):
        assert registry.canonical(f"disk:{spelt}") == wanted
    monkeypatch.chdir(tmp_path / "a")
    assert registry.canonical("DISK:w.bin") == f"DISK:{os.path.realpath(tmp_path)}/a/w.bin"


def test_links_are_followed(tmp_path, file):
    link = tmp_path / "link"
    link.symlink_to(file)
    assert registry.canonical(f"DISK:{link}") == registry.canonical(f"DISK:{file}")


@pytest.mark.parametrize("name", ["DISK", "DISK:", "DISK:a\0b"])
def test_invalid_paths(name):
    with pytest.raises(UnknownDevice):
        registry.canonical(name)


def test_locating(file):
    wanted = f"DISK:{os.path.realpath(file)}"
    for source in (file, str(file), file.as_uri(), os.fsencode(file).decode()):
        assert str(registry.locate(source)) == wanted
    with pytest.raises(UnknownDevice):
        registry.locate("https://example.org/w.bin")


def test_file_urls_are_unquoted(tmp_path):
    path = tmp_path / "a b%c.bin"
    path.write_bytes(b"1")
    assert stored(path.as_uri()).size == 1


@pytest.mark.parametrize("name", ["a:b", "with space", "ünïcode", "-dash", "a\nb", "x" * 200])
def test_odd_names(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"weft")
    assert bytes(stored(path).copy_out()) == b"weft"


def test_opening_and_viewing_reads_nothing(tmp_path):
    """Seen from outside: no process has opened the file."""
    path = tmp_path / "data.bin"
    path.write_bytes(DATA)
    code = (
        "import os, sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda e, a: opened.append(a[0]) if e == 'open' else None)\n"
        "from weft.base.dtype import dtypes\n"
        "from weft.device import storage\n"
        f"whole = storage.stored({str(path)!r})\n"
        "window = whole.view(4, dtypes.float32, 8).view(2, dtypes.int16, 2)\n"
        f"assert {str(path)!r} not in opened, 'opened too early'\n"
        "assert not window.is_allocated\n"
        "window.copy_out()\n"
        f"assert {str(path)!r} in opened\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_window_copies_just_its_bytes(file):
    window = stored(file).view(4, dtypes.float32, 3)
    there = Buffer(registry.staging(), 4, dtypes.float32)
    assert transfer.copy(there, window) == "destination_window"
    assert bytes(there.copy_out()) == DATA[3:19]


def test_writing_through_a_window(file):
    stored(file).view(4, dtypes.uint8, 10).copy_in(b"weft")
    assert file.read_bytes() == DATA[:10] + b"weft" + DATA[14:]


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    buffer = stored(path)
    assert buffer.size == 0 and bytes(buffer.copy_out()) == b""
    assert path.stat().st_size == 0


def test_making_a_file(tmp_path):
    path = tmp_path / "new.bin"
    device = registry.locate(path)
    buffer = Buffer(device, 100, dtypes.uint8)
    assert not path.exists()
    buffer.view(4, dtypes.uint8, 50).copy_in(b"weft")
    registry.open(device).synchronize()
    assert path.read_bytes() == bytes(50) + b"weft" + bytes(46)


def test_readers_of_a_replaced_file_keep_the_old_one(file):
    old = stored(file)
    old.view(1, dtypes.uint8, 0).copy_out()
    other = file.with_name("other")
    other.write_bytes(b"new" * 10)
    os.replace(other, file)
    assert bytes(old.copy_out()) == DATA, "a file that was touched stays what it was"
    assert bytes(stored(file).copy_out()) == b"new" * 10
    with pytest.raises(FileError) as caught:
        old.copy_in(DATA)
    assert "another file" in caught.value.summary
    assert file.read_bytes() == b"new" * 10


def test_nothing_there(tmp_path):
    with pytest.raises(FileError):
        stored(tmp_path / "missing")
    with pytest.raises(FileError) as caught:
        Buffer(registry.locate(tmp_path / "missing"), 4, dtypes.uint8).copy_out()
    assert isinstance(caught.value, OSError)
    assert not (tmp_path / "missing").exists(), "reading must not make a file"


def test_file_devices_do_not_compute(file):
    opened = registry.open(registry.locate(file))
    with pytest.raises(CapabilityError):
        opened.target
    memory = opened.capabilities.memory
    assert memory.persistent and not memory.resident


def test_the_plugin_imports_only_the_plugin_api():
    source = "".join(p.read_text() for p in Path(sys.modules["weft_disk"].__path__[0]).glob("*.py"))
    lines = [line.strip() for line in source.splitlines() if "weft." in line and "import" in line]
    assert lines and all(line.startswith("from weft.plugin import") for line in lines)
