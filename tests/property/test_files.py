"""Damaged files of every format: a value or our error, never anything from outside the file.

Valid files are cut, flipped, stretched and given huge numbers. Each damaged one is put into a
larger row of bytes twice, with other bytes around it: whatever is read must be the same both times,
or something was read that is not in the file.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import WeftError
from weft.io import (
    gguf_load,
    npy_load,
    npz_load,
    safe_load,
    safe_save,
    tar_extract,
    torch_load,
    zip_extract,
)

VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)


def safetensors_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.safetensors"
        tensors = {"a": Tensor(VALUES), "b.weight": Tensor([1, 2, 3]), "c": Tensor([True, False])}
        safe_save(tensors, path, {"format": "test"})
        return path.read_bytes()


def gguf_file() -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    notes = [
        text("general.alignment") + struct.pack("<II", 4, 32),
        text("a.words") + struct.pack("<IIQ", 9, 8, 2) + text("x") + text("yy"),
        text("a.list") + struct.pack("<IIQ3i", 9, 5, 3, 1, 2, 3),
    ]
    rows = [
        text("w") + struct.pack("<IQQIQ", 2, 6, 4, 0, 0),
        text("q") + struct.pack("<IQIQ", 1, 32, 8, 96),
        text("k") + struct.pack("<IQIQ", 1, 256, 14, 160),
    ]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(rows), len(notes)) + b"".join(notes + rows)
    head += bytes(-len(head) % 32)
    halves = bytes(208) + struct.pack("<e", 0.5)
    return head + VALUES.tobytes() + bytes([0, 60, *range(32)]).ljust(64, b"\0") + halves


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def tensor_pickle() -> bytes:
    """The opcodes of {"w": a tensor, "t": its transpose}, as torch.save writes them."""

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def made(name: str, size: tuple[int, int], stride: tuple[int, int]) -> bytes:
        key = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu")
        pairs = b"".join(number(a) + number(b) + b"\x86" for a, b in (size, stride))
        begin = text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n("
        return begin + key + number(24) + b"tQ" + number(0) + pairs + b"\x89" + text("") + b"tR"

    return b"\x80\x02}(" + made("w", (4, 6), (6, 1)) + made("t", (6, 4), (1, 6)) + b"u."


def zipped(files: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return out.getvalue()


def torch_file() -> bytes:
    files = {"data.pkl": tensor_pickle(), "byteorder": b"little", "data/0": VALUES.tobytes()}
    return zipped({f"archive/{name}": content for name, content in files.items()})


def old_torch_file() -> bytes:
    head = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    keys = pickle.dumps(["0"], 2) + struct.pack("<q", 24)
    return b"".join(pickle.dumps(x, 2) for x in head) + tensor_pickle() + keys + VALUES.tobytes()


def npy_file() -> bytes:
    out = io.BytesIO()
    np.save(out, VALUES)
    return out.getvalue()


def columns_file() -> bytes:
    out = io.BytesIO()
    np.save(out, np.asfortranarray(VALUES))
    return out.getvalue()


def tar_file() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in (("a", b"hello"), ("n" * 120, bytes(700)), ("grüße", b"x")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


FORMATS: dict[str, tuple[Callable[[], bytes], Callable[[Tensor], Any]]] = {
    "safetensors": (safetensors_file, safe_load),
    "gguf": (gguf_file, lambda source: gguf_load(source)[1]),
    "torch": (torch_file, torch_load),
    "torch before 1.6": (old_torch_file, torch_load),
    "npy": (npy_file, npy_load),
    "npy by columns": (columns_file, npy_load),
    "npz": (lambda: zipped({"a.npy": npy_file(), "b.npy": columns_file()}), npz_load),
    "compressed npz": (
        lambda: zipped({"a.npy": npy_file()}, zipfile.ZIP_DEFLATED),
        lambda source: npz_load(source, most=1 << 20),
    ),
    "tar": (tar_file, tar_extract),
    "zip": (
        lambda: zipped({"a": b"hello" * 30, "b": b""}, zipfile.ZIP_DEFLATED),
        lambda source: zip_extract(source, most=1 << 20),
    ),
}

EDGES = [0, 1, 0x7F, 0x80, 0xFF]
HUGE = [(1 << 63) - 1, (1 << 64) - 1, 1 << 62, 1 << 40, (1 << 32) - 1, 1 << 31, 0xFFFF, 65, 0]


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """The file with one to four wounds."""
    data = bytearray(whole)
    for _ in range(chance.randint(1, 4)):
        # half of the wounds in the first bytes, where most of the tables of contents are
        end = len(data) if chance.random() < 0.5 else min(len(data), 200)
        at = chance.randrange(end) if end else 0
        kind = chance.randrange(8)
        if kind == 0:
            del data[at:]
        elif kind == 1 and end:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2 and end:
            data[at] = chance.choice(EDGES)
        elif kind == 3:
            form = chance.choice(["<Q", "<I", "<H"])
            limit = 1 << 8 * struct.calcsize(form)
            data[at : at + struct.calcsize(form)] = struct.pack(form, chance.choice(HUGE) % limit)
        elif kind == 4:
            del data[at : at + chance.randint(1, 16)]
        elif kind == 5:
            data[at:at] = chance.randbytes(chance.randint(1, 16))
        elif kind == 6:
            other = chance.randrange(len(data) + 1)
            data[at:at] = data[other : other + chance.randint(1, 64)]
        else:
            digits = [i for i, byte in enumerate(data[:end]) if 48 <= byte <= 57]
            if digits:
                data[chance.choice(digits)] = chance.choice(b"0123456789-")
    return bytes(data)


def tensors_in(value: Any, depth: int = 0) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if depth > 5 or not isinstance(value, dict | list | tuple):
        return []
    inside = value.values() if isinstance(value, dict) else value
    return [tensor for each in inside for tensor in tensors_in(each, depth + 1)]


def found(data: bytes, around: int, load: Callable[[Tensor], Any]) -> Any:
    """What loading gives of a file that lies between other bytes: values, or the error's name."""
    row = bytes([around]) * 64 + data + bytes([around]) * 4096
    source = Tensor(np.frombuffer(row, np.uint8))[64 : 64 + len(data)]
    try:
        small = [t for t in tensors_in(load(source)) if t.numel() <= 1000][:4]
        return [(tuple(t.shape), t.dtype.name, t.numpy().tobytes()) for t in small]
    except WeftError as error:
        return type(error).__name__


def check(name: str, seed: int) -> bool:
    """Whether the damaged file could still be read."""
    make, load = FORMATS[name]
    data = damaged(make(), random.Random(seed))
    first = found(data, 0x00, load)
    assert first == found(data, 0xA5, load), f"{name}, seed {seed}: bytes around the file matter"
    return isinstance(first, list)


@pytest.mark.parametrize("name", FORMATS)
def test_complete_files_are_read(name: str) -> None:
    make, load = FORMATS[name]
    assert len(found(make(), 7, load)) > 0 and isinstance(found(make(), 7, load), list)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_give_values_or_our_error(name: str) -> None:
    read = sum(check(name, seed) for seed in range(60))
    assert 0 < read < 60


SPARSE = 4 << 30


def sparse_safetensors(path: Path) -> Callable[[], Tensor]:
    row = {"dtype": "F32", "shape": [SPARSE // 4], "data_offsets": [0, SPARSE]}
    head = json.dumps({"w": row}).encode().ljust(88)
    path.write_bytes(struct.pack("<Q", len(head)) + head)
    os.truncate(path, 8 + len(head) + SPARSE)
    return lambda: safe_load(path)["w"]


def sparse_npy(path: Path) -> Callable[[], Tensor]:
    text = str({"descr": "<f4", "fortran_order": False, "shape": (SPARSE // 4,)})
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.encode().ljust(118))
    os.truncate(path, 128 + SPARSE)
    return lambda: npy_load(path)


def sparse_gguf(path: Path) -> Callable[[], Tensor]:
    row = struct.pack("<Q", 1) + b"w" + struct.pack("<IQIQ", 1, SPARSE // 4, 0, 0)
    path.write_bytes((b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + row).ljust(64, b"\0"))
    os.truncate(path, 64 + SPARSE)
    return lambda: gguf_load(path)[1]["w"]


def sparse_tar(path: Path) -> Callable[[], Tensor]:
    info = tarfile.TarInfo("w")
    info.size = SPARSE
    path.write_bytes(info.tobuf(tarfile.USTAR_FORMAT))
    os.truncate(path, 512 + SPARSE + 1024)
    return lambda: tar_extract(path)["w"].bitcast("float32")


STARTS = {sparse_safetensors: 96, sparse_npy: 128, sparse_gguf: 64, sparse_tar: 512}


@pytest.mark.parametrize("make", STARTS)
def test_only_used_parts_of_a_large_file_are_read(make, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="only Unix says how much memory was taken")
    load = make(tmp_path / "large")
    with open(tmp_path / "large", "r+b") as file:
        file.seek(STARTS[make] + SPARSE - 8)
        file.write(struct.pack("<2f", 1.5, 2.5))
    load()[-2:].numpy()  # what is made once is made before the measurement
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert load().shape == (SPARSE // 4,)
    assert load()[-2:].tolist() == [1.5, 2.5]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 * 1024, f"{grown // 1024} MiB more in memory"
