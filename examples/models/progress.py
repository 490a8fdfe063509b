"""A progress bar: rich's where rich is installed, else one of our own on one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

WIDTH = 30


class Progress:
    """Steps of a known number, with a word or two next to the bar.

    with Progress("learning", 100) as bar:
        bar.step("loss 0.3")
    """

    def __init__(self, what: str, steps: int) -> None:
        self.what, self.steps, self.done, self.said = what, steps, 0, ""
        self._began, self._rich = perf_counter(), _rich_bar()

    def __enter__(self) -> Progress:
        if self._rich is not None:
            self._rich.start()
            self._task = self._rich.add_task(self.what, total=self.steps, said="")
        return self

    def __exit__(self, *exception: object) -> None:
        if self._rich is not None:
            self._rich.stop()
        elif sys.stderr.isatty():
            print(file=sys.stderr)
        if exception[0] is None:
            seconds = perf_counter() - self._began
            print(f"{self.what}: {self.done} steps in {seconds:.1f} s   {self.said}", flush=True)

    def step(self, said: str = "") -> None:
        """One more is done."""
        self.done, self.said = self.done + 1, said
        if self._rich is not None:
            self._rich.update(self._task, advance=1, said=said)
        elif sys.stderr.isatty():
            full = "#" * (WIDTH * self.done // max(self.steps, 1))
            print(f"\r{self.what} [{full:<{WIDTH}}] {said:<20}", end="", file=sys.stderr)


def steps(what: str, count: int) -> Iterator[tuple[int, Progress]]:
    """(number, bar) for each of `count` steps; call `bar.step` in each."""
    with Progress(what, count) as bar:
        for number in range(count):
            yield number, bar


def _rich_bar() -> Any:
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        return None
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"), TimeRemainingColumn(),
    )  # fmt: skip
    return RichProgress(*columns, console=Console(stderr=True), transient=True)
