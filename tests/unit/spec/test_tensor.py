"""What a tensor graph may contain."""

import pytest

from helpers.graphs import buffer
from weft.base.dtype import dtypes
from weft.spec.tensor import complaint
from weft.uop import Ops, Reduce, Shard, UOp
from weft.uop.sharding import laid_out, stacked

X = buffer(4)
Y = buffer(3, device="Y")
BOTH = ("X", "Y")
SHARDED = stacked([X, Y], Shard(0, (0, 4, 7)))


@pytest.mark.parametrize(
    "node",
    [X + X, X * 2, X.cast(dtypes.int), X.reshape((2, 2)).reduce(Ops.ADD, (0,)), X.assign(X + 1),
     (X < 1).where(X, X), X.copy_to_device("Y"), X.contiguous(), SHARDED + SHARDED,
     laid_out(X, BOTH, Shard(0, (0, 2, 4))), laid_out(X, BOTH, Shard()),
     SHARDED.assign(SHARDED * 2), UOp(Ops.MSELECT, dtypes.float, (SHARDED,), 1)],
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
        (UOp(Ops.RANGE, dtypes.int, (UOp.const(dtypes.int, 3),)), "is illegal"),
        (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0), "no pointers"),
        (laid_out(X, BOTH, Shard(0, (0, 2, 5))), "bounds"),
        (laid_out(X, BOTH, Shard(1, (0, 2, 4))), "rank 1"),
        (UOp(Ops.COPY, dtypes.float, X.copy_to_device("Y").src, Shard(0, (0, 4))), "one device"),
        (stacked([X, Y], Shard(0, (0, 3, 7))), "shapes"),
        (UOp(Ops.MULTI, dtypes.float, (X,), Shard()), "stack"),
        (UOp(Ops.MSTACK, dtypes.float, (X, buffer(4))), "its parts are on"),
        (UOp(Ops.MSTACK, dtypes.float, (X, buffer(4, dtypes.int, "Y"))), "its parts are"),
        (UOp(Ops.MSTACK, dtypes.float, ()), "nothing"),
        (UOp(Ops.MSELECT, dtypes.float, (SHARDED,), 2), "part 2 of 2"),
        (UOp(Ops.MSELECT, dtypes.float, (X,), 0), "on X"),
    ],
)
def test_refused(node, words):
    assert words in complaint(node)
