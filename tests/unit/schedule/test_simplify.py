"""What needs no kernel."""

import pytest

from helpers.graphs import buffer, kernels, ops_of
from weft.base.dtype import dtypes
from weft.schedule.simplify import full
from weft.uop import Ops, UOp


def test_constants_fold_into_one_store():
    ten = UOp.const(dtypes.int, 1, "X"), UOp.const(dtypes.int, 2, "X")
    total = full((10, 10), ten[0]) + full((10, 10), ten[1])
    (ast,) = kernels(total.contiguous())
    assert ast.src[0].src[1] is UOp.const(dtypes.int, 3)
    assert ast.src[0].src[0].arg.shape == (10, 10)


def test_constants_alone_need_no_kernel():
    assert kernels(full((10,), UOp.const(dtypes.int, 1, "X")) + 2) == []


def test_a_reduce_of_one_element_axes_vanishes():
    x = buffer(3).reshape((3, 1))
    (ast,) = kernels(x.reduce(Ops.ADD, (1,)).sqrt())
    assert Ops.REDUCE_AXIS not in ops_of(ast)


@pytest.mark.parametrize("op, value", [(Ops.ADD, 12), (Ops.MUL, 81), (Ops.MAX, 3)])
def test_a_reduce_of_a_constant_is_a_constant(op, value):
    x = full((4, 2), UOp.const(dtypes.int, 3, "X"))
    (ast,) = kernels(x.reduce(op, (0,)).contiguous())
    assert ast.src[0].src[1].arg == value


def test_a_reduce_of_nothing_is_the_identity_element():
    empty = full((0, 2), UOp.const(dtypes.int, 3, "X"))
    (ast,) = kernels(empty.reduce(Ops.MUL, (0,)).contiguous())
    assert ast.src[0].src[1].arg == 1


def test_copies_to_where_it_is_vanish_and_constants_are_not_copied():
    x = buffer(4)
    assert kernels(x.copy_to_device("X") + 1)[0].op is Ops.SINK
    one = UOp.const(dtypes.float, 1.0, "Y").reshape((1,)).expand((4,))
    assert [a.op for a in kernels(x + one.copy_to_device("X"))] == [Ops.SINK]
