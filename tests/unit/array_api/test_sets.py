"""Distinct elements: NaN is equal to nothing, both zeros are one."""

import math

import numpy as np
import pytest

import weft.array_api as xp


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool"])
@pytest.mark.parametrize("shape", [(0,), (7,), (3, 4), ()])
def test_against_numpy(shape, dtype):
    a = np.random.default_rng(6).integers(0, 4, shape).astype(dtype)
    values, indices, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True
    )
    got = xp.unique_all(xp.asarray(a))
    np.testing.assert_array_equal(got.values.numpy(), values)
    np.testing.assert_array_equal(got.indices.numpy(), indices)
    np.testing.assert_array_equal(got.inverse_indices.numpy(), inverse.reshape(shape))
    np.testing.assert_array_equal(got.counts.numpy(), counts)
    assert got.values.dtype is getattr(xp, dtype)


def test_every_nan_counts():
    x = xp.asarray([math.nan, 0.0, -0.0, math.nan, 2.0])
    got = xp.unique_all(x)
    assert got.counts.tolist() == [2, 1, 1, 1]
    assert got.indices.tolist() == [1, 4, 0, 3]
    assert got.inverse_indices.tolist() == [2, 0, 0, 3, 1]
    values = xp.unique_values(x).tolist()
    assert values[:2] == [0.0, 2.0] and all(math.isnan(v) for v in values[2:])


def test_names_of_results():
    x = xp.asarray([3, 1, 3])
    assert xp.unique_counts(x)._fields == ("values", "counts")
    assert xp.unique_counts(x).counts.tolist() == [1, 2]
    assert xp.unique_inverse(x)._fields == ("values", "inverse_indices")
    assert xp.unique_inverse(x).inverse_indices.tolist() == [1, 0, 1]
    assert xp.unique_all(x)._fields == ("values", "indices", "inverse_indices", "counts")
