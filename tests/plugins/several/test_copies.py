"""Copies between any two families, by the cheapest method that both of them offer."""

import itertools

import pytest

from weft import Tensor
from weft.base import trace
from weft.base.dtype import dtypes
from weft.device import Buffer, registry, transfer

DATA = bytes(range(251)) * 3
FAMILIES = ["CPU", "OPENCL", "DISK", "TOY", "NULL", "REF", "HOST"]
MAPPED = {"CPU", "TOY", "REF", "HOST"}
"""Their memory is the host's."""


@pytest.fixture
def device(opened, tmp_path):
    """``device(family)``: a device of it that opens."""

    def name(family):
        return opened(f"DISK:{tmp_path / 'kept.bin'}" if family == "DISK" else family)

    return name


def cheapest(source, to):
    """The first method that is open, from what the two devices offer."""
    here, there = registry.open(source.device), registry.open(to.device)
    if not there.capabilities.memory.persistent and there.allocator.map_host(to.handle):
        return "destination_window"
    if not here.capabilities.memory.persistent and here.allocator.map_host(source.handle):
        return "source_window"
    return "stream" if here.allocator.stream_out(source.handle, 1 << 20) else "bounce"


@pytest.mark.parametrize("source,to", list(itertools.permutations(FAMILIES, 2)))
def test_by_the_cheapest_method(source, to, device):
    here = Buffer(device(source), len(DATA), dtypes.uint8).copy_in(DATA)
    there = Buffer(device(to), len(DATA), dtypes.uint8).copy_in(bytes(len(DATA)))
    method = transfer.copy(there, here)
    assert method == cheapest(here, there)
    if to in MAPPED:
        assert method == "destination_window", "written where it is to stand, and nowhere else"
    elif source in MAPPED and to in ("DISK", "NULL"):
        assert method == "source_window", "read where it stands"
    elif source == "DISK" and to == "NULL":
        assert method == "stream", "a file need not be in memory as a whole"
    known = DATA if "NULL" not in (source, to) else bytes(len(DATA))
    assert bytes(there.copy_out()) == known


@pytest.mark.parametrize("source,to", [("CPU", "REF"), ("REF", "CPU"), ("TOY", "CPU")])
def test_a_tensor_goes_the_same_way_in_one_copy(source, to, device):
    x = (Tensor([1.0, 2.0, 3.0], device=device(source)) * 2).realize()
    copies = []

    def note(event):
        if event.name == "copy":
            copies.append(event.facts)

    stop = trace.subscribe(note)
    try:
        y = x.to(device(to)).realize()
    finally:
        stop()
    assert [(facts["source"], facts["to"], facts["method"]) for facts in copies] == [
        (source, to, "destination_window")
    ]
    assert y.tolist() == [2.0, 4.0, 6.0] and y.device == to


@pytest.mark.parametrize("to", ["CPU", "OPENCL", "TOY", "REF"])
def test_stored_values_are_copied_to_a_device_and_back(to, device):
    place, where = device("DISK"), device(to)
    x = (Tensor([1.5, -2.5, 3.5], device=where) * 2).realize()
    stored = x.to(place).realize()
    assert stored.device == place
    assert (stored.to(where) + 1).tolist() == [4.0, -4.0, 8.0]


def test_a_way_over_all_of_them(device):
    names = [device(family) for family in ("CPU", "OPENCL", "TOY", "REF")]
    x = Tensor([1, 2, 3], device=names[0])
    for number, name in enumerate(names * 2):
        x = x.to(name) * 2 + number
    wanted = [1, 2, 3]
    for number in range(2 * len(names)):
        wanted = [value * 2 + number for value in wanted]
    assert x.tolist() == wanted
