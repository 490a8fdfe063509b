"""Collective exchanges: COLLECTIVE items of a schedule as calls of MPI.

Memory that the host can map is given to MPI itself; other memory is staged. A rank gives and gets
the memory of its own device. Under `jit` exchanges go on while kernels run: as persistent requests
where their memory is always the same, as nonblocking calls elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import accumulate
from typing import Any
from weakref import finalize

from weft.plugin import (
    Collective,
    CollectiveKind,
    DeviceError,
    DType,
    Exchanging,
    Ops,
    dtypes,
)
from weft_mpi.process import Process
from weft_mpi.rank_device import RankDevice
from weft_mpi.rank_memory import staged
from weft_mpi.small_floats import reduction_of
from weft_mpi.watcher import Wait

_OPERATIONS = {Ops.ADD: "SUM", Ops.MUL: "PROD", Ops.MAX: "MAX"}
_TYPES = {
    dtypes.bool: "UINT8_T", dtypes.int8: "INT8_T", dtypes.uint8: "UINT8_T",
    dtypes.int16: "INT16_T", dtypes.uint16: "UINT16_T", dtypes.int32: "INT32_T",
    dtypes.uint32: "UINT32_T", dtypes.int64: "INT64_T", dtypes.uint64: "UINT64_T",
    dtypes.float32: "FLOAT", dtypes.float64: "DOUBLE",
}  # fmt: skip
_CALLS = {
    CollectiveKind.ALLREDUCE: "allreduce", CollectiveKind.REDUCE_SCATTER: "reduce_scatter",
    CollectiveKind.ALLGATHER: "allgatherv", CollectiveKind.ALL_TO_ALL: "alltoallv",
    CollectiveKind.BROADCAST: "bcast",
}  # fmt: skip

_NOTHING = memoryview(b"")


class Exchange:
    """One collective of the devices of some ranks."""

    def __init__(self, devices: Sequence[RankDevice], collective: Collective, dtype: DType) -> None:
        self.process = devices[0].process
        ranks = tuple(device.rank for device in devices)
        self.collective = collective
        self.dtype = dtype
        self.what = f"{collective.kind} of {dtype.name} {collective.counts} among ranks {ranks}"
        own = [place for place, device in enumerate(devices) if device.is_own]
        self.place = own[0] if own else None
        if self.place is None:
            return
        self.ranks = ranks
        self.sizes = (
            collective.input_size(self.place) * dtype.itemsize,
            collective.output_size(self.place) * dtype.itemsize,
        )
        self.allocator = devices[self.place].below.allocator
        self.synchronize = devices[self.place].synchronize
        planned = self.process.planned
        self.is_modelled = planned is not None and planned.rates is not None
        if planned is not None:
            self.call = planned.exchange(ranks, collective, dtype)
            return
        self.group = self.process.group(ranks)
        self.arguments = _arguments(self.process.mpi, collective, dtype, self.place)
        self.call: Callable[[memoryview, memoryview], Any] = self._bound("{}")

    def __call__(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Exchange the own part with the other ranks."""
        if self.place is None:
            return
        if self.is_modelled:
            self.call(_NOTHING, _NOTHING)
            return
        self.synchronize()
        direct = self._direct(outputs, inputs)
        if direct is not None:  # small exchanges take as long as the contexts of others
            with self.process.waiting(self.what, self.ranks):
                self.call(*direct)
            return
        with (
            self._memory(outputs, inputs) as (source, memory),
            self.process.waiting(self.what, self.ranks),
        ):
            self.call(source, memory)

    def _memory(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Staging:
        """The memory of this rank for MPI: what is sent, and what is filled."""
        assert self.place is not None
        return Staging(self.allocator, inputs[self.place], outputs[self.place], self.sizes)

    def _bound(self, form: str) -> Callable[[memoryview, memoryview], Any]:
        """A method of the communicator, given what is sent and what is filled. form: of its name
        in lower case, the first letter of which becomes upper case."""
        name = form.format(_CALLS[CollectiveKind(self.collective.kind)])
        method, arguments = getattr(self.group, name[0].upper() + name[1:]), self.arguments
        return lambda source, memory: method(*arguments(source, memory))

    # ---- going on while kernels run -------------------------------------------------------------

    def starter(
        self, handles: tuple[Sequence[Any], Sequence[Any]] | None, overlaps: bool = True
    ) -> Callable[[Sequence[Any], Sequence[Any]], Exchanging]:
        """A blocking call where no rank has work beside it: MPI has faster algorithms for these.

        Else a persistent request where all ranks have always the same memory, which MPI can use
        itself, and a nonblocking call each time elsewhere.

        :raises DeviceError: if the ranks do not ask for it for the same collective.
        """
        if self.place is None:
            return lambda outputs, inputs: _ENDED
        if (planned := self.process.planned) is not None:
            return lambda outputs, inputs: planned.overlapped(lambda: self(outputs, inputs))
        direct = None if handles is None else self._direct(*handles)
        is_fixed, is_alone = self._agreed(direct is not None, not overlaps)
        if is_alone:
            return self._blocking
        if not is_fixed or direct is None:
            return self._nonblocking
        try:
            request = self._bound("{}_init")(*direct)
        except NotImplementedError:  # by an MPI before version 4
            return self._nonblocking
        running = Running(self.process, self.what, self.ranks, request)
        finalize(running, _free, self.process.mpi, request).atexit = False

        def start(outputs: Sequence[Any], inputs: Sequence[Any]) -> Running:
            self.synchronize()
            running.begin()
            request.Start()
            return running

        return start

    def _direct(
        self, outputs: Sequence[Any], inputs: Sequence[Any]
    ) -> tuple[memoryview, memoryview] | None:
        """The memory of this rank as the host maps it; None where it does not."""
        assert self.place is not None
        source = self.allocator.map_host(inputs[self.place])
        memory = self.allocator.map_host(outputs[self.place])
        return None if source is None or memory is None else (source, memory)

    def _agreed(self, is_fixed: bool, is_alone: bool) -> tuple[bool, bool]:
        """Whether all ranks of the group can use a persistent request, and whether none of them has
        work beside the exchange."""
        process = self.process
        if self.collective.kind == CollectiveKind.BROADCAST:
            is_fixed = False  # it copies at its start
        with process.waiting(f"the memory of {self.what}", self.ranks):
            found = self.group.allgather((self.what, is_fixed, is_alone))
        odd = [rank for rank, (what, *_) in zip(self.ranks, found) if what != found[0][0]]
        if odd:
            raise DeviceError(
                "the ranks of this program replay different exchanges",
                asked=f"{found[0][0]} on rank {self.ranks[0]}",
                because=f"rank {odd[0]} has {dict(zip(self.ranks, found))[odd[0]][0]}",
                try_="every rank keeps the same results of a function under jit",
            )
        return all(each[1] for each in found), all(each[2] for each in found)

    def _blocking(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> _Ended:
        self(outputs, inputs)
        return _ENDED

    def _nonblocking(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Running:
        self.synchronize()
        memory = self._memory(outputs, inputs)
        running = Running(self.process, self.what, self.ranks, None, memory)
        running.begin()
        running.request = self._bound("i{}")(*memory.__enter__())
        return running


class Staging:
    """The memory of an exchange for MPI: the handles' own if the host maps both, else copies.

    Entered: what is sent, and what is filled. The result is copied back at the end.
    """

    def __init__(self, allocator: Any, given: Any, to: Any, sizes: tuple[int, int]) -> None:
        self.allocator, self.given, self.to, self.sizes = allocator, given, to, sizes
        self.copies = ExitStack()

    def __enter__(self) -> tuple[memoryview, memoryview]:
        source, memory = self.allocator.map_host(self.given), self.allocator.map_host(self.to)
        if source is not None and memory is not None:
            return source, memory
        filled = self.copies.enter_context(staged(self.allocator, self.to, self.sizes[1], True))
        sent = self.copies.enter_context(staged(self.allocator, self.given, self.sizes[0]))
        return sent, filled

    def __exit__(self, *error: Any) -> None:
        self.copies.__exit__(*error)


class Running:
    """An exchange that goes on while kernels run."""

    def __init__(
        self,
        process: Process,
        what: str,
        ranks: tuple[int, ...],
        request: Any,
        memory: Staging | None = None,
    ) -> None:
        self.process, self.what, self.ranks = process, what, ranks
        self.request, self.memory = request, memory
        self.begun: Wait | None = None

    def begin(self) -> None:
        """Note that this rank takes part from now on."""
        self.begun = self.process.wait_of(self.what, self.ranks)

    def progress(self) -> None:
        """Let MPI work on all exchanges that have started."""
        try:
            self.request.Test()
        except Exception as error:
            self.process.check_lost(error, self.what)
            raise

    def wait(self) -> None:
        """Wait for the end, and copy a staged result back."""
        assert self.begun is not None
        with self.process.waiting_for(self.begun):
            self.request.Wait()
        if self.memory is not None:
            self.memory.__exit__(None, None, None)


class _Ended:
    """An exchange that has ended."""

    def progress(self) -> None:
        """Nothing is left to do."""

    def wait(self) -> None:
        """Nothing is left to do."""


_ENDED = _Ended()


def _free(mpi: Any, request: Any) -> None:
    """Release a persistent request."""
    if not mpi.Is_finalized():
        request.Free()


def _arguments(
    mpi: Any, collective: Collective, dtype: DType, place: int
) -> Callable[[memoryview, memoryview], tuple[Any, ...]]:
    """The arguments of a call of MPI, given what is sent and what is filled."""
    if collective.kind in (CollectiveKind.ALLREDUCE, CollectiveKind.REDUCE_SCATTER):
        return _reduction(mpi, collective, dtype, place)
    size = dtype.itemsize
    sent = [count * size for count in collective.sent(place)]
    received = [count * size for count in collective.received(place)]
    if collective.kind == CollectiveKind.ALLGATHER:
        where = (received, _starts(received))
        return lambda given, to: ([given, sent[0], mpi.BYTE], [to, where, mpi.BYTE])
    if collective.kind == CollectiveKind.ALL_TO_ALL:
        out, into = (sent, _starts(sent)), (received, _starts(received))
        return lambda given, to: ([given, out, mpi.BYTE], [to, into, mpi.BYTE])
    root = collective.root

    def broadcast(given: memoryview, to: memoryview) -> tuple[Any, ...]:
        if root == place:
            to[:] = given
        return [to, mpi.BYTE], root

    return broadcast


def _reduction(
    mpi: Any, collective: Collective, dtype: DType, place: int
) -> Callable[[memoryview, memoryview], tuple[Any, ...]]:
    op = collective.op
    assert op is not None
    named = _TYPES.get(dtype)
    if named is not None:
        type_, operation = getattr(mpi, named), getattr(mpi, _OPERATIONS[op])
    else:
        type_, operation = reduction_of(mpi, dtype, op)
    counts = list(collective.counts)
    if collective.kind == CollectiveKind.ALLREDUCE:
        return lambda given, to: ([given, counts[0], type_], [to, counts[0], type_], operation)
    own = collective.output_size(place)
    return lambda given, to: (
        [given, sum(counts), type_], [to, own, type_], counts, operation
    )  # fmt: skip


def _starts(sizes: Sequence[int]) -> list[int]:
    """Where each part begins, if they follow each other."""
    return [0, *accumulate(sizes)][:-1]
