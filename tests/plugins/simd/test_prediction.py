"""The model bounds a kernel by its busiest resource, and says which one that is."""

from __future__ import annotations

import pytest

from helpers.simd import simd_target
from weft import Tensor, dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, KernelLimits
from weft.device.machine import MachineModel, Throughput
from weft.uop import Ops
from weft_simd.prediction import Prediction, predict

FUSED = (Throughput(Ops.MULACC, dtypes.float32, 16.0),)
CAPS = ComputeCaps(
    vector_widths={dtypes.float: (8,)}, vector_bytes=32, vector_registers=16, cache_bytes=1 << 25,
    limits=KernelLimits(scratch_bytes=1 << 20), machine=MachineModel(throughputs=FUSED),
)  # fmt: skip


def prediction_of(result: Tensor, caps: ComputeCaps = CAPS) -> Prediction:
    with settings.override(SPLIT_REDUCEOP=0):
        item = result.schedule()[-1]
    return predict(lower(item.ast, simd_target(caps)), caps.machine)


def test_a_product_takes_the_time_of_its_multiply_adds() -> None:
    """Two instructions of eight lanes start in a cycle."""
    n = 256
    found = prediction_of(Tensor.empty(n, n) @ Tensor.empty(n, n))
    assert found.bound == "arithmetic"
    assert found.cycles == pytest.approx(n**3 / 16, rel=0.05)


def test_a_long_sum_takes_the_time_of_its_bytes() -> None:
    n = 1 << 24
    found = prediction_of(Tensor.empty(n).sum())
    assert found.bound == "memory"
    assert found.cycles == pytest.approx(4 * n / CAPS.machine.memory_load_bytes_per_cycle, rel=0.01)


def test_small_buffers_come_from_the_second_level_cache() -> None:
    n = 1 << 14
    found = prediction_of(Tensor.empty(n) + 1)
    assert found.cycles == pytest.approx(8 * n / CAPS.machine.l2_bytes_per_cycle, rel=0.01)


def test_stores_and_loads_have_rates_of_their_own() -> None:
    n, machine = 1 << 24, CAPS.machine
    found = prediction_of(Tensor.empty(n) + 1)
    loads, stores = machine.memory_load_bytes_per_cycle, machine.memory_store_bytes_per_cycle
    assert found.cycles == pytest.approx(4 * n / loads + 4 * n / stores, rel=0.01)


def test_larger_buffers_come_from_the_last_level_cache() -> None:
    n, machine = 1 << 20, CAPS.machine
    found = prediction_of(Tensor.empty(n) + 1)
    loads, stores = machine.last_level_bytes_per_cycle, machine.last_level_store_bytes_per_cycle
    assert found.cycles == pytest.approx(4 * n / loads + 4 * n / stores, rel=0.01)


def test_expensive_operations_are_bound_by_arithmetic() -> None:
    n = 1 << 16
    x = Tensor.empty(n)
    cheap, expensive = prediction_of(x * 2 + 1), prediction_of(x.sin().exp().tanh())
    assert (cheap.bound, expensive.bound) == ("memory", "arithmetic")
    assert expensive.cycles > 10 * cheap.cycles


def test_accumulators_that_wait_for_each_other_are_bound_by_latency() -> None:
    """A loop whose terms are added one after the other."""
    scalar = ComputeCaps(machine=MachineModel(), cache_bytes=1 << 25)
    found = prediction_of(Tensor.empty(64, 127).sum(1), scalar)
    assert found.bound == "latency"
    assert found.cycles >= 64 * 127 * scalar.machine.multiply_add_latency / 8


def test_twice_the_rows_take_twice_the_time() -> None:
    one, two = (prediction_of(Tensor.empty(n, 512) @ Tensor.empty(512, 96)) for n in (96, 192))
    assert two.cycles == pytest.approx(2 * one.cycles, rel=0.05)
