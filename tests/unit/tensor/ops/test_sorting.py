"""Sorting against NumPy: stable, NaN last, any axis."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import ArgumentError
from weft.engine import stats
from weft.tensor.ops import sorting


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6),
        elements=st.sampled_from([0.0, 1.0, -2.0, np.nan, np.inf, -np.inf]),
    ),
    st.data(),
)
def test_against_numpy(a, data):
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    values, places = Tensor(a).sort(axis)
    np.testing.assert_array_equal(values.numpy(), np.sort(a, axis))
    np.testing.assert_array_equal(places.numpy(), np.argsort(a, axis, kind="stable"))


@pytest.mark.parametrize("descending", [False, True])
def test_the_network_equals_counting(monkeypatch, descending):
    a = np.random.default_rng(0).integers(-5, 5, (2, 13)).astype(np.int32)
    values, places = Tensor(a).sort(-1, descending)
    monkeypatch.setattr(sorting, "_COUNTED", 4)
    again, again_places = Tensor(a).sort(-1, descending)
    np.testing.assert_array_equal(values.numpy(), again.numpy())
    np.testing.assert_array_equal(places.numpy(), again_places.numpy())
    if descending:
        np.testing.assert_array_equal(values.numpy(), -np.sort(-a, -1))
        np.testing.assert_array_equal(places.numpy(), np.argsort(-a, -1, kind="stable"))


def test_topk():
    x = Tensor([[3.0, 1.0, 4.0, 1.0], [5.0, 9.0, 2.0, 6.0]])
    values, places = x.topk(2)
    assert values.tolist() == [[4.0, 3.0], [9.0, 6.0]] and places.tolist() == [[2, 0], [1, 3]]
    values, places = x.topk(1, 0, largest=False)
    assert values.tolist() == [[3.0, 1.0, 2.0, 1.0]] and places.tolist() == [[0, 0, 1, 0]]
    with pytest.raises(ArgumentError):
        x.topk(5)
    assert Tensor(np.zeros((2, 0))).sort()[0].shape == (2, 0)


@pytest.mark.parametrize("size", [1000, 5000])
def test_the_work_is_that_of_a_network_and_steps_share_kernels(size):
    x = Tensor.rand(size).realize()
    steps = (size - 1).bit_length() * ((size - 1).bit_length() + 1) // 2
    before = stats.kernels, stats.ops
    values, places = x.sort()
    values.realize(places)
    assert stats.kernels - before[0] < steps // 3
    assert stats.ops - before[1] < 12 * steps << (size - 1).bit_length()


def test_stable_is_what_sorting_is():
    x = Tensor([1, 0, 1, 0])
    for stable in (True, False):
        assert x.sort(stable=stable)[1].tolist() == [1, 3, 0, 2]
        assert x.argsort(descending=True, stable=stable).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_the_first_few_of_long_rows_are_found_in_blocks(largest, dtype):
    """Ties come as they lie, across blocks too; what fills the last block up is never taken."""
    a = np.random.default_rng(3).integers(-4, 4, (2, 130)).astype(dtype)
    a[0] = a.dtype.type(-128) if largest else a.dtype.type(127)
    a[0, [5, 77, 129]] = 0
    keys = a.astype(np.float64)
    if dtype == "float32":
        a[1, [9, 128]] = np.nan
        a[1, ::11] = np.inf
        keys = a.astype(np.float64)
        keys[np.isnan(keys)] = 1e300  # NaN comes after infinity
        keys[np.isinf(keys)] = 1e299
    order = np.argsort(-keys if largest else keys, -1, kind="stable")[:, :7]
    values, places = Tensor(a).topk(7, largest=largest)
    np.testing.assert_array_equal(places.numpy(), order)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(a, order, -1))


def test_the_few_are_not_paid_for_with_the_order_of_all():
    x = Tensor.rand(5000).realize()
    before = stats.ops
    x.topk(5)[1].realize()
    few, before = stats.ops - before, stats.ops
    x.sort()[1].realize()
    assert 4 * few < stats.ops - before


def test_gradients_reach_the_few():
    x = Tensor(np.arange(100, dtype=np.float32)[::-1].copy(), requires_grad=True)
    (x.topk(3)[0] * Tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0] + [0.0] * 97
