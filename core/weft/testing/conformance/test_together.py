"""Two devices at once: the device under test beside another of its family, and beside the
reference."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import DeviceError
from weft.device import Buffer, registry
from weft.tensor import Tensor

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

REFERENCE = "REF:2"  # a number of its own: not the device under test, whichever that is


@pytest.fixture(params=["another of its family", "the reference device"])
def other(request, weft_device):
    """A second device that is not the one under test."""
    if request.param == "the reference device":
        return REFERENCE
    try:
        found = registry.open(f"{weft_device.id.family}:1")
    except DeviceError as error:
        pytest.skip(f"there is no second one: {error.because or error.summary}")
    if found.id == weft_device.id:
        pytest.skip("the device under test is the second one")
    return found.name


def test_each_has_memory_of_its_own(weft_device, other):
    """Several allocations in step, of a size that no other test uses."""
    size, count = 333, 4
    both = [
        [Buffer(name, size, dtypes.uint8).allocate() for _ in range(count)]
        for name in (weft_device.name, other)
    ]
    for number in range(count):
        for place, buffers in enumerate(both):
            buffers[number].copy_in(bytes([10 * place + number]) * size)
    for place, buffers in enumerate(both):
        found = [set(bytes(buffer.copy_out())) for buffer in buffers]
        name = (weft_device.name, other)[place]
        assert found == [{10 * place + number} for number in range(count)], f"on {name}"


def test_a_step_here_and_a_step_there(weft_device, other):
    x = Tensor([1, 2, 3, 4], dtype=dtypes.int32, device=weft_device.name)
    for step in range(4):
        x = ((x + step) * 2).to(other if step % 2 == 0 else weft_device.name)
    wanted = [1, 2, 3, 4]
    for step in range(4):
        wanted = [(value + step) * 2 for value in wanted]
    assert x.device == weft_device.name and x.tolist() == wanted


def test_the_same_program_on_both(weft_device, other):
    def program(device):
        x = Tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
        return (x @ x).relu().sum(1)

    here, there = program(weft_device.name), program(other)
    Tensor.realize(here, there)
    assert here.tolist() == there.tolist() == [17.0, 37.0]


def test_results_are_combined_on_one_of_them(weft_device, other):
    a = Tensor([1.0, 2.0, 3.0], device=weft_device.name) * 2
    b = Tensor([10.0, 20.0, 30.0], device=other) + 1
    assert (a + b.to(weft_device.name)).tolist() == [13.0, 25.0, 37.0]
    assert (a.to(other) + b).tolist() == [13.0, 25.0, 37.0]


def test_memory_of_one_does_not_depend_on_the_other(weft_device, other):
    here = Tensor([1, 2, 3], device=weft_device.name).contiguous().realize()
    there = here.to(other).realize()
    here.assign(here * 0).realize()
    assert there.tolist() == [1, 2, 3] and here.tolist() == [0, 0, 0]
