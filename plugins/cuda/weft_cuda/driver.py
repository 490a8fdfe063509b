"""Driver interface: the functions of the CUDA driver that weft uses, and who implements them.

`by_pycuda` implements it with pycuda, `bindings` with cuda-bindings. Another back end is a module
with a function ``start`` and a row in `BACKENDS`; ``WEFT_CUDA_DRIVER`` selects one, otherwise the
first that works is used.

Addresses, of the device's memory and of the host's, are plain integers. All work that can be
asynchronous is in one stream per device and runs in order; the host waits in `wait` and
`synchronize`.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from weft.plugin import DeviceError, DeviceUnavailable, OutOfMemory, let_through
from weft_cuda.chip import Chip

Grid = tuple[int, int, int]

OUT_OF_MEMORY = 2
DEINITIALIZED = 4
ALREADY_FRIENDS = 704
_LOST = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719})
"""After these (illegal address, timeout, assertion, ...) nothing works until the process ends."""
_TOO_LARGE = 701


class Parameters:
    """The parameters of one kernel as the driver wants them: pointers, then variables.

    :param pointers: how many buffers.
    :param values: of the variables, as `struct` spells their types, such as ``"iq"``.
    """

    def __init__(self, pointers: int, values: str = "") -> None:
        self._format = f"@{values}"
        self._start = 8 * pointers
        self.memory = ctypes.create_string_buffer(
            max(8, self._start + struct.calcsize(self._format))
        )
        self.pointers = (ctypes.c_uint64 * pointers).from_buffer(self.memory)
        size = self._start + struct.calcsize(self._format)
        self.packed = memoryview(self.memory).cast("B")[:size]
        """All of them as a structure."""
        base = ctypes.addressof(self.memory)
        places = [base + 8 * i for i in range(pointers)]
        for i in range(len(values)):
            end = struct.calcsize(f"@{values[: i + 1]}")
            places.append(base + self._start + end - struct.calcsize(values[i]))
        self._places = (ctypes.c_uint64 * max(1, len(places)))(*places)
        self.address = ctypes.addressof(self._places)
        """The address of an array with the address of each parameter."""

    def fill(self, addresses: Sequence[int], values: Sequence[int]) -> None:
        """Set all of them."""
        self.pointers[:] = addresses
        struct.pack_into(self._format, self.memory, self._start, *values)


@dataclass(frozen=True)
class Node:
    """A launch in a graph.

    :param function: what `Context.load` gave.
    :param shared: bytes of shared memory beyond what the kernel declares.
    """

    function: Any
    grid: Grid
    block: Grid
    parameters: Parameters
    shared: int = 0


@dataclass(frozen=True)
class Usage:
    """The resources of a loaded kernel.

    :param threads: how many a block may have, with the registers that each of them needs.
    :param registers: of one thread.
    :param spilled: bytes of a thread that found no register.
    :param shared: bytes that the kernel declares.
    """

    threads: int
    registers: int
    spilled: int
    shared: int


class Graph(Protocol):
    """Kernels bound into one submission."""

    def update(self, number: int, parameters: Parameters) -> None:
        """Give one of them other parameters."""

    def launch(self) -> None:
        """Submit it."""


class Context(Protocol):
    """One GPU, opened, with one stream."""

    chip: Chip
    ordinal: int

    def allocate(self, nbytes: int) -> int:
        """Device memory. :raises OutOfMemory: if there is none."""
        ...

    def free(self, address: int) -> None:
        """Take it back, once all work so far is done."""

    def pinned(self, nbytes: int) -> int:
        """Host memory that the device copies from and to by itself."""
        ...

    def free_pinned(self, address: int) -> None:
        """Take that back."""

    def to_device(self, dst: int, src: int, nbytes: int) -> None:
        """Copy from pinned memory, in stream order."""

    def to_host(self, dst: int, src: int, nbytes: int) -> None:
        """Copy to pinned memory, in stream order."""

    def copy(self, dst: int, src: int, nbytes: int, source: Any) -> bool:
        """Copy from device memory of `source`, a context of the same back end, in the order of both
        streams; False if this back end cannot."""
        ...

    def event(self) -> Any:
        """A new event."""

    def record(self, event: Any) -> None:
        """The event is reached when all work so far is done."""

    def wait(self, event: Any) -> None:
        """Wait on the host until it is reached."""

    def seconds(self, start: Any, stop: Any) -> float:
        """Between two that are reached."""
        ...

    def load(self, binary: bytes, name: str) -> Any:
        """A function that can be launched, with what keeps it."""

    def usage(self, function: Any) -> Usage:
        """What a function takes."""
        ...

    def allow_shared(self, function: Any, nbytes: int) -> None:
        """Let launches request so much dynamic shared memory."""

    def blocks(self, function: Any, threads: int, shared: int) -> int | None:
        """How many blocks one multiprocessor runs at a time; None if this back end cannot tell."""

    def launch(
        self, function: Any, grid: Grid, block: Grid, parameters: Parameters, shared: int = 0
    ) -> None:
        """Run it, in stream order; the parameters may be changed when this returns."""

    def graph(self, nodes: Sequence[Node]) -> Graph | None:
        """Bind launches into one submission, in order; None if this back end cannot."""

    def synchronize(self) -> None:
        """Wait until all work so far is done."""

    def close(self) -> None:
        """Give everything back."""


class Driver(Protocol):
    """A back end."""

    name: str

    def count(self) -> int:
        """How many GPUs there are."""
        ...

    def open(self, ordinal: int) -> Context:
        """Open one."""
        ...


def failure(code: int, name: str, text: str, doing: str) -> Exception:
    """What to raise for a result of the driver."""
    because = f"{name}: {text}"
    if code == OUT_OF_MEMORY:
        return OutOfMemory(
            "the GPU has no memory left",
            asked=doing,
            because=because,
            try_="free tensors that are no longer needed, or work in smaller pieces",
        )
    hint = None
    if code in _LOST:
        hint = "a kernel that ran before this failed; the process must be started anew"
    elif code == _TOO_LARGE:
        hint = "a launch with fewer threads in a block, or less shared memory"
    return DeviceError("the CUDA driver fails", asked=doing, because=because, try_=hint)


def closed(ordinal: int) -> Exception:
    """What to raise for a GPU that was closed."""
    return DeviceError(
        "the GPU is closed",
        asked=f"GPU {ordinal}",
        because="its memory went with it",
        try_="tensors made after it is opened again",
    )


class _Process:
    """Whether this process may use the driver: its state does not survive a fork.

    :ivar over: the interpreter is ending, and nothing needs to be freed. Destructors keep a
        reference to this object, since module globals may be deleted then.
    """

    def __init__(self) -> None:
        self.forked = self.over = False
        self._watched = False

    def watch(self) -> None:
        """From now on a fork has no GPU."""
        if not self._watched:
            self._watched = True
            atexit.register(self._end)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self._lose)

    def _end(self) -> None:
        self.over = True

    def _lose(self) -> None:
        self.forked = self.over = True

    def check(self) -> None:
        """:raises DeviceError: in a fork of the process that opened the GPU."""
        if self.forked:
            raise DeviceError(
                "this process cannot use the GPU",
                asked="the CUDA driver",
                because="it was forked from one that had started it, which the driver forbids",
                try_="multiprocessing.get_context('spawn'), or open the GPU after the fork only",
            )


PROCESS = _Process()

BACKENDS = {"pycuda": "weft_cuda.by_pycuda", "bindings": "weft_cuda.bindings"}
"""By name, the best first."""


def find_driver() -> Driver:
    """The first back end that works.

    :raises DeviceUnavailable: if there is none, with what was tried.
    """
    chosen = os.environ.get("WEFT_CUDA_DRIVER")
    names = [chosen] if chosen else list(BACKENDS)
    reasons = [] if _library_loads() else ["libcuda.so.1 cannot be loaded: no NVIDIA driver here"]
    for name in () if reasons else names:
        if name not in BACKENDS:
            reasons.append(f"WEFT_CUDA_DRIVER={name}: there are {', '.join(BACKENDS)}")
            continue
        try:
            driver: Driver = importlib.import_module(BACKENDS[name]).start()
            if driver.count():
                PROCESS.watch()
                return driver
            reasons.append(f"{name}: the driver finds no GPU")
        # Whatever a driver's package raises, of its own kinds too, it is no reason to stop.
        except Exception as error:
            let_through(error)
            reasons.append(f"{name}: {error}")
    raise DeviceUnavailable(
        "there is no NVIDIA GPU to be used",
        asked="the CUDA driver",
        because="\n".join(reasons),
        try_="install NVIDIA's driver, and: pip install 'weft-cuda[driver]'",
    )


@cache
def driver_of_process() -> Driver:
    """The back end of this process. :raises DeviceUnavailable: if there is none."""
    return find_driver()


def _library_loads() -> bool:
    """Whether there is a driver at all: quicker to find out than to import a package for it."""
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError as error:
            let_through(error)
            continue
    return False
