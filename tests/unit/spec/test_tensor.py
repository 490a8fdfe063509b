"""What a tensor graph may contain."""

import pytest

from weft.base.dtype import dtypes
from weft.spec.tensor import complaint
from weft.testing.graphs import buffer
from weft.uop import Ops, Reduce, UOp

X = buffer(4)


@pytest.mark.parametrize(
    "node",
    [X + X, X * 2, X.cast(dtypes.int), X.reshape((2, 2)).reduce(Ops.ADD, (0,)), X.assign(X + 1),
     (X < 1).where(X, X), X.copy_to_device("Y"), X.contiguous()],
)  # fmt: skip
def test_allowed(node):
    assert all(complaint(u) is None for u in node.toposort())


@pytest.mark.parametrize(
    "node, words",
    [
        (UOp(Ops.ADD, dtypes.float, (X, buffer(4, dtypes.int))), "dtypes"),
        (UOp(Ops.CMPLT, dtypes.float, (X, X)), "its dtype is"),
        (UOp(Ops.WHERE, dtypes.float, (X, X, X)), "condition"),
        (UOp(Ops.REDUCE_AXIS, dtypes.float, (X,), Reduce(Ops.ADD, (1,))), "rank 1"),
        (UOp(Ops.REDUCE_AXIS, dtypes.float, (X,), (Ops.ADD, (0,))), "not a Reduce"),
        ((X + X).assign(X), "no memory"),
        (X.assign(buffer(3)), "writes shape"),
        (UOp(Ops.RANGE, dtypes.int, (UOp.const(dtypes.int, 3),)), "does not stand"),
        (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0), "no pointers"),
    ],
)
def test_refused(node, words):
    assert words in complaint(node)
