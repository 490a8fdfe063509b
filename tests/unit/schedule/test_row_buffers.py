"""Local row buffers of kernels that run row by row."""

from math import inf

import numpy
import pytest

from helpers.graphs import buffer, kernels, ops_of
from weft import Tensor, Variable, jit
from weft.base.settings import settings
from weft.schedule.row_buffers import outer_shape, plan_row_buffers, with_outer_axes
from weft.uop import Ops


def x(*shape):
    return Tensor.empty(*shape, device="REF")


def kept(members, stored, rows, most=1 << 20, again=inf):
    found = plan_row_buffers(members, stored, rows, most, lambda u: u.op is Ops.BUFFER)
    return None if found is None else found.nodes(again)


def test_an_expensive_value_of_two_loops_is_buffered():
    values = buffer(32).reshape((4, 8))
    power, double = values.exp2(), values * 2
    for value, chosen in ((power, [power]), (double, [])):
        out = value / value.reduce(Ops.ADD, (1,)).expand((4, 8))
        assert kept([out], [out], 4) == chosen
    # one that was to be stored is kept in any case
    out = double / double.reduce(Ops.ADD, (1,)).expand((4, 8))
    assert kept([double, out], [out], 4) == [double]


def test_variable_sizes_count_with_their_upper_bounds():
    n = Variable("n", 2, 8)
    step = jit(lambda x, y, n: ((y[:, :n].T * 2).sum(0).sum(0), x[:n].sum(0)))
    for rows in (3, 5, 4, 8):
        x, y = Tensor.ones(8, 5).contiguous(), Tensor.ones(6, 8).contiguous()
        total, columns = step(x.realize(), y.realize(), n.bind(rows))
        assert (total.item(), columns.tolist()) == (12 * rows, [rows] * 5)
    assert not step.read_variables and step.replays == 2


def test_a_value_in_one_loop_is_written_out_in_place():
    values = buffer(32).reshape((4, 8)).exp2()
    total = values.reduce(Ops.ADD, (1,))
    assert kept([values, total], [total], 4) == []
    assert kept([values, total], [values, total], 4) == [values]


def test_loops_of_one_length_are_one():
    values = buffer(32).reshape((4, 8)).exp2()
    sums = values.reduce(Ops.ADD, (1,)), values.reduce(Ops.MAX, (1,))
    assert kept([values, *sums], sums, 4) == []


def test_a_value_that_one_loop_reads_often_is_kept():
    values = buffer(32).reshape((4, 8)) * 2
    often = values.reshape((4, 1, 8)).expand((4, 5, 8))
    out = (often * buffer(40).reshape((1, 5, 8)).expand((4, 5, 8))).reduce(Ops.ADD, (2,))
    assert kept([values, out], [out], 4) == [values]
    assert kept([values, out], [out], 4, most=31) is None  # it would be computed five times


def test_all_rows_together_fit():
    first = buffer(32).reshape((4, 8)).exp2()
    second = (first / first.reduce(Ops.ADD, (1,)).expand((4, 8))).exp2()
    out = second / second.reduce(Ops.ADD, (1,)).expand((4, 8))
    assert kept([out], [out], 4, most=64) == [first, second]
    assert kept([out], [out], 4, most=32) == [second]


def test_values_read_in_other_rows_are_not_buffered():
    values = buffer(16).reshape((4, 4)).exp2()
    out = values.permute((1, 0)) / values.reduce(Ops.ADD, (1,)).expand((4, 4))
    assert kept([out], [out], 4) == []


def test_the_outer_axes_are_the_most_detailed_ones():
    assert outer_shape([(6, 8), (2, 3, 1), (2, 3, 5)], 6) == (2, 3)
    assert outer_shape([(1, 6, 1, 8)], 6) == (6,)
    assert outer_shape([(5,)], 1) == ()
    assert with_outer_axes((6, 8), (2, 3)) == (2, 3, 8)
    assert with_outer_axes((2, 3, 4, 5), (2, 3)) == (2, 3, 4, 5)
    assert with_outer_axes((12,), (2, 3)) == (2, 3, 2)


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
def test_readers_of_buffered_rows_are_one_kernel(made):
    assert len(made().schedule()) == 1


def test_nothing_is_reduced_more_often():
    rows = buffer(32).reshape((4, 8))
    centred = rows - rows.reduce(Ops.MAX, (1,)).expand((4, 8))
    total = centred.exp2().reduce(Ops.ADD, (1,)).expand((4, 8))
    (ast,) = kernels(centred.exp2() / total)
    assert ops_of(ast).count(Ops.REDUCE_AXIS) == 2


def test_a_row_value_that_others_need_too_is_a_second_output():
    rows = x(4, 8)
    top = rows.max(1, keepdim=True)
    assert len((rows - top).schedule(top)) == 1


@pytest.mark.parametrize("device", ["REF", "REF:vector", "REF:grid"])
@pytest.mark.parametrize("grouped", [0, 1])
def test_the_numbers_are_the_same(device, grouped):
    data = numpy.random.default_rng(0).standard_normal((5, 7)).astype(numpy.float32)
    exact = numpy.exp(data - data.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    with settings.override(GROUP_KERNELS=grouped):
        got = Tensor(data, device=device).softmax().numpy()
    numpy.testing.assert_allclose(got, exact, rtol=2e-6)


def test_cheap_values_are_kept_where_too_much_would_be_computed_again():
    values = buffer(32).reshape((4, 8))
    middle = values * 2 + 1
    first = middle.reduce(Ops.MAX, (1,)).expand((4, 8))
    out = middle - (middle - first).reduce(Ops.ADD, (1,)).expand((4, 8))
    # 128 + 64 + 32 + 32 steps, where 192 would do if nothing were computed twice
    assert kept([out], [out], 4) == []
    assert kept([out], [out], 4, again=1.25) == [middle]
    assert kept([out], [out], 4, again=2) == []
    assert kept([out], [out], 4, most=31, again=1.25) == []


def test_a_value_that_is_read_in_two_orders_is_computed_twice():
    values = buffer(32).reshape((4, 8)) * 2
    out = values + values.flip((False, True))
    assert kept([values, out], [out], 4) == [values]
    assert kept([out], [out], 4) == []  # cheap, and not to be stored
