"""Device analysis: the device of each node. Devices are opaque names here."""

from __future__ import annotations

from weft.uop.analyses import provide
from weft.uop.analysis import analysis
from weft.uop.node import UOp
from weft.uop.ops import Ops


@analysis("_device")
def device_of(node: UOp) -> str | tuple[str, ...] | None:
    """The device of a node: of its DEVICE leaf, of the target of a COPY or
    COLLECTIVE, else of its sources.

    A sharded value has a tuple of devices, a constant without a device None.
    """
    if node.op is Ops.DEVICE:
        return node.arg
    if node.op is Ops.COPY or node.op is Ops.COLLECTIVE:
        return device_of(node.src[-1])
    if node.op is Ops.MSELECT:
        devices = device_of(node.src[0])
        part: int = node.arg
        return devices[part] if isinstance(devices, tuple) else devices
    if node.op is Ops.MSTACK:
        return tuple(str(device_of(source)) for source in node.src)
    for source in node.src:
        if (device := device_of(source)) is not None:
            return device
    return None


provide("device", device_of)
