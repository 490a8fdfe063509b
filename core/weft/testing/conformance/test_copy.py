"""Copies to and from the device, by every road there is."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CapabilityError
from weft.device import Buffer, registry, transfer

DATA = bytes(range(251)) * 41


pytestmark = pytest.mark.usefixtures("weft_bytes")


def made(device, data=DATA):
    return Buffer(device, len(data), dtypes.uint8).copy_in(data)


@pytest.mark.parametrize("road", [None, *transfer.ROADS])
def test_from_the_host(weft_device, road):
    source = Buffer.wrap(DATA)
    there = Buffer(weft_device.id, len(DATA), dtypes.uint8).copy_in(bytes(len(DATA)))
    take(there, source, road)
    assert bytes(there.copy_out()) == DATA


@pytest.mark.parametrize("road", [None, *transfer.ROADS])
def test_to_the_host(weft_device, road):
    back = Buffer(registry.staging(), len(DATA), dtypes.uint8)
    take(back, made(weft_device.id), road)
    assert bytes(back.copy_out()) == DATA


@pytest.mark.parametrize("road", [None, *transfer.ROADS])
def test_within_the_device(weft_device, road):
    if weft_device.capabilities.memory.persistent:
        pytest.skip("two buffers of one place are the same bytes")
    source = made(weft_device.id)
    there = Buffer(weft_device.id, len(DATA), dtypes.uint8)
    take(there, source, road)
    assert bytes(there.copy_out()) == DATA


@pytest.mark.parametrize("road", [None, *transfer.ROADS])
def test_piece_by_piece(weft_device, road, monkeypatch):
    monkeypatch.setattr(transfer, "CHUNK", 1024)
    back = Buffer(registry.staging(), len(DATA), dtypes.uint8)
    take(back, made(weft_device.id), road)
    assert bytes(back.copy_out()) == DATA


@pytest.mark.parametrize("nbytes", [1, 2, 3, 5, 7, 13, 31, 63, 65, 255, 1023, 4099])
def test_odd_sizes_there_and_back_by_every_road(weft_device, nbytes):
    data = DATA[7 : 7 + nbytes]
    closed = []
    for road in transfer.ROADS:
        there = Buffer(weft_device.id, nbytes, dtypes.uint8).copy_in(bytes(nbytes))
        back = Buffer(registry.staging(), nbytes, dtypes.uint8).copy_in(bytes(nbytes))
        for to, source in ((there, Buffer.wrap(data)), (back, there)):
            try:
                transfer.copy(to, source, road)
            except CapabilityError:
                closed.append(road)
                to.copy_in(data)
        assert bytes(there.copy_out()) == data, f"in by {road}"
        assert bytes(back.copy_out()) == data, f"out by {road}"
    assert "bounce" not in closed


@pytest.mark.parametrize("road", [None, *transfer.ROADS])
def test_a_part_of_a_buffer(weft_device, road):
    alignment = weft_device.capabilities.memory.alignment
    if alignment is None:
        pytest.skip("this device has no windows")
    length, start = 3 * alignment + 5, 2 * alignment
    data = bytes(range(250)) * (length // 100 + 1)
    whole = Buffer(weft_device.id, len(data), dtypes.uint8).copy_in(data)
    back = Buffer(registry.staging(), length, dtypes.uint8)
    take(back, whole.view(length, dtypes.uint8, start), road)
    assert bytes(back.copy_out()) == data[start : start + length]
    take(whole.view(length, dtypes.uint8, start), Buffer.wrap(bytes(length)), road)
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


def take(there, source, road):
    try:
        assert transfer.copy(there, source, road) == road or road is None
    except CapabilityError:
        pytest.skip(f"the road {road!r} is closed between these devices")
