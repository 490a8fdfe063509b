"""Search progress: show how far a search is.

On a terminal one line of stderr is redrawn, and the result of the search stays. Otherwise with
WEFT_DEBUG=1 a line for each round and one for the end; else nothing.

in: the events of a search    out: text on stderr
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.base.text import human_time

_BAR = 20  # characters
_EVERY = 0.1  # seconds between two drawings of the line
_CLEAR = "\r\x1b[K"


class Progress:
    """The progress of the search for one kernel.

    :param name: the kernel's.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.live = _is_terminal()
        self.verbose = settings.DEBUG >= 1
        self.started = perf_counter()
        self.round = self.of = self.built = self.ran = 0
        self.times = ""
        self._drawn = 0.0

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
        if self.live or self.verbose:
            took = f"{count} tried in {perf_counter() - self.started:.1f} s"
            self._line(f"{took}: {result}")
        if self.verbose:
            for note in notes:
                self._line(note)

    def _round(self) -> str:
        return f"round {self.round}" if self.round else "start"

    def _line(self, text: str) -> None:
        print(f"search {self.name}: {text}", file=sys.stderr, flush=True)

    def _draw(self, anyway: bool = False) -> None:
        if not self.live or not (anyway or perf_counter() > self._drawn + _EVERY):
            return
        self._drawn = perf_counter()
        done, of = self.built + self.ran, 2 * self.of  # each is built, then run
        filled = min(_BAR, _BAR * done // max(1, of))
        bar = "#" * filled + "." * (_BAR - filled)
        what = f"built {self.built}" if self.built < self.of else f"ran {self.ran}"
        text = f"search {self.name}: {self._round()} [{bar}] {what} of {self.of} {self.times}"
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
