"""Search progress: show how far a search is.

On a terminal one line of stderr is redrawn, and the result of the search stays. Elsewhere a search
that takes long prints a line now and then, and one for its end. With WEFT_DEBUG=1 there is a line
for each round.

in: the events of a search    out: text on stderr
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.base.text import human_time
from weft.engine.search_budget import Budget

_BAR = 20  # characters
_EVERY = 0.1  # seconds between two drawings of the line
_LINE_EVERY = 5.0  # seconds between two lines, and before the first, where there is no terminal
_CLEAR = "\r\x1b[K"


class Progress:
    """The progress of the search for one kernel.

    :param name: the kernel's.
    :param budget: the time limit of the search; by default it has none.
    """

    def __init__(self, name: str, budget: Budget | None = None) -> None:
        self.name = name
        self.budget = budget or Budget(0)
        self.live = _is_terminal()
        self.verbose = settings.DEBUG >= 1
        self.round = self.of = self.built = self.ran = 0
        self.times = ""
        self._drawn = 0.0
        self._printed = perf_counter()
        self._lines = 0

    def begin(self, number: int, of: int) -> None:
        """A round of so many plans begins."""
        if self.verbose and not self.live and self.ran:
            self._line(f"{self._round()}: {self.ran} tried, {self.times}")
        self.round, self.of, self.built, self.ran = number, of, 0, 0
        self._draw(anyway=True)

    def step_built(self) -> None:
        """Count a plan that was built, or failed to build."""
        self.built += 1
        self._draw()

    def step_ran(self, best: float, heuristic: float) -> None:
        """Count a plan that ran."""
        self.ran += 1
        self.times = f"best {human_time(best)}, heuristic {human_time(heuristic)}"
        self._draw()

    def end(self, count: int, result: str, notes: list[str]) -> None:
        """End the progress. count: the number of measured plans; result: a summary."""
        if self.live:
            print(_CLEAR, end="", file=sys.stderr)
        if self.live or self.verbose or self._lines:
            took = f"{count} tried in {self.budget.elapsed:.1f} s"
            self._line(f"{took}: {result}")
        if self.verbose:
            for note in notes:
                self._line(note)

    def _round(self) -> str:
        return f"round {self.round}" if self.round else "start"

    def _counts(self) -> str:
        return f"built {self.built}, ran {self.ran} of {self.of}"

    def _times(self) -> str:
        return f", {self.times}" if self.times else ""

    def _line(self, text: str) -> None:
        self._printed, self._lines = perf_counter(), self._lines + 1
        try:
            print(f"search {self.name}: {text}", file=sys.stderr, flush=True)
        except (AttributeError, OSError, ValueError) as error:  # there is none, or it is closed
            let_through(error)

    def _draw(self, anyway: bool = False) -> None:
        now = perf_counter()
        if not self.live:
            if now > self._printed + _LINE_EVERY:
                self._line(f"{self._round()}: {self._counts()}{self._times()}, {self.budget}")
            return
        if not (anyway or now > self._drawn + _EVERY):
            return
        self._drawn = now
        done, of = self.built + self.ran, 2 * self.of  # each is built, then run
        filled = min(_BAR, _BAR * done // max(1, of))
        bar = "#" * filled + "." * (_BAR - filled)
        text = f"search {self.name}: {self._round()} [{bar}] {self._counts()}{self._times()}"
        print(_CLEAR + text[: _columns() - 1], end="", file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _columns() -> int:
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError) as error:
        let_through(error)
        columns = 0
    return max(20, columns or 80)  # some terminals do not know how wide they are
