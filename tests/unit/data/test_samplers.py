"""Orders: functions of seed and epoch."""

import numpy as np
import pytest

from weft import Tensor, data
from weft.base.errors import ArgumentError


def test_a_random_order_is_a_function_of_seed_and_epoch():
    one, two = (data.RandomSampler(range(20), seed=5) for _ in range(2))
    epochs = [list(one) for _ in range(3)]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    two.set_epoch(2)
    assert list(two) == epochs[2]
    assert list(data.RandomSampler(range(20), seed=6)) != epochs[0]


def test_the_seed_of_tensors_is_the_default():
    Tensor.manual_seed(3)
    one = list(data.RandomSampler(range(20)))
    Tensor.manual_seed(3)
    assert list(data.RandomSampler(range(20))) == one
    Tensor.manual_seed(4)
    assert list(data.RandomSampler(range(20))) != one


def test_draws_with_replacement_and_of_another_number():
    sampler = data.RandomSampler(range(3), replacement=True, num_samples=200, seed=0)
    drawn = list(sampler)
    assert len(drawn) == len(sampler) == 200 and set(drawn) == {0, 1, 2}
    longer = list(data.RandomSampler(range(3), num_samples=7, seed=0))
    assert len(longer) == 7 and sorted(longer[:3]) == sorted(longer[3:6]) == [0, 1, 2]
    assert list(data.RandomSampler([], seed=0)) == []


def test_weights_are_shares():
    drawn = list(data.WeightedRandomSampler([1, 0, 3], 4000, seed=1))
    counts = np.bincount(drawn, minlength=3) / 4000
    assert counts[1] == 0 and counts[2] == pytest.approx(0.75, abs=0.03)
    assert sorted(data.WeightedRandomSampler([1, 2, 3], 3, replacement=False, seed=0)) == [0, 1, 2]
    for weights, options in (
        ([0, 0], {}),
        ([1, -1], {}),
        ([1, 0], {"replacement": False}),
    ):
        with pytest.raises(ArgumentError):
            data.WeightedRandomSampler(weights, 2, **options)


def test_a_subset_in_random_order():
    sampler = data.SubsetRandomSampler([9, 4, 2], seed=0)
    assert sorted(sampler) == [2, 4, 9] and len(sampler) == 3


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("size", [0, 1, 7, 8])
def test_replicas_share_an_epoch(size, shuffle):
    parts = [data.DistributedSampler(range(size), 3, r, shuffle=shuffle) for r in range(3)]
    taken = [list(part) for part in parts]
    assert [len(t) for t in taken] == [len(p) for p in parts]
    assert {i for t in taken for i in t} == set(range(size))
    kept = [list(data.DistributedSampler(range(size), 3, r, drop_last=True)) for r in range(3)]
    together = [i for t in kept for i in t]
    assert len(set(together)) == len(together) == size // 3 * 3
    with pytest.raises(ArgumentError, match="no such replica"):
        data.DistributedSampler(range(3), 2, 2)


def test_batches_of_an_order():
    order = data.SequentialSampler("abcde")
    assert list(data.BatchSampler(order, 2)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(order, 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert [len(data.BatchSampler(order, n)) for n in (1, 2, 5, 9)] == [5, 3, 1, 1]
    with pytest.raises(ArgumentError):
        data.BatchSampler(order, 0)


def test_missing_methods_are_reported():
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.Sampler())
    with pytest.raises(NotImplementedError, match="__len__"):
        len(data.Sampler())


def test_a_seed_is_a_number_from_0():
    with pytest.raises(ArgumentError, match="seed"):
        data.RandomSampler(range(3), seed="one")
    with pytest.raises(ArgumentError, match="seed"):
        data.RandomSampler(range(3), seed=-1)
