"""What is read and replaced as a file is one."""

import errno
import os

import pytest

from weft.base.regular_file import check_regular


def test_a_file_and_a_link_to_one(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to("a")
    for name in ("a", "b"):
        assert check_regular(tmp_path / name) is None
        assert check_regular(os.fspath(tmp_path / name), exists=False) is None


def test_nothing_is_there(tmp_path):
    assert check_regular(tmp_path / "a", exists=False) is None
    with pytest.raises(FileNotFoundError):
        check_regular(tmp_path / "a")


def test_folders_and_files_where_folders_should_be(tmp_path):
    (tmp_path / "a").write_text("x")
    with pytest.raises(IsADirectoryError) as caught:
        check_regular(tmp_path)
    assert caught.value.errno == errno.EISDIR and caught.value.filename == os.fspath(tmp_path)
    with pytest.raises(NotADirectoryError):
        check_regular(tmp_path / "a" / "b", exists=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes in folders")
@pytest.mark.parametrize("exists", [True, False])
def test_pipes_and_devices(tmp_path, exists):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to(os.devnull)
    for name in ("pipe", "device"):
        with pytest.raises(OSError, match="no regular file"):
            check_regular(tmp_path / name, exists)


@pytest.mark.parametrize("exists", [True, False])
def test_a_name_that_no_file_has(exists):
    with pytest.raises(OSError, match="zero in it"):
        check_regular("a\0b", exists)
