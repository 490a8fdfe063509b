"""Windows of buffers: they share bytes, nest, and outlive those they were made from."""

from __future__ import annotations

import gc

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CapabilityError
from weft.device import Buffer

DATA = bytes(range(256)) * 16


@pytest.fixture
def step(weft_device):
    """The least offset of a window; skips where there are none."""
    alignment = weft_device.capabilities.memory.alignment
    if alignment is None:
        pytest.skip("this device has no windows")
    return alignment


@pytest.fixture
def whole(weft_device, weft_bytes):
    return Buffer(weft_device.id, len(DATA), dtypes.uint8).copy_in(DATA)


def test_a_window_reads_its_part(whole, step):
    assert bytes(whole.view(10, dtypes.uint8, step).copy_out()) == DATA[step : step + 10]


def test_a_window_of_a_window(whole, step):
    inner = whole.view(1024, dtypes.uint8, step).view(8, dtypes.uint8, 2 * step)
    assert inner.base is whole
    assert bytes(inner.copy_out()) == DATA[3 * step : 3 * step + 8]


def test_writing_through_a_window(whole, step):
    whole.view(4, dtypes.uint8, step).copy_in(b"weft")
    assert bytes(whole.copy_out()) == DATA[:step] + b"weft" + DATA[step + 4 :]


def test_a_window_of_another_dtype(whole, step):
    window = whole.view(3, dtypes.int16, step)
    assert window.nbytes == 6
    assert bytes(window.copy_out()) == DATA[step : step + 6]


def test_a_window_keeps_its_buffer_alive(weft_device, weft_bytes, step):
    whole = Buffer(weft_device.id, 4096, dtypes.uint8).copy_in(DATA)
    window = whole.view(16, dtypes.uint8, step)
    sibling = whole.view(32, dtypes.uint8, step)
    del whole, sibling
    gc.collect()
    others = [Buffer(weft_device.id, 4096, dtypes.uint8) for _ in range(3)]
    if not weft_device.capabilities.memory.persistent:
        for other in others:
            other.copy_in(bytes(4096))
    assert bytes(window.copy_out()) == DATA[step : step + 16]


def test_a_window_cannot_reach_outside(whole, step):
    with pytest.raises(ArgumentError):
        whole.view(len(DATA), dtypes.uint8, step)
    with pytest.raises(ArgumentError):
        whole.view(1, dtypes.uint8, -step)


def test_an_unaligned_window_is_refused(weft_device, whole):
    alignment = weft_device.capabilities.memory.alignment
    if alignment == 1:
        pytest.skip("windows may start anywhere")
    with pytest.raises(CapabilityError):
        whole.view(1, dtypes.uint8, 1 if alignment is None else alignment + 1)
