"""Items of an index, and nonzero: as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import CapabilityError
from weft.tensor.ops.index_items import is_alone, places_of


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 0, 2), (1, 5), (3, 4, 5)])
def test_nonzero(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(1).integers(0, 3, shape)
    found = Tensor(a).nonzero()
    assert found.dtype.name == "int" and found.shape == np.argwhere(a).shape
    np.testing.assert_array_equal(found.numpy(), np.argwhere(a))
    for mine, theirs in zip(places_of(Tensor(a != 0)), np.nonzero(np.atleast_1d(a != 0))):
        np.testing.assert_array_equal(mine, theirs)
    if shape:
        apart = Tensor(a).nonzero(as_tuple=True)
        np.testing.assert_array_equal(Tensor(a)[apart].numpy(), a[a != 0])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float64])
def test_only_zeros_are_left_out(dtype: type) -> None:
    given = [0.0, 1.0, -0.0, 2.0]
    if np.dtype(dtype).kind == "f":
        given += [np.nan, -np.inf, np.finfo(dtype).tiny]
    a = np.array(given, dtype=dtype)
    assert Tensor(a).nonzero().flatten().tolist() == np.flatnonzero(a).tolist()


def test_a_window_counts_its_own_places() -> None:
    x = Tensor([[0, 1, 2], [3, 0, 5]])
    assert x.T[1:].nonzero().tolist() == [[0, 0], [1, 0], [1, 1]]


def test_a_storage_device_refuses_indexed_writes() -> None:
    assert not is_alone("HOST") and not is_alone(("HOST", "REF")) and is_alone("REF")
    x = Tensor(np.zeros(5, np.float32), device="HOST")
    x[Tensor([1, 3], device="HOST")] = 2.0
    with pytest.raises(CapabilityError, match="does not compute"):
        x.tolist()
