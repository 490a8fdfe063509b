"""Ctrl-C at moments that do no harm.

Python delivers it after whatever call it is in, so that what has been done by then, and what has
not, cannot be told: a kernel that has run may pass for one that has not.
"""

from __future__ import annotations

import threading
from _signal import SIGINT, getsignal, signal  # without enums, which take ten times as long
from types import FrameType, TracebackType
from typing import Any


class Undisturbed:
    """Inside, Ctrl-C waits for the next `pause`, or for the end.

    Only the main thread is ever interrupted, and only where Python has a handler: elsewhere this
    does nothing.
    """

    __slots__ = ("_handler", "_waiting")

    def __init__(self) -> None:
        self._handler: Any = None
        self._waiting: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> Undisturbed:
        if threading.current_thread() is threading.main_thread():
            handler = getsignal(SIGINT)
            if callable(handler):
                self._handler = handler
                signal(SIGINT, self._wait)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._handler is not None:
            signal(SIGINT, self._handler)
            self.pause()

    def pause(self) -> None:
        """Let Ctrl-C happen that came meanwhile. :raises KeyboardInterrupt: mostly."""
        if self._waiting is not None:
            arguments, self._waiting = self._waiting, None
            self._handler(*arguments)

    def _wait(self, number: int, frame: FrameType | None) -> None:
        self._waiting = number, frame
