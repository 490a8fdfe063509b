"""The places of extremes along an axis that is looked through block by block."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.tensor.ops import reduce


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce, "_FAR", 200)
    monkeypatch.setattr(reduce, "_POSITIONS", 64)


def numbers(size: int) -> list[np.ndarray]:
    random = np.random.default_rng(size)
    ties = random.integers(0, 9, size).astype(np.float32)
    at_the_end, endless, none = (np.zeros(size, np.float32) for _ in range(3))
    at_the_end[-1], endless[:] = 1, -np.inf
    none[[size // 2, -1]] = np.nan
    both = none.copy()
    both[3] = np.inf
    last = ties.copy()
    last[-2:] = np.nan
    return [ties, at_the_end, endless, none, both, last]


@pytest.mark.parametrize("size", [256, 333])  # the second leaves a rest that is no whole block
def test_the_first_of_all_maxima_as_numpy_finds_it(size: int) -> None:
    rows = np.stack(numbers(size))
    np.testing.assert_array_equal(Tensor(rows).argmax(1).numpy(), rows.argmax(1))
    np.testing.assert_array_equal(Tensor(rows.T).argmin(0).numpy(), rows.argmin(1))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16"])
def test_every_kind_of_number(dtype: str) -> None:
    values = np.random.default_rng(1).integers(-3, 3, 333).astype(dtype)
    assert Tensor(values).argmax().item() == values.argmax()
    assert Tensor(values).argmax(0, keepdim=True).shape == (1,)


def test_pending_values() -> None:
    values = np.random.default_rng(2).random((3, 256), np.float32)
    found = (Tensor(values) * 3 - 1).argmax(1)
    np.testing.assert_array_equal(found.numpy(), values.argmax(1))


def test_a_long_axis_is_read_once_and_one_block_again() -> None:
    whole = Tensor.zeros(64, 64).contiguous().realize().flatten()
    longest = [max(buffer.size for buffer in item.bufs[1:]) for item in whole.argmax(0).schedule()]
    assert longest.count(whole.numel()) == 2  # the maxima of blocks, and the picking of one
