"""What a kernel computes: views, masks, scalars."""

from helpers.graphs import buffer, kernels, ops_of, writes
from weft.base.dtype import dtypes
from weft.uop import Ops, UOp


def test_padding_of_operations_that_do_not_keep_zero_is_masked():
    x = buffer(4)
    (safe,) = kernels((x * 2).pad(((1, 1),)).contiguous())
    (unsafe,) = kernels((x + 1).pad(((1, 1),)).contiguous())
    assert Ops.VALID not in ops_of(safe) and Ops.VALID in ops_of(unsafe)


def test_padding_is_no_zero_below_it():
    x = buffer(4)
    for padded in (-x, x * -2, x * -0.0, (x < 1).where(x, -0.0)):
        (ast,) = kernels(padded.pad(((1, 1),)).contiguous())
        assert Ops.VALID in ops_of(ast)
    whole = buffer(4, dtypes.int)
    for padded in (-whole, whole * -2):
        (ast,) = kernels(padded.pad(((1, 1),)).contiguous())
        assert Ops.VALID not in ops_of(ast)


def test_movement_is_pushed_down_to_loads():
    x = buffer(6).reshape((2, 3))
    (ast,) = kernels((x.permute((1, 0)) * 2).flip((True, False)).contiguous())
    (load,) = [u for u in ast.toposort() if u.op is Ops.LOAD]
    assert load.src[0].op is Ops.VIEW and load.src[0].src[0].op is Ops.DEFINE_GLOBAL
    assert load.src[0].arg.views[0].strides == (-1, 3)
    assert load.src[0].arg.views[0].offset == 2


def test_one_value_through_two_views_is_read_twice():
    x = buffer(4).reshape((2, 2))
    (ast,) = kernels(x + x.permute((1, 0)))
    assert ops_of(ast).count(Ops.LOAD) == 2 and ops_of(ast).count(Ops.DEFINE_GLOBAL) == 2


def test_counting_is_index_arithmetic():
    counted = UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg="X"),), 6)
    (ast,) = kernels((counted.reshape((2, 3)).permute((1, 0)) + 1).contiguous())
    assert Ops.LOAD not in ops_of(ast) and Ops.IOTA in ops_of(ast)


def test_bound_variables_are_freed():
    n = UOp.variable("n", 1, 4)
    x = buffer(4).shrink(((0, n.bind(3)),))
    (write,) = writes((x * 2).reduce(Ops.ADD, (0,)))
    assert write.src[1].src[-1] is n.bind(3)
    assert n.bind(3) not in write.src[1].arg.ast.toposort()
