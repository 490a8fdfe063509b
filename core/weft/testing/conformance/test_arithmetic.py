"""Arithmetic between the operations: every step is rounded to its dtype, none is done in another.

A device may have an operation exactly and still give another number for two of them in a row, where
its compiler keeps more digits in between or makes one operation of two.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.testing.conformance.programs import Elementwise, same
from weft.uop import Ops, UOp, exec_alu

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


def _shortened(x: UOp, y: UOp) -> dict[str, UOp]:
    """What compilers shorten where the overflow of signed integers is undefined."""
    one, two, least = (x.const_like(value) for value in (1, 2, int(x.dtype.min)))
    return {
        "x + least": x.alu(Ops.ADD, least),
        "x - least": x.alu(Ops.SUB, least),
        "x < x + 1": x.alu(Ops.CMPLT, x.alu(Ops.ADD, one)).where(one, two),
        "x * 2 / 2": x.alu(Ops.MUL, two).alu(Ops.IDIV, two),
        "(x + y) - y": x.alu(Ops.ADD, y).alu(Ops.SUB, y),
        "x < x + y": x.alu(Ops.CMPLT, x.alu(Ops.ADD, y)).where(one, two),
        "-x < 1": x.alu(Ops.NEG).alu(Ops.CMPLT, one).where(one, two),
        "x * y / y": x.alu(Ops.MUL, y).alu(Ops.IDIV, y),
    }


def _of_three(x: UOp, y: UOp) -> dict[str, UOp]:
    """Maxima and minima of three, which some processors have as one instruction."""
    larger, minus, z = Ops.MAX, Ops.NEG, x.alu(Ops.XOR, y)
    return {
        "max(x, -y, z)": x.alu(larger, y.alu(minus)).alu(larger, z),
        "max(-x, y, z)": x.alu(minus).alu(larger, y).alu(larger, z),
        "max(x, y, -z)": x.alu(larger, y).alu(larger, z.alu(minus)),
        "max(x, y - z, -x)": y.alu(Ops.SUB, z).alu(larger, x).alu(larger, x.alu(minus)),
        "min(x, y, z)": x.alu(minus).alu(larger, y.alu(minus)).alu(larger, z.alu(minus)).alu(minus),
        "min(max(x, -y), z)": x.alu(larger, y.alu(minus)).alu(minus).alu(larger, z.alu(minus)),
        "select": x.alu(Ops.CMPLT, y.alu(minus)).where(y.alu(minus), x).alu(larger, z),
    }


@pytest.mark.parametrize("dtype", dtypes.sints, ids=str)
@pytest.mark.parametrize("forms", [_shortened, _of_three], ids=["overflow", "three"])
def test_compilers_keep_what_integers_mean(weft_device, weft_compute, dtype, forms):
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    low, high = int(dtype.min), int(dtype.max)
    values = [low, low + 1, low // 2, -3, -1, 0, 1, 2, high // 2 + 1, high - 1, high]
    rows = list(itertools.product(values, [value for value in values if value]))
    columns = [(dtype, list(column)) for column in zip(*rows)]
    for name, form in forms(*(UOp.const(dtype, value) for value in (1, 2))).items():
        if not {u.op for u in form.toposort()} - {Ops.CONST} <= weft_device.target.native_ops:
            continue
        case = Elementwise(columns, lambda x, name=name: forms(*x)[name])
        wanted = [_evaluate(forms(*(UOp.const(dtype, v) for v in row))[name]) for row in rows]
        results = zip(rows, case.run(weft_device), wanted, strict=True)
        wrong = [(row, found, right) for row, found, right in results if found != right]
        assert not wrong, f"{name}: ((x, y), found, wanted): {wrong[:3]}"


def _evaluate(node: UOp) -> Any:
    """The value of an expression of constants."""
    if node.op is Ops.CONST:
        return node.arg
    return exec_alu(node.op, node.dtype, [_evaluate(source) for source in node.src])
