"""Padding of a product moves to one factor; the other one is expanded along constant axes."""

import numpy as np
import pytest

from helpers.graph_passes import memory
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.schedule.padding_elimination import extended, pad_one_factor
from weft.uop import Ops, UOp


def pads_of(node):
    return [u.arg for u in node.toposort() if u.op is Ops.PAD]


def still(number, *shape):
    """Memory of (1, shape[1]), the same in every row."""
    return memory(number, 1, shape[1]).expand(shape)


def padded(node, *pads):
    return UOp(Ops.PAD, node.dtype, (node,), pads)


@pytest.mark.parametrize("first", [True, False])
def test_only_the_factor_that_moves_is_padded(first):
    a, b = memory(0, 4, 3), still(1, 4, 3)
    product = a * b if first else b * a
    found = pad_one_factor(padded(product, (1, 2), (0, 0)))
    assert found.op is Ops.MUL and found.shape == (7, 3)
    assert pads_of(found) == [((1, 2), (0, 0))]
    moving, repeated_one = found.src if first else found.src[::-1]
    assert moving.op is Ops.PAD and repeated_one.op is Ops.EXPAND


def test_both_factors_with_the_axis_are_padded():
    found = pad_one_factor(padded(memory(0, 4, 3) * memory(1, 4, 3), (1, 1), (0, 2)))
    assert pads_of(found) == [((1, 1), (0, 2))] * 2


def test_each_axis_has_the_factor_that_moves_along_it():
    rows = memory(0, 4, 1).expand((4, 3))
    found = pad_one_factor(padded(rows * still(1, 4, 3), (1, 1), (2, 0)))
    assert pads_of(found) == [((1, 1), (0, 0)), ((0, 0), (2, 0))]


def test_other_nodes_are_unchanged():
    product = (memory(0, 4, 3) * still(1, 4, 3)).permute((1, 0))
    total = padded(memory(0, 4, 3) + still(1, 4, 3), (1, 1), (0, 0))
    assert pad_one_factor(product) is product
    assert pad_one_factor(total) is total


def chains():
    x = still(0, 4, 6)
    yield x, 0
    yield x.permute((1, 0)), 1
    yield x.reshape((4, 2, 3)), 0
    yield x.reshape((4, 2, 3)).permute((2, 0, 1)).shrink(((0, 2), (0, 4), (0, 2))), 1
    yield padded(x, (0, 0), (1, 0)), 0
    yield x.cast(dtypes.double), 0
    yield UOp(Ops.FLIP, x.dtype, (x,), (True, True)), 0
    yield memory(0, 1, 3), 0


@pytest.mark.parametrize("case", range(8))
def test_it_is_longer_and_the_same_all_along(case):
    node, axis = list(chains())[case]
    found = extended(node, axis, 3)
    assert found.shape == tuple(n + 3 * (i == axis) for i, n in enumerate(node.shape))
    if node.op is Ops.CAST:
        node, found = node.src[0], found.src[0]
    assert found.st.real_strides()[axis] in (0, None)
    back = tuple((0, extent) for extent in node.shape)
    assert found.shrink(back).st.simplify() == node.st.simplify()


@pytest.mark.parametrize(
    "node, axis",
    [
        (memory(0, 4, 3), 0),
        (still(0, 4, 6).reshape((8, 3)), 0),
        (still(0, 4, 6).shrink(((1, 4), (0, 6))), 0),
        (padded(still(0, 4, 6), (1, 0), (0, 0)), 0),
        (still(0, 4, 6) + 1.0, 0),
    ],
)
def test_moved_or_shrunk_axes_are_not_extended(node, axis):
    assert extended(node, axis, 1) is None


def test_gradients_of_convolutions_are_those_of_two_sums():
    random = np.random.default_rng(0)
    for size, window, facts in (
        (6, 3, {"padding": 1}),
        (7, 3, {"padding": 2, "dilation": 2}),
        (6, 2, {"groups": 2, "padding": 1}),
        (5, 3, {"stride": 2, "padding": 1}),
    ):
        x = random.standard_normal((2, 4, size, size)).astype(np.float32)
        w = random.standard_normal((6, 4 // facts.get("groups", 1), window, window))
        found = []
        for fused in (0, 1, 2):
            with settings.override(FUSE_CONV_BW=fused):
                image = Tensor(x, device="REF", requires_grad=True)
                y = image.conv2d(Tensor(w.astype(np.float32), device="REF"), **facts)
                found.append((y * y).sum().gradient(image)[0].numpy())
        np.testing.assert_allclose(found[1], found[0], rtol=2e-4, atol=2e-4)
        np.testing.assert_allclose(found[2], found[0], rtol=2e-4, atol=2e-4)
