"""Sorting against NumPy: stable, NaN last, any axis."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, CapabilityError
from weft.engine import stats
from weft.tensor.ops import radix_sort, sorting

# Axes of 1 to 6 elements, first, last and between: kernels depend on the shape alone.
SHAPES = [(1,), (2,), (3,), (4,), (5,), (6,), (3, 4), (6, 1), (1, 5), (2, 3, 4), (5, 1, 2)]


@given(
    hnp.arrays(
        np.float32,
        st.sampled_from(SHAPES),
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


def bits_of(dtype, shape):
    """Numbers with all that is special about their dtype, and many that are equal."""
    rng, dtype = np.random.default_rng(4), np.dtype(dtype)
    if dtype.kind == "f":
        made = rng.standard_normal(shape).astype(dtype)
        for step, value in ((5, 0.0), (7, -0.0), (11, np.nan), (13, np.inf), (17, -np.inf)):
            made.reshape(-1)[step::step] = value
        return made
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    ends = np.iinfo(dtype)
    made = rng.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True)
    made[..., ::3] = made[..., :1]
    made[..., 1:3] = ends.min, ends.max
    return made


def in_order(a, descending):
    if a.dtype.kind == "f":
        missing, a = np.isnan(a), np.where(np.isnan(a), 0, a)
        return np.lexsort((-a, ~missing) if descending else (a, missing), axis=-1)
    a = a.astype(np.uint8) if a.dtype.kind == "b" else a
    return np.argsort(~a if descending else a, axis=-1, kind="stable")


@pytest.mark.parametrize(
    ("dtype", "descending"),
    [("bool", True), ("int8", False), ("uint16", True), ("int32", False), ("uint32", True),
     ("int64", False), ("uint64", True), ("float16", False), ("float32", True),
     ("float64", False)],
)  # fmt: skip
def test_digits_put_every_dtype_in_order(monkeypatch, dtype, descending):
    monkeypatch.setattr(sorting, "DIGITS", 100)
    a = bits_of(dtype, (2, 130))
    values, places = Tensor(a).sort(-1, descending)
    order = in_order(a, descending)
    np.testing.assert_array_equal(places.numpy(), order)
    moved = np.take_along_axis(a, order, -1)
    assert values.numpy().tobytes() == moved.tobytes()


@pytest.mark.parametrize("device", ["REF:vector", "CPU"])
def test_digits_along_any_axis_and_their_gradients(monkeypatch, device):
    monkeypatch.setattr(sorting, "DIGITS", 10)
    a = np.random.default_rng(5).permutation(66).reshape(11, 2, 3).astype(np.float16)
    weights = np.arange(66, dtype=np.float16).reshape(a.shape)
    x = Tensor(a, device=device, requires_grad=True)
    values, places = x.sort(0)
    np.testing.assert_array_equal(places.numpy(), a.argsort(0))
    (values * Tensor(weights, device=device)).sum().backward()
    want = np.empty_like(a)
    np.put_along_axis(want, a.argsort(0), weights, 0)
    np.testing.assert_array_equal(x.grad.numpy(), want)


def test_half_floats_have_few_digits(monkeypatch):
    monkeypatch.setattr(sorting, "DIGITS", 100)
    a = bits_of("float32", (130,))
    x = Tensor(a).cast(dtypes.bfloat16)
    order = in_order(x.cast(dtypes.float32).numpy(), False)
    np.testing.assert_array_equal(x.argsort().numpy(), order)


def test_long_rows_are_gone_through_a_few_times():
    taken = []
    for size in (5000, 10000):
        x = Tensor.rand(size).realize()
        if not radix_sort.counts(x.device):
            pytest.skip("a device that computes many elements at once sorts by a network")
        before = stats.ops
        values, places = x.sort()
        values.realize(places)
        taken.append(stats.ops - before)
        np.testing.assert_array_equal(places.numpy(), np.argsort(x.numpy(), kind="stable"))
    # 97 to 101 for each element, by how a device's strategy divides the loops
    assert taken[0] < 102 * 5000
    assert taken[1] < 2.1 * taken[0]


@pytest.mark.parametrize("size", [1000, 3000])
def test_the_work_is_that_of_a_network_and_steps_share_kernels(size):
    x = Tensor.rand(size).realize()
    steps = (size - 1).bit_length() * ((size - 1).bit_length() + 1) // 2
    before = stats.kernels, stats.ops
    values, places = x.sort()
    values.realize(places)
    assert stats.kernels - before[0] < steps // 3
    assert stats.ops - before[1] < 12 * steps << (size - 1).bit_length()


def test_sorting_is_always_stable():
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
    x = Tensor.rand(3000).realize()
    before = stats.ops
    x.topk(5)[1].realize()
    few, before = stats.ops - before, stats.ops
    x.sort()[1].realize()
    assert 4 * few < stats.ops - before


def test_gradients_reach_the_few():
    x = Tensor(np.arange(100, dtype=np.float32)[::-1].copy(), requires_grad=True)
    (x.topk(3)[0] * Tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0] + [0.0] * 97


def test_a_storage_device_refuses_sorting():
    """Long enough for rows to be sorted by digits, where there is arithmetic of 64 bits."""
    x = Tensor(np.arange(3000, dtype=np.float32), device="HOST")
    for sort in (Tensor.argsort, Tensor.median, lambda t: t.sort()[0]):
        with pytest.raises(CapabilityError, match="does not compute"):
            sort(x).realize()
