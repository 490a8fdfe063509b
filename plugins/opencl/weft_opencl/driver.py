"""Finding OpenCL devices and opening them: platforms, names, contexts, queues."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from weft.plugin import Device, DeviceId, DeviceUnavailable
from weft_opencl.facts import Facts, describe, read

_contexts: dict[int, Any] = {}
"""One context per device and process, by the driver's handle: names of one device share memory."""


def bindings() -> ModuleType:
    """pyopencl. :raises DeviceUnavailable: if it cannot be imported."""
    try:
        import pyopencl
    except ImportError as error:
        raise DeviceUnavailable(
            "OpenCL is reached by pyopencl, which is not there",
            asked="opening an OpenCL device",
            because=str(error),
            try_="pip install pyopencl",
        ) from error
    return pyopencl


def devices() -> list[Any]:
    """All devices: graphics processors first, then accelerators, then the rest; among these as the
    drivers list them.

    :raises DeviceUnavailable: if there is no driver, or none has a device.
    """
    cl = bindings()
    found: list[Any] = []
    because = "no platform has a device"
    try:
        for platform in cl.get_platforms():
            try:
                found += platform.get_devices()
            except cl.Error as error:  # a driver without hardware must not hide the others
                because = f"{platform.name}: {error}"
    except cl.Error as error:
        because = str(error)
    if not found:
        raise DeviceUnavailable(
            "there is no OpenCL device",
            asked="opening an OpenCL device",
            because=because,
            try_="the driver of your graphics processor; or, for processors, "
            "apt-get install pocl-opencl-icd ocl-icd-libopencl1",
        )
    kinds = cl.device_type
    return sorted(
        found, key=lambda d: 0 if d.type & kinds.GPU else 1 if d.type & kinds.ACCELERATOR else 2
    )


def _called(device: Any) -> str:
    platform = device.platform
    words = (device.name, device.vendor, platform.name, platform.vendor, platform.version)
    return " ".join(words).lower()


def choose(locator: str) -> Any:
    """The device of this number, or the first that is called something like this.

    :raises DeviceUnavailable: if there is none.
    """
    known = devices()
    if locator.isdigit():
        if int(locator) < len(known):
            return known[int(locator)]
    else:
        for device in known:
            if locator in _called(device):
                return device
    listed = ", ".join(f"{n} {d.name.strip()}" for n, d in enumerate(known))
    raise DeviceUnavailable(
        "there is no such OpenCL device",
        asked=f"OPENCL:{locator}",
        because=f"the drivers have {len(known)}: {listed}",
        try_="one of these numbers, or a part of a device's or platform's name",
    )


class OpenCLDevice(Device):
    """One device with its context and its in-order queue.

    :ivar facts: its properties.
    :ivar handle: the ``pyopencl.Device``.
    :ivar context: shared by all names of this device.
    :ivar queue: in order, with times of events.
    """

    def __init__(self, id: DeviceId, handle: Any, facts: Facts) -> None:
        super().__init__(id, describe(facts))
        cl = bindings()
        self.facts = facts
        self.handle = handle
        try:
            if handle.int_ptr not in _contexts:
                _contexts[handle.int_ptr] = cl.Context([handle])
            self.context = _contexts[handle.int_ptr]
            self.queue = cl.CommandQueue(
                self.context, handle, properties=cl.command_queue_properties.PROFILING_ENABLE
            )
        except cl.Error as error:
            raise DeviceUnavailable(
                "this OpenCL device cannot be used", asked=str(id), because=str(error)
            ) from error

    def synchronize(self) -> None:
        """Wait for the queue."""
        self.queue.finish()

    def close(self) -> None:
        """Wait for the queue; memory goes when its last user does."""
        self.queue.finish()


def open_device(id: DeviceId) -> OpenCLDevice:
    """Open one device. :raises DeviceUnavailable: if it is not there, or cannot be compiled for."""
    handle = choose(id.locator)
    lacks = [
        what
        for what, there in (
            ("a compiler", handle.compiler_available and handle.available),
            ("the little end first", handle.endian_little),
            ("pointers of 64 bits", handle.address_bits == 64),
        )
        if not there
    ]
    if lacks:
        raise DeviceUnavailable(
            "this OpenCL device lacks what weft needs",
            asked=str(id),
            because=f"{handle.name.strip()} has not got {', '.join(lacks)}",
        )
    return OpenCLDevice(id, handle, read(handle))
