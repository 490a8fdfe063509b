"""What the processor is said to have, seen in kernels."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Device, Tensor
from weft.engine import lower_schedule_item
from weft.plugin import dtypes
from weft.uop import Ops
from weft_cpu_clang.capabilities import ROW_BYTES, describe
from weft_cpu_clang.offline import offline_toolchain


def rows_of(tensor):
    """The lengths of the rows that kernels keep on the stack."""
    steps = [lower_schedule_item(item) for item in tensor.schedule()]
    for step in steps:
        step.run()
    arrays = [u for step in steps for u in step.prg.p.uops if u.op is Ops.DEFINE_REG]
    return [u.dtype.size for u in arrays if u.dtype.size > 1]


@pytest.mark.parametrize("columns, kept", [(20_000, True), (ROW_BYTES // 4 + 1, False)])
def test_exponentials_of_long_rows_are_buffered_up_to_a_limit(columns, kept):
    numbers = np.random.default_rng(2).standard_normal((3, columns)).astype(np.float32)
    numbers[1, 7] = np.inf
    x = Tensor(numbers, device="CPU").realize()
    result = x.softmax(-1)
    assert (columns in rows_of(result)) == kept
    with np.errstate(invalid="ignore"):
        powers = np.exp(numbers.astype(np.float64) - numbers.max(-1, keepdims=True))
    np.testing.assert_allclose(result.numpy(), powers / powers.sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_range_reduction_of_large_arguments_is_in_a_branch(name):
    numbers = np.random.default_rng(3).uniform(-9, 9, 4096).astype(np.float32)
    numbers[1000:1003] = [1e9, -3e20, 2.0**17]
    x = Tensor(numbers, device="CPU").realize()
    (item,) = getattr(x, name)().schedule()
    ops = [u.op for u in lower_schedule_item(item).prg.p.uops]
    if Ops.MULACC not in Device["CPU"].target.native_ops:
        pytest.skip("without fused multiply-add all arguments take the same reduction")
    if not any(u.dtype.count > 1 for u in lower_schedule_item(item).prg.p.uops):
        pytest.skip("this processor has no vectors")
    assert ops.count(Ops.IF) == ops.count(Ops.ENDIF) > 0
    inside = ops[ops.index(Ops.IF) : ops.index(Ops.ENDIF)]
    assert inside.count(Ops.SHR) > 3, "words are shifted for large arguments alone"
    assert ops[: ops.index(Ops.IF)].count(Ops.SHR) == 0


@pytest.mark.parametrize(
    "arch, wanted", [("x86-64-v3", 16.0), ("x86-64-v4", 16.0), ("aarch64", 4.0)]
)
def test_throughputs_are_those_of_every_processor_with_such_registers(arch, wanted):
    machine = describe(offline_toolchain(arch)).compute.machine
    assert machine.throughput(Ops.MULACC, dtypes.float32) == wanted
    assert machine.throughput(Ops.MULACC, dtypes.float64) == wanted / 2


def test_without_fused_multiply_add_there_is_no_throughput_of_it():
    machine = describe(offline_toolchain("x86-64")).compute.machine
    assert machine.throughput(Ops.MULACC, dtypes.float32) == 0.0
    assert machine.throughput(Ops.ADD, dtypes.float32) == 4.0
