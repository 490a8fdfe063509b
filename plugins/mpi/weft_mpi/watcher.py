"""Fault watching: end all ranks, with the reason, when one of them fails, stops or is waited for.
Also: failure detection, heartbeat.

A thread in each rank exchanges short messages with those of the other ranks. A rank that raises
sends its traceback. A rank whose process has stopped sends no heartbeat. A rank that waits too long
asks the others where they are. The thread works while the program is inside a call of MPI.

Source: Chandra and Toueg, "Unreliable Failure Detectors for Reliable Distributed Systems", Journal
of the ACM 43, 1996.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event, Thread, main_thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.plugin import ArgumentError, let_through
from weft_mpi.recovery import is_loss, lost_ranks

if TYPE_CHECKING:
    from weft_mpi.process import Process

PERIOD = 0.2
HEARTBEAT = 1.0
SILENCE = 4.0
"""Seconds without a heartbeat after which a rank counts as stopped. Seconds in which this process
does not run either do not count, nor does a process of the same machine that could run: a machine
that is busy has no fault."""
GRACE = 1.5
"""Seconds that a rank waits before it says so."""
LAST_WORDS = 0.8
"""Seconds between a fault and the end of a rank, in which the others print it too."""


def time_limit() -> float:
    """Seconds that a rank may wait for others: `WEFT_MPI_TIMEOUT`, 60 by default.

    :raises ArgumentError: if that is no number.
    """
    text = os.environ.get("WEFT_MPI_TIMEOUT", "60")
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(
            "a time limit is a number of seconds",
            asked=f"WEFT_MPI_TIMEOUT={text!r}",
            try_="WEFT_MPI_TIMEOUT=60",
        ) from None


class Wait(NamedTuple):
    """What a rank waits for.

    :ivar number: counts the waits of this rank. ranks: those that take part. since: in seconds.
    :ivar begun: how often this rank has begun to take part in each of all that it takes part in.
    :ivar turn: how often it had begun with this one then. It may have begun with others since.
    """

    number: int
    what: str
    ranks: tuple[int, ...]
    since: float
    begun: Mapping[str, int]
    turn: int


class Watcher:
    """The thread that watches over one rank. It starts when it is made."""

    NAME = "weft-mpi-watcher"

    def __init__(self, process: Process, channel: Any) -> None:
        self.process = process
        self.channel = channel
        self.limit = time_limit()
        self.ended: dict[int, float] = {}
        self.states: dict[int, Wait | None] = {}
        self.asked = False
        self.told: Wait | None = None
        self.sent: list[Any] = []
        self.before = (process.rank - 1) % process.size
        self.after = (process.rank + 1) % process.size
        (own, _), (there, number) = (process.places[r] for r in (process.rank, self.before))
        self.neighbour = number if own == there else None
        self.silence = 0.0
        self.last_beat = 0.0
        self.stopping = Event()
        self.thread = Thread(target=self._watch, name=self.NAME, daemon=True)
        self.thread.start()

    # ---- the program's side ---------------------------------------------------------------------

    def stop(self, tells: bool = True) -> None:
        """Tell the others that this rank's program has ended, wait for theirs, end the thread.

        tells: False ends the thread only.
        """
        if tells and self.thread.is_alive():
            self._tell_all("ended", None)
        while tells and self.thread.is_alive() and len(self.ended) < self.process.size - 1:
            sleep(PERIOD / 4)
        self.stopping.set()
        self.thread.join()

    def report(self, text: str) -> None:
        """Tell the others that this rank fails, and end the program.

        text: the traceback.
        """
        self.stopping.set()
        self._tell_all("failed", text)
        sleep(LAST_WORDS)
        self.process.mpi.COMM_WORLD.Abort(1)

    # ---- the thread -----------------------------------------------------------------------------

    def _watch(self) -> None:
        try:
            self._exchange_messages()
        except Exception as error:
            let_through(error)
            if not (self.process.survives and is_loss(self.process.mpi, error)):
                raise

    def _exchange_messages(self) -> None:
        """Go on until the program ends, or until a rank is lost that others outlive."""
        before = monotonic()
        while not self.stopping.wait(PERIOD):
            now = monotonic()
            self.silence += min(now - before, 2 * PERIOD)
            before = now
            if self.process.survives and lost_ranks(self.process.mpi, self.channel):
                return
            if now - self.last_beat >= HEARTBEAT:
                self._send(self.after, "beat", None)
                self.last_beat = now
            while self.channel.iprobe():
                status = self.process.mpi.Status()
                kind, value = self.channel.recv(status=status)
                self._handle(status.Get_source(), kind, value)
            self._check(monotonic())

    def _handle(self, rank: int, kind: str, value: Any) -> None:
        if rank == self.before:
            self.silence = 0.0
        if kind == "failed":
            self._end(f"rank {rank} of {self.process.size} failed:\n{value}")
        elif kind == "ended":
            self.ended[rank] = monotonic()
        elif kind == "waits":
            self.states[rank] = value
        elif kind == "where":
            waits = self.process.waits_for
            where = f"waits for {waits.what}" if waits else "computes"
            self._send(rank, "here", f"{where}\n{_stack_of_main_thread()}")
        elif kind == "here" and self.asked:
            waits = self.process.waits_for
            if waits is not None and not value.startswith("waits"):
                self._end(
                    f"rank {self.process.rank} has waited {self.limit:.0f} s for {waits.what}; "
                    f"rank {rank} does not answer: it {value}"
                )

    def _check(self, now: float) -> None:
        if self.silence > SILENCE and not can_run(self.neighbour):
            self._fault(
                f"rank {self.before} of {self.process.size} has stopped: "
                f"no sign of life for {SILENCE:.0f} s"
            )
        waits = self.process.waits_for
        if waits is None or now - waits.since < GRACE:
            if self.told is not None:
                self.told, self.asked = None, False
                self._tell_all("waits", None)
            return
        what, since = waits.what, waits.since
        if self.told != waits:
            self.told = waits
            self._tell_all("waits", waits)
        gone = [r for r, when in self.ended.items() if now - when > GRACE and r in waits.ranks]
        if gone:
            self._fault(
                f"rank {self.process.rank} waits for {what}, but the program of rank {gone[0]} "
                "has ended"
            )
        self._check_deadlock(now)
        if now - since > self.limit and not self.asked:
            self.asked = True
            self._tell_all("where", None)
        if now - since > self.limit + 2 * GRACE:
            self._fault(f"rank {self.process.rank} has waited {now - since:.0f} s for {what}")

    def _check_deadlock(self, now: float) -> None:
        """Report ranks that wait for each other, after some time in which none goes on."""
        states = [self.states.get(rank) for rank in range(self.process.size)]
        states[self.process.rank] = self.told
        if not is_deadlock(states):
            self.stuck_since = None
            return
        if self.stuck_since is None or self.stuck_states != states:
            self.stuck_since, self.stuck_states = now, states
        elif now - self.stuck_since > GRACE:
            lines = (
                f"  rank {r} waits for {state.what}" for r, state in enumerate(states) if state
            )
            self._fault(
                "the ranks wait for each other: their programs differ\n"
                + "\n".join(lines)
                + f"\nrank {self.process.rank} is here:\n{_stack_of_main_thread()}"
            )

    stuck_since: float | None = None
    stuck_states: list[Any] | None = None

    def _fault(self, text: str) -> None:
        """End this rank, and the others with the same reason."""
        self._tell_all("failed", f"{text}\n(found by rank {self.process.rank})")
        self._end(text)

    def _end(self, text: str) -> None:
        print(f"weft-mpi: rank {self.process.rank} ends: {text}", file=sys.stderr, flush=True)
        sleep(LAST_WORDS)
        self.process.mpi.COMM_WORLD.Abort(1)
        os._exit(1)

    def _tell_all(self, kind: str, value: Any) -> None:
        for rank in range(self.process.size):
            if rank != self.process.rank:
                self._send(rank, kind, value)

    def _send(self, rank: int, kind: str, value: Any) -> None:
        try:
            self.sent = [request for request in self.sent if not request.Test()]
            self.sent.append(self.channel.isend((kind, value), rank))
        except Exception as error:  # a rank that is gone gets no message
            let_through(error)


def can_run(process: int | None) -> bool:
    """Whether a process of this machine is neither stopped nor ended; False where that is unknown.

    process: its number; None for one of another machine.
    """
    if process is None:
        return False
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError as error:
        let_through(error)
        return False
    return status.rpartition(")")[2].split()[0] in "RSDI"  # see proc(5)


def is_deadlock(states: Sequence[Wait | None]) -> bool:
    """Whether no rank can go on, given what each of them waits for: none waits for an exchange that
    all its ranks have begun. Some of these may have left it already."""
    waiting = [state for state in states if state is not None]
    if len(waiting) < len(states):
        return False
    return not any(
        all(waiting[r].begun.get(one.what, 0) >= one.turn for r in one.ranks) for one in waiting
    )


def _stack_of_main_thread() -> str:
    """Where the program of this rank is."""
    frame = sys._current_frames().get(main_thread().ident or 0)
    return "".join(traceback.format_stack(frame)) if frame is not None else "(no program)"
