"""Samplers: the order of the samples of an epoch.

An order is a function of a seed and the number of the epoch, so that these two are sufficient to
continue in the middle of an epoch. `set_epoch` sets the epoch of the next iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from weft.base.arguments import shown, whole
from weft.base.errors import ArgumentError
from weft.tensor import rng

__all__ = [
    "BatchSampler", "DistributedSampler", "RandomSampler", "Sampler", "SequentialSampler",
    "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip


def seed_of(seed: Any) -> int:
    """A seed as an int: the given one, or for None that of the random stream of tensors.

    :raises ArgumentError: for what is no whole number from 0 on.
    """
    return rng.key() >> 1 if seed is None else whole(seed, "seed", least=0)


def generator(*numbers: int) -> np.random.Generator:
    """A random generator that is a function of these numbers."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(numbers)))


class Sampler:
    """An order of samples: a class with `__iter__`, which gives numbers, and `__len__`.

    `set_epoch(n)` may be given: the loader calls it before each epoch.

    >>> class Backwards(data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    ...
    ...     def __len__(self):
    ...         return 3
    >>> list(data.DataLoader("abc", sampler=Backwards()))
    [['c'], ['b'], ['a']]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is of this epoch."""


class SequentialSampler(Sampler):
    """In order.

    >>> list(data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class _Random(Sampler):
    """Orders that are drawn: another one for each epoch."""

    def __init__(self, seed: int | None) -> None:
        self.seed = seed_of(seed)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is of this epoch."""
        self.epoch = epoch

    def _generator(self) -> np.random.Generator:
        made = generator(self.seed, self.epoch)
        self.epoch += 1
        return made


class RandomSampler(_Random):
    """A permutation for each epoch, or with `replacement` independent draws.

    :param num_samples: how many there are in an epoch; None: as many as samples.
    :param seed: None: from the seed of `Tensor.manual_seed`.

    >>> order = list(data.RandomSampler(range(5), seed=1))
    >>> sorted(order), order == list(data.RandomSampler(range(5), seed=1))
    ([0, 1, 2, 3, 4], True)
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(seed)
        self.data_source, self.replacement = data_source, replacement
        self._count = None if num_samples is None else whole(num_samples, "num_samples", least=1)

    def __len__(self) -> int:
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator[int]:
        drawn, size, count = self._generator(), len(self.data_source), len(self)
        if self.replacement:
            yield from drawn.integers(0, size, count).tolist()
            return
        while count > 0:
            order = drawn.permutation(size)[:count].tolist()
            yield from order
            count -= size if size else count


class SubsetRandomSampler(_Random):
    """The given numbers, in a random order.

    >>> sorted(data.SubsetRandomSampler([7, 3, 5], seed=0))
    [3, 5, 7]
    """

    def __init__(self, indices: Sequence[int], seed: int | None = None) -> None:
        super().__init__(seed)
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        for place in self._generator().permutation(len(self.indices)).tolist():
            yield self.indices[place]


class WeightedRandomSampler(_Random):
    """Draws of which each number is as likely as its weight says.

    >>> set(data.WeightedRandomSampler([0.0, 1.0, 0.0], 5, seed=0))
    {1}
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        seed: int | None = None,
    ) -> None:
        super().__init__(seed)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.num_samples = whole(num_samples, "num_samples", least=1)
        self.replacement = replacement
        if self.weights.ndim != 1 or not (self.weights >= 0).all() or not self.weights.sum() > 0:
            raise ArgumentError(
                "weights are numbers from 0 on, not all of them 0",
                asked=f"WeightedRandomSampler({shown(weights)})",
            )
        possible = int((self.weights > 0).sum())
        if not replacement and self.num_samples > possible:
            raise ArgumentError(
                "more samples are requested than there are",
                asked=f"{num_samples} draws without replacement",
                because=f"{possible} weights are above 0",
                try_="replacement=True",
            )

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        shares = self.weights / self.weights.sum()
        drawn = self._generator().choice(len(shares), len(self), self.replacement, shares)
        return iter(drawn.tolist())


class DistributedSampler(_Random):
    """The part of an epoch that belongs to one of several replicas.

    What does not divide is filled up from the start, or with `drop_last` left out.

    >>> parts = [data.DistributedSampler(range(5), 2, rank, shuffle=False) for rank in (0, 1)]
    >>> [list(part) for part in parts]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int,
        rank: int,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(seed)
        self.dataset, self.shuffle, self.drop_last = dataset, shuffle, drop_last
        self.num_replicas, self.rank = whole(num_replicas, "num_replicas", 1), whole(rank, "rank")
        if not 0 <= self.rank < self.num_replicas:
            raise ArgumentError(
                "there is no such replica",
                asked=f"rank {rank}",
                because=f"there are {num_replicas}, counted from 0",
            )

    def __len__(self) -> int:
        size = len(self.dataset)
        return size // self.num_replicas if self.drop_last else -(-size // self.num_replicas)

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        drawn = self._generator()
        order = drawn.permutation(size) if self.shuffle else np.arange(size)
        whole_order = np.resize(order, len(self) * self.num_replicas) if size else order
        return iter(whole_order[self.rank :: self.num_replicas].tolist())


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers of another sampler.

    >>> list(data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool = False) -> None:
        self.sampler, self.drop_last = sampler, drop_last
        self.batch_size = whole(batch_size, "batch_size", least=1)

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is of this epoch."""
        set_epoch(self.sampler, epoch)

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


def set_epoch(sampler: Any, epoch: int) -> None:
    """Tell a sampler, or a data set, which epoch comes, where it wants to know."""
    tell = getattr(sampler, "set_epoch", None)
    if tell is not None:
        tell(epoch)
