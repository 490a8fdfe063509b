"""Collective operations: the argument of COLLECTIVE, an exchange among all devices of a group.

The sources of a COLLECTIVE are one flat value in memory per device and the DEVICE of the result.
The nodes of one exchange differ in `place` and DEVICE only, and become one item of the schedule.

    kind             device i gives                     device i gets
    ALLREDUCE        n elements                         the reduction of all
    REDUCE_SCATTER   all parts, one after the other     the reduction of its own part
    ALLGATHER        its own part                       all parts, one after the other
    ALL_TO_ALL       a part for each device             its part of each device
    BROADCAST        n elements                         those of the device `root`

Source: Message Passing Interface Forum, "MPI: A Message-Passing Interface Standard, Version 4.1",
2023, chapter 6.
"""

from __future__ import annotations

from enum import StrEnum

from weft.base.deferred_dataclass import dataclass
from weft.uop.ops import Ops
from weft.uop.text import register_arg

AGAIN = ("again",)
"""The arg of a CONTIGUOUS of a cut value: it is the value itself, gathered by an exchange of its
own."""


class CollectiveKind(StrEnum):
    """Which exchange a collective is."""

    ALLREDUCE = "allreduce"
    REDUCE_SCATTER = "reduce_scatter"
    ALLGATHER = "allgather"
    ALL_TO_ALL = "all_to_all"
    BROADCAST = "broadcast"


@dataclass(frozen=True, slots=True)
class Collective:
    """One exchange.

    :param kind: a `CollectiveKind`.
    :param devices: how many devices take part.
    :param counts: elements: of the value (ALLREDUCE, BROADCAST), of each part (REDUCE_SCATTER,
        ALLGATHER), or of each part by giver, then receiver (ALL_TO_ALL).
    :param op: the reduction: ADD, MUL or MAX; None where nothing is reduced.
    :param root: the giver of a BROADCAST.
    :param place: the number of the device of this result; None in an item of a schedule.
    :param again: whether it is carried out a second time, so that its result is not kept from the
        first time; False in an item of a schedule.
    """

    kind: str
    devices: int
    counts: tuple[int, ...]
    op: Ops | None = None
    root: int = 0
    place: int | None = None
    again: bool = False

    def input_size(self, place: int) -> int:
        """How many elements device `place` gives."""
        if self.kind == CollectiveKind.REDUCE_SCATTER:
            return sum(self.counts)
        return sum(self.sent(place))

    def output_size(self, place: int) -> int:
        """How many elements device `place` gets."""
        if self.kind == CollectiveKind.ALLGATHER:
            return sum(self.counts)
        return sum(self.received(place))

    def sent(self, place: int) -> tuple[int, ...]:
        """The sizes of the parts that device `place` gives."""
        if self.kind == CollectiveKind.ALL_TO_ALL:
            return self.counts[place * self.devices : (place + 1) * self.devices]
        if self.kind == CollectiveKind.ALLGATHER:
            return (self.counts[place],)
        return self.counts

    def received(self, place: int) -> tuple[int, ...]:
        """The sizes of the parts that device `place` gets."""
        if self.kind == CollectiveKind.ALL_TO_ALL:
            return self.counts[place :: self.devices]
        if self.kind == CollectiveKind.REDUCE_SCATTER:
            return (self.counts[place],)
        return self.counts


register_arg(Collective)
