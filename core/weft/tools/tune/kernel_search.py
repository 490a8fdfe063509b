"""Kernel search: find and keep faster plans for several kernels, those of most time first.

in: kernels with their shares of a program's time    out: a `Tuned` for each, in that order
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from weft.base.settings import settings
from weft.device import registry
from weft.engine import tuned_plans
from weft.engine.search import search
from weft.engine.tuning_database import SearchResult, plan_data
from weft.uop import UOp

LEAST_SECONDS = 15
"""Of one search: a first round takes as long. If time is short, fewer kernels are searched."""
MOST_SECONDS = 60
"""Of one search, however much time is left."""


@dataclass(frozen=True)
class Candidate:
    """A kernel to search. seconds: that it takes in the program, by which kernels are ordered."""

    name: str
    ast: UOp
    device: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Tuned:
    """The result for one kernel. before, after: seconds of one run of the heuristic's plan and of
    the best one; None if nothing could be measured."""

    kernel: Candidate
    found: SearchResult
    before: float | None
    after: float | None

    @property
    def gain(self) -> float:
        """How many times as fast the kernel is; 1.0 if the heuristic's plan stays."""
        return self.before / self.after if self.before and self.after else 1.0


def tuned(
    kernels: Sequence[Candidate], width: int, seconds: float, refresh: bool = False,
    note: Callable[[int, Candidate], object] = lambda number, kernel: None,
) -> Iterator[Tuned]:  # fmt: skip
    """Search kernels until `seconds` have passed, and keep each plan that is faster.

    note: called before each search, with its number. The time that is left is divided among the
    kernels that are left. An interrupt keeps what was found.
    """
    until = perf_counter() + seconds
    ordered = sorted(kernels, key=lambda kernel: -kernel.seconds)
    for number, kernel in enumerate(ordered):
        left = until - perf_counter()
        if left <= 0:
            return
        note(number, kernel)
        share = 2 * left / (len(ordered) - number)  # many end before their budget is spent
        budget = int(min(MOST_SECONDS, left, max(LEAST_SECONDS, share))) or 1
        device = registry.open(kernel.device)
        with settings.override(BEAM_SECONDS=budget):
            found = search(kernel.ast, device, width, refresh)
        times = {one.plan: one.seconds for one in found.tries if one.seconds is not None}
        faster = plan_data(found.best) if found.best != found.heuristic else None
        tuned_plans.keep({tuned_plans.digest(kernel.ast): faster}, device)
        yield Tuned(kernel, found, times.get(found.heuristic), times.get(found.best))
