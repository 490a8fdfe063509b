"""Several reduces over the rows of one value in one kernel."""

import numpy
import pytest

from weft import Tensor
from weft.testing.graphs import buffer, kernels, ops_of
from weft.uop import Ops


def x(*shape):
    return Tensor.empty(*shape, device="REF")


@pytest.mark.parametrize(
    "made",
    [
        lambda: x(4, 8).softmax(),
        lambda: x(4, 8).log_softmax(),
        lambda: x(4, 8).layernorm(),
        lambda: x(4, 8).var(1),
        lambda: x(4, 8).std(1),
        lambda: x(4, 8).argmax(1),
        lambda: x(2, 3, 8).softmax(),
        lambda: (x(4, 8) * 2 + x(8)).relu().softmax(),
    ],
)
def test_what_reads_rows_again_is_one_kernel(made):
    assert len(made().schedule()) == 1


def test_nothing_is_reduced_more_often():
    rows = buffer(32).reshape((4, 8))
    centred = rows - rows.reduce(Ops.MAX, (1,)).expand((4, 8))
    total = centred.exp2().reduce(Ops.ADD, (1,)).expand((4, 8))
    (ast,) = kernels(centred.exp2() / total)
    assert ops_of(ast).count(Ops.REDUCE_AXIS) == 2


@pytest.mark.parametrize(
    "made",
    [
        lambda: x(4, 8) / x(4, 8).sum(0),  # each column is read by all rows
        lambda: x(4, 8) / x(4, 8).sum(),  # one row: nothing to share out
        lambda: x(4, 4) - x(4, 4).max(1, keepdim=True).T,  # rows of another order
    ],
)
def test_what_would_be_computed_again_is_stored(made):
    assert len(made().schedule()) == 2


def test_a_row_value_with_two_homes_is_stored():
    rows = x(4, 8)
    top = rows.max(1, keepdim=True)
    assert len((rows - top).schedule(rows.T * 2 + 1, top)) >= 2


def test_the_numbers_are_the_same():
    data = numpy.random.default_rng(0).standard_normal((5, 7)).astype(numpy.float32)
    exact = numpy.exp(data - data.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    got = Tensor(data, device="REF").softmax().numpy()
    numpy.testing.assert_allclose(got, exact, rtol=2e-6)
