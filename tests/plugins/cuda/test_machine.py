"""The machine model of a GPU comes from its driver and from tables by compute capability."""

import pytest

from weft.plugin import Ops, dtypes
from weft_cuda.capabilities import describe
from weft_cuda.chip import ARCHITECTURES, Chip
from weft_cuda.machine import machine_model


def test_multiprocessors_are_cores():
    assert machine_model(Chip("sm_90a", processors=132)).cores == 132
    assert describe(Chip("sm_90a", processors=132), "").compute.machine.cores == 132
    assert machine_model(Chip("sm_90a")).cores == 0, "unknown without a driver"


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_known_architectures_have_throughputs(arch):
    machine = machine_model(Chip(arch))
    multiply_adds = machine.throughput(Ops.MULACC, dtypes.float32)
    assert multiply_adds in (64, 128), "two or four warps"
    assert 0 < machine.throughput(Ops.MULACC, dtypes.float64) <= multiply_adds


def test_others_have_none():
    assert machine_model(Chip("sm_999")).throughputs == ()
