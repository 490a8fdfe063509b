"""Kernel meter: subscribe to the trace and add up the runs of each kernel.

in: "run" events of a program    out: a `Measured` for each kernel
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from weft.base.interrupts import let_through
from weft.base.provenance import describe
from weft.base.trace import Event
from weft.device import LinearProgram, registry
from weft.engine.candidate_measurement import Built, Measurement

EVENTS = ("run",)
FEW = 3
"""A kernel that ran less often than that is run again, by itself."""
AGAIN = 7


@dataclass
class Measured:
    """One kernel of a program. seconds: of each of its runs, or of those by itself (`alone`);
    metadata: the operations that were fused in it, when it ran first."""

    program: LinearProgram
    device: str
    launches: int = 0
    seconds: list[float] = field(default_factory=list)
    alone: bool = False
    metadata: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """As it is called in sources."""
        return self.program.name

    @property
    def each(self) -> float:
        """The median of its runs."""
        return median(self.seconds) if self.seconds else 0.0

    @property
    def total(self) -> float:
        """What all launches took, one like the other."""
        return self.each * self.launches

    @property
    def ops(self) -> int | None:
        """Arithmetic operations of one run; None where they depend on a variable."""
        return self.program.estimates.ops if isinstance(self.program.estimates.ops, int) else None

    @property
    def bytes(self) -> int | None:
        """Bytes of memory that one run touches; None where they depend on a variable."""
        moved = self.program.estimates.bytes
        return moved if isinstance(moved, int) else None

    @property
    def operations(self) -> list[str]:
        """The names of what was fused in it, each once."""
        return list(dict.fromkeys(str(one) for one in self.metadata))

    @property
    def place(self) -> str:
        """The line of the program that called the last of them, if it is known."""
        places = [one.where for one in self.metadata if getattr(one, "where", None)]
        return describe(places[-1]) if places else ""


class Meter:
    """`trace.subscribe(meter, only=EVENTS)`. Kernels are in the order of their first launch;
    `others` is how long copies and the like took together."""

    def __init__(self) -> None:
        self.kernels: dict[LinearProgram, Measured] = {}
        self.others = 0.0
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        program, seconds = event.facts.get("program"), event.facts.get("seconds")
        with self._lock:
            if not isinstance(program, LinearProgram):
                self.others += seconds or 0.0
                return
            found = self.kernels.get(program)
            if found is None:
                found = self.kernels[program] = Measured(program, str(event.facts["device"]))
                found.metadata = event.facts.get("metadata", ())
            found.launches += 1
            if seconds is not None:
                found.seconds.append(seconds)

    def forget(self) -> None:
        """Times so far do not count; which kernels there are, does."""
        with self._lock:
            for one in self.kernels.values():
                one.seconds.clear()
                one.launches = 0
            self.others = 0.0

    def run_again(self, report: Callable[[str], Any] = lambda line: None) -> None:
        """What ran only once or twice is run by itself, on memory of its own, so that its time is
        not that of a first touch. What cannot be run so keeps the times that it has."""
        for one in self.kernels.values():
            if 0 < one.launches < FEW and one.program.source_ast is not None:
                try:
                    one.seconds, one.alone = alone(one), True
                except Exception as error:
                    let_through(error)
                    report(f"{one.name} was not run again: {error}")


def alone(kernel: Measured, times: int = AGAIN) -> list[float]:
    """Seconds of some runs by itself, after one that does not count. Raises what running raises."""
    program = kernel.program
    assert program.source_ast is not None
    device = registry.open(kernel.device)
    trial = Measurement(program.source_ast, device)
    source = device.renderer.render(program)
    compiler = device.compiler
    binary = source.encode() if compiler is None else compiler.compile(source, program.name)
    runner = trial.load(Built(program, source, binary))
    launched = []
    for _ in range(times + 1):
        trial.restore(program)
        launched.append(trial.launch(runner, program))
    return launched[1:]
