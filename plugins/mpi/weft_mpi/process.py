"""This process in its MPI program: its rank, its communicators, and what it waits for.

MPI starts at the first call of `current`. Every rank makes that call, and compares there what it
runs: versions of weft, of the plugins and of Python, the byte order. It gives all ranks one seed,
and meshes the devices of all ranks. An uncaught exception ends all ranks from then on.
"""

from __future__ import annotations

import atexit
import os
import platform
import signal
import sys
import traceback
from collections import Counter
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from threading import current_thread
from time import monotonic, sleep, time_ns
from typing import TYPE_CHECKING, Any, NoReturn, cast

from weft.plugin import DeviceUnavailable, let_through, set_mesh_devices, settings
from weft_mpi.recovery import is_enabled, is_loss, lost_ranks, peer_lost
from weft_mpi.watcher import Wait, Watcher

if TYPE_CHECKING:
    from types import TracebackType

    from weft_mpi.planned_rank import PlannedProcess

CHUNK = 1 << 30
"""The most bytes of one message."""


class Process:
    """One rank.

    :ivar rank: its number. size: how many there are.
    :ivar values: the communicator for values; `control` is the one for all else.
    :ivar places: by rank, what names the processes of its machine, and its process there.
    """

    planned: PlannedProcess | None = None

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.survives = is_enabled()
        self._join(mpi.COMM_WORLD)

    def _join(self, world: Any) -> None:
        """Be a rank of this communicator."""
        self.world = world
        self.rank: int = world.Get_rank()
        self.size: int = world.Get_size()
        self.values = world.Dup()
        self.control = world.Dup()
        self.groups: dict[tuple[int, ...], Any] = {tuple(range(self.size)): self.values}
        self.entered = 0
        self.begun: Counter[str] = Counter()
        self.waits_for: Wait | None = None
        self.places: list[tuple[str, int]] = world.allgather((_process_namespace(), os.getpid()))
        self.watcher = Watcher(self, world.Dup()) if self.size > 1 else None

    def shrink(self) -> None:
        """Be a rank of a program without those that are lost; see `recovery.shrink`."""
        self._revoke()
        if self.watcher is not None:
            self.watcher.stop(tells=False)
        self._join(self.world.Shrink())
        _set_mesh(self.size)

    def lost(self, error: Exception, what: str) -> Exception:
        """The error for a call of MPI that failed: `PeerLost` where a rank has ended."""
        if not (self.survives and is_loss(self.mpi, error)):
            return error
        self._revoke()
        found, until = lost_ranks(self.mpi, self.world), monotonic() + 1
        while not found and monotonic() < until:  # another rank saw it first
            sleep(0.01)
            found = lost_ranks(self.mpi, self.world)
        return peer_lost(found, what)

    def check_lost(self, error: Exception, what: str) -> None:
        """:raises PeerLost: if a call of MPI failed because a rank has ended."""
        let_through(error)
        found = self.lost(error, what)
        if found is not error:
            raise found from error

    def _revoke(self) -> None:
        """End the exchanges that others wait for: not all of them see a loss themselves."""
        for communicator in (self.control, *self.groups.values()):
            if not communicator.Is_revoked():
                communicator.Revoke()

    @property
    def library(self) -> str:
        """The name and version of the MPI library."""
        vendor, version = self.mpi.get_vendor()
        return f"{vendor} {'.'.join(map(str, version))}"

    def waiting(self, what: str, ranks: tuple[int, ...] | None = None) -> Waiting:
        """Note what this rank waits for, so that others can be told.

        ranks: those that take part, all by default. They note the same text.
        """
        return Waiting(self, self.wait_of(what, ranks or tuple(range(self.size))))

    def waiting_for(self, wait: Wait) -> Waiting:
        """Wait for what this rank takes part in since `wait_of`."""
        number, what, ranks, _, begun, turn = wait
        return Waiting(self, Wait(number, what, ranks, monotonic(), begun, turn))

    def wait_of(self, what: str, ranks: tuple[int, ...]) -> Wait:
        """Take part in what this rank will wait for."""
        self.entered += 1
        self.begun[what] += 1
        return Wait(self.entered, what, ranks, monotonic(), self.begun, self.begun[what])

    def group(self, ranks: tuple[int, ...]) -> Any:
        """The communicator of some ranks, which all of them ask for, in their order."""
        known = self.groups.get(ranks)
        if known is None:
            members = self.values.Get_group().Incl(ranks)
            with self.waiting(f"a communicator of the ranks {ranks}", ranks):
                known = self.groups[ranks] = self.values.Create_group(members)
        return known

    def send(self, memory: memoryview, rank: int) -> None:
        """Send bytes to a rank, which receives as many."""
        with self.waiting(_message(memory, self.rank, rank), (self.rank, rank)):
            for start in range(0, memory.nbytes, CHUNK):
                self.values.Send([memory[start : start + CHUNK], self.mpi.BYTE], rank)

    def receive(self, memory: memoryview, rank: int) -> None:
        """Fill memory with what a rank sends."""
        with self.waiting(_message(memory, rank, self.rank), (self.rank, rank)):
            for start in range(0, memory.nbytes, CHUNK):
                self.values.Recv([memory[start : start + CHUNK], self.mpi.BYTE], rank)

    def all_digests(self, digest: bytes) -> list[bytes]:
        """The digest of the schedule that each rank is about to run."""
        size = len(digest)
        found = bytearray(size * self.size)
        with self.waiting("the schedules of the other ranks"):
            self.control.Allgather([digest, size, self.mpi.BYTE], [found, size, self.mpi.BYTE])
        return [bytes(found[start : start + size]) for start in range(0, len(found), size)]

    def all_objects(self, value: Any, what: str) -> list[Any]:
        """The value that each rank gives."""
        with self.waiting(what):
            return self.control.allgather(value)

    def fail(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Print an exception that ends this rank, and end the others with it."""
        self.end("".join(traceback.format_exception(kind, error, trace)))

    def end(self, text: str) -> NoReturn:
        """End all ranks with the reason that this one has."""
        print(f"weft-mpi: rank {self.rank} of {self.size} failed:\n{text}", file=sys.stderr)
        sys.stderr.flush()
        if self.watcher is not None:
            if self.survives:  # MPI tells the others of a process that was killed only
                os.kill(os.getpid(), signal.SIGKILL)
            self.watcher.report(text)
        os._exit(1)

    def close(self) -> None:
        """Tell the other ranks that this program has ended."""
        if self.watcher is not None:
            self.watcher.stop()


class Waiting:
    """A context in which a rank waits. The error of a call of MPI becomes that of `Process.lost`.

    It is a class since each exchange enters one: a generator takes several times as long.
    """

    __slots__ = ("process", "wait")

    def __init__(self, process: Process, wait: Wait) -> None:
        self.process, self.wait = process, wait

    def __enter__(self) -> None:
        self.process.waits_for = self.wait

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        self.process.waits_for = None
        if isinstance(error, Exception):
            self.process.check_lost(error, self.wait.what)


def _process_namespace() -> str:
    """What is equal for processes that see each other; the machine's name where it is unknown."""
    try:
        space = os.readlink("/proc/self/ns/pid")
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text()} {space}"
    except OSError as error:
        let_through(error)
        return f"{platform.node()} {os.getpid()}"


def _message(memory: memoryview, source: int, target: int) -> str:
    return f"a message of {memory.nbytes} bytes from rank {source} to rank {target}"


_planned: PlannedProcess | None = None


def act_as(process: PlannedProcess | None) -> None:
    """Be a planned rank from now on; None: be a rank of MPI."""
    global _planned
    _planned = process
    _set_mesh(0 if process is None else process.size)


def _set_mesh(size: int) -> None:
    """Make meshes of the devices of all ranks."""
    set_mesh_devices([f"MPI:{rank}" for rank in range(size)])


def current() -> Process:
    """This process; starts MPI at the first call, unless this is a planned rank.

    :raises DeviceUnavailable: if there is no MPI, or the ranks do not run the same versions.
    """
    return _started() if _planned is None else cast("Process", _planned)


@cache
def _started() -> Process:
    if current_thread().name == Watcher.NAME:
        raise RuntimeError("the watcher does not start MPI")
    process = Process(_library())
    atexit.register(process.close)
    _check_equal(process)
    if process.size > 1:
        seed = settings.SEED if settings.SEED >= 0 else time_ns() & 0xFFFFFFFF
        settings.SEED = process.control.bcast(seed)
        sys.excepthook = process.fail
    _set_mesh(process.size)
    return process


def _library() -> Any:
    """The module of MPI, started."""
    if is_enabled():
        # MPI_Finalize waits for all ranks, sometimes for those that are lost too. Here the watcher
        # has waited for the others already.
        os.environ.setdefault("OMPI_MCA_async_mpi_finalize", "1")
    try:
        from mpi4py import MPI
    except Exception as error:
        let_through(error)
        raise DeviceUnavailable(
            "MPI does not start here",
            asked="a device of family MPI",
            because=str(error),
            try_='pip install "weft-mpi[runtime]" brings Open MPI; with an MPI of the machine, '
            "install mpi4py for it",
        ) from error
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise DeviceUnavailable(
            "this MPI serves one thread only",
            asked="a device of family MPI",
            because="faults of other ranks are watched for in a thread of its own",
            try_="an MPI library with MPI_THREAD_MULTIPLE, such as Open MPI",
        )
    return MPI


def description() -> dict[str, str]:
    """What has to be equal on all ranks."""
    known = {
        f"package {found.metadata['Name']}": found.version
        for found in distributions()
        if str(found.metadata["Name"]).startswith("weft")
    }
    known["byte order"] = sys.byteorder
    known["Python"] = ".".join(platform.python_version_tuple()[:2])
    return known


def _check_equal(process: Process) -> None:
    """:raises DeviceUnavailable: if a rank runs other versions than rank 0."""
    if process.size == 1:
        return
    first, *others = process.all_objects(description(), "the versions of the other ranks")
    for rank, other in enumerate(others, 1):
        for name in sorted(first.keys() | other.keys()):
            if first.get(name) != other.get(name):
                raise DeviceUnavailable(
                    "the ranks of this program do not run the same versions",
                    asked=f"{process.size} ranks",
                    because=f"{name} is {first.get(name, 'missing')} on rank 0 and "
                    f"{other.get(name, 'missing')} on rank {rank}",
                    try_="install the same packages on every machine",
                )
