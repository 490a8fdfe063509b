"""The loader: batches, orders, lengths, exact resuming, what contradicts."""

import numpy as np
import pytest

from weft import Tensor, data
from weft.base.errors import ArgumentError


def numbers(loader):
    return [batch.tolist() for batch in loader]


def test_batches_in_order():
    assert numbers(data.DataLoader(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert numbers(data.DataLoader(range(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert numbers(data.DataLoader([1.5, 2.5])) == [[1.5], [2.5]]
    assert numbers(data.DataLoader(np.arange(4), batch_size=4)) == [[0, 1, 2, 3]]
    (batch,) = data.DataLoader(data.TensorDataset(np.eye(2)), batch_size=2)
    assert isinstance(batch[0], Tensor) and batch[0].tolist() == [[1, 0], [0, 1]]


def test_without_batches():
    samples = list(data.DataLoader(np.arange(6).reshape(3, 2), batch_size=None))
    assert [s.tolist() for s in samples] == [[0, 1], [2, 3], [4, 5]]
    doubled = data.DataLoader(range(3), batch_size=None, collate_fn=lambda n: np.array(2 * n))
    assert numbers(doubled) == [0, 2, 4] and len(doubled) == 3
    stream = data.DataLoader(iter([np.ones(2)]), batch_size=None, collate_fn=lambda x: x + 1)
    assert numbers(stream) == [[2.0, 2.0]]


@pytest.mark.parametrize("size", [0, 1, 5, 6])
@pytest.mark.parametrize("batch_size", [1, 2, 3, 7])
@pytest.mark.parametrize("drop_last", [False, True])
def test_the_length_is_the_number_of_batches(size, batch_size, drop_last):
    options = {"batch_size": batch_size, "drop_last": drop_last}
    loader = data.DataLoader(range(size), **options)
    assert len(loader) == len(list(loader))
    chain = data.DataLoader(data.ChainDataset([range(size)]), **options)
    assert len(chain) == len(list(chain)) == len(loader)


def test_an_iterable_without_length():
    loader = data.DataLoader(iter(range(3)), batch_size=2)
    with pytest.raises(TypeError):
        len(loader)
    assert numbers(loader) == [[0, 1], [2]]


def test_shuffling_is_by_seed_and_epoch():
    loader = data.DataLoader(range(30), batch_size=30, shuffle=True, seed=3)
    one, two = numbers(loader), numbers(loader)
    assert sorted(one[0]) == sorted(two[0]) == list(range(30)) and one != two
    again = data.DataLoader(range(30), batch_size=30, shuffle=True, generator=3)
    assert [numbers(again), numbers(again)] == [one, two]
    again.set_epoch(0)
    assert numbers(again) == one
    Tensor.manual_seed(8)
    by_tensors = numbers(data.DataLoader(range(30), batch_size=30, shuffle=True))
    Tensor.manual_seed(8)
    assert numbers(data.DataLoader(range(30), batch_size=30, shuffle=True)) == by_tensors


def test_own_orders():
    assert list(data.DataLoader("abc", sampler=[2, 0])) == [["c"], ["a"]]
    loader = data.DataLoader(range(9), batch_sampler=[[8, 1], [3]])
    assert numbers(loader) == [[8, 1], [3]] and len(loader) == 2
    assert list(data.DataLoader({"a": 1, "b": 2}, sampler=["b", "a"], as_tensors=False)) == [2, 1]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("position", range(5))
def test_resuming_goes_on_exactly_there(workers, position):
    options = {"batch_size": 3, "shuffle": True, "num_workers": workers}
    loader = data.DataLoader(range(10), seed=11, **options)
    list(loader)
    epoch = iter(loader)
    for _ in range(position):
        next(epoch)
    saved = loader.state_dict()
    rest = numbers(epoch)
    later = numbers(loader)

    other = data.DataLoader(range(10), seed=999, **options)
    other.load_state_dict(saved)
    assert numbers(other) == rest
    assert numbers(other) == later
    assert other.state_dict() == loader.state_dict()


def test_the_state_counts_yielded_batches_not_loaded_ones():
    loader = data.DataLoader(range(20), batch_size=2, num_workers=2, seed=0)
    for number, _ in enumerate(loader):
        assert loader.state_dict() == {"seed": 0, "epoch": 0, "position": number + 1}
    assert loader.state_dict() == {"seed": 0, "epoch": 1, "position": 0}


def test_a_stream_is_resumed_by_reading_again():
    loader = data.DataLoader(data.ChainDataset([range(7)]), batch_size=2, seed=0)
    epoch = iter(loader)
    next(epoch)
    saved = loader.state_dict()
    other = data.DataLoader(data.ChainDataset([range(7)]), batch_size=2)
    other.load_state_dict(saved)
    assert numbers(other) == numbers(epoch) == [[2, 3], [4, 5], [6]]


def test_a_sampler_of_ones_own_has_its_state_saved():
    class Counting(data.Sampler):
        start = 0

        def __len__(self):
            return 3

        def __iter__(self):
            return iter([self.start, self.start + 1, self.start + 2])

        def state_dict(self):
            return {"start": self.start}

        def load_state_dict(self, state):
            self.start = state["start"]

    sampler = Counting()
    sampler.start = 4
    loader = data.DataLoader(range(20), batch_sampler=data.BatchSampler(sampler, 2))
    assert "sampler" not in loader.state_dict()
    loader = data.DataLoader(range(20), batch_size=None, sampler=sampler)
    other = data.DataLoader(range(20), batch_size=None, sampler=Counting())
    other.load_state_dict(loader.state_dict())
    assert list(other) == [4, 5, 6]


def test_states_of_something_else_are_refused():
    for state in ({}, {"seed": 1}, [1, 2], {"seed": 1, "epoch": -1, "position": 0}):
        with pytest.raises(ArgumentError):
            data.DataLoader(range(3)).load_state_dict(state)


def test_contradictions_are_refused():
    stream = iter(range(3))
    for dataset, options in (
        (range(3), {"shuffle": True, "sampler": [0]}),
        (range(3), {"batch_sampler": [[0]], "batch_size": 2}),
        (range(3), {"batch_sampler": [[0]], "drop_last": True}),
        (range(3), {"batch_size": None, "drop_last": True}),
        (stream, {"shuffle": True}),
        (stream, {"sampler": [0]}),
    ):
        with pytest.raises(ArgumentError, match="contradict"):
            data.DataLoader(dataset, **options)


def test_arguments_that_mean_nothing_are_refused():
    class NoLength:
        def __getitem__(self, index):
            return index

    for options in (
        {"batch_size": 0}, {"num_workers": -1}, {"prefetch_factor": 0}, {"worker_kind": "fibre"},
    ):  # fmt: skip
        with pytest.raises(ArgumentError):
            data.DataLoader(range(3), **options)
    with pytest.raises(ArgumentError, match="no len"):
        data.DataLoader(NoLength())
    assert numbers(data.DataLoader(NoLength(), sampler=[1, 2])) == [[1], [2]]


def test_iterations_side_by_side():
    loader = data.DataLoader(range(4), batch_size=2)
    assert [(a.tolist(), b.tolist()) for a, b in zip(loader, loader)] == [
        ([0, 1], [0, 1]), ([2, 3], [2, 3]),
    ]  # fmt: skip


def test_a_batch_on_a_device_that_is_named():
    (batch,) = data.DataLoader(range(2), batch_size=2, device="REF")
    assert batch.device == "REF"
    (array,) = data.DataLoader(range(2), batch_size=2, as_tensors=False)
    assert isinstance(array, np.ndarray)


def test_pytorchs_order_of_samples_where_there_is_one():
    torch_data = pytest.importorskip("torch.utils.data")
    for options in ({"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": 10}):
        theirs = [b.tolist() for b in torch_data.DataLoader(range(10), **options)]
        assert numbers(data.DataLoader(range(10), **options)) == theirs
        own = torch_data.BatchSampler(torch_data.SequentialSampler(range(10)), 4, False)
        assert numbers(data.DataLoader(range(10), batch_sampler=own)) == [
            b.tolist() for b in torch_data.DataLoader(range(10), batch_sampler=own)
        ]
