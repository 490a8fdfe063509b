"""Host plugin: Python's memory as a device that stores and does not compute.

Tensors begin here (lists, bytes, arrays, wrapped in place) and end here. It implements the same
hooks as other plugins, and the core finds it by its role, ``staging``, not by its name.
"""

from __future__ import annotations

from weft.device import Allocator, Capabilities, Device, DeviceFamily, DeviceId, MemoryCaps
from weft.device.hookspecs import hookimpl
from weft.host.memory import HostAllocator

weft_api = (1, 0)


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family, for staging."""
    about = "Python's own memory: where tensors are made from lists, bytes and arrays"
    return [DeviceFamily("HOST", computes=False, priority=-1000, staging=True, about=about)]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """There is nothing to open."""
    memory = MemoryCaps(alignment=1, link_group=None)
    return Device(id, Capabilities(memory, name="Python memory"))


@hookimpl
def weft_allocator() -> Allocator[memoryview]:
    """Handles are memoryviews."""
    return HostAllocator()
