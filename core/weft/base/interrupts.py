"""Signal safety: defer signals during critical sections, and propagate exceptions of signal
handlers.

Python runs a signal handler in the main thread after any call, and its exception
(KeyboardInterrupt, a time limit of a test runner) is raised there. Then it is unknown which steps
are done: a kernel that ran may count as one that did not. Code that expects exceptions of a plugin
or a file may also take the exception of a handler for one of them.
"""

from __future__ import annotations

import threading
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import signal as _signal
    from signal import getsignal, signal
else:  # without enums, which take ten times as long
    import _signal
    from _signal import getsignal, signal

_NAMES = (
    "SIGINT", "SIGALRM", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGPROF", "SIGHUP",
    "SIGBREAK", "SIGQUIT", "SIGXCPU",
)  # fmt: skip
# those for which programs have handlers that raise, as far as the system has them
_NUMBERS = tuple(getattr(_signal, name) for name in _NAMES if hasattr(_signal, name))


class Undisturbed:
    """Inside, signals with handlers in Python wait for the next `pause`, or for the end.

    Only the main thread is ever interrupted, and only where Python has a handler: elsewhere this
    does nothing.
    """

    __slots__ = ("_handlers", "_waiting")

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._waiting: dict[int, FrameType | None] = {}

    def __enter__(self) -> Undisturbed:
        if threading.current_thread() is threading.main_thread():
            try:
                for number in _NUMBERS:
                    handler = getsignal(number)
                    if callable(handler):
                        self._handlers[number] = handler
                        signal(number, self._wait)
            except BaseException:  # of a handler that was not replaced yet
                self._restore()
                raise
        return self

    def __exit__(self, *exception: object) -> None:
        if self._handlers:
            handlers = dict(self._handlers)
            try:
                self._restore()
            except BaseException:  # of a handler that is there again
                self._restore()
                raise
            self._deliver(handlers)

    def _restore(self) -> None:
        while self._handlers:
            number = next(iter(self._handlers))
            signal(number, self._handlers[number])
            self._handlers.pop(number, None)

    def pause(self) -> None:
        """Let signals happen that came meanwhile. :raises KeyboardInterrupt: mostly."""
        if self._waiting:
            self._deliver(self._handlers)

    def _deliver(self, handlers: dict[int, Any]) -> None:
        while self._waiting:
            number = next(iter(self._waiting))
            handlers[number](number, self._waiting.pop(number))

    def _wait(self, number: int, frame: FrameType | None) -> None:
        self._waiting[number] = frame


def let_through(error: BaseException) -> None:
    """Raise `error` again if a signal handler raised it. Call it first in every `except` that takes
    exceptions of others (a plugin, a file, a foreign object) for a failure.

    :raises BaseException: what a signal handler in Python raised.
    """
    trace = error.__traceback__
    if trace is None or trace.tb_next is None:
        return  # raised by what was called, which is none of Python's functions
    codes = _handler_codes()
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            raise error
        trace = trace.tb_next


def _handler_codes() -> set[CodeType]:
    """The code of every handler in Python that is there."""
    found: set[CodeType] = set()
    for number in _NUMBERS:
        handler: Any = getsignal(number)
        owner = getattr(handler, "__self__", None)
        if isinstance(owner, Undisturbed):
            handler = owner._handlers.get(number)
        if callable(handler):
            function = getattr(handler, "__func__", handler)
            if not hasattr(function, "__code__"):
                function = vars(type(handler)).get("__call__")
            if isinstance(code := getattr(function, "__code__", None), CodeType):
                found.add(code)
    return found
