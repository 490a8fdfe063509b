"""WEFT_BEAM: the fastest way to lower a kernel, found by trying.

A beam search. It begins with what the heuristic chooses and with nothing; each round builds all
plans one step from the best few (`codegen.opt.search.near`), in helper processes, runs each once
that gives the same results, and keeps the best few; it ends with a round that gains nothing. The
best are then timed once more in turn with the heuristic's own, which stays where it is as fast.

What was found is kept on disk by kernel, by what the device's code is keyed to, and by width, with
everything that was tried. Where nothing can be tried (no helper opens the device and it is not safe
or not possible to run here) the heuristic chooses.

in: the AST of a kernel and a device    out: a `Plan`
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from math import inf
from time import perf_counter
from typing import Any

from weft.base import trace
from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.base.text import human_time
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.search import Plan, by_heuristic, near
from weft.codegen.pipeline import loops_for
from weft.device.calls import failure_text
from weft.device.opened import OpenDevice
from weft.engine.found import Found, Try, keep, kept, key_of
from weft.engine.helpers import HelperFailed
from weft.engine.trial import WRITTEN_DOWN, Outcome
from weft.engine.workshop import RUN_SECONDS, workshop_for
from weft.uop import UOp

MOST_ROUNDS = 12
MOST_IN_A_ROUND = 256
GAIN = 0.99  # a round that leaves more than this of the time ends the search
CLEARLY = 0.97  # of the heuristic's time, or the heuristic's choice stays
_SLOW = 0.2  # a run this long is not done a hundred times only to see what comes of it
_LAST_ROUNDS = 60  # how often the best few are timed in turn: others may use the machine too
_LEAST_SECONDS, _MOST_SECONDS = 0.3, 8.0  # that this takes

_lock = threading.RLock()


def plan_for(ast: UOp, device: OpenDevice) -> Plan:
    """The plan for a kernel: found before, or searched for now. Never raises for what is tried."""
    return search(ast, device, settings.BEAM).best


def search(ast: UOp, device: OpenDevice, width: int, anew: bool = False) -> Found:
    """All about the search for a kernel. anew: also where it was searched for before.

    :raises WeftError: what the heuristic's own choice raises.
    """
    key = key_of(ast, device, width)
    with _lock:
        found = None if anew else kept(key, ast, device)
        if found is not None:
            return found
        with trace.span("search", device=device.name, width=width) as span:
            found = _Search(ast, device, width).run()
            span.note(tries=len(found.tries))
        keep(key, found)
        return found


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
        self.found = Found(heuristic, heuristic)
        self.seconds: dict[Plan, float] = {}
        self.tried: set[Plan] = {heuristic}
        self.built: dict[Plan, Any] = {}
        self.known: dict[bytes, Try] = {}  # by source: plans may come to the same
        self.progress = _Progress(self.loops[True].name)

    def run(self) -> Found:
        found = self.found
        try:
            self.workshop = workshop_for(self.ast, self.device, found.notes)
            try:
                if self.prepare():
                    self.rounds()
                    found.best = self.decided()
            finally:
                self.workshop.end()
        except (WeftError, HelperFailed, OSError) as error:
            found.notes.append(f"the search ended early: {failure_text(error)}")
            found.best = found.heuristic
        self.progress.end(self.seconds, found)
        return found

    def prepare(self) -> bool:
        """Get right results, and the heuristic's time; False where there is nothing to go by."""
        found, shop = self.found, self.workshop
        plain, chosen = shop.built([WRITTEN_DOWN, found.heuristic])
        if isinstance(chosen, str):
            found.notes.append(f"the heuristic's choice cannot be built: {chosen}")
            return False
        operations = sum(_turns(axes) for axes in self.loops[True].nests.values())
        sure = False
        if not isinstance(plain, str) and operations <= shop.most_plain:
            because = shop.expect(plain[1], RUN_SECONDS)
            sure = not because
            if because:
                found.notes.append(f"without optimisations: {because}")
        first = shop.time(chosen[1], None)
        if isinstance(first, str):
            found.notes.append(f"the heuristic's choice cannot be timed: {first}")
            return False
        if not sure or not first.equal:
            found.notes.append(
                "results are compared with those of the heuristic's choice"
                + (f", too: {first.because}" if sure else "")
            )
            shop.expect(chosen[1], RUN_SECONDS)
            first = shop.time(chosen[1], None)
        if isinstance(first, str) or not first.equal:
            found.notes.append("the heuristic's choice does not give the same twice")
            return False
        self.note(found.heuristic, chosen, first)
        return True

    def rounds(self) -> None:
        """Widen and narrow until nothing is gained."""
        start = [Plan((), prepared) for prepared in self.loops]
        self.attempt([plan for plan in start if plan != self.found.heuristic])
        beam = [self.found.heuristic, *filter(self.is_worth_a_start, start)]
        for number in range(1, MOST_ROUNDS + 1):
            before = min(self.seconds.values())
            plans = list(
                dict.fromkeys(
                    other
                    for plan in beam
                    for other in near(self.loops[plan.prepared], plan)
                    if other not in self.tried
                )
            )
            self.progress.begin(number, len(plans))
            self.attempt(plans[:MOST_IN_A_ROUND])
            beam = sorted(self.seconds, key=self.seconds.__getitem__)[: self.width]
            if number > 1 and self.seconds[beam[0]] > GAIN * before:
                return

    def is_worth_a_start(self, plan: Plan) -> bool:
        """Whether it is worth while to run what is as slow as this as often as there are steps."""
        taken = self.seconds.get(plan, _SLOW)
        return taken < _SLOW or taken < 4 * self.seconds[self.found.heuristic]

    def attempt(self, plans: Sequence[Plan]) -> None:
        """Build them all, then run one after the other."""
        self.tried.update(plans)
        answers = list(self.workshop.built(plans))
        for plan, answer in zip(plans, answers):
            good = min(self.seconds.values())
            if isinstance(answer, str):
                self.found.tries.append(Try(plan, None, answer))
            elif answer[0] in self.known:
                same = self.known[answer[0]]
                self.found.tries.append(Try(plan, same.seconds, same.because))
            else:
                self.note(plan, answer, self.workshop.time(answer[1], good))
            self.progress.step(min(self.seconds.values()), self.seconds[self.found.heuristic])

    def note(self, plan: Plan, answer: tuple[bytes, Any], outcome: Outcome | str) -> None:
        """Remember how one plan fared."""
        if isinstance(outcome, str) or not outcome.equal:
            because = outcome if isinstance(outcome, str) else outcome.because
            tried = Try(plan, None, because)
        else:
            tried = Try(plan, outcome.best)
            self.seconds[plan], self.built[plan] = outcome.best, answer[1]
        self.known[answer[0]] = tried
        self.found.tries.append(tried)

    def corrected(self, one: Try) -> Try:
        """With the time that it had in the last runs."""
        seconds = self.seconds.get(one.plan, one.seconds)
        if seconds == inf:
            return Try(one.plan, None, "it gives other results in some runs")
        return Try(one.plan, seconds, one.because)

    def decided(self) -> Plan:
        """The best of the best, timed run by run in turn with the heuristic's: that stays where it
        is as fast, and where they cannot be timed so."""
        heuristic = self.found.heuristic
        ranked = sorted(self.seconds, key=self.seconds.__getitem__)
        last = list(dict.fromkeys([heuristic, *ranked[: max(3, self.width)]]))
        once = sum(self.seconds[plan] for plan in last)
        enough = min(_MOST_SECONDS, max(_LEAST_SECONDS, _LAST_ROUNDS * once))
        times = self.workshop.in_turn([self.built[plan] for plan in last], enough)
        if isinstance(times, str):
            self.found.notes.append(f"the best could not be compared once more: {times}")
            return heuristic
        self.seconds.update(zip(last, times))
        self.found.tries = [self.corrected(one) for one in self.found.tries]
        best = min(last, key=self.seconds.__getitem__)
        return best if self.seconds[best] < CLEARLY * self.seconds[heuristic] else heuristic


def _turns(nest: Iterable[UOp]) -> int:
    total = 1
    for loop in nest:
        total *= loop.vmax + 1
    return total


class _Progress:
    """A line on stderr that says how far it is; from WEFT_DEBUG=1 on, and anew where it is shown to
    nobody who sees it change."""

    def __init__(self, name: str) -> None:
        self.name, self.round, self.done, self.of = name, 0, 0, 0
        self.shown = settings.DEBUG >= 1
        self.live = self.shown and sys.stderr.isatty()
        self.started = perf_counter()

    def begin(self, number: int, of: int) -> None:
        """A round begins."""
        self.round, self.done, self.of = number, 0, of

    def step(self, best: float, heuristic: float) -> None:
        """One more was tried."""
        self.done += 1
        if self.live:
            filled = 20 * self.done // max(1, self.of)
            bar = "#" * min(20, filled) + "." * max(0, 20 - filled)
            print(
                f"\rsearch {self.name}: round {self.round} [{bar}] {self.done} of {self.of}, "
                f"best {human_time(best)}, heuristic {human_time(heuristic)} ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def end(self, seconds: dict[Plan, float], found: Found) -> None:
        """All is done."""
        if not self.shown:
            return
        took = f"{len(found.tries)} tried in {perf_counter() - self.started:.1f} s"
        result = "the heuristic's choice stays"
        if found.best != found.heuristic:
            gain = seconds[found.heuristic] / seconds[found.best]
            result = f"{found.best}, {gain:.2f} times as fast as the heuristic's choice"
        lead = "\r" if self.live else ""
        print(f"{lead}search {self.name}: {took}: {result}", file=sys.stderr)
        for note in found.notes:
            print(f"search {self.name}: {note}", file=sys.stderr)
