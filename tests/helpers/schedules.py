"""Small graphs on the reference device, computed through the engine: for tests of it."""

from __future__ import annotations

import struct

from weft.base.dtype import dtypes
from weft.device import binding
from weft.schedule import ScheduleItem, create_schedule_with_vars, kernelize_map
from weft.uop import UOp

DEVICE = "REF"


def floats(*values: float) -> UOp:
    """A BUFFER node with these float32 values in it."""
    node = UOp.new_buffer(DEVICE, len(values), dtypes.float)
    binding.buffer_of(node).copy_in(struct.pack(f"{len(values)}f", *values))
    return node


def scheduled(node: UOp) -> tuple[list[ScheduleItem], UOp]:
    """The items that compute `node`, and the buffer of its value."""
    sink = UOp.sink(node)
    final = sink.substitute(kernelize_map(sink))
    return create_schedule_with_vars(final)[0], final.src[0]


def read(node: UOp) -> list[float]:
    """The float32 values behind a computed node."""
    data = bytes(binding.buffer_behind(node).copy_out())
    return list(struct.unpack(f"{len(data) // 4}f", data))
