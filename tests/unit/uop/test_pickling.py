"""Graphs as rows: what a pickle of a node holds."""

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import WeftError
from weft.uop import Ops, UOp
from weft.uop.pickling import graph_of, rows_of


def test_a_shared_node_is_one_row():
    x = UOp.variable("x", 0, 9)
    rows = rows_of((x + 1) * (x + 1))
    assert [(Ops(op), src) for op, _, src, _ in rows] == [
        (Ops.DEFINE_VAR, ()), (Ops.CONST, ()), (Ops.ADD, (0, 1)), (Ops.MUL, (2, 2)),
    ]  # fmt: skip
    assert {dtype for _, dtype, _, _ in rows} == {dtypes.int}


def test_rows_give_the_same_object():
    x = UOp.variable("x", 0, 9)
    assert graph_of(rows_of(x * 2 + x)) is x * 2 + x


def test_no_rows_are_no_graph():
    with pytest.raises(WeftError, match="without nodes"):
        graph_of([])
