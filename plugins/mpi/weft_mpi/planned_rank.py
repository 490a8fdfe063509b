"""Planned ranks: one process acts as a rank of many, and exchanges nothing.
Also: simulation of a distributed program.

The kernels of this rank run and are timed. With the rates of a device none runs: the time of each
follows from its estimates, and the rank has no memory. Exchanges take the time of a link model.
Those that a replay starts go on while kernels run. The values of other ranks are zero, so the
program has to reach its end with other numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from weft.plugin import Collective, CollectiveKind, CompiledProgram, DType, Runner
from weft_mpi.kernel_model import Rates
from weft_mpi.link_model import Link, sent_bytes


@dataclass(frozen=True)
class Step:
    """A kernel or an exchange of this rank.

    :ivar start: where exchanges go on while kernels run.
    :ivar nbytes: bytes that the rank sends; None for a kernel.
    """

    name: str
    start: float
    seconds: float
    nbytes: float | None = None


class PlannedProcess:
    """A rank of a program of `size` ranks; the others do not exist.

    :param rates: of the device; None: kernels run and are timed.
    :param crowd: how many times longer kernels take, since ranks share processors.
    :ivar steps: what it did, in order. memory, peak: bytes that are allocated now, and at most.
    :ivar now: the time of the rank, in seconds. link_free: when its last exchange has ended.
    """

    def __init__(
        self,
        size: int,
        link: Link,
        rank: int = 0,
        rates: Rates | None = None,
        crowd: float = 1.0,
    ) -> None:
        self.crowd = crowd
        self.size, self.rank, self.link, self.rates = size, rank, link, rates
        self.steps: list[Step] = []
        self.memory = self.peak = 0
        self.now = self.link_free = 0.0
        self.is_overlapping = False
        self.planned = self
        self.waits_for: None = None

    def allocated(self, nbytes: int) -> None:
        """Count memory of this rank; a negative number of bytes is freed."""
        self.memory += nbytes
        self.peak = max(self.peak, self.memory)

    def add(self, name: str, seconds: float, nbytes: float | None = None) -> None:
        """Note a kernel or an exchange."""
        start = self.now if nbytes is None else max(self.now, self.link_free)
        self.steps.append(Step(name, start, seconds, nbytes))
        if nbytes is not None:
            self.link_free = start + seconds
        if nbytes is None or not self.is_overlapping:
            self.now = start + seconds

    def overlapped(self, exchange: Callable[[], None]) -> PlannedExchange:
        """Start an exchange that goes on while kernels run."""
        self.is_overlapping = True
        try:
            exchange()
        finally:
            self.is_overlapping = False
        return PlannedExchange(self, self.link_free)

    def waiting(self, what: str, ranks: tuple[int, ...] | None = None) -> Any:
        """Nothing is waited for."""
        return nullcontext()

    def wait_of(self, what: str, ranks: tuple[int, ...]) -> None:
        """Nothing is waited for."""

    def lost(self, error: Exception, what: str) -> Exception:
        """No rank is lost."""
        return error

    def send(self, memory: memoryview, rank: int) -> None:
        """A message to a rank."""
        self.sends(memory.nbytes, rank)

    def receive(self, memory: memoryview, rank: int) -> None:
        """A message of a rank: zeros."""
        memory[:] = bytes(memory.nbytes)
        self.receives(memory.nbytes, rank)

    def sends(self, nbytes: int, rank: int) -> None:
        """Note a message to a rank."""
        self.add(f"send to {rank}", self.link.message(nbytes), nbytes)

    def receives(self, nbytes: int, rank: int) -> None:
        """Note a message of a rank."""
        self.add(f"receive from {rank}", self.link.message(nbytes), 0)

    def all_digests(self, digest: bytes) -> list[bytes]:
        """All ranks have equal schedules."""
        return [digest]

    def runner(self, below: Runner, program: CompiledProgram) -> Runner:
        """A runner that waits for each launch and notes its time, or notes what the rates say."""
        name, rates = program.name, self.rates
        if rates is not None:
            seconds = rates.seconds(program.estimates) * self.crowd

            def note(handles: Sequence[Any], **how: Any) -> float | None:
                self.add(name, seconds)
                return seconds

            return note

        def run(handles: Sequence[Any], **how: Any) -> float | None:
            arguments: dict[str, Any] = {**how, "wait": True}
            started = perf_counter()
            seconds = below(handles, **arguments)
            seconds = perf_counter() - started if seconds is None else seconds
            self.add(name, seconds * self.crowd)
            return seconds

        return run

    def exchange(self, ranks: Sequence[int], collective: Collective, dtype: DType) -> Any:
        """A runner of a collective: results are this rank's own values, and zeros."""
        place = list(ranks).index(self.rank) if self.rank in ranks else None
        if place is None:
            return lambda outputs, inputs: None
        whole = max(collective.input_size(place), collective.output_size(place)) * dtype.itemsize
        seconds = self.link.exchange(collective.kind, len(ranks), whole)
        nbytes = sent_bytes(collective.kind, len(ranks), whole)
        start = sum(collective.counts[:place]) * dtype.itemsize
        offset = start if collective.kind == CollectiveKind.ALLGATHER else 0
        name = f"{collective.kind} of {whole} bytes among {len(ranks)}"

        def run(source: memoryview, to: memoryview) -> None:
            if self.rates is not None:
                self.add(name, seconds, nbytes)
                return
            size = min(source.nbytes, to.nbytes - offset)
            to[:] = bytes(to.nbytes)
            to[offset : offset + size] = source[:size]
            self.add(name, seconds, nbytes)

        return run

    def close(self) -> None:
        """There is nothing to end."""

    def report(self) -> str:
        """Where the time of this rank goes, as text."""
        kernels = [step for step in self.steps if step.nbytes is None]
        exchanges = [step for step in self.steps if step.nbytes is not None]
        compute = sum(step.seconds for step in kernels)
        waits = sum(step.seconds for step in exchanges)
        sent = sum(step.nbytes or 0 for step in exchanges)
        how = "measured here" if self.rates is None else "by their estimates"
        lines = [
            f"rank {self.rank} of {self.size}",
            f"kernels     {len(kernels):6}  {compute * 1e3:10.3f} ms, {how}",
            f"exchanges   {len(exchanges):6}  {waits * 1e3:10.3f} ms, by the link model",
            f"total               {(compute + waits) * 1e3:10.3f} ms",
            f"with overlap        {self.now * 1e3:10.3f} ms, if exchanges need no processor",
            f"sent                {sent / 1e6:10.3f} MB",
            f"peak memory         {self.peak / 1e6:10.3f} MB",
        ]
        totals: dict[str, list[float]] = {}
        for step in exchanges:
            totals.setdefault(step.name, []).append(step.seconds)
        for name, seconds in sorted(totals.items(), key=lambda one: -sum(one[1]))[:8]:
            lines.append(f"  {len(seconds):4} x {name}: {sum(seconds) * 1e3:.3f} ms")
        return "\n".join(lines)

    def write_trace(self, path: Path) -> None:
        """Write the steps in the trace event format, which Perfetto shows."""
        events = [
            {
                "name": step.name, "ph": "X", "pid": self.rank, "ts": step.start * 1e6,
                "dur": step.seconds * 1e6, "tid": "kernels" if step.nbytes is None else "exchanges",
                "args": {} if step.nbytes is None else {"sent bytes": step.nbytes},
            }
            for step in self.steps
        ]  # fmt: skip
        path.write_text(json.dumps({"traceEvents": events}))


class PlannedExchange:
    """An exchange that has started. It ends at a time of its rank."""

    def __init__(self, process: PlannedProcess, end: float) -> None:
        self.process, self.end = process, end

    def progress(self) -> None:
        """It progresses by itself."""

    def wait(self) -> None:
        """Let time pass until its end."""
        self.process.now = max(self.process.now, self.end)


@contextmanager
def planned(process: PlannedProcess) -> Generator[PlannedProcess]:
    """Act as this rank inside of the context. No MPI starts."""
    from weft_mpi.process import act_as

    act_as(process)
    try:
        yield process
    finally:
        act_as(None)
