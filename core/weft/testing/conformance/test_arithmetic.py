"""Arithmetic between the operations: every step is rounded to its dtype, none is done in another.

A device may have an operation exactly and still give another number for two of them in a row, where
its compiler keeps more digits in between or makes one operation of two.
"""

from __future__ import annotations

import itertools

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.testing.conformance.programs import Elementwise, same
from weft.uop import Ops, exec_alu

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

CHAINS = [(Ops.ADD, Ops.SUB), (Ops.MUL, Ops.ADD), (Ops.MUL, Ops.SUB), (Ops.MUL, Ops.MUL)]
VALUES = [1.0, -3.0, 0.1, 2.5, 77.0, 300.0, -0.003, 1e-4, 12345.0, 1 / 3]
"""Sums and products of these need more digits than any dtype but the widest has."""


@pytest.mark.parametrize("chain", CHAINS, ids=lambda ops: "-".join(op.name for op in ops))
@pytest.mark.parametrize("dtype", dtypes.floats, ids=str)
def test_the_value_between_two_operations_is_rounded(weft_device, weft_compute, chain, dtype):
    first, second = chain
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    if not {first, second} <= weft_device.target.native_ops:
        pytest.skip(f"{first} or {second} is not native")
    values = [truncate(value, dtype) for value in VALUES]
    rows = list(itertools.product(values, values, values[:4]))
    columns = [(dtype, list(column)) for column in zip(*rows)]
    case = Elementwise(columns, lambda x: x[0].alu(first, x[1]).alu(second, x[2]))
    found = case.run(weft_device)
    wrong = []
    for (a, b, c), got in zip(rows, found):
        between = exec_alu(first, dtype, (a, b))
        wanted = exec_alu(second, dtype, (between, c))
        if not same(got, wanted, dtype):
            wrong.append(((a, b, c), got, wanted))
    assert not wrong, (
        f"{len(wrong)} of {len(rows)} results of {first.name} and then {second.name} are not those "
        f"of rounding to {dtype} after each: (operands, found, wanted): {wrong[:3]}"
    )


@pytest.mark.parametrize("dtype", [*dtypes.uints, *dtypes.sints], ids=str)
def test_integers_wrap_between_two_operations(weft_device, weft_compute, dtype):
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    if Ops.SHR not in weft_device.target.native_ops:
        pytest.skip("shifts are not native")
    high = int(dtype.max)
    rows = [(high, high), (high, 1), (high // 2 + 1, 3), (int(dtype.min), 1), (5, 7)]
    columns = [(dtype, list(column)) for column in zip(*rows)]
    # A sum that was kept in a wider register shows its carry when it is shifted back.
    case = Elementwise(columns, lambda x: x[0].alu(Ops.ADD, x[1]).alu(Ops.SHR, x[1].const_like(1)))
    found = case.run(weft_device)
    wanted = [exec_alu(Ops.SHR, dtype, (exec_alu(Ops.ADD, dtype, row), 1)) for row in rows]
    assert found == wanted, f"operands {rows}"
