"""The machine model of a GPU is known by its name."""

from weft.plugin import Ops, dtypes
from weft_metal.capabilities import describe
from weft_metal.machine import machine_model


def test_number_of_cores_by_chip_name():
    assert machine_model("Apple M1").cores == 8
    assert describe("apple9", "Apple M3 Max", "x").compute.machine.cores == 40
    assert machine_model("offline apple7").cores == 0, "unknown"


def test_a_core_has_128_lanes():
    assert machine_model("").throughput(Ops.MULACC, dtypes.float32) == 128
