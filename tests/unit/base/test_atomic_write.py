"""Files are replaced atomically, also when their writer fails."""

import os
import signal
import subprocess
import sys

import pytest

from weft.base import atomic_write
from weft.base.atomic_write import replacing
from weft.base.errors import FileError

WRITER = """
import sys
from weft.base.atomic_write import replacing

with replacing(sys.argv[1]) as temporary:
    temporary.write_bytes(b"x" * 1000)
    print("writing", flush=True)
    sys.stdin.read()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def writer(path):
    """A process in the middle of writing."""
    found = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert found.stdout.readline() == b"writing\n"
    return found


def test_the_new_content_and_the_old_permissions(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").symlink_to("a")
    with replacing(tmp_path / "b") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "b").is_symlink() and (tmp_path / "a").read_text() == "new"


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old" and names(tmp_path) == ["a"]


@pytest.mark.skipif(atomic_write.fcntl is None, reason="needs flock")
def test_the_next_writer_removes_files_of_a_killed_one(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    killed = writer(path)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(names(tmp_path)) == 2 and path.read_text() == "old"
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == ["a"] and path.read_text() == "new"


@pytest.mark.skipif(atomic_write.fcntl is None, reason="needs flock")
def test_files_of_a_live_writer_are_not_removed(tmp_path):
    path = tmp_path / "a"
    alive = writer(path)
    with replacing(path) as temporary:  # of this process, too
        with replacing(path) as other:
            other.write_text("first")
        assert temporary.exists() and len(names(tmp_path)) == 3
        temporary.write_text("second")
    assert path.read_text() == "second"
    alive.communicate()
    assert path.read_bytes() == b"x" * 1000 and names(tmp_path) == ["a"]


def test_other_names_stay(tmp_path):
    others = ["a.tmp-1-xyz", "ab.tmp-1-01234567", "a.tmp-x-01234567", "a.tmp-1-01234567.bak"]
    for name in others:
        (tmp_path / name).write_text("")
    (tmp_path / "a.tmp-1-01234567").mkdir()
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == sorted(["a", "a.tmp-1-01234567", *others])


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write, "fcntl", None)
    (tmp_path / "a.tmp-1-01234567").write_text("")
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == ["a", "a.tmp-1-01234567"]


def test_a_file_that_was_taken_for_an_abandoned_one_is_made_again(tmp_path, monkeypatch):
    taken = []

    def lock(held, wait):
        if wait and not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        return True

    monkeypatch.setattr(atomic_write, "_lock", lock)
    with replacing(tmp_path / "a") as temporary:
        assert temporary != taken[0] and temporary.exists()
        temporary.write_text("new")
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [(".", IsADirectoryError), ("no/folder", FileNotFoundError), ("file/a", NotADirectoryError)],
)
def test_places_that_cannot_be_written(tmp_path, path, kind):
    (tmp_path / "file").write_text("")
    with pytest.raises(kind) as caught, replacing(tmp_path / path):
        pass
    assert isinstance(caught.value, FileError) and caught.value.errno
    assert caught.value.filename == os.fspath(tmp_path / path)


def test_a_full_disk(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(FileError) as caught, replacing(path):
        raise OSError(28, "No space left on device")
    assert caught.value.errno == 28 and "unchanged" in caught.value.because
    assert path.read_text() == "old" and names(tmp_path) == ["a"]
