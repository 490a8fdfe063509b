"""Tar and zip archives against the library that writes them."""

import io
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import FormatError, WeftError
from weft.io import tar_extract, zip_extract


def tensor(data: bytes) -> Tensor:
    return Tensor(np.frombuffer(data, np.uint8))


def tarred(files: dict[str, bytes], mode="w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


FILES = {
    "a.txt": b"hello",
    "folder/b": bytes(range(256)) * 5,
    "empty": b"",
    "../up": b"x",
    "n" * 200: b"long",
}


def test_every_file_of_a_tar(tmp_path):
    (tmp_path / "t.tar").write_bytes(tarred(FILES))
    got = tar_extract(tmp_path / "t.tar")
    assert {name: bytes(t.data()) for name, t in got.items()} == FILES
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.tar"]


@pytest.mark.parametrize("data", [b"no tar" * 200, tarred(FILES, "w:gz"), tarred(FILES)[:700]])
def test_invalid_tar_archives(data):
    with pytest.raises(FormatError, match="tar archive"):
        tar_extract(tensor(data))


@settings(max_examples=100)
@given(st.data())
def test_damaged_tars_give_files_or_our_error(data):
    whole = bytearray(tarred(FILES))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, 3000))] = data.draw(st.integers(0, 255))
    try:
        for part in tar_extract(
            tensor(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
        ).values():
            assert part.numel() <= len(whole)
    except WeftError:
        pass


def odd_tar() -> bytes:
    """Links that lead out, a device, a folder, and one plain file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE),
                           ("dev", tarfile.CHRTYPE), ("dir", tarfile.DIRTYPE)):  # fmt: skip
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("/etc/evil")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    return out.getvalue()


def test_links_and_devices_are_left_out():
    got = tar_extract(tensor(odd_tar()))
    assert {name: bytes(t.data()) for name, t in got.items()} == {"/etc/evil": b"abc"}


def test_a_chain_of_long_names_is_refused():
    """Every long name announces another one: each is read by a call inside the last."""
    link = tarfile.TarInfo("././@LongLink")
    link.type, link.size = tarfile.GNUTYPE_LONGNAME, 4
    one = link.tobuf(tarfile.GNU_FORMAT) + b"abc\0".ljust(512, b"\0")
    with pytest.raises(FormatError, match="tar archive"):
        tar_extract(tensor(one * 3000 + b"\0" * 1024))


def zipped(kind=zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
        archive.mkdir("only a folder")
    return out.getvalue()


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_every_file_of_a_zip(tmp_path, kind):
    (tmp_path / "z.zip").write_bytes(zipped(kind))
    got = zip_extract(tmp_path / "z.zip")
    assert {name: bytes(t.data()) for name, t in got.items()} == FILES
    assert sorted(p.name for p in tmp_path.iterdir()) == ["z.zip"]


def bomb(claimed: int, real: int) -> bytes:
    """A zip of one compressed entry of zeros, that claims to unpack to so many bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(real))
    return out.getvalue().replace(struct.pack("<I", real), struct.pack("<I", claimed))


def test_zips_that_unpack_to_too_much():
    with pytest.raises(FormatError, match="at most 1000"):
        zip_extract(tensor(bomb(5_000_000, 5_000_000)), most=1000)
    with pytest.raises(FormatError, match="checksum"):
        zip_extract(tensor(bomb(1000, 5_000_000)))
    with pytest.raises(FormatError, match="at most"):
        zip_extract(tensor(bomb(0xFFFFFFF0, 70_000)))


def test_entries_share_the_limit_of_unpacked_bytes():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10):
            archive.writestr(str(number), bytes(200))
    with pytest.raises(FormatError, match="at most 0"):
        zip_extract(tensor(out.getvalue()), most=1000)


@pytest.mark.parametrize("change", [
    lambda z: z[:60], lambda z: z.replace(b"PK\x03\x04", b"PK\x03\x05"),
    lambda z: z[: z.rindex(b"PK\x05\x06")], lambda z: b"",
])  # fmt: skip
def test_invalid_zip_archives(change):
    with pytest.raises(FormatError, match="zip archive"):
        zip_extract(tensor(change(zipped())))


def test_encrypted_entries_and_other_compressions_are_refused():
    locked = bytearray(zipped())
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FormatError, match="encrypted"):
        zip_extract(tensor(bytes(locked)))
    with pytest.raises(FormatError, match="way number 14"):
        zip_extract(tensor(zipped(zipfile.ZIP_LZMA)))


def test_an_entry_without_a_name():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"abc")
    (part,) = zip_extract(tensor(out.getvalue())).values()
    assert bytes(part.data()) == b"abc"
