"""Choosing a device, and saying why there is none."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from weft.plugin import DeviceId, DeviceUnavailable
from weft_opencl import driver
from weft_opencl.locators import spell


class Refusal(Exception):
    """What a binding raises."""


def test_a_locator_is_spelt_in_one_way():
    assert [spell(s) for s in ("", "0", "01", " PoCL ")] == ["0", "0", "1", "pocl"]


def test_without_the_binding(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(DeviceUnavailable, match="pip install pyopencl"):
        driver.open_device(DeviceId("OPENCL"))


def binding(*platforms):
    def listed():
        if not platforms:
            raise Refusal("PLATFORM_NOT_FOUND_KHR")
        return list(platforms)

    kinds = SimpleNamespace(GPU=4, ACCELERATOR=8, CPU=2)
    return SimpleNamespace(get_platforms=listed, Error=Refusal, device_type=kinds)


def platform(name, *kinds):
    made = SimpleNamespace(name=name, vendor="maker", version="OpenCL 3.0")
    made.devices = [
        SimpleNamespace(name=f"{name} chip {n}", vendor="maker", platform=made, type=kind)
        for n, kind in enumerate(kinds)
    ]
    made.get_devices = lambda: made.devices
    return made


def test_without_a_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", binding())
    with pytest.raises(DeviceUnavailable, match="pocl-opencl-icd") as caught:
        driver.choose("0")
    assert "PLATFORM_NOT_FOUND" in str(caught.value)


def test_graphics_processors_come_first(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", binding(platform("one", 2), platform("two", 2, 4)))
    assert [driver.choose(str(n)).name for n in range(3)] == [
        "two chip 1",
        "one chip 0",
        "two chip 0",
    ]
    assert driver.choose("two").name == "two chip 1"
    assert driver.choose("one").name == "one chip 0"
    with pytest.raises(DeviceUnavailable, match="0 two chip 1"):
        driver.choose("3")
    with pytest.raises(DeviceUnavailable):
        driver.choose("three")


def test_a_driver_without_hardware_hides_no_other(monkeypatch):
    empty = platform("empty")

    def refuse():
        raise Refusal("DEVICE_NOT_FOUND")

    empty.get_devices = refuse
    monkeypatch.setitem(sys.modules, "pyopencl", binding(empty, platform("full", 4)))
    assert driver.choose("0").name == "full chip 0"


def test_requirements_of_a_device(monkeypatch):
    made = platform("bare", 4)
    (chip,) = made.devices
    chip.available, chip.compiler_available, chip.endian_little, chip.address_bits = 1, 0, 1, 32
    monkeypatch.setitem(sys.modules, "pyopencl", binding(made))
    with pytest.raises(DeviceUnavailable, match="a compiler, pointers of 64 bits"):
        driver.open_device(DeviceId("OPENCL"))


def test_a_device_is_found_by_its_platform(device):
    name = device.handle.platform.name.lower()
    assert driver.choose(name).platform.name.lower() == name
