"""Bitcasts between all dtypes on all routes, against NumPy; files read in a dtype; conversions of
what is stored."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.dtype import DType
from weft.base.errors import ArgumentError, CapabilityError

ml_dtypes = pytest.importorskip("ml_dtypes", reason="it gives NumPy the short floats")
pytest.importorskip("weft_disk", reason="it stores files")

SHORT_FLOATS = {
    "bfloat16": "bfloat16", "fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2",
}  # fmt: skip
# of every dtype a number, and of none a NaN, whose bits conversions may change
BYTES = np.array([1, 0x3C, 0x11, 0x42, 0x80, 0x30, 7, 0x29] * 2, np.uint8)
TRUTHS = np.array([0, 1, 1, 0, 1, 0, 0, 1] * 2, np.uint8)


def numpys(dtype: DType) -> Any:
    if dtype.name in SHORT_FLOATS:
        return getattr(ml_dtypes, SHORT_FLOATS[dtype.name])
    return np.dtype(dtype.fmt)


def bits_of(x: Tensor) -> bytes:
    held = x.contiguous().realize()
    return held.cast("uint8").numpy().tobytes() if x.dtype is dtypes.bool else bytes(held.data())


def values_for(source: DType, target: DType) -> np.ndarray:
    raw = TRUTHS if dtypes.bool in (source, target) else BYTES
    return raw.view(numpys(source))


def others(source: DType, same_size: bool = False) -> list[DType]:
    return [
        d
        for d in dtypes.all
        if d is not source and (not same_size or d.itemsize == source.itemsize)
    ]


@pytest.mark.parametrize("source", dtypes.all, ids=repr)
def test_memory(source: DType) -> None:
    for target in others(source):
        a = values_for(source, target)
        got = Tensor(a, device="REF").realize().bitcast(target)
        assert got.dtype is target and bits_of(got) == a.tobytes(), target


@pytest.mark.parametrize("wait", [False, True], ids=["pending", "computed"])
@pytest.mark.parametrize("source", ["uint8", "int16", "int32", "int64"])
def test_windows_that_start_anywhere(source: str, wait: bool) -> None:
    """The second window is one of the first, whose start need not be aligned for the new dtype."""
    a = np.arange(1, 41).astype(source)
    for first, second in itertools.product((1, 2, 3), (0, 1, 2, 3)):
        for target in ("uint8", "int16", "int32", "int64"):
            window = Tensor(a).realize()[first : first + 32].contiguous()
            got = (window.realize() if wait else window)[second : second + 24].bitcast(target)
            expected = a[first + second :][:24].view(target)
            assert np.array_equal(got.numpy(), expected), (first, second, target)


@pytest.mark.parametrize("source", dtypes.all, ids=repr)
def test_kernels(source: DType) -> None:
    for target in others(source, same_size=True):
        a = values_for(source, target)
        for device in ("REF", None):
            held = Tensor(a, device=device).realize()
            got = held.flip(0).bitcast(target)
            assert bits_of(got) == np.ascontiguousarray(a[::-1]).tobytes(), (target, device)


@pytest.mark.parametrize("source", dtypes.all, ids=repr)
def test_constants(source: DType) -> None:
    for target in others(source):
        a = values_for(source, target)
        a = np.full_like(a, a[1])
        got = Tensor.full(a.shape, a[1].item(), dtype=source, device="REF").bitcast(target)
        assert bits_of(got) == a.tobytes(), target


@pytest.mark.parametrize("source", dtypes.all, ids=repr)
def test_files(source: DType, tmp_path: Path) -> None:
    for target in others(source):
        a = values_for(source, target)
        path = tmp_path / target.name
        path.write_bytes(a.tobytes())
        stored = Tensor(path, dtype=source)
        assert stored.dtype is source and stored.shape == a.shape
        assert bits_of(stored.bitcast(target).to("REF")) == a.tobytes(), target


def test_files_are_read_in_a_dtype(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    np.arange(6, dtype=np.int16).tofile(path)
    for made in (Tensor(path, dtype="int16"), Tensor.from_file(path, dtype="int16")):
        assert made.device != Tensor([1]).device and made.tolist() == [0, 1, 2, 3, 4, 5]
    there = Tensor(path, dtype="int16", device="REF")
    assert there.device.startswith("REF") and (there + 1).tolist() == [1, 2, 3, 4, 5, 6]
    part = Tensor(path, dtype="int16")
    part[2:4] = [7, 8]
    assert np.fromfile(path, np.int16).tolist() == [0, 1, 7, 8, 4, 5]
    with pytest.raises(ArgumentError, match="12 bytes are no whole number"):
        Tensor(path, dtype="int64")
    path.write_bytes(b"")
    assert Tensor(path, dtype="float64").tolist() == []


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "int16"])
def test_stored_values_are_converted_where_they_are_copied_to(kind: str, tmp_path: Path) -> None:
    dtype = dtypes.to_dtype(kind)
    a = np.arange(-4, 8).astype(numpys(dtype))
    path = tmp_path / "numbers"
    a.tofile(path)
    stored = Tensor(path, dtype=dtype)
    want = a.astype(np.float32)
    assert stored.float().to("REF").tolist() == stored.float().tolist() == want.tolist()
    assert stored[2:6].float().to("REF").tolist() == want[2:6].tolist()
    assert stored.float()[::2].to("REF").tolist() == want[::2].tolist()
    assert stored.reshape(3, 4).float().numpy().tolist() == want.reshape(3, 4).tolist()
    assert (stored.cast("int32").to("REF") + 1).tolist() == (want + 1).tolist()
    with pytest.raises(CapabilityError):
        stored.float().realize()


@pytest.mark.parametrize("source", dtypes.all, ids=repr)
def test_stored_values_of_every_dtype_are_converted_to_every_other(
    source: DType, tmp_path: Path
) -> None:
    """As values in memory are: read whole, in a window, and written to another file."""
    a = np.array([0, 1, 2, 3, 5, 6, 1, 0]).astype(np.float32).astype(numpys(source))
    path = tmp_path / "numbers"
    a.tofile(path)
    held = Tensor(a, device="REF").realize()
    for target in others(source):
        want = held.cast(target)
        stored = Tensor(path, dtype=source).cast(target)
        assert stored.dtype is target
        assert bits_of(stored.to("REF")) == bits_of(want), target
        assert bits_of(stored[2:6].to("REF")) == bits_of(want[2:6]), target
        copy = tmp_path / target.name
        stored.to("REF").to(f"disk:{copy}").realize()
        assert copy.read_bytes() == bits_of(want), target
