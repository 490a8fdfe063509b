"""An OpenCL device, where a driver has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft.plugin import DeviceId, DeviceUnavailable
from weft_opencl.driver import OpenCLDevice, choose, open_device
from weft_opencl.facts import read


@pytest.fixture(scope="session")
def device() -> OpenCLDevice:
    try:
        return open_device(DeviceId("OPENCL"))
    except DeviceUnavailable as reason:
        pytest.skip(f"no OpenCL: {reason}")


@pytest.fixture(scope="session", params=["windows", "no windows"])
def either(request: pytest.FixtureRequest, device: OpenCLDevice) -> OpenCLDevice:
    """The device with memory that the host sees, where it has such, and with memory of its own."""
    facts = read(choose("0"))
    if request.param == "no windows":
        return OpenCLDevice(DeviceId("OPENCL"), device.handle, replace(facts, windows=False))
    if not facts.windows:
        pytest.skip("this device shares no fine-grained memory with the host")
    return device
