"""Which elementwise children a reduce takes along."""

from helpers.graphs import buffer, kernels, ops_of
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.uop import Ops


def test_a_reduce_takes_its_producers_and_its_contiguous_children():
    x = buffer(12).reshape((3, 4))
    total = (x * 2).reduce(Ops.ADD, (1,))
    (ast,) = kernels(total.reshape((3,)).sqrt() + 1)
    assert ops_of(ast).count(Ops.REDUCE_AXIS) == 1


def test_a_reduce_with_two_readers_is_stored():
    x = buffer(12).reshape((3, 4))
    total = x.reduce(Ops.ADD, (1,))
    with settings.override(GROUP_KERNELS=0):
        assert len(kernels(total.sqrt(), total.exp2())) == 3
    assert len(kernels(total.sqrt(), total.exp2())) == 1  # later: they share their loops


def test_reduces_that_meet_share_a_kernel():
    x = buffer(12).reshape((3, 4))
    assert len(kernels(x.reduce(Ops.ADD, (1,)) + x.reduce(Ops.MAX, (1,)))) == 1


def product(k):
    """(4, k) by (k, 5)."""
    a, b = buffer(4 * k).reshape((4, 1, k)), buffer(5 * k).reshape((1, 5, k))
    return (a.expand((4, 5, k)) * b.expand((4, 5, k))).reduce(Ops.ADD, (2,))


def test_short_products_that_meet_share_a_kernel():
    assert len(kernels(product(64) + product(128) * 2)) == 1


def test_of_long_products_the_longest_goes_on():
    first, second = kernels((product(300) * 2 + product(2000)).exp2())
    assert first.src[0].src[1].op is Ops.MUL  # as far as the chain goes alone
    assert {reduced.src[0].shape[2] for reduced in sums(first)} == {300}
    assert {reduced.src[0].shape[2] for reduced in sums(second)} == {2000}
    assert Ops.EXP2 in ops_of(second)


def sums(ast):
    return [node for node in ast.toposort() if node.op is Ops.REDUCE_AXIS]


def test_readers_that_meet_again_are_followed():
    total = buffer(12).reshape((3, 4)).reduce(Ops.ADD, (1,))
    relu = (total < 0).where(total * 0, total)
    assert len(kernels(relu + 1)) == 1
    with settings.override(GROUP_KERNELS=0):
        assert len(kernels(relu, total * 2)) == 3


def test_readers_that_meet_in_another_shape_are_not():
    total = buffer(12).reshape((3, 4)).reduce(Ops.ADD, (1,))
    both = total.sqrt() + (total.exp2()).flip((True, False))
    assert len(kernels(both)) > 1


def test_a_cast_to_a_wider_dtype_is_left_to_the_readers():
    total = buffer(12, dtypes.half).reshape((3, 4)).reduce(Ops.ADD, (0,)) * 2
    wide = total.cast(dtypes.float).expand((3, 4)) + buffer(12).reshape((3, 4))
    first, second = kernels(wide)
    assert first.src[0].src[1].dtype is dtypes.half
    assert Ops.CAST in ops_of(second) and Ops.CAST not in ops_of(first)
    # a requested value is stored in its requested form
    assert kernels(total.cast(dtypes.float))[0].src[0].src[1].dtype is dtypes.float
