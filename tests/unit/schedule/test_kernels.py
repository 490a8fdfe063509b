"""KERNEL nodes: their sources, their devices."""

import pytest

from weft.base.errors import DeviceError
from weft.testing.graphs import buffer, kernels


def test_a_kernel_over_two_devices_is_refused():
    with pytest.raises(DeviceError):
        kernels(buffer(4) + buffer(4, device="Y"))
