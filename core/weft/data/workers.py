"""Workers: threads or processes that load batches, each an executor of one.

An exception of a worker is raised when its batch is requested. An exception of a thread has the
frames of the thread; an exception of a process has the text of its traceback as the cause.
"""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.errors import ArgumentError, WorkerError
from weft.base.interrupts import let_through
from weft.data.datasets import batches_of, is_iterable, samples_of
from weft.data.samplers import generator, set_epoch

END = "the end of this worker's samples"


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, the seed, its data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


@dataclass(frozen=True)
class Fetcher:
    """How a batch is made: of which data set, and how samples are joined.

    collate: None where samples are not joined. batch_size, drop_last: of iterable data sets.
    """

    dataset: Any
    collate: Callable[[Any], Any] | None
    is_plain: bool
    seed: int
    batch_size: int | None
    drop_last: bool

    def load(self, indices: Any, epoch: int, number: int) -> Any:
        """The batch of these samples: the given number in its epoch."""
        _here.where = (self.seed, epoch, number)
        try:
            if self.collate is None:
                return self.dataset[indices]
            whole_batch = batches_of(self.dataset)
            if self.is_plain and whole_batch is not None:
                return whole_batch(indices)
            return self.collate(samples_of(self.dataset, indices))
        finally:
            _here.where = None

    def batches(self, epoch: int) -> Iterator[Any]:
        """The batches of an iterable data set."""
        set_epoch(self.dataset, epoch)
        samples = iter(self.dataset)
        for number in itertools.count():
            _here.where = (self.seed, epoch, number)
            if self.collate is None or self.batch_size is None:
                taken = list(itertools.islice(samples, 1))
                if not taken:
                    return
                batch = taken[0]
            else:
                taken = list(itertools.islice(samples, self.batch_size))
                if not taken or (self.drop_last and len(taken) < self.batch_size):
                    return
                batch = self.collate(taken)
            _here.where = None
            yield batch


class _Here(threading.local):
    """What the thread that loads knows."""

    info: WorkerInfo | None = None
    fetcher: Fetcher | None = None
    batches: Iterator[Any] | None = None
    where: tuple[int, int, int] | None = None


_here = _Here()


def get_worker_info() -> WorkerInfo | None:
    """In a worker what it knows of itself; None in the main thread.

    >>> class Shares(data.IterableDataset):
    ...     def __iter__(self):
    ...         info = data.get_worker_info()
    ...         return iter(range(info.id, 6, info.num_workers))
    >>> [batch.tolist() for batch in data.DataLoader(Shares(), batch_size=3, num_workers=2)]
    [[0, 2, 4], [1, 3, 5]]
    >>> data.get_worker_info() is None
    True
    """
    return _here.info


def batch_rng() -> np.random.Generator:
    """A NumPy generator for the batch that is being loaded, for random augmentation.

    It is a function of the loader's seed, the epoch and the number of the batch: the same for any
    number of workers, and after resuming. For iterable data sets the number is counted by each
    worker. Outside of loading it is seeded by the operating system.

    >>> class Noisy(data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...
    ...     def __getitem__(self, index):
    ...         return data.batch_rng().normal()
    >>> once, twice = (data.DataLoader(Noisy(), seed=1) for _ in range(2))
    >>> [x.item() for x in once] == [x.item() for x in twice]
    True
    """
    if _here.where is None:
        return np.random.default_rng()
    own = _here.info.id if _here.info is not None and is_iterable(_here.info.dataset) else 0
    return generator(*_here.where, own, 1)


# ---- what runs in a worker -----------------------------------------------------------------------


def _begin(
    worker: int, count: int, fetcher: Fetcher, init: Callable[[int], Any] | None, own: bool
) -> None:
    if own:  # Ctrl-C is for the main process, which ends the others
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here.info = WorkerInfo(worker, count, fetcher.seed, fetcher.dataset)
    _here.fetcher = fetcher
    if init is not None:
        init(worker)


def _load(indices: Any, epoch: int, number: int) -> Any:
    assert _here.fetcher is not None
    return _here.fetcher.load(indices, epoch, number)


def _restart(epoch: int) -> None:
    assert _here.fetcher is not None
    _here.batches = _here.fetcher.batches(epoch)


def _next() -> Any:
    assert _here.batches is not None
    return next(_here.batches, END)


# ---- what runs in the main process ---------------------------------------------------------------


class Workers:
    """Several workers that load for one loader; `close` ends them."""

    def __init__(
        self,
        fetcher: Fetcher,
        count: int,
        kind: str,
        context: Any,
        init: Callable[[int], Any] | None,
        timeout: float,
    ) -> None:
        self._timeout = timeout or None
        self.kind = kind
        is_process = kind == "process"
        if is_process:
            _check_pickles(fetcher, init)
        self._executors: list[Executor] = []
        self._starts: list[Future[None]] = []
        for number in range(count):
            executor = (
                ProcessPoolExecutor(1, mp_context=_context(context))
                if is_process
                else ThreadPoolExecutor(1, thread_name_prefix=f"weft-data-{number}")
            )
            self._executors.append(executor)
            start = executor.submit(_begin, number, count, fetcher, init, is_process)
            self._starts.append(start)

    def __len__(self) -> int:
        return len(self._executors)

    def load(self, worker: int, indices: Any, epoch: int, number: int) -> Future[Any]:
        """Have a worker load a batch."""
        return self._submit(worker, _load, indices, epoch, number)

    def restart(self, worker: int, epoch: int) -> None:
        """Have a worker begin an epoch of its iterable data set."""
        self._starts[worker] = self._submit(worker, _restart, epoch)

    def next(self, worker: int) -> Future[Any]:
        """Have a worker load the next batch of its iterable data set; the result may be END."""
        return self._submit(worker, _next)

    def _submit(self, worker: int, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return self._executors[worker].submit(function, *arguments)
        except BrokenExecutor:
            raise _ended(worker) from None

    def result(self, worker: int, future: Future[Any]) -> Any:
        """The result of a worker. :raises WorkerError: if its process ended, or timed out."""
        try:
            self._starts[worker].result(self._timeout)
            return future.result(self._timeout)
        except BrokenExecutor:
            raise _ended(worker) from None
        except FutureTimeout:
            if future.done():  # the batch itself raised it
                raise
            self._terminate()
            raise WorkerError(
                f"worker {worker} did not answer in time",
                asked=f"a batch within {self._timeout} s",
                because="loading it takes longer, or waits for something",
                try_="a larger timeout, or timeout=0 for none",
            ) from None

    def close(self) -> None:
        """End the workers: what they have not begun is left undone."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)

    def _terminate(self) -> None:
        for executor in self._executors:
            for process in dict(getattr(executor, "_processes", None) or {}).values():
                process.terminate()


def _context(given: Any) -> Any:
    """How processes are started: none inherits the threads of a device."""
    if given is not None and not isinstance(given, str):
        return given
    if given or sys.platform == "win32":
        return multiprocessing.get_context(given or "spawn")
    context = multiprocessing.get_context("forkserver")
    # what every worker imports is imported once, by the server that they are forked from
    context.set_forkserver_preload(["__main__", __name__])
    return context


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, piece: Any) -> int:
        return len(piece)


def _check_pickles(*values: Any) -> None:
    for value in values:
        try:
            pickle.Pickler(_Nowhere(), pickle.HIGHEST_PROTOCOL).dump(value)
        except Exception as error:
            let_through(error)
            raise ArgumentError(
                "this cannot be sent to a worker process",
                asked='worker_kind="process"',
                because=f"{type(error).__name__}: {error}",
                try_='worker_kind="thread"; or define classes and functions at the top of a module',
            ) from error


def _ended(worker: int) -> WorkerError:
    return WorkerError(
        f"worker {worker} died",
        asked="a batch of a worker process",
        because="the process ended without an answer: it was killed (for memory, say), crashed, or "
        "could not import the main module",
        try_='if __name__ == "__main__": around the program; num_workers=0 shows what it does',
    )
