"""The loader: the batches of an epoch, in order, on a device."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from weft.base.arguments import choice, kind_of, real, shown, whole
from weft.base.errors import ArgumentError, WrongKind
from weft.data.collate import default_collate, on_device
from weft.data.datasets import is_iterable
from weft.data.progress import Progress
from weft.data.samplers import BatchSampler, RandomSampler, SequentialSampler, seed_of, set_epoch
from weft.data.workers import END, Fetcher, Workers

_STATE = ("seed", "epoch", "position")


class DataLoader:
    """Batches of a data set as tensors, one epoch per iteration.

    The arrays of a batch become tensors on `device`; texts and other objects stay as they are. With
    workers, batches are loaded and copied ahead of time. Leaving the loop early ends the workers.

    The order of an epoch is a function of the seed and the number of the epoch. `state_dict()` is
    the position of an iteration, also in the middle of an epoch. A loader with that state continues
    at exactly that position.

    :param dataset: samples by number (`__getitem__` and `__len__`), or an iterable of samples.
    :param batch_size: samples in a batch; None: samples are not joined.
    :param shuffle: another random order in each epoch.
    :param sampler: the numbers of the samples of an epoch, in order.
    :param batch_sampler: lists of numbers, in place of all of batch_size, shuffle, sampler,
        drop_last.
    :param num_workers: the number of workers; 0: the main thread loads each batch on demand.
    :param collate_fn: joins a list of samples; None: `default_collate`.
    :param pin_memory: as in PyTorch's signature; without effect: the device stages memory itself.
    :param drop_last: leave out a last batch that is smaller.
    :param timeout: seconds that a worker may take for a batch; 0: any time.
    :param worker_init_fn: called in each worker with its number.
    :param multiprocessing_context: how processes are started ("spawn", "forkserver", "fork");
        where it is given, workers are processes.
    :param generator: a seed, as in PyTorch's signature; `seed` is the same.
    :param prefetch_factor: batches that each worker is ahead; None: 2.
    :param persistent_workers: keep the workers from one epoch to the next, until `close()`.
    :param device: where the tensors are; None: the default device; a tuple: sharded along axis 0.
    :param seed: of the orders; None: from the seed of `Tensor.manual_seed`.
    :param worker_kind: "thread" or "process".
    :param as_tensors: False: batches stay arrays.
    :param progress: show a progress bar; a text is shown before it.
    :raises ArgumentError: for arguments that contradict each other.

    >>> loader = data.DataLoader(range(5), batch_size=2)
    >>> len(loader), [batch.tolist() for batch in loader]
    (3, [[0, 1], [2, 3], [4]])
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: int | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        device: str | tuple[str, ...] | None = None,
        seed: int | None = None,
        worker_kind: str | None = None,
        as_tensors: bool = True,
        progress: bool | str = False,
    ) -> None:
        self.dataset, self.device, self.progress = dataset, device, progress
        self.as_tensors, self.drop_last = as_tensors, bool(drop_last)
        self.batch_size = None if batch_size is None else whole(batch_size, "batch_size", least=1)
        self.num_workers = whole(num_workers, "num_workers", least=0)
        self.prefetch_factor = (
            2 if prefetch_factor is None else whole(prefetch_factor, "prefetch_factor", 1)
        )
        self.timeout, self.persistent_workers = float(real(timeout, "timeout")), persistent_workers
        self.worker_init_fn, self._context = worker_init_fn, multiprocessing_context
        self.worker_kind = worker_kind or ("thread" if self._context is None else "process")
        choice(self.worker_kind, "worker_kind", ("thread", "process"))
        self.seed = seed_of(generator if seed is None else seed)
        self.is_iterable = is_iterable(dataset)
        given = {"sampler": sampler, "batch_sampler": batch_sampler, "shuffle": shuffle or None}
        self._check(given, batch_size, drop_last)
        self.collate_fn = collate_fn
        self.sampler, self.batch_sampler = self._orders(shuffle, sampler, batch_sampler)
        self._epoch = 0  # of the next iteration
        self._at = (0, 0)  # epoch and batches handed out, of the last iteration that moved
        self._resume: tuple[int, int] | None = None
        self._kept: Workers | None = None

    def _check(self, given: dict[str, Any], batch_size: int | None, drop_last: bool) -> None:
        named = [name for name, value in given.items() if value is not None]
        because = None
        if self.is_iterable and named:
            because = "an iterable data set has an order of its own"
        elif len(named) > 1:
            because = "each of them says in which order samples are taken"
        elif "batch_sampler" in named and (batch_size != 1 or drop_last):
            because, named = "batches come from batch_sampler", [*named, "batch_size or drop_last"]
        elif batch_size is None and drop_last:
            because, named = (
                "without batches there is no last one",
                ["batch_size=None", "drop_last"],
            )
        if because:
            raise ArgumentError(
                "these arguments of DataLoader contradict each other",
                asked=f"DataLoader of {kind_of(self.dataset)} with {' and '.join(named)}",
                because=because,
                try_="one of them",
            )
        if (
            not self.is_iterable
            and not hasattr(self.dataset, "__len__")
            and "sampler" not in str(named)
        ):
            raise WrongKind(
                "a data set has a length, or is iterated over",
                asked=f"DataLoader({shown(self.dataset)})",
                because=f"{kind_of(self.dataset)} has no len()",
                try_="define __len__, derive from IterableDataset, or give a sampler",
            )

    def _orders(self, shuffle: bool | None, sampler: Any, batch_sampler: Any) -> tuple[Any, Any]:
        if self.is_iterable or batch_sampler is not None:
            return sampler, batch_sampler
        if sampler is None:
            sampler = (
                RandomSampler(self.dataset, seed=self.seed)
                if shuffle
                else SequentialSampler(self.dataset)
            )
        if self.batch_size is None:
            return sampler, None
        return sampler, BatchSampler(sampler, self.batch_size, self.drop_last)

    # ---- how many -------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Batches in an epoch. :raises TypeError: if the data set or the sampler has no length."""
        if not self.is_iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    # ---- where it is ----------------------------------------------------------------------------

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is of this epoch."""
        self._epoch, self._resume = whole(epoch, "epoch", least=0), None
        self._at = (self._epoch, 0)

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration is, as plain numbers: the seed, the epoch, the batches handed out.

        >>> loader = data.DataLoader(range(6), batch_size=2, shuffle=True, seed=3)
        >>> epoch = iter(loader)
        >>> first = next(epoch)
        >>> saved = loader.state_dict()
        >>> rest = [batch.tolist() for batch in epoch]
        >>> again = data.DataLoader(range(6), batch_size=2, shuffle=True)
        >>> again.load_state_dict(saved)
        >>> [batch.tolist() for batch in again] == rest
        True
        """
        epoch, position = self._at
        state: dict[str, Any] = {"seed": self.seed, "epoch": epoch, "position": position}
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        own = getattr(order, "state_dict", None)
        if own is not None:
            state["sampler"] = own()
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a saved state at the next iteration.

        :raises ArgumentError: if it is not one.
        """
        if not isinstance(state_dict, Mapping) or any(name not in state_dict for name in _STATE):
            raise ArgumentError(
                "this is not the state of a DataLoader",
                asked=f"load_state_dict({shown(state_dict)})",
                because=f"it has the keys {', '.join(_STATE)}",
                try_="what state_dict() gave",
            )
        self.seed, self._epoch, position = (whole(state_dict[name], name, 0) for name in _STATE)
        for each in (self.sampler, getattr(self.sampler, "sampler", None)):
            if isinstance(each, RandomSampler):
                each.seed = self.seed
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        if "sampler" in state_dict and hasattr(order, "load_state_dict"):
            order.load_state_dict(state_dict["sampler"])
        self._resume = self._at = (self._epoch, position)
        self.close()  # workers know the seed

    # ---- iteration ------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        if self.progress:
            name = self.progress if isinstance(self.progress, str) else ""
            total = None if self.is_iterable and not hasattr(self.dataset, "__len__") else len(self)
            return iter(Progress(self._iterate(), name, total))
        return self._iterate()

    def _iterate(self) -> Iterator[Any]:
        epoch, start = self._resume or (self._epoch, 0)
        self._resume, self._epoch = None, epoch + 1
        self._at = (epoch, start)
        workers = self._workers()
        is_whole = False
        try:
            loaded = self._loaded(workers, epoch, start)
            placed = self._placed(loaded, ahead=workers is not None)
            for position, batch in enumerate(placed, start + 1):
                self._at = (epoch, position)
                yield batch
            is_whole = True
        finally:
            if workers is not None and not (is_whole and self.persistent_workers):
                workers.close()
                self._kept = None
        self._at = (epoch + 1, 0)

    def _placed(self, batches: Iterator[Any], ahead: bool) -> Iterator[Any]:
        """Batches on the device; with `ahead` the next one is copied before one is used."""
        if not self.as_tensors:
            yield from batches
            return
        place = partial(on_device, device=self.device)
        if not ahead:
            yield from map(place, batches)
            return
        waiting: deque[Any] = deque()
        for batch in batches:
            waiting.append(place(batch))
            if len(waiting) > 1:
                yield waiting.popleft()
        yield from waiting

    def _loaded(self, workers: Workers | None, epoch: int, start: int) -> Iterator[Any]:
        """The batches of an epoch from a place on, as they are in the memory of the host."""
        if self.is_iterable:
            if workers is None:
                return itertools.islice(self._fetcher().batches(epoch), start, None)
            return itertools.islice(self._from_streams(workers, epoch), start, None)
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        set_epoch(order, epoch)
        numbered = itertools.islice(enumerate(order), start, None)
        if workers is None:
            fetch = self._fetcher()
            return (fetch.load(indices, epoch, number) for number, indices in numbered)
        return self._from_workers(workers, epoch, numbered)

    def _from_workers(
        self, workers: Workers, epoch: int, numbered: Iterator[tuple[int, Any]]
    ) -> Iterator[Any]:
        """Batch n is loaded by worker n modulo their number, some batches ahead."""
        waiting: deque[tuple[int, Future[Any]]] = deque()

        def submit(count: int) -> None:
            for number, indices in itertools.islice(numbered, count):
                worker = number % len(workers)
                waiting.append((worker, workers.load(worker, indices, epoch, number)))

        submit(len(workers) * self.prefetch_factor)
        while waiting:
            worker, future = waiting.popleft()
            batch = workers.result(worker, future)
            del future  # the batch is the caller's alone
            submit(1)
            yield batch

    def _from_streams(self, workers: Workers, epoch: int) -> Iterator[Any]:
        """Batches of workers that each iterate over the data set, round-robin until all have
        ended."""
        waiting: deque[tuple[int, Future[Any]]] = deque()
        for worker in range(len(workers)):
            workers.restart(worker, epoch)
        for _ in range(self.prefetch_factor):
            waiting.extend((worker, workers.next(worker)) for worker in range(len(workers)))
        ended: set[int] = set()
        while waiting:
            worker, future = waiting.popleft()
            batch = workers.result(worker, future)
            if isinstance(batch, str) and batch == END:
                ended.add(worker)
                continue
            if worker not in ended:
                waiting.append((worker, workers.next(worker)))
            yield batch

    def _fetcher(self) -> Fetcher:
        is_plain = self.collate_fn is None
        joins = self.batch_size is not None or self.batch_sampler is not None
        collate = (self.collate_fn or default_collate) if joins else None
        if not joins and self.collate_fn is not None:
            return Fetcher(
                _Each(self.dataset, self.collate_fn) if not self.is_iterable
                else _EachOf(self.dataset, self.collate_fn),
                None, False, self.seed, None, False,
            )  # fmt: skip
        size = self.batch_size if self.batch_sampler is None else None
        return Fetcher(self.dataset, collate, is_plain, self.seed, size, self.drop_last)

    def _workers(self) -> Workers | None:
        if not self.num_workers:
            return None
        if self._kept is not None:
            return self._kept
        made = Workers(
            self._fetcher(), self.num_workers, self.worker_kind, self._context,
            self.worker_init_fn, self.timeout,
        )  # fmt: skip
        if self.persistent_workers:
            self._kept = made
        return made

    def close(self) -> None:
        """End workers that were kept."""
        kept, self._kept = getattr(self, "_kept", None), None
        if kept is not None:
            kept.close()

    def __repr__(self) -> str:
        how = f"batch_size={self.batch_size}, num_workers={self.num_workers}"
        return f"DataLoader({type(self.dataset).__name__}, {how}, seed={self.seed})"


class _Each:
    """Samples that a function is applied to one by one."""

    def __init__(self, dataset: Any, function: Callable[[Any], Any]) -> None:
        self.dataset, self.function = dataset, function

    def __getitem__(self, index: Any) -> Any:
        return self.function(self.dataset[index])


class _EachOf:
    """The same of samples that come one after the other."""

    def __init__(self, dataset: Any, function: Callable[[Any], Any]) -> None:
        self.dataset, self.function = dataset, function

    def set_epoch(self, epoch: int) -> None:
        set_epoch(self.dataset, epoch)

    def __iter__(self) -> Iterator[Any]:
        return map(self.function, self.dataset)
