"""Auto-tuning: search for the fastest plan of a kernel by measurement (WEFT_BEAM).
Also: autotuning, beam search.

A beam search. It begins with the heuristic's plan and with the empty plan. Each round builds all
plans one step from the best few (`codegen.opt.search_space.near`) in helper processes, runs once
those with equal results, and keeps the best few. It ends with a round without gain, or when its
budget is spent (`WEFT_BEAM_SECONDS`). The best are then timed interleaved with the heuristic's
plan, and the winner once more: the heuristic's plan stays unless it is slower both times.

The result is stored by kernel, by the key of the device's code, and by width, with all
measurements. An interrupted search is stored too, and the next one continues it. Where nothing can
be measured the heuristic's plan is used.

in: the AST of a kernel and a device    out: a `Plan`

Source: Chen et al., "Learning to Optimize Tensor Programs", NeurIPS 2018; Bisiani, "Beam Search",
Encyclopedia of Artificial Intelligence, 1987.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from weft.base import trace
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.intmath import ceildiv
from weft.base.settings import settings
from weft.base.text import failure_text
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.search_space import Plan, by_heuristic, near
from weft.codegen.pipeline import loops_for
from weft.device import OpenDevice
from weft.engine.candidate_measurement import UNOPTIMIZED, Outcome
from weft.engine.measurement_workers import RUN_SECONDS, workers_for
from weft.engine.progress import Progress
from weft.engine.search_budget import Budget
from weft.engine.tuning_database import SearchResult, Try, key_of, lookup, store
from weft.engine.worker_processes import HelperFailed, stop_helpers
from weft.uop import UOp

MOST_ROUNDS = 12
MOST_IN_A_ROUND = 256
GAIN = 0.98  # a round that leaves more than this of the time ends the search
CLEARLY = 0.97  # of the heuristic's time, or the heuristic's choice stays
_FAR = 16  # times as long: what one step does not make up for
_LAST_ROUNDS = (
    60  # rounds of interleaved timing of the best few, since others may use the machine too
)
_LEAST_SECONDS, _MOST_SECONDS = 0.3, 8.0  # that this takes
_LAST_SHARE = 0.4  # of what is left of the budget: there are two of them
_CHUNK = 8  # plans that are built before they are run: the budget ends the search between two

_lock = threading.RLock()


def _reset_lock() -> None:
    """Replace the lock in a forked child, which has none of the threads that may hold it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_lock)


def plan_for(ast: UOp, device: OpenDevice) -> Plan:
    """The plan for a kernel: from the database, or searched for now. A failing plan is never an
    error."""
    return search(ast, device, settings.BEAM).best


def search(ast: UOp, device: OpenDevice, width: int, refresh: bool = False) -> SearchResult:
    """Search for the fastest plan of a kernel. refresh: also if the database has one.

    :raises WeftError: what the heuristic's own choice raises.
    """
    key = key_of(ast, device, width)
    with _lock:
        known = None if refresh else lookup(key, ast, device)
        if known is not None and known.complete:
            return known
        with trace.span("search", device=device.name, width=width) as span:
            ours = _Search(ast, device, width)
            try:
                found = ours.run([] if known is None else [known.best])
            except BaseException:  # an interrupt
                stop_helpers()
                store(key, ours.partial_result())
                raise
            span.note(tries=len(found.tries))
        store(key, found)
        return found


def time_interleaved(
    ast: UOp, device: OpenDevice, plans: Sequence[Plan], seconds: float
) -> list[float] | str:
    """The shortest run of a kernel with each of these plans, timed interleaved for `seconds`.

    Returns the reason as text if they cannot be timed. The results of the first plan are the
    reference. This verifies the result of a search, whose winner is biased: it is the luckiest of
    many measurements, perhaps on a machine with other load.
    """
    try:
        workers = workers_for(ast, device, [])
        try:
            built: list[Any] = []
            for answer in workers.built(plans):
                if isinstance(answer, str):
                    return answer
                built.append(answer[1])
            return workers.expect(built[0], RUN_SECONDS) or workers.time_interleaved(built, seconds)
        finally:
            workers.end()
    except (WeftError, HelperFailed, OSError) as error:
        let_through(error)
        return failure_text(error)


# ---- the search ----------------------------------------------------------------------------------


class _Search:
    """One search for one kernel."""

    def __init__(self, ast: UOp, device: OpenDevice, width: int) -> None:
        self.ast, self.device, self.width = ast, device, max(1, width)
        self.loops: dict[bool, Kernel] = {True: loops_for(ast, device.target, True)}
        plain = loops_for(ast, device.target, False)
        if plain.sink is not self.loops[True].sink:
            self.loops[False] = plain
        heuristic = by_heuristic(self.loops[True])
        self.found = SearchResult(heuristic, heuristic)
        self.seconds: dict[Plan, float] = {}
        self.tried: set[Plan] = {heuristic}
        self.built: dict[Plan, Any] = {}
        self.known: dict[bytes, Try] = {}  # by source: plans may come to the same
        self.budget = Budget.of_settings()
        self.progress = Progress(self.loops[True].name, self.budget)

    def run(self, begun: Sequence[Plan] = ()) -> SearchResult:
        """Run the search. begun: the result of an interrupted search, which is continued."""
        found = self.found
        result = "interrupted"
        try:
            self.workers = workers_for(self.ast, self.device, found.notes, self.budget)
            try:
                if self.prepare():
                    self.rounds(begun)
                    if self.budget.ends_rounds:
                        found.notes.append(f"the budget ended the search: {self.budget}")
                    found.best = self.best_plan()
            finally:
                self.workers.end()
            result = self.result()
        except (WeftError, HelperFailed, OSError) as error:
            let_through(error)
            result = self.discard(failure_text(error))
        except Exception as error:  # a fault of ours: the program can do without a search
            let_through(error)
            result = self.discard(f"fault: {failure_text(error)}")
        finally:
            self.progress.end(len(found.tries), result, found.notes)
        return found

    def discard(self, because: str) -> str:
        """The measurements are unusable: use the heuristic's plan. The message for the user."""
        self.found.notes.append(f"the search ended early: {because}")
        self.found.best = self.found.heuristic
        return "the heuristic's choice stays"

    def result(self) -> str:
        """A summary of the result, for people."""
        found = self.found
        if found.best == found.heuristic:
            return "the heuristic's choice stays"
        gain = self.seconds[found.heuristic] / self.seconds[found.best]
        return f"{found.best}, {gain:.2f} times as fast as the heuristic's choice"

    def partial_result(self) -> SearchResult:
        """The result of an interrupted search, from which the next one continues."""
        self.found.best = min(self.seconds, key=self.seconds.__getitem__, default=self.found.best)
        self.found.complete = False
        return self.found

    def prepare(self) -> bool:
        """Compute the reference results and the time of the heuristic's plan; False if that
        fails."""
        found, workers = self.found, self.workers
        plain, chosen = workers.built([UNOPTIMIZED, found.heuristic])
        if isinstance(chosen, str):
            found.notes.append(f"the heuristic's choice cannot be built: {chosen}")
            return False
        operations = sum(_iterations(axes) for axes in self.loops[True].nests.values())
        sure = False
        if not isinstance(plain, str) and operations <= workers.most_plain:
            because = workers.expect(plain[1], RUN_SECONDS)
            sure = not because
            if because:
                found.notes.append(f"without optimisations: {because}")
        first = workers.time(chosen[1], None)
        if isinstance(first, str):
            found.notes.append(f"the heuristic's choice cannot be timed: {first}")
            return False
        if not sure or not first.equal:
            found.notes.append(
                "results are compared with those of the heuristic's choice"
                + (f", too: {first.because}" if sure else "")
            )
            workers.expect(chosen[1], RUN_SECONDS)
            first = workers.time(chosen[1], None)
        if isinstance(first, str) or not first.equal:
            found.notes.append("the heuristic's choice does not give the same twice")
            return False
        self.record(found.heuristic, chosen, first)
        return True

    def rounds(self, begun: Sequence[Plan]) -> None:
        """Widen and narrow until a round gains nothing."""
        start = [*begun, *(Plan((), prepared) for prepared in self.loops)]
        start = [plan for plan in dict.fromkeys(start) if plan != self.found.heuristic]
        self.progress.begin(0, len(start))
        self.measure(start)
        beam = [self.found.heuristic, *filter(self.is_promising, start)]
        for number in range(1, MOST_ROUNDS + 1):
            if self.budget.ends_rounds:
                return
            before = min(self.seconds.values())
            plans = list(
                dict.fromkeys(
                    other
                    for plan in beam
                    for other in near(self.loops[plan.prepared], plan)
                    if other not in self.tried
                )
            )
            some = plans[:: max(1, ceildiv(len(plans), MOST_IN_A_ROUND))]  # of every kind
            self.progress.begin(number, len(some))
            self.measure(some)
            beam = sorted(self.seconds, key=self.seconds.__getitem__)[: self.width]
            if number > 1 and self.seconds[beam[0]] > GAIN * before:
                return

    def is_promising(self, plan: Plan) -> bool:
        """Whether a plan one step away may be among the best. The beam is narrow: a plan that is
        fast only after several steps is dropped before."""
        return self.seconds.get(plan, inf) < _FAR * self.seconds[self.found.heuristic]

    def measure(self, plans: Sequence[Plan]) -> None:
        """Build and run plans until the budget is spent."""
        for start in range(0, len(plans), _CHUNK):
            if self.budget.ends_rounds:
                return
            self.measure_chunk(plans[start : start + _CHUNK])

    def measure_chunk(self, plans: Sequence[Plan]) -> None:
        """Build plans in parallel, then run them one after the other."""
        answers: list[tuple[bytes, Any] | str] = []
        for answer in self.workers.built(plans):
            answers.append(answer)
            self.progress.step_built()
        for plan, answer in zip(plans, answers):
            if self.budget.ends_rounds:
                return
            self.tried.add(plan)
            good = min(self.seconds.values())
            if isinstance(answer, str):
                self.found.tries.append(Try(plan, None, answer))
            elif answer[0] in self.known:
                same = self.known[answer[0]]
                self.found.tries.append(Try(plan, same.seconds, same.because))
            else:
                self.record(plan, answer, self.workers.time(answer[1], good))
            self.progress.step_ran(min(self.seconds.values()), self.seconds[self.found.heuristic])

    def record(self, plan: Plan, answer: tuple[bytes, Any], outcome: Outcome | str) -> None:
        """Record the outcome of one plan."""
        if isinstance(outcome, str) or not outcome.equal:
            because = outcome if isinstance(outcome, str) else outcome.because
            tried = Try(plan, None, because)
        else:
            tried = Try(plan, outcome.shortest)
            self.seconds[plan], self.built[plan] = outcome.shortest, answer[1]
        self.known[answer[0]] = tried
        self.found.tries.append(tried)

    def with_last_time(self, one: Try) -> Try:
        """A measured plan with its time in the last runs."""
        seconds = self.seconds.get(one.plan, one.seconds)
        if seconds == inf:
            return Try(one.plan, None, "it gives other results in some runs")
        return Try(one.plan, seconds, one.because)

    def best_plan(self) -> Plan:
        """The best plan, timed interleaved with the heuristic's plan. The heuristic's plan is kept
        if it is as fast, or if the plans cannot be timed interleaved."""
        heuristic = self.found.heuristic
        ranked = sorted(self.seconds, key=self.seconds.__getitem__)
        last = list(dict.fromkeys([heuristic, *ranked[: max(3, self.width)]]))
        best = self.best_interleaved(last)
        if best != heuristic:  # the shortest of many runs may have been lucky: others work here too
            best = self.best_interleaved([heuristic, best])
        self.found.tries = [self.with_last_time(one) for one in self.found.tries]
        return best

    def best_interleaved(self, plans: Sequence[Plan]) -> Plan:
        """The best of these plans by interleaved runs; the first unless another is clearly
        faster."""
        once = sum(self.seconds[plan] for plan in plans)
        enough = min(_MOST_SECONDS, _LAST_SHARE * self.budget.left, _LAST_ROUNDS * once)
        enough = max(_LEAST_SECONDS, enough)
        times = self.workers.time_interleaved([self.built[plan] for plan in plans], enough)
        if isinstance(times, str):
            self.found.notes.append(f"the best could not be compared once more: {times}")
            return plans[0]
        self.seconds.update(zip(plans, times))
        best = min(plans, key=self.seconds.__getitem__)
        return best if self.seconds[best] < CLEARLY * self.seconds[plans[0]] else plans[0]


def _iterations(nest: Iterable[UOp]) -> int:
    total = 1
    for loop in nest:
        total *= loop.vmax + 1
    return total
