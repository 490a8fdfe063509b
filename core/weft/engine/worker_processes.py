"""Worker processes: start helper processes at first use, send requests, enforce time limits.

A helper runs this Python with this weft and the current settings; it is no copy of the user's
program. A helper that crashes or exceeds its time limit is replaced, and the request fails.
"""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.engine.worker_main import read_message, write_message

if TYPE_CHECKING:
    import subprocess

T = TypeVar("T")
MODULE = "weft.engine.worker_main"
START_SECONDS = 60.0
MOST = 16
_LONGEST = 3600.0  # seconds: the largest time limit that clocks support
_MOMENT = 0.02
_MOST_PATIENCE = 8.0  # times as long as agreed upon
_QUIET = {"BEAM": 0, "DEBUG": 0, "VIZ": "", "PROCESS_REPLAY": "", "SPEC": 0, "TRACE_PLUGINS": 0}


class HelperFailed(Exception):
    """A helper did not answer; the message is the reason. lost: the process ended."""

    def __init__(self, because: str, lost: bool = False) -> None:
        super().__init__(because)
        self.lost = lost


class Helper:
    """One helper process with a device open.

    :param device: its device string.
    :param fingerprint: what its code must be keyed to.
    :param command: what is started; by default this Python with `helper_main`.
    """

    def __init__(self, device: str, fingerprint: str, command: Sequence[str] | None = None) -> None:
        self.device = device
        self.fingerprint = fingerprint
        # -P: a file of the user's must not be taken for a module of ours
        self.command = list(command or (sys.executable or "python3", "-P", "-m", MODULE))
        self.refuses = False
        self._lives = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[Any] = queue.Queue()

    @property
    def life(self) -> int | None:
        """The number of its current process, from 1 on; None if there is none. A new process has no
        state of the earlier one."""
        return None if self._process is None else self._lives

    def ask(self, *question: Any, seconds: float) -> Any:
        """The answer to one request. :raises HelperFailed: if it refuses, crashes or is too slow.

        seconds: the time limit on an idle machine.
        """
        self.ready()
        return self._ask(question, seconds)

    def ready(self) -> None:
        """Start a process, unless one runs. :raises HelperFailed: if it cannot open the device."""
        if self._process is None:
            if self.refuses:
                raise HelperFailed("interrupted", lost=True)
            self._start()

    def _ask(self, question: tuple[Any, ...], seconds: float) -> Any:
        process = self._process
        assert process is not None and process.stdin is not None
        seconds = seconds * time_limit_factor()
        seconds = seconds if 0 <= seconds <= _LONGEST else _LONGEST  # not for one that is no number
        try:
            write_message(process.stdin, question)  # type: ignore[arg-type]
            verdict, value = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            raise HelperFailed(f"no answer within {seconds:.1f} s", lost=True) from None
        except OSError as error:
            let_through(error)
            verdict, value = "died", None
        except BaseException:  # an interrupt: its answer would be taken for that to the next
            self.stop()
            raise
        if verdict == "died":
            code = process.poll()
            self.stop()
            raise HelperFailed(_death(code), lost=True)
        if verdict != "ok":
            raise HelperFailed(str(value))
        return value

    def _start(self) -> None:
        import subprocess

        try:
            self._process = subprocess.Popen(
                self.command, env=environment_of_helpers(), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            let_through(error)
            raise HelperFailed(f"no process can be started: {error}", lost=True) from error
        self._lives += 1
        self._answers = queue.Queue()
        reader = threading.Thread(target=_read, args=(self._process, self._answers), daemon=True)
        reader.start()
        try:
            found = self._ask(("open", self.device), START_SECONDS)
        except HelperFailed:
            self.stop()
            raise
        if found != self.fingerprint:
            self.stop()
            raise HelperFailed(f"{self.device} is another device there")

    def stop(self) -> None:
        """End the process; the next question starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError as error:  # unwritten data for a process that has ended
                        let_through(error)


def environment_of_helpers() -> dict[str, str]:
    """The environment in which a helper finds this weft and has the current settings."""
    folder = str(Path(__file__).resolve().parents[2])
    present = {row.name: getattr(settings, row.name) for row in settings.table()}
    changes: Any = {**present, **_QUIET}
    environment = settings.environment(**changes)
    paths = [folder, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return environment


def _read(process: subprocess.Popen[bytes], answers: queue.Queue[Any]) -> None:
    try:
        while True:
            answers.put(read_message(process.stdout))  # type: ignore[arg-type]
    except Exception:  # the end, or what was left of an answer
        process.wait()
        answers.put(("died", None))


def time_limit_factor() -> float:
    """The factor of time limits on a loaded machine, so that a slow kernel does not count as one
    that hangs."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError) as error:  # a system that does not count
        let_through(error)
        return 1.0
    return min(_MOST_PATIENCE, max(1.0, load / (os.cpu_count() or 1)))


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        return f"the process died by signal {-code}"
    return f"the process ended with code {code}"


class Helpers:
    """The helper processes of one device.

    :param parallel: whether its compiler may run in several of them at once.
    """

    def __init__(self, device: str, fingerprint: str, parallel: bool) -> None:
        count = min(MOST, os.cpu_count() or 1) if parallel else 1
        self.all = [Helper(device, fingerprint) for _ in range(count)]
        self.process = os.getpid()

    @property
    def first(self) -> Helper:
        """The helper that runs kernels, one at a time and without other work beside it."""
        return self.all[0]

    def spread(self, work: Callable[[Helper, Any], T], things: Iterable[Any]) -> Iterator[T]:
        """`work(helper, thing)` for all things, on all helpers at once; answers in order."""
        from concurrent.futures import ThreadPoolExecutor

        free: queue.Queue[Helper] = queue.Queue()
        for helper in self.all:
            free.put(helper)

        def run(thing: Any) -> T:
            helper = free.get()
            try:
                return work(helper, thing)
            finally:
                free.put(helper)

        with ThreadPoolExecutor(len(self.all)) as pool:
            given = [pool.submit(run, thing) for thing in things]
            try:
                for one in given:
                    yield one.result()
            except BaseException:  # an interrupt does not wait for what is still to be done
                pool.shutdown(wait=False, cancel_futures=True)
                for helper in self.all:
                    helper.refuses = True  # to start a process in the place of one that is ended
                self.stop()
                while not all(one.done() for one in given):
                    time.sleep(_MOMENT)
                    self.stop()  # what was just about to start
                raise
            finally:
                for helper in self.all:
                    helper.refuses = False

    def stop(self) -> None:
        """End all processes."""
        for helper in self.all:
            helper.stop()


_running: dict[tuple[str, str], Helpers] = {}


def helpers_for(device: str, fingerprint: str, parallel: bool) -> Helpers:
    """The helpers of this process for a device; they stay for the next kernel."""
    found = _running.get((device, fingerprint))
    if found is None or found.process != os.getpid():  # a forked child has none
        found = _running[device, fingerprint] = Helpers(device, fingerprint, parallel)
    return found


@atexit.register
def stop_helpers() -> None:
    """End every helper of this process."""
    for helpers in list(_running.values()):
        if helpers.process == os.getpid():
            helpers.stop()
    _running.clear()
