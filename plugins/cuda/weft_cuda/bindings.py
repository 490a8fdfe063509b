"""The driver through cuda-bindings: plain functions that return their result's code first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings import driver as cuda

from weft_cuda.bindings_only import BindingsOnly, KernelGraph, Loaded, call, failed, forgive
from weft_cuda.chip import Chip, read_chip
from weft_cuda.driver import PROCESS, Context, Driver, Grid, Node, Parameters, Usage, closed

_PORTABLE = 1  # pinned memory that every context may use
_NON_BLOCKING = 1  # a stream that does not wait for the one that has no name


class BindingsDriver:
    """The driver, started."""

    name = "bindings"

    def __init__(self) -> None:
        call(cuda.cuInit, 0)

    def count(self) -> int:
        """GPUs that may be seen."""
        PROCESS.check()
        return int(call(cuda.cuDeviceGetCount))

    def open(self, ordinal: int) -> Context:
        """A GPU by its number."""
        return BindingsContext(ordinal)


def start() -> Driver:
    """The back end. :raises DeviceError: if the driver does not start."""
    return BindingsDriver()


def _chip(device: Any) -> Chip:
    def ask(name: str) -> int:
        attribute = getattr(cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(call(cuda.cuDeviceGetAttribute, attribute, device))

    name = call(cuda.cuDeviceGetName, 256, device).split(b"\0")[0].decode(errors="replace")
    return read_chip(ask, name, int(call(cuda.cuDeviceTotalMem, device)))


class BindingsContext:
    """One GPU's primary context, which other libraries of this process share, and a stream."""

    _process = PROCESS

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.device = call(cuda.cuDeviceGet, ordinal)
        self.chip = _chip(self.device)
        self.handle = call(cuda.cuDevicePrimaryCtxRetain, self.device)
        self.closed = False
        self._enter()
        self.stream = call(cuda.cuStreamCreate, _NON_BLOCKING)
        self.bindings_only = BindingsOnly(
            ordinal, int(self.handle), int(self.stream), self.chip.pools
        )

    def _enter(self) -> None:
        """Make it current in this thread: earlier code may have left another context."""
        PROCESS.check()
        if self.closed:
            raise closed(self.ordinal)
        call(cuda.cuCtxSetCurrent, self.handle)

    def _within(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self._enter()
        return function(*arguments)

    # ---- memory -----------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> int:
        self._enter()
        if self.chip.pools:
            return self.bindings_only.allocate(nbytes)
        return int(call(cuda.cuMemAlloc, nbytes, doing=f"{nbytes} bytes"))

    def free(self, address: int) -> None:
        if self._process.over or self.closed:
            return  # the memory goes with the context
        (code,) = cuda.cuCtxSetCurrent(self.handle)
        if code:
            forgive(code)
        elif self.chip.pools:
            self.bindings_only.free(address)
        else:
            forgive(cuda.cuMemFree(address)[0])

    def pinned(self, nbytes: int) -> int:
        self._enter()
        return int(call(cuda.cuMemHostAlloc, nbytes, _PORTABLE, doing=f"{nbytes} pinned bytes"))

    def free_pinned(self, address: int) -> None:
        self._enter()
        call(cuda.cuMemFreeHost, address)

    def to_device(self, dst: int, src: int, nbytes: int) -> None:
        self._enter()
        call(cuda.cuMemcpyHtoDAsync, dst, src, nbytes, self.stream)

    def to_host(self, dst: int, src: int, nbytes: int) -> None:
        self._enter()
        call(cuda.cuMemcpyDtoHAsync, dst, src, nbytes, self.stream)

    def copy(self, dst: int, src: int, nbytes: int, source: BindingsContext) -> bool:
        self._enter()
        if source is self:
            call(cuda.cuMemcpyDtoDAsync, dst, src, nbytes, self.stream)
            return True
        # Two streams: this one starts when the other has made the bytes, and the other continues
        # (perhaps to overwrite them) when they have been read.
        self._after(source)
        self._enter()
        self.bindings_only.copy(dst, src, nbytes, source.bindings_only)
        source._after(self)
        return True

    def _after(self, other: BindingsContext) -> None:
        """Later work of this stream waits for all earlier work of the other's."""
        event = other.event()
        other.record(event)
        self._enter()
        call(cuda.cuStreamWaitEvent, self.stream, event, 0)
        call(cuda.cuEventDestroy, event)

    # ---- time -------------------------------------------------------------------------------

    def event(self) -> Any:
        self._enter()
        return call(cuda.cuEventCreate, 0)

    def record(self, event: Any) -> None:
        self._enter()
        call(cuda.cuEventRecord, event, self.stream)

    def wait(self, event: Any) -> None:
        self._enter()
        call(cuda.cuEventSynchronize, event, doing="waiting for the GPU")

    def seconds(self, start: Any, stop: Any) -> float:
        self._enter()
        return float(call(cuda.cuEventElapsedTime, start, stop)) / 1000

    # ---- kernels ----------------------------------------------------------------------------

    def load(self, binary: bytes, name: str) -> Loaded:
        return Loaded(self._within, binary, name)

    def usage(self, function: Loaded) -> Usage:
        def ask(name: str) -> int:
            attribute = getattr(cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
            return int(call(cuda.cuFuncGetAttribute, attribute, function.function))

        self._enter()
        names = "MAX_THREADS_PER_BLOCK", "NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES"
        return Usage(*map(ask, names))

    def allow_shared(self, function: Loaded, nbytes: int) -> None:
        self._enter()
        self.bindings_only.allow_shared(function, nbytes)

    def blocks(self, function: Loaded, threads: int, shared: int) -> int | None:
        self._enter()
        return self.bindings_only.blocks(function, threads, shared)

    def launch(
        self, function: Loaded, grid: Grid, block: Grid, parameters: Parameters, shared: int = 0
    ) -> None:
        self._enter()
        (code,) = cuda.cuLaunchKernel(
            function.function, *grid, *block, shared, self.stream, parameters.address, 0
        )
        if code:
            raise failed(code, f"a launch of {grid} blocks of {block} threads")

    def graph(self, nodes: Sequence[Node]) -> KernelGraph | None:
        self._enter()
        return self.bindings_only.graph(self._within, nodes)

    def synchronize(self) -> None:
        self._enter()
        call(cuda.cuStreamSynchronize, self.stream, doing="waiting for the GPU")

    def close(self) -> None:
        if PROCESS.forked or self.closed:
            return
        self.synchronize()
        self.closed = True
        call(cuda.cuStreamDestroy, self.stream)
        call(cuda.cuDevicePrimaryCtxRelease, self.device)
