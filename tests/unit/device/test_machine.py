import pickle
from dataclasses import replace

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.device.capabilities import ComputeCaps, KernelLimits
from weft.device.machine import MachineModel, Throughput
from weft.uop.ops import Ops


def test_capabilities_are_in_the_machine_model():
    caps = ComputeCaps(
        vector_bytes=32, vector_registers=8, cache_bytes=1 << 24, read_streams=4, warp_size=64,
        limits=KernelLimits(shared_bytes=1 << 15), machine=MachineModel(l2_bytes=1 << 19),
    )  # fmt: skip
    model = caps.machine
    assert (model.register_bytes, model.registers, model.last_level_bytes) == (32, 8, 1 << 24)
    assert (model.streams, model.warp_size, model.shared_bytes) == (4, 64, 1 << 15)
    assert model.l2_bytes == 1 << 19
    assert model.lanes(dtypes.float) == 8 and model.lanes(dtypes.double) == 4


def test_changed_capabilities_change_the_model():
    caps = ComputeCaps(cache_bytes=1 << 24, machine=MachineModel(cores=7))
    changed = replace(caps, cache_bytes=0).machine
    assert changed.last_level_bytes == 0 and changed.cores == 7


def test_one_model_serves_several_capabilities():
    model = MachineModel(cores=7)
    first, second = (ComputeCaps(warp_size=n, machine=model).machine for n in (32, 64))
    assert (first.warp_size, second.warp_size, model.warp_size) == (32, 64, 0)


def test_capabilities_cannot_be_repeated_in_the_model():
    with pytest.raises(TypeError):
        MachineModel(last_level_bytes=1)  # pyright: ignore[reportCallIssue]


def test_models_are_data():
    caps = ComputeCaps(vector_bytes=16, machine=MachineModel(l1_bytes=1 << 16))
    back = pickle.loads(pickle.dumps(caps))
    assert back == caps and hash(back) == hash(caps) and back.machine == caps.machine
    assert caps != replace(caps, machine=MachineModel())


@pytest.mark.parametrize(
    "wrong",
    [
        {"l1_bytes": 0},
        {"line_bytes": 64.0},
        {"multiply_add_latency": 0},
        {"cores": -1},
        {"bank_bytes": 0},
        {"throughputs": [4.0]},
    ],
)
def test_wrong_fields_are_named(wrong):
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        MachineModel(**wrong)


def test_a_model_is_one():
    with pytest.raises(ArgumentError, match="machine of ComputeCaps"):
        ComputeCaps(machine={"cores": 4})


def test_throughputs_are_looked_up_by_operation_and_dtype():
    model = MachineModel(throughputs=[Throughput(Ops.MULACC, dtypes.float32, 64.0)])
    assert model.throughput(Ops.MULACC, dtypes.float32) == 64.0
    assert model.throughput(Ops.MULACC, dtypes.float64) == 0.0, "unknown"
    assert hash(model) == hash(replace(model))


@pytest.mark.parametrize("wrong", [{"op": "ADD"}, {"dtype": "float"}, {"per_cycle": 0.0}])
def test_a_wrong_throughput_is_named(wrong):
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        Throughput(**{"op": Ops.ADD, "dtype": dtypes.float32, "per_cycle": 1.0, **wrong})


@pytest.mark.parametrize("per_cycle, pipes", [(8.0, 2.0), (16.0, 2.0), (32.0, 4.0)])
def test_pipelines_are_those_of_the_fastest_core_of_a_family(per_cycle, pipes):
    throughputs = (Throughput(Ops.MULACC, dtypes.float32, per_cycle),)
    compute = ComputeCaps(vector_bytes=32, machine=MachineModel(throughputs=throughputs))
    assert compute.machine.vector_pipes == pipes
    assert compute.machine.independent_operations == 4 * pipes


def test_latency_without_known_throughputs_is_hidden_by_two_pipelines():
    assert MachineModel().independent_operations == 8
    assert MachineModel(multiply_add_latency=5.0).independent_operations == 10
