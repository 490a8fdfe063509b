"""The oracle agrees with the law of scalars, node by node, and replaces the engine."""

import numpy as np
import pytest

from helpers.oracle import evaluate, evaluated_by_oracle
from weft import Tensor, dtypes
from weft.base.errors import SpecError
from weft.uop import Ops, UOp, exec_alu

FLOAT_OPS = (Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX, Ops.POW, Ops.CMPLT, Ops.CMPEQ)
INT_OPS = (
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL,
    Ops.SHR, Ops.CMPLT, Ops.CMPNE,
)  # fmt: skip


def value(op, dtype, a, b):
    nodes = [UOp.const(dtype, v, "HOST").reshape((1,)) for v in (a, b)]
    result = dtypes.bool if op in (Ops.CMPLT, Ops.CMPEQ, Ops.CMPNE) else dtype
    return evaluate(UOp(op, result, tuple(nodes))).tolist()[0], exec_alu(op, result, (a, b))


@pytest.mark.parametrize("dtype", list(dtypes.ints), ids=lambda d: d.name)
@pytest.mark.parametrize("op", INT_OPS, ids=str)
def test_integers(op, dtype):
    for a in (0, 1, 7, dtype.max, dtype.min):
        for b in (0, 1, 3, dtype.max):
            got, expected = value(op, dtype, a, b)
            assert got == expected, (op, a, b)


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.float32, dtypes.float64, dtypes.bfloat16])
@pytest.mark.parametrize("op", FLOAT_OPS, ids=str)
def test_floats(op, dtype):
    for a in (0.0, 1.5, -2.0, np.inf, np.nan):
        for b in (1.0, 0.0, -3.0, np.nan):
            got, expected = value(op, dtype, a, b)
            assert got == expected or (got != got and expected != expected), (op, a, b)


def test_it_replaces_the_engine():
    with evaluated_by_oracle():
        x = Tensor([[1.0, 2.0], [3.0, 4.0]], device="HOST")
        assert (x @ x + 1).tolist() == [[8.0, 11.0], [16.0, 23.0]]
        assert x.sum(0).realize().uop.base.op is Ops.BUFFER


def test_values_can_be_given():
    node = UOp.new_buffer("HOST", 2, dtypes.int32)
    got = evaluate(node.alu(Ops.MUL, node), {node: np.int32([3, 4])})
    assert got.tolist() == [9, 16]


def test_other_graphs_are_refused():
    with pytest.raises(SpecError):
        evaluate(UOp(Ops.BARRIER))


def test_a_product_and_a_sum_are_rounded_once():
    rng = np.random.default_rng(0)
    for dtype in (dtypes.float32, dtypes.float64):
        kind = np.float32 if dtype is dtypes.float32 else np.float64
        a, b = (rng.standard_normal(50).astype(kind) for _ in range(2))
        for x, y in zip(a.tolist(), b.tolist()):
            z = -exec_alu(Ops.MUL, dtype, (x, y))  # what the product loses is all that is left
            nodes = [UOp.const(dtype, v, "HOST").reshape((1,)) for v in (x, y, z)]
            got = evaluate(UOp(Ops.MULACC, dtype, tuple(nodes))).tolist()[0]
            assert got == exec_alu(Ops.MULACC, dtype, (x, y, z))
