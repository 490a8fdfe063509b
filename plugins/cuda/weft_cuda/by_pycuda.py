"""The driver through pycuda, and through cuda-bindings for what pycuda lacks (see `bindings_only`).

Without cuda-bindings memory is not allocated in stream order, there are no graphs, and GPUs copy to
each other through the host; all else is the same.

pycuda keeps a stack of contexts for each thread, and ends the process if one is left on it when the
thread ends. A context is therefore pushed before each call and popped after it. Contexts of other
users of pycuda stay on the stack. A context that is not released before the process ends prints an
error: the plugin releases it at exit, after everything else.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy
import pycuda.driver as cuda

from weft.plugin import DeviceError, let_through
from weft_cuda.chip import Chip, read_chip
from weft_cuda.driver import (
    PROCESS,
    Context,
    Driver,
    Graph,
    Grid,
    Node,
    Parameters,
    Usage,
    closed,
    failure,
)

if TYPE_CHECKING:
    from weft_cuda.bindings_only import BindingsOnly

_NON_BLOCKING = 1  # a stream that does not wait for the one that has no name


class PycudaDriver:
    """The driver, started."""

    name = "pycuda"

    def __init__(self) -> None:
        cuda.init()

    def count(self) -> int:
        """GPUs that may be seen."""
        PROCESS.check()
        return int(cuda.Device.count())

    def open(self, ordinal: int) -> Context:
        """A GPU by its number."""
        return PycudaContext(ordinal)


def start() -> Driver:
    """The back end. :raises pycuda.driver.Error: if the driver does not start."""
    return PycudaDriver()


@cache
def _results() -> dict[str, tuple[int, str]]:
    """Code and name of each text that the driver has for a result: pycuda tells the text alone."""
    library: Any = None
    found: dict[str, tuple[int, str]] = {}
    for path in ("libcuda.so.1", "nvcuda.dll"):
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as error:
            let_through(error)
            continue
    text, name = ctypes.c_char_p(), ctypes.c_char_p()
    if library is None:
        return found
    for code in range(1, 1000):
        if library.cuGetErrorString(code, ctypes.byref(text)) == 0 and text.value:
            library.cuGetErrorName(code, ctypes.byref(name))
            found.setdefault(text.value.decode(), (code, (name.value or b"?").decode()))
    return found


def translated(error: Exception, doing: str) -> Exception:
    """What to raise for an error of pycuda's, whose message is "function failed: text"."""
    said = str(error).partition(" failed: ")[2]
    text = said.partition(" - ")[0]
    known = _results().get(text)
    if known is not None:
        return failure(*known, text, doing)
    if isinstance(error, cuda.MemoryError):
        return failure(2, "CUDA_ERROR_OUT_OF_MEMORY", str(error), doing)
    return DeviceError("the CUDA driver fails", asked=doing, because=str(error))


class _Held:
    """An object of pycuda, which must be freed while its context is current, in any thread."""

    def __init__(self, context: PycudaContext, thing: Any) -> None:
        self.context = context
        self.thing = thing

    def __del__(self) -> None:
        context = self.__dict__.get("context")
        if context is None or context.closed or context.process.over:
            return
        try:
            context.within(self._let_go)
        except DeviceError:
            pass  # the context is gone, and the thing with it

    def _let_go(self) -> None:
        del self.thing


class _Kernel(_Held):
    """A function with its module, and the same code as cuda-bindings knows it."""

    def __init__(self, context: PycudaContext, thing: Any, binary: bytes, name: str) -> None:
        super().__init__(context, thing)
        self.binary = binary
        self.name = name
        self.handle: Any = None


def _chip(device: Any) -> Chip:
    def ask(name: str) -> int:
        # A release of pycuda may not know an attribute that its driver has.
        attribute = getattr(cuda.device_attribute, name, None)
        return 0 if attribute is None else int(device.get_attribute(attribute))

    return read_chip(ask, device.name(), int(device.total_memory()))


def _bindings_only(ordinal: int, context: int, stream: int, pools: bool) -> BindingsOnly | None:
    try:
        found: Any = importlib.import_module("weft_cuda.bindings_only")
    except ImportError:
        return None
    made: BindingsOnly = found.BindingsOnly(ordinal, context, stream, pools)
    return made


class PycudaContext:
    """One GPU's primary context, which other libraries of this process share, and a stream."""

    process = PROCESS

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        device = cuda.Device(ordinal)
        self.chip = _chip(device)
        self.context = device.retain_primary_context()
        self.handle = int(self.context.handle)
        self._memory: dict[int, Any] = {}
        self._pinned: dict[int, Any] = {}
        self.closed = False
        atexit.register(_close_at_exit, weakref.ref(self))
        self.stream: Any = self.within(cuda.Stream, _NON_BLOCKING)
        self.bindings_only: BindingsOnly | None = self.within(
            _bindings_only, ordinal, self.handle, int(self.stream.handle), self.chip.pools
        )
        self.pools = self.chip.pools and self.bindings_only is not None

    def within(self, function: Callable[..., Any], *arguments: Any, doing: str = "") -> Any:
        """Call a function while the context is current. :raises DeviceError: if it fails."""
        PROCESS.check()
        if self.closed:
            raise closed(self.ordinal)
        try:
            self.context.push()
            try:
                return function(*arguments)
            finally:
                cuda.Context.pop()
        except cuda.Error as error:
            raise translated(error, doing or getattr(function, "__name__", "")) from None

    # ---- memory -----------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> int:
        if self.pools and self.bindings_only is not None:
            return int(self.within(self.bindings_only.allocate, nbytes))
        memory = self.within(cuda.mem_alloc, nbytes, doing=f"{nbytes} bytes")
        self._memory[int(memory)] = memory
        return int(memory)

    def free(self, address: int) -> None:
        if self.process.over or self.closed:
            return
        if self.pools and self.bindings_only is not None:
            self.within(self.bindings_only.free, address)
        else:
            self.within(self._memory.pop(address).free)

    def pinned(self, nbytes: int) -> int:
        flags = cuda.host_alloc_flags.PORTABLE
        doing = f"{nbytes} pinned bytes"
        array = self.within(cuda.pagelocked_empty, nbytes, numpy.uint8, "C", flags, doing=doing)
        self._pinned[array.ctypes.data] = array
        return int(array.ctypes.data)

    def free_pinned(self, address: int) -> None:
        self.within(self._pinned.pop(address).base.free)

    def to_device(self, dst: int, src: int, nbytes: int) -> None:
        self.within(cuda.memcpy_htod_async, dst, _bytes(src, nbytes), self.stream)

    def to_host(self, dst: int, src: int, nbytes: int) -> None:
        self.within(cuda.memcpy_dtoh_async, _bytes(dst, nbytes), src, self.stream)

    def copy(self, dst: int, src: int, nbytes: int, source: PycudaContext) -> bool:
        if source is self:
            self.within(cuda.memcpy_dtod_async, dst, src, nbytes, self.stream)
            return True
        # pycuda has a function for this, which takes no contexts but its current one.
        if self.bindings_only is None or source.bindings_only is None:
            return False
        # Two streams: this one starts when the other has made the bytes, and the other continues
        # (perhaps to overwrite them) when they have been read.
        self._after(source)
        self.within(self.bindings_only.copy, dst, src, nbytes, source.bindings_only)
        source._after(self)
        return True

    def _after(self, other: PycudaContext) -> None:
        """Later work of this stream waits for all earlier work of the other's."""
        event = other.event()
        other.record(event)
        self.within(lambda: self.stream.wait_for_event(event.thing))

    # ---- time -------------------------------------------------------------------------------

    def event(self) -> _Held:
        return _Held(self, self.within(cuda.Event))

    def record(self, event: _Held) -> None:
        self.within(event.thing.record, self.stream)

    def wait(self, event: _Held) -> None:
        self.within(event.thing.synchronize, doing="waiting for the GPU")

    def seconds(self, start: _Held, stop: _Held) -> float:
        return float(self.within(start.thing.time_till, stop.thing)) / 1000

    # ---- kernels ----------------------------------------------------------------------------

    def load(self, binary: bytes, name: str) -> _Kernel:
        function = self.within(_function_of, binary, name, doing=f"loading kernel {name}")
        return _Kernel(self, function, binary, name)

    def usage(self, function: _Kernel) -> Usage:
        attribute = cuda.function_attribute
        names = (
            attribute.MAX_THREADS_PER_BLOCK, attribute.NUM_REGS, attribute.LOCAL_SIZE_BYTES,
            attribute.SHARED_SIZE_BYTES,
        )  # fmt: skip
        return Usage(*(self.within(function.thing.get_attribute, name) for name in names))

    def allow_shared(self, function: _Kernel, nbytes: int) -> None:
        most = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        doing = f"{nbytes} bytes of shared memory"
        self.within(function.thing.set_attribute, most, nbytes, doing=doing)
        if function.handle is not None and self.bindings_only is not None:
            self.within(self.bindings_only.allow_shared, function.handle, nbytes)

    def blocks(self, function: _Kernel, threads: int, shared: int) -> int | None:
        if self.bindings_only is None:
            return None
        return int(self.within(self.bindings_only.blocks, self._handle(function), threads, shared))

    def _handle(self, function: _Kernel) -> Any:
        """pycuda keeps the driver's handle to itself, so that the code is loaded a second time."""
        if function.handle is None and self.bindings_only is not None:
            function.handle = self.bindings_only.loaded(self.within, function.binary, function.name)
            most = self.within(
                function.thing.get_attribute,
                cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES,
            )
            self.within(self.bindings_only.allow_shared, function.handle, most)
        return function.handle

    def launch(
        self, function: _Kernel, grid: Grid, block: Grid, parameters: Parameters, shared: int = 0
    ) -> None:
        PROCESS.check()
        try:
            self.context.push()
            try:
                function.thing._launch_kernel(grid, block, parameters.packed, shared, self.stream)
            finally:
                cuda.Context.pop()
        except cuda.Error as error:
            doing = f"a launch of {grid} blocks of {block} threads"
            raise translated(error, doing) from None

    def graph(self, nodes: Sequence[Node]) -> Graph | None:
        if self.bindings_only is None:
            return None
        own = [
            Node(self._handle(n.function), n.grid, n.block, n.parameters, n.shared) for n in nodes
        ]
        return self.within(self.bindings_only.graph, self.within, own)

    def synchronize(self) -> None:
        self.within(lambda: self.stream.synchronize(), doing="waiting for the GPU")

    def close(self) -> None:
        if PROCESS.forked or self.closed:
            return
        try:
            self.synchronize()
        finally:
            self.closed = True
            self.context.push()
            # They give back what they hold, and find their context current.
            self._memory.clear()
            self._pinned.clear()
            self.stream = None
            self.context.detach()


def _close_at_exit(context: weakref.ref[PycudaContext]) -> None:
    left = context()
    if left is not None:
        try:
            left.close()
        except DeviceError:
            pass  # a GPU that is lost cannot be waited for


def _function_of(binary: bytes, name: str) -> Any:
    return cuda.module_from_buffer(binary).get_function(name)  # which keeps its module


def _bytes(address: int, nbytes: int) -> Any:
    return (ctypes.c_char * nbytes).from_address(address)
