"""Compiler processes: run a compiler, and return its output or an error that says how it ended."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from weft.plugin import CompileError, let_through

if TYPE_CHECKING:
    from subprocess import Popen

T = TypeVar("T")

SECONDS = 120.0
"""Most that one compilation may take."""
PROBE_SECONDS = 10.0
"""Most that all questions to one compiler may take when the device is opened."""


class TimedOut(CompileError):
    """The compiler did not end in time, and was ended."""


def run(command: tuple[str, ...], source: str = "", seconds: float = SECONDS) -> bytes:
    """Standard output of a compiler that is given `source`. What it writes to standard error does
    not matter where it succeeds.

    :raises TimedOut: if it has not ended after `seconds`; it is killed with its children.
    :raises CompileError: if it cannot be started, crashes, or fails; with its messages as `log`.
    """
    return run_with_messages(command, source, seconds)[0]


def run_with_messages(
    command: tuple[str, ...], source: str = "", seconds: float = SECONDS
) -> tuple[bytes, str]:
    """What `run` gives, and what the compiler writes to standard error.

    :raises TimedOut: if it has not ended after `seconds`; it is killed with its children.
    :raises CompileError: if it cannot be started, crashes, or fails; with its messages as `log`.
    """
    import subprocess  # where all is known nothing is run

    try:
        # In a session of its own: what it starts is ended with it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        let_through(error)
        raise CompileError(
            "the compiler cannot be run",
            asked=shlex.join(command),
            because=str(error),
            try_="set WEFT_CLANG to a clang that runs",
        ) from error
    with process:
        try:
            output, messages = process.communicate(source.encode(), max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            _kill(process)
            raise TimedOut(
                f"the compiler did not end within {seconds:.0f} s",
                asked=shlex.join(command),
                because="it was ended: it hangs, or has too much to do",
                try_="set WEFT_CLANG to another clang; WEFT_NOOPT=1 makes smaller kernels",
                source=source,
            ) from None
        except BaseException:  # Ctrl-C reaches this process only
            _kill(process)
            raise
    log = messages.decode(errors="replace")
    if process.returncode < 0:
        name = _signal_name(-process.returncode)
        raise CompileError(
            f"the compiler was ended by {name}",
            asked=shlex.join(command),
            because=log.strip() or f"it crashed, or another process sent it {name}",
            try_="set WEFT_CLANG to another clang; WEFT_NOOPT=1 makes other kernels",
            source=source,
            log=log,
        )
    if process.returncode:
        because = log.strip() or f"it ended with status {process.returncode} and no message"
        raise CompileError(
            "clang refuses", asked=shlex.join(command), because=because, source=source, log=log
        )
    return output, log


class Deadline:
    """Runs compilers that together may take `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def run(self, command: tuple[str, ...], source: str = "") -> bytes:
        """As `run`, within what is left."""
        return run(command, source, self._until - time.monotonic())


class Begun(threading.Thread, Generic[T]):
    """A call in a thread of its own: while one compiler runs another may."""

    def __init__(self, call: Callable[..., T], *arguments: Any) -> None:
        super().__init__(daemon=True)
        self._call, self._arguments = call, arguments
        self._result: T | None = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._result = self._call(*self._arguments)
        except BaseException as error:
            self._error = error

    def result(self) -> T:
        """What the call gave. :raises BaseException: what it raised."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


def _kill(process: Popen[bytes]) -> None:
    """End a process and all that it started in its session."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        process.kill()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
