"""What the passes of every device compute from its capabilities."""

import pytest

from weft.base.dtype import dtypes
from weft.codegen.thresholds import (
    ACCESS_BYTES,
    local_array_bytes,
    tile_side,
    vector_lanes,
    widest_access,
)
from weft.device.capabilities import ComputeCaps
from weft.device.machine import MachineModel


def test_the_widest_access_is_that_of_any_dtype():
    widths = {dtypes.float32: (2,), dtypes.float16: (16, 2), dtypes.float64: (2,)}
    assert widest_access(ComputeCaps(vector_widths=widths)) == 32
    assert widest_access(ComputeCaps()) == ACCESS_BYTES


@pytest.mark.parametrize(
    "registers, nbytes, l2_bytes, expected",
    [
        (16, 32, 1 << 19, (4, 8, 1 << 16)),
        (32, 64, 1 << 20, (4, 16, 1 << 17)),
        (32, 16, 1 << 20, (4, 4, 1 << 17)),
        (64, 0, 1 << 21, (8, 16, 1 << 18)),
        (8, 16, 1 << 18, (2, 4, 1 << 15)),
    ],
)
def test_thresholds_follow_the_model(registers, nbytes, l2_bytes, expected):
    model = MachineModel(l2_bytes=l2_bytes)
    machine = ComputeCaps(vector_registers=registers, vector_bytes=nbytes, machine=model).machine
    assert (tile_side(machine), vector_lanes(machine), local_array_bytes(machine)) == expected
    assert tile_side(machine) ** 2 <= registers
