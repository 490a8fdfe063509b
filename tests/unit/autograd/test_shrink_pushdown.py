"""Windows of sums are pushed below them where movement permits, with equal values."""

import numpy as np
import pytest

from weft import Tensor
from weft.autograd.shrink_pushdown import push_down_shrink
from weft.uop import Ops, UOp

DATA = np.random.default_rng(3).standard_normal((2, 3, 6, 5)).astype(np.float32)


def start():
    """A sum over the second axis: (2, 1, 6, 5)."""
    return Tensor(DATA, device="REF").uop.reduce(Ops.ADD, (1,))


def moved(op, node, arg):
    return UOp(op, node.dtype, (node,), arg)


CASES = {
    "plain": lambda x: (x, ((1, 2), (0, 1), (2, 5), (0, 5))),
    "reshape": lambda x: (x.reshape((2, 6, 5)), ((0, 2), (1, 4), (1, 5))),
    "reshape_in_part": lambda x: (x.reshape((2, 2, 3, 5)), ((0, 2), (1, 2), (0, 2), (1, 4))),
    "permute": lambda x: (x.permute((3, 1, 0, 2)), ((1, 4), (0, 1), (0, 2), (0, 3))),
    "expand": lambda x: (x.expand((2, 4, 6, 5)), ((0, 2), (1, 3), (3, 6), (0, 5))),
    "flip": lambda x: (
        moved(Ops.FLIP, x, (False, False, True, False)),
        ((0, 2), (0, 1), (0, 2), (1, 5)),
    ),
    "pad": lambda x: (
        moved(Ops.PAD, x, ((0, 0), (0, 0), (2, 1), (0, 3))),
        ((0, 2), (0, 1), (1, 6), (4, 7)),
    ),
    "shrink": lambda x: (
        x.shrink(((0, 2), (0, 1), (1, 6), (0, 4))),
        ((0, 1), (0, 1), (1, 3), (2, 4)),
    ),
    "sum_of_sum": lambda x: (x.reduce(Ops.ADD, (0,)), ((0, 1), (0, 1), (1, 4), (0, 2))),
    "addition": lambda x: (x + x.expand(x.shape), ((0, 2), (0, 1), (0, 6), (2, 3))),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_values_are_equal_and_sums_are_no_larger_than_the_window(case):
    node, window = CASES[case](start())
    found = push_down_shrink(node, window)
    plain = node.shrink(window)
    assert found is not plain and found.shape == plain.shape and found.dtype is plain.dtype
    sums = [u for u in found.toposort() if u.op is Ops.REDUCE_AXIS]
    assert min(np.prod(u.shape) for u in sums) < np.prod(start().shape)
    np.testing.assert_array_equal(Tensor(found).numpy(), Tensor(plain).numpy())


@pytest.mark.parametrize(
    "node, window",
    [
        (Tensor.empty(4, 4, device="REF").uop, ((1, 3), (0, 4))),  # no sum below
        (start().reshape((2, 6, 5)), ((0, 2), (0, 6), (0, 5))),  # all of it
        (start().reshape((60,)), ((1, 4),)),  # of axes that went into one
        (  # nothing but padding
            moved(Ops.PAD, start(), ((0, 0), (0, 0), (3, 0), (0, 0))),
            ((0, 2), (0, 1), (0, 2), (0, 5)),
        ),
    ],
)  # fmt: skip
def test_nodes_without_pushdown_are_plain_windows(node, window):
    assert push_down_shrink(node, window) is node.shrink(window)


def test_the_gradient_of_a_padded_convolution_is_not_computed_around_the_image():
    x, w = Tensor.empty(2, 3, 8, 8, device="REF"), Tensor.empty(4, 3, 3, 3, device="REF")
    for facts in ({"padding": 1}, {"padding": 1, "stride": 2}, {"padding": 2, "dilation": 2}):
        y = x.conv2d(w, **facts)
        (grad,) = y.gradient(x, gradient=Tensor.empty(*y.shape, device="REF"))
        sums = [u for u in grad.uop.toposort() if u.op is Ops.REDUCE_AXIS]
        assert np.prod(sums[-1].shape) == np.prod(x.shape)
