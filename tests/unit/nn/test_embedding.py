"""Looking rows up by number."""

import numpy as np
import pytest

from weft import Tensor, dtypes, settings
from weft.base.errors import ArgumentError, DTypeError, IndexingError
from weft.nn import Embedding, functional


@pytest.mark.parametrize("indices", [[3], [0, 4, 4, 1], [[1, 2], [3, 0]]])
def test_rows_come_back(indices: list) -> None:
    table = Embedding(5, 3)
    result = table(Tensor(indices)).numpy()
    np.testing.assert_array_equal(result, table.weight.numpy()[np.array(indices)])


def test_gradient_reaches_only_the_rows_that_were_read_and_adds_up() -> None:
    table = Embedding(4, 2)
    table.weight.requires_grad_(True)
    table(Tensor([1, 3, 1])).sum().backward()
    np.testing.assert_array_equal(table.weight.grad.numpy(), [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_only_integers_number_rows() -> None:
    with pytest.raises(DTypeError) as caught:
        Embedding(4, 2)(Tensor([1.0], dtype=dtypes.float32))
    assert "cast" in caught.value.try_


def test_the_row_of_padding_is_zero_and_is_not_trained() -> None:
    table = Embedding(4, 2, padding_idx=-2)
    np.testing.assert_array_equal(table.weight.numpy()[2], [0, 0])
    table.weight.requires_grad_(True)
    table(Tensor([1, 2, 2])).sum().backward()
    np.testing.assert_array_equal(table.weight.grad.numpy(), [[0, 0], [1, 1], [0, 0], [0, 0]])
    with pytest.raises(ArgumentError, match="no such row"):
        Embedding(4, 2, padding_idx=4)


@pytest.mark.parametrize("number", [-1, 3])
def test_indices_out_of_bounds_are_refused(number):
    table = Tensor([[1.0], [2.0], [3.0]])
    calls = [Embedding(3, 1), lambda i: functional.embedding(i, table)]
    for look_up in calls:
        with pytest.raises(IndexingError, match=f"index {number} is out of bounds") as caught:
            look_up(Tensor([0, number]))
        assert caught.value.try_ == "numbers from 0 to 2"
        with settings.override(CHECK=1), pytest.raises(IndexingError, match="out of bounds"):
            look_up(Tensor([0, number]).realize() + 0).tolist()
