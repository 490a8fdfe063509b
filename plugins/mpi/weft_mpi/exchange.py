"""Collective exchanges: COLLECTIVE items of a schedule as calls of MPI.

Memory that the host can map is given to MPI itself; other memory is staged. A rank gives and gets
the memory of its own device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from weft.plugin import Collective, CollectiveKind, DType, Ops, dtypes, let_through
from weft_mpi.rank_device import RankDevice
from weft_mpi.rank_memory import staged
from weft_mpi.small_floats import reduction_of

_OPERATIONS = {Ops.ADD: "SUM", Ops.MUL: "PROD", Ops.MAX: "MAX"}
_TYPES = {
    dtypes.bool: "UINT8_T", dtypes.int8: "INT8_T", dtypes.uint8: "UINT8_T",
    dtypes.int16: "INT16_T", dtypes.uint16: "UINT16_T", dtypes.int32: "INT32_T",
    dtypes.uint32: "UINT32_T", dtypes.int64: "INT64_T", dtypes.uint64: "UINT64_T",
    dtypes.float32: "FLOAT", dtypes.float64: "DOUBLE",
}  # fmt: skip

_NOTHING = memoryview(b"")


class Exchange:
    """One collective of the devices of some ranks."""

    def __init__(self, devices: Sequence[RankDevice], collective: Collective, dtype: DType) -> None:
        self.process = devices[0].process
        ranks = tuple(device.rank for device in devices)
        self.kind = collective.kind
        self.collective = collective
        self.dtype = dtype
        self.what = f"{self.kind} of {dtype.name} {collective.counts} among ranks {ranks}"
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
        self.below = devices[self.place].below
        if (planned := self.process.planned) is not None:
            self.call = planned.exchange(ranks, collective, dtype)
            return
        self.group = self.process.group(ranks)
        self.call = self._call()

    def __call__(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Exchange the own part with the other ranks."""
        if self.place is None:
            return
        if self.process.planned is not None and self.process.planned.rates is not None:
            self.call(_NOTHING, _NOTHING)
            return
        self.below.synchronize()
        given, to = inputs[self.place], outputs[self.place]
        source, memory = self.allocator.map_host(given), self.allocator.map_host(to)
        if source is not None and memory is not None:
            self._exchange(source, memory)
            return
        with (
            staged(self.allocator, to, self.sizes[1], True) as filled,
            staged(self.allocator, given, self.sizes[0]) as sent,
        ):
            self._exchange(sent, filled)

    def _exchange(self, source: memoryview, memory: memoryview) -> None:
        process = self.process
        process.waits_for = process.wait_of(self.what, self.ranks)
        try:
            self.call(source, memory)
        except Exception as error:
            let_through(error)
            if (found := process.lost(error, self.what)) is error:
                raise
            raise found from error
        finally:
            process.waits_for = None

    def _call(self) -> Callable[[memoryview, memoryview], None]:
        """The call of MPI, given what is sent and what is filled."""
        mpi, group, place = self.process.mpi, self.group, self.place
        assert place is not None
        if self.kind in (CollectiveKind.ALLREDUCE, CollectiveKind.REDUCE_SCATTER):
            return self._reduction(mpi, group)
        size = self.dtype.itemsize
        sent = [count * size for count in self.collective.sent(place)]
        received = [count * size for count in self.collective.received(place)]
        if self.kind == CollectiveKind.ALLGATHER:
            where = (received, _starts(received))
            return lambda given, to: group.Allgatherv(
                [given, sent[0], mpi.BYTE], [to, where, mpi.BYTE]
            )
        if self.kind == CollectiveKind.ALL_TO_ALL:
            out, into = (sent, _starts(sent)), (received, _starts(received))
            return lambda given, to: group.Alltoallv([given, out, mpi.BYTE], [to, into, mpi.BYTE])
        root = self.collective.root

        def broadcast(given: memoryview, to: memoryview) -> None:
            if root == place:
                to[:] = given
            group.Bcast([to, mpi.BYTE], root)

        return broadcast

    def _reduction(self, mpi: Any, group: Any) -> Callable[[memoryview, memoryview], None]:
        op = self.collective.op
        assert op is not None
        named = _TYPES.get(self.dtype)
        if named is not None:
            type_, operation = getattr(mpi, named), getattr(mpi, _OPERATIONS[op])
        else:
            type_, operation = reduction_of(mpi, self.dtype, op)
        counts = list(self.collective.counts)
        if self.kind == CollectiveKind.ALLREDUCE:
            return lambda given, to: group.Allreduce(
                [given, counts[0], type_], [to, counts[0], type_], operation
            )
        own = self.collective.output_size(self.place or 0)
        return lambda given, to: group.Reduce_scatter(
            [given, sum(counts), type_], [to, own, type_], counts, operation
        )


def _starts(sizes: Sequence[int]) -> list[int]:
    """Where each part begins, if they follow each other."""
    return [0, *accumulate(sizes)][:-1]
