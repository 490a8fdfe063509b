"""Copies to and from the device, by every method."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CapabilityError
from weft.device import Buffer, registry, transfer

DATA = bytes(range(251)) * 41


pytestmark = pytest.mark.usefixtures("weft_bytes")


def made(device, data=DATA):
    return Buffer(device, len(data), dtypes.uint8).copy_in(data)


@pytest.mark.parametrize("method", [None, *transfer.METHODS])
def test_from_the_host(weft_device, method):
    source = Buffer.wrap(DATA)
    there = Buffer(weft_device.id, len(DATA), dtypes.uint8).copy_in(bytes(len(DATA)))
    take(there, source, method)
    assert bytes(there.copy_out()) == DATA


@pytest.mark.parametrize("method", [None, *transfer.METHODS])
def test_to_the_host(weft_device, method):
    back = Buffer(registry.staging(), len(DATA), dtypes.uint8)
    take(back, made(weft_device.id), method)
    assert bytes(back.copy_out()) == DATA


@pytest.mark.parametrize("method", [None, *transfer.METHODS])
def test_within_the_device(weft_device, method):
    if weft_device.capabilities.memory.persistent:
        pytest.skip("two buffers of one place are the same bytes")
    source = made(weft_device.id)
    there = Buffer(weft_device.id, len(DATA), dtypes.uint8)
    take(there, source, method)
    assert bytes(there.copy_out()) == DATA


@pytest.mark.parametrize("method", [None, *transfer.METHODS])
def test_piece_by_piece(weft_device, method, monkeypatch):
    monkeypatch.setattr(transfer, "CHUNK", 1024)
    back = Buffer(registry.staging(), len(DATA), dtypes.uint8)
    take(back, made(weft_device.id), method)
    assert bytes(back.copy_out()) == DATA


@pytest.mark.parametrize("nbytes", [1, 2, 3, 5, 7, 13, 31, 63, 65, 255, 1023, 4099])
def test_odd_sizes_there_and_back_by_every_method(weft_device, nbytes):
    data = DATA[7 : 7 + nbytes]
    closed = []
    for method in transfer.METHODS:
        there = Buffer(weft_device.id, nbytes, dtypes.uint8).copy_in(bytes(nbytes))
        back = Buffer(registry.staging(), nbytes, dtypes.uint8).copy_in(bytes(nbytes))
        for to, source in ((there, Buffer.wrap(data)), (back, there)):
            try:
                transfer.copy(to, source, method)
            except CapabilityError:
                closed.append(method)
                to.copy_in(data)
        assert bytes(there.copy_out()) == data, f"in by {method}"
        assert bytes(back.copy_out()) == data, f"out by {method}"
    assert "bounce" not in closed


@pytest.mark.parametrize("method", [None, *transfer.METHODS])
def test_a_part_of_a_buffer(weft_device, method):
    alignment = weft_device.capabilities.memory.alignment
    if alignment is None:
        pytest.skip("this device has no windows")
    length, start = 3 * alignment + 5, 2 * alignment
    data = bytes(range(250)) * (length // 100 + 1)
    whole = Buffer(weft_device.id, len(data), dtypes.uint8).copy_in(data)
    back = Buffer(registry.staging(), length, dtypes.uint8)
    take(back, whole.view(length, dtypes.uint8, start), method)
    assert bytes(back.copy_out()) == data[start : start + length]
    take(whole.view(length, dtypes.uint8, start), Buffer.wrap(bytes(length)), method)
    assert bytes(whole.copy_out()) == data[:start] + bytes(length) + data[start + length :]


@pytest.mark.parametrize("other", ["HOST", "REF:2", "NULL"])
def test_to_and_from_other_devices(weft_device, other):
    """Devices that are always there: memory of Python, one that computes, one that keeps nothing.
    NULL reads as zeros, so that what was there before must be gone."""
    if registry.resolve(other) == weft_device.id:
        pytest.skip("this is the device under test")
    source = made(weft_device.id)
    there = Buffer(other, len(DATA), dtypes.uint8)
    transfer.copy(there, source)
    keeps = other != "NULL"
    assert bytes(there.copy_out()) == (DATA if keeps else bytes(len(DATA)))
    source.copy_in(DATA[::-1])
    transfer.copy(source, there)
    assert bytes(source.copy_out()) == (DATA if keeps else bytes(len(DATA)))


def test_sizes_must_agree(weft_device):
    with pytest.raises(ArgumentError):
        transfer.copy(Buffer(weft_device.id, 3, dtypes.uint8), Buffer.wrap(b"1234"))


def take(there, source, method):
    try:
        assert transfer.copy(there, source, method) == method or method is None
    except CapabilityError:
        pytest.skip(f"these devices do not support the copy method {method!r}")
