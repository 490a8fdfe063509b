"""A progress bar: rich's, on a terminal, imported when it is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Progress(Generic[T]):
    """Iterate and show how far it is: a bar on standard error where that is a terminal and rich is
    installed, else nothing.

    :param iterable: what is iterated over.
    :param description: a word before the bar.
    :param total: how many there are; None: its length, if it has one.

    >>> bar = data.Progress(range(3), "counting")
    >>> for number in bar:
    ...     bar.note(f"at {number}")
    """

    def __init__(
        self, iterable: Iterable[T], description: str = "", total: int | None = None
    ) -> None:
        self._iterable, self._description = iterable, description
        self._total, self._note = total, ""
        self._bar: Any = None
        self._task: Any = None

    def note(self, text: str) -> None:
        """Show a text behind the bar: the loss, say."""
        self._note = text
        if self._bar is not None:
            self._bar.update(self._task, note=text)

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[T]:
        total = self._total
        if total is None:
            try:
                total = len(self._iterable)  # type: ignore[arg-type]
            except (TypeError, NotImplementedError):
                total = None
        self._bar = _rich_bar()
        if self._bar is None:
            yield from self._iterable
            return
        with self._bar as bar:
            self._task = bar.add_task(self._description, total=total, note=self._note)
            try:
                for each in self._iterable:
                    yield each
                    bar.advance(self._task)
            finally:
                self._bar = None


def _rich_bar() -> Any:
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress
    except ImportError:
        return None
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    return RichProgress(*columns, console=Console(stderr=True))
