"""Distinct elements and places in sorted rows, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import ShapeError
from weft.engine import stats
from weft.tensor.ops import sets

arrays = st.one_of(
    st.lists(st.integers(-5, 5), max_size=30).map(lambda v: np.array(v, np.int32)),
    st.lists(st.sampled_from([0.0, -1.5, 2.0, np.inf, -np.inf, np.nan]), max_size=30).map(
        lambda v: np.array(v, np.float32)
    ),
)


@settings(max_examples=20)
@given(arrays)
def test_unique(array):
    values, inverse, counts = Tensor(array).unique(return_inverse=True, return_counts=True)
    expected = np.unique(array, return_inverse=True, return_counts=True)
    for got, want in zip((values, inverse, counts), expected):
        np.testing.assert_array_equal(got.numpy(), want)
    np.testing.assert_array_equal(Tensor(array).unique().numpy(), expected[0])


def test_unique_keeps_the_shape_of_the_inverse():
    values, inverse = Tensor([[3, 1], [1, 3]]).unique(return_inverse=True)
    assert (values.tolist(), inverse.tolist()) == ([1, 3], [[1, 0], [0, 1]])
    assert len(Tensor([[3, 1]]).unique(return_counts=True)) == 2


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64"])
def test_unique_of_integers_by_their_digits(monkeypatch, dtype):
    monkeypatch.setattr(sets, "DIGITS", 10)
    kind = np.dtype(dtype)
    low, high = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    some = np.array([low, high, high // 2, 0, 1], kind)
    array = np.random.default_rng(7).choice(some, 60)
    expected = np.unique(array, return_counts=True)
    found = Tensor(array).unique(return_counts=True)
    for got, want in zip(found, expected):
        np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("end", ["least", "most"])
def test_unique_of_integers_that_are_close(monkeypatch, dtype, end):
    monkeypatch.setattr(sets, "DIGITS", 10)
    kind = np.dtype(dtype)
    low, high = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    span = min(200, high - low)
    offsets = np.random.default_rng(7).integers(0, span, (8, 60), endpoint=True)
    array = np.array([low + int(x) if end == "least" else high - int(x) for x in offsets.flat])
    array = array.astype(kind).reshape(8, 60)
    expected = np.unique(array, return_inverse=True, return_counts=True)
    found = Tensor(array, device="CPU").unique(return_inverse=True, return_counts=True)
    for got, want in zip(found, expected):
        np.testing.assert_array_equal(got.numpy().reshape(-1), want.reshape(-1))
    assert found[1].shape == array.shape


def test_unique_of_few_values_takes_few_kernels():
    array = np.random.default_rng(7).integers(-300, 300, 5000)
    x = Tensor(array, device="CPU").realize()
    before = stats.kernels
    assert x.unique().tolist() == np.unique(array).tolist()
    assert stats.kernels - before <= 6


@pytest.mark.parametrize("counted", [1 << 22, 0], ids=["counting", "halving"])
@settings(max_examples=15)
@given(array=arrays, values=arrays, right=st.booleans())
def test_searchsorted(counted, array, values, right):
    before, sets._COUNTED = sets._COUNTED, counted
    try:
        if array.dtype != values.dtype:
            values = values.astype(array.dtype) if array.dtype.kind == "f" else array
        got = Tensor(np.sort(array)).searchsorted(Tensor(values), right).numpy()
    finally:
        sets._COUNTED = before
    np.testing.assert_array_equal(
        got, np.searchsorted(np.sort(array), values, "right" if right else "left")
    )


def test_rows_of_their_own():
    rows, values = np.sort(np.arange(12).reshape(2, 6) % 5, 1), np.array([[1, 4], [0, 9]])
    got = Tensor(rows).searchsorted(Tensor(values)).tolist()
    assert got == [np.searchsorted(r, v).tolist() for r, v in zip(rows, values)]
    with pytest.raises(ShapeError):
        Tensor(rows).searchsorted(Tensor([1]))


def test_isin():
    assert Tensor([[1, 2], [3, 4]]).isin([4, 1]).tolist() == [[True, False], [False, True]]
    assert Tensor([1.0]).isin(Tensor([])).tolist() == [False]
