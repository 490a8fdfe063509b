"""Data sets: samples by number (`Dataset`) or one after the other (`IterableDataset`)."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from weft.base.arguments import kind_of, shown
from weft.base.errors import ArgumentError, IndexingError, ShapeError
from weft.data.samplers import generator, seed_of
from weft.tensor import Tensor

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset",
    "random_split",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by number: a class with `__getitem__`, and `__len__` where their number is known.

    Deriving from it is optional, any sequence will do. A class that can load a whole batch at once
    may have `batch(indices)`, which gives the collated samples.

    >>> class Squares(data.Dataset):
    ...     def __len__(self):
    ...         return 10
    ...
    ...     def __getitem__(self, index):
    ...         return index * index
    >>> [batch.tolist() for batch in data.DataLoader(Squares(), batch_size=4)]
    [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Samples one after the other: a class with `__iter__`.

    With several workers each iterates over the data set: `get_worker_info()` says which part is
    whose.

    >>> class Countdown(data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(5, 0, -1))
    >>> [batch.tolist() for batch in data.DataLoader(Countdown(), batch_size=2)]
    [[5, 4], [3, 2], [1]]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Arrays or tensors of one length: sample i is a tuple of their i-th rows.

    A batch is taken by one indexing operation per array. NumPy arrays (and what NumPy makes arrays
    of) stay in the memory of the host, tensors where they are.

    :raises ShapeError: if their lengths differ, or one is 0-d.

    >>> samples = data.TensorDataset([[1, 2], [3, 4]], [0, 1])
    >>> len(samples), samples[1][0].tolist(), int(samples[1][1])
    (2, [3, 4], 1)
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors:
            raise ArgumentError("a data set of arrays needs one", asked="TensorDataset()")
        self.tensors = tuple(
            [each if isinstance(each, Tensor) else _array(each) for each in tensors]
        )
        lengths = [each.shape[0] if each.shape else None for each in self.tensors]
        if None in lengths or len(set(lengths)) > 1:
            raise ShapeError(
                "the arrays of a data set have one length",
                asked=f"TensorDataset of shapes {', '.join(str(t.shape) for t in self.tensors)}",
                because="sample i is the i-th row of each",
            )

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple([each[index] for each in self.tensors])

    def batch(self, indices: Sequence[int]) -> tuple[Any, ...]:
        """The samples of these numbers, joined."""
        places = np.asarray(indices, dtype=np.int64)
        rows = []
        for each in self.tensors:
            if isinstance(each, Tensor):
                rows.append(each[Tensor(places.astype(np.int32), device=each.device)].realize())
            else:
                rows.append(each[places])
        return tuple(rows)


def _array(value: Any) -> np.ndarray:
    made = np.asarray(value)
    if made.dtype == np.float64 and not isinstance(value, np.ndarray):
        made = made.astype(np.float32)  # Python numbers have weft's default dtypes
    if made.dtype == np.int64 and not isinstance(value, np.ndarray):
        narrow = made.astype(np.int32)
        made = narrow if (narrow == made).all() else made
    return made


class Subset(Dataset[Any]):
    """The samples of a data set whose numbers are given, in that order.

    >>> [data.Subset("abcde", [3, 1])[i] for i in range(2)]
    ['d', 'b']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        return samples_of(self.dataset, [self.indices[i] for i in indices])


class ConcatDataset(Dataset[Any]):
    """Data sets one behind the other.

    >>> both = data.ConcatDataset(["abc", "de"])
    >>> len(both), both[3], both[-1]
    (5, 'd', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("there is nothing to concatenate", asked="ConcatDataset([])")
        for each in self.datasets:
            if is_iterable(each):
                raise ArgumentError(
                    "a data set without numbers cannot be concatenated with others",
                    asked=f"ConcatDataset with {kind_of(each)}",
                    because="it can only be iterated over",
                    try_="ChainDataset(datasets)",
                )
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        size = len(self)
        if not -size <= index < size:
            raise IndexingError(
                "there is no such sample", asked=f"sample {index}", because=f"there are {size}"
            )
        index = index + size if index < 0 else index
        place = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][index - before]


class ChainDataset(IterableDataset[Any]):
    """Iterable data sets one after the other.

    >>> list(data.ChainDataset([range(2), "ab"]))
    [0, 1, 'a', 'b']
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(each) for each in self.datasets)


def random_split(
    dataset: Any, lengths: Sequence[int | float], seed: int | None = None
) -> list[Subset]:
    """Parts of a data set, drawn without replacement.

    :param lengths: of the parts, which add up to that of the data set; or fractions that add up to
        1, what is left by rounding down going to the first parts.
    :param seed: of the permutation; None: from the seed of `Tensor.manual_seed`.
    :raises ArgumentError: if they do not add up.

    >>> train, test = data.random_split(range(10), [0.8, 0.2], seed=0)
    >>> len(train), len(test), sorted(train.indices + test.indices) == list(range(10))
    (8, 2, True)
    """
    size = len(dataset)
    given = list(lengths)
    if given and abs(sum(given) - 1) < 1e-6 and all(0 <= each <= 1 for each in given) and size != 1:
        counts = [int(size * each) for each in given]
        for place in range(size - sum(counts)):
            counts[place % len(counts)] += 1
    else:
        counts = [int(each) for each in given]
    if sum(counts) != size or any(each < 0 for each in counts):
        raise ArgumentError(
            "the parts do not add up to the data set",
            asked=f"random_split into {shown(given)}",
            because=f"there are {size} samples",
            try_="fractions that add up to 1, such as [0.9, 0.1]",
        )
    order = generator(seed_of(seed)).permutation(size).tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for count, end in zip(counts, ends)]


def is_iterable(dataset: Any) -> bool:
    """Whether samples come one after the other, and not by number."""
    return isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")


def batches_of(dataset: Any) -> Callable[[Sequence[int]], Any] | None:
    """The method that loads whole batches of a data set, or of that of which it is a part, if it
    has one."""
    if isinstance(dataset, Subset):
        whole = batches_of(dataset.dataset)
        return whole and (lambda indices: whole([dataset.indices[i] for i in indices]))
    return getattr(dataset, "batch", None)


def samples_of(dataset: Any, indices: Sequence[int]) -> list[Any]:
    """The samples of these numbers; by one call of `__getitems__` where there is one."""
    several = getattr(dataset, "__getitems__", None)
    return list(several(indices)) if several is not None else [dataset[i] for i in indices]
