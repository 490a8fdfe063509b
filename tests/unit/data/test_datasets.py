"""Data sets: arrays, subsets, concatenations, random splits."""

import numpy as np
import pytest

from weft import Tensor, data, dtypes
from weft.base.errors import ArgumentError, IndexingError, ShapeError


def test_arrays_of_one_length_are_rows():
    x, y = np.arange(12).reshape(4, 3), np.array([1, 0, 1, 1])
    samples = data.TensorDataset(x, y)
    assert len(samples) == 4
    row, label = samples[2]
    assert row.tolist() == [6, 7, 8] and label == 1
    rows, labels = samples.batch([3, 0])
    assert rows.tolist() == [[9, 10, 11], [0, 1, 2]] and labels.tolist() == [1, 1]


def test_python_numbers_have_the_default_dtypes():
    x, y, z = data.TensorDataset([1.5, 2.5], [1, 2], [1, 1 << 40]).tensors
    assert (x.dtype, y.dtype, z.dtype) == (np.float32, np.int32, np.int64)
    assert data.TensorDataset(np.zeros(2)).tensors[0].dtype == np.float64


def test_tensors_stay_tensors():
    samples = data.TensorDataset(Tensor([[1.0, 2.0], [3.0, 4.0]]), [0, 1])
    rows, labels = samples.batch([1, 1])
    assert isinstance(rows, Tensor) and rows.tolist() == [[3.0, 4.0], [3.0, 4.0]]
    assert labels.tolist() == [1, 1]
    batches = list(data.DataLoader(samples, batch_size=2))
    assert batches[0][0].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_different_lengths_are_refused():
    with pytest.raises(ShapeError, match="one length"):
        data.TensorDataset(np.zeros(3), np.zeros(4))
    with pytest.raises(ShapeError, match="one length"):
        data.TensorDataset(np.float32(1))
    with pytest.raises(ArgumentError):
        data.TensorDataset()


def test_subsets_of_subsets():
    part = data.Subset(data.Subset("abcdef", [5, 3, 1]), [2, 0])
    assert len(part) == 2 and [part[0], part[1]] == ["b", "f"]
    assert part.__getitems__([1, 0]) == ["f", "b"]


def test_batches_of_parts_are_taken_at_once():
    class Rows(data.TensorDataset):
        def __getitem__(self, index):
            raise AssertionError("one by one")

    part = data.Subset(data.Subset(Rows(np.arange(10)), [9, 8, 7, 6]), [3, 0, 1])
    loader = data.DataLoader(part, batch_size=2, num_workers=1)
    assert [batch.tolist() for (batch,) in loader] == [[6, 9], [8]]


def test_concatenation():
    both = data.Dataset.__add__(data.Subset("abc", [0, 1, 2]), "de")
    assert isinstance(both, data.ConcatDataset) and len(both) == 5
    assert [both[i] for i in range(-5, 5)] == list("abcdeabcde")
    for index in (5, -6):
        with pytest.raises(IndexingError, match="no such sample"):
            both[index]
    with pytest.raises(ArgumentError, match="ChainDataset"):
        data.ConcatDataset([data.ChainDataset([range(2)])])
    with pytest.raises(ArgumentError):
        data.ConcatDataset([])


def test_a_chain_of_iterables():
    chain = data.ChainDataset([range(2), range(3)])
    assert list(chain) == [0, 1, 0, 1, 2] and len(chain) == 5
    assert list(chain + chain) == 2 * [0, 1, 0, 1, 2]


@pytest.mark.parametrize("lengths", [[7, 3], [0.7, 0.3], [0.5, 0.25, 0.25], [0, 10]])
def test_random_splits_are_partitions(lengths):
    parts = data.random_split(range(10), lengths, seed=4)
    assert sorted(i for part in parts for i in part.indices) == list(range(10))
    assert [p.indices for p in data.random_split(range(10), lengths, seed=4)] == [
        p.indices for p in parts
    ]
    if lengths[0] > 1:
        assert [len(p) for p in parts] == lengths


def test_random_splits_follow_the_seed_of_tensors():
    def order():
        return data.random_split(range(50), [1.0])[0].indices

    Tensor.manual_seed(1)
    first = order()
    Tensor.manual_seed(2)
    assert order() != first
    Tensor.manual_seed(1)
    assert order() == first


def test_splits_that_do_not_add_up_are_refused():
    for lengths in ([3, 3], [0.5, 0.6], [11, -1]):
        with pytest.raises(ArgumentError, match="add up"):
            data.random_split(range(10), lengths)


def test_missing_methods_are_reported():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.IterableDataset())


def test_dtypes_on_the_device():
    x = np.array([[1.5]], dtype=np.float16)
    flags, numbers = np.array([True]), np.array([7], dtype=np.uint8)
    (batch,) = data.DataLoader(data.TensorDataset(x, flags, numbers))
    assert [each.dtype for each in batch] == [dtypes.float16, dtypes.bool, dtypes.uint8]
