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


def test_to_and_from_every_other_device_that_opens(weft_device):
    source = made(weft_device.id)
    others = 0
    for other in list(registry.current().opened()):
        if other is weft_device:
            continue
        there = Buffer(other.id, len(DATA), dtypes.uint8)
        transfer.copy(there, source)
        back = Buffer(weft_device.id, len(DATA), dtypes.uint8)
        transfer.copy(back, there)
        others += 1
    if not others:
        pytest.skip("no other device is open")


def test_sizes_must_agree(weft_device):
    with pytest.raises(ArgumentError):
        transfer.copy(Buffer(weft_device.id, 3, dtypes.uint8), Buffer.wrap(b"1234"))


def take(there, source, road):
    try:
        assert transfer.copy(there, source, road) == road or road is None
    except CapabilityError:
        pytest.skip(f"the road {road!r} is closed between these devices")
