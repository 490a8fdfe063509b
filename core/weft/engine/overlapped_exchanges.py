"""Overlapped exchanges: the collectives of a replay go on while its kernels run.
Also: communication-computation overlap, nonblocking collectives, persistent communication requests.

An exchange starts at its place among the steps. It is awaited before the first step that uses its
results, or overwrites what it reads. Kernels in between give it time to progress.

Source: Hoefler, Lumsdaine and Rehm, "Implementation and Performance Analysis of Non-Blocking
Collective Operations for MPI", SC 2007; Message Passing Interface Forum, "MPI: A Message-Passing
Interface Standard, Version 4.1", 2023, section 6.13 (persistent collectives).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NoReturn

from weft.base.interrupts import let_through
from weft.device import AsyncCollective, Buffer, Exchanging
from weft.engine.recorded_steps import CONSTANT, INPUT, INTERMEDIATE, Argument, Step
from weft.engine.runners import CollectiveStep
from weft.uop import UOp


def awaited_at(steps: Sequence[Step]) -> dict[int, int]:
    """By number of a collective, the number of the step before which its end is awaited: the first
    that uses what it writes, or writes what it reads; `len(steps)` where there is none."""
    found: dict[int, int] = {}
    going: dict[int, tuple[set[int], set[int]]] = {}
    for number, step in enumerate(steps):
        written = _memories(step, step.written)
        read = _memories(step, step.read)
        for other, (results, given) in list(going.items()):
            if not (results.isdisjoint(written | read) and given.isdisjoint(written)):
                found[other] = number
                del going[other]
        if isinstance(step.item.prg, CollectiveStep):
            going[number] = written, read
    return found | dict.fromkeys(going, len(steps))


def _memories(step: Step, places: Sequence[int]) -> set[int]:
    """Memories, by identity. Inputs may be windows of each other, and count as one."""
    memories = [step.arguments[place].memory for place in places]
    return {0 if memory.kind is INPUT else id(memory) for memory in memories}


def overlapped(
    steps: Sequence[Step], buffers: Sequence[Sequence[Buffer]]
) -> dict[int, OverlappedExchange]:
    """By number, the steps that exchange values while others run. buffers: of each step."""
    awaited = awaited_at(steps)
    return {
        number: OverlappedExchange(
            prg,
            buffers[number],
            fixed=_is_fixed(step.arguments),
            overlaps=_has_work(steps[number + 1 : awaited[number]]),
        )
        for number, step in enumerate(steps)
        if isinstance(prg := step.item.prg, CollectiveStep)
        and isinstance(prg.runner, AsyncCollective)
    }


def _is_fixed(arguments: Sequence[Argument]) -> bool:
    """Whether arguments have the same memory at every replay."""
    return all(a.memory.kind is INTERMEDIATE or a.memory.kind is CONSTANT for a in arguments)


def _has_work(steps: Sequence[Step]) -> bool:
    """Whether steps do anything but exchange values."""
    return not all(isinstance(step.item.prg, CollectiveStep) for step in steps)


class OverlappedExchange(CollectiveStep):
    """A collective of a replay that starts, goes on while kernels run, and is awaited.

    :param buffers: of its results, then of its inputs; a replay may change them.
    :param fixed: whether they are always the same.
    :param overlaps: whether kernels run between its start and its end.
    """

    def __init__(
        self, step: CollectiveStep, buffers: Sequence[Buffer], fixed: bool, overlaps: bool
    ) -> None:
        self.ast, self.name, self.device = step.ast, step.name, step.device
        self.devices, self.runner = step.devices, step.runner
        self._buffers = buffers
        self._exchanging: Exchanging
        runner = step.runner
        assert isinstance(runner, AsyncCollective)
        self._same = self._handles() if fixed else None
        try:
            self._start = runner.starter(self._same, overlaps)
        except Exception as error:
            let_through(error)
            self._failed(error)

    def _handles(self) -> tuple[list[object], list[object]]:
        count = self.ast.arg.devices
        handles = [buffer.handle for buffer in self._buffers]
        return handles[:count], handles[count:]

    def _failed(self, error: Exception) -> NoReturn:
        self.device.failed(f"the collective {self.name}", error)

    def start(self) -> None:
        """Start the exchange."""
        try:
            self._exchanging = self._start(*(self._same or self._handles()))
        except Exception as error:
            let_through(error)
            self._failed(error)

    def progress(self) -> None:
        """Let it progress, without waiting."""
        try:
            self._exchanging.progress()
        except Exception as error:
            let_through(error)
            self._failed(error)

    def wait(self) -> None:
        """Wait for its end."""
        try:
            self._exchanging.wait()
        except Exception as error:
            let_through(error)
            self._failed(error)

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Start it and wait; seconds that this took. `bufs` are those of this replay."""
        started = perf_counter()
        self.start()
        self.wait()
        return perf_counter() - started


class ExchangesGoing:
    """The exchanges that have started and not ended, while the launches of a replay are listed.

    :param exchanges: by number of their step.
    :param awaited: by number of a step, that before which its end is awaited.
    """

    def __init__(
        self, exchanges: Mapping[int, OverlappedExchange], awaited: Mapping[int, int]
    ) -> None:
        self._exchanges, self._awaited = exchanges, awaited
        self._going: list[int] = []

    def start(self, number: int) -> Callable[[], None]:
        """The launch that starts an exchange."""
        self._going.append(number)
        return self._exchanges[number].start

    def waits_before(self, number: int) -> list[Callable[[], None]]:
        """The launches that end exchanges before a step."""
        ended = [each for each in self._going if self._awaited[each] == number]
        self._going = [each for each in self._going if each not in ended]
        return [self._exchanges[each].wait for each in ended]

    def polls(self) -> list[Callable[[], None]]:
        """The launches that let exchanges progress after some kernels. A call of one of them lets
        all progress."""
        return [self._exchanges[each].progress for each in self._going[:1]]
