"""KERNEL nodes: their sources, their devices."""

import pytest

from helpers.graphs import buffer, kernels
from weft.base.errors import DeviceError
from weft.uop import Ops, UOp


def test_a_kernel_over_two_devices_is_refused():
    with pytest.raises(DeviceError):
        kernels(buffer(4) + buffer(4, device="Y"))


def test_a_sum_is_written_to_memory_in_loops_of_its_own():
    memory = buffer(12)
    total = buffer(24).reshape((3, 4, 2)).reduce(Ops.ADD, (2,)).reshape((12,))
    (ast,) = kernels(UOp(Ops.ASSIGN, memory.dtype, (memory, total)))
    assert ast.src[0].src[0].arg.shape == (3, 4, 1)
