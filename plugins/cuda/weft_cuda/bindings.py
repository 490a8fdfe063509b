"""The driver by way of cuda-bindings: plain functions that return their result's code first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings import driver as cuda

from weft_cuda.chip import Chip, architecture
from weft_cuda.driver import DEINITIALIZED, Context, Driver, Graph, Grid, Parameters, failure

_ATTRIBUTE = cuda.CUdevice_attribute
_PORTABLE = 1  # pinned memory that every context may use
_NON_BLOCKING = 1  # a stream that does not wait for the one that has no name


def _call(function: Callable[..., Any], *arguments: Any, doing: str = "") -> Any:
    """What a function gives besides its code. :raises DeviceError: if the code is not success."""
    code, *rest = function(*arguments)
    if code:
        raise _failure(code, doing or function.__name__)
    return rest[0] if rest else None


def _failure(code: Any, doing: str) -> Exception:
    text = cuda.cuGetErrorString(code)[1] or b"?"
    name = cuda.cuGetErrorName(code)[1] or str(int(code)).encode()
    return failure(int(code), name.decode(), text.decode(), doing)


class BindingsDriver:
    """The driver, started."""

    name = "bindings"

    def __init__(self) -> None:
        _call(cuda.cuInit, 0)

    def count(self) -> int:
        """GPUs that may be seen."""
        return int(_call(cuda.cuDeviceGetCount))

    def open(self, ordinal: int) -> Context:
        """A GPU by its number."""
        return BindingsContext(ordinal)


def start() -> Driver:
    """The back end. :raises DeviceError: if the driver does not start."""
    return BindingsDriver()


def read_chip(device: Any) -> Chip:
    """What the driver says of a GPU."""

    def ask(name: str) -> int:
        attribute = getattr(_ATTRIBUTE, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(_call(cuda.cuDeviceGetAttribute, attribute, device))

    name = _call(cuda.cuDeviceGetName, 256, device)
    return Chip(
        arch=architecture(ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR")),
        name=name.split(b"\0")[0].decode(errors="replace"),
        block_threads=ask("MAX_THREADS_PER_BLOCK"),
        block=(ask("MAX_BLOCK_DIM_X"), ask("MAX_BLOCK_DIM_Y"), ask("MAX_BLOCK_DIM_Z")),
        grid=(ask("MAX_GRID_DIM_X"), ask("MAX_GRID_DIM_Y"), ask("MAX_GRID_DIM_Z")),
        shared_bytes=ask("MAX_SHARED_MEMORY_PER_BLOCK"),
        registers=ask("MAX_REGISTERS_PER_BLOCK"),
        memory_bytes=int(_call(cuda.cuDeviceTotalMem, device)),
        pools=bool(ask("MEMORY_POOLS_SUPPORTED")),
    )


class BindingsContext:
    """One GPU's primary context, which other libraries of this process share, and a stream."""

    _current = threading.local()

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.device = _call(cuda.cuDeviceGet, ordinal)
        self.chip = read_chip(self.device)
        self.handle = _call(cuda.cuDevicePrimaryCtxRetain, self.device)
        self._enter()
        self.stream = _call(cuda.cuStreamCreate, _NON_BLOCKING)
        if self.chip.pools:
            # What is freed is kept for the next allocation rather than given back at every wait.
            pool = _call(cuda.cuDeviceGetDefaultMemPool, self.device)
            keep = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
            _call(cuda.cuMemPoolSetAttribute, pool, keep, cuda.cuuint64_t((1 << 64) - 1))

    def _enter(self) -> None:
        """A context is current in a thread, and some other may be in this one."""
        if getattr(self._current, "context", None) is not self:
            _call(cuda.cuCtxSetCurrent, self.handle)
            self._current.context = self

    # ---- memory -----------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> int:
        self._enter()
        doing = f"{nbytes} bytes"
        if self.chip.pools:
            return int(_call(cuda.cuMemAllocAsync, nbytes, self.stream, doing=doing))
        return int(_call(cuda.cuMemAlloc, nbytes, doing=doing))

    def free(self, address: int) -> None:
        self._enter()
        pooled = self.chip.pools
        code = (cuda.cuMemFreeAsync(address, self.stream) if pooled else cuda.cuMemFree(address))[0]
        # At the end of the process the driver may be gone before the last buffer.
        if code and int(code) != DEINITIALIZED:
            raise _failure(code, "freeing memory")

    def pinned(self, nbytes: int) -> int:
        self._enter()
        return int(_call(cuda.cuMemHostAlloc, nbytes, _PORTABLE, doing=f"{nbytes} pinned bytes"))

    def free_pinned(self, address: int) -> None:
        self._enter()
        _call(cuda.cuMemFreeHost, address)

    def to_device(self, dst: int, src: int, nbytes: int) -> None:
        self._enter()
        _call(cuda.cuMemcpyHtoDAsync, dst, src, nbytes, self.stream)

    def to_host(self, dst: int, src: int, nbytes: int) -> None:
        self._enter()
        _call(cuda.cuMemcpyDtoHAsync, dst, src, nbytes, self.stream)

    def copy(self, dst: int, src: int, nbytes: int, source: BindingsContext) -> None:
        self._enter()
        if source is self:
            _call(cuda.cuMemcpyDtoDAsync, dst, src, nbytes, self.stream)
            return
        # Two streams: this one starts when the other has made the bytes, and the other goes on
        # (perhaps to overwrite them) when they have been read.
        self._after(source)
        self._enter()
        _call(
            cuda.cuMemcpyPeerAsync, dst, self.handle, src, source.handle, nbytes, self.stream,
            doing=f"{nbytes} bytes from GPU {source.ordinal} to GPU {self.ordinal}",
        )  # fmt: skip
        source._after(self)

    def _after(self, other: BindingsContext) -> None:
        """What is put into this stream from now on waits for all that is in the other's."""
        event = other.event()
        other.record(event)
        self._enter()
        _call(cuda.cuStreamWaitEvent, self.stream, event, 0)
        _call(cuda.cuEventDestroy, event)

    # ---- time -------------------------------------------------------------------------------

    def event(self) -> Any:
        self._enter()
        return _call(cuda.cuEventCreate, 0)

    def record(self, event: Any) -> None:
        self._enter()
        _call(cuda.cuEventRecord, event, self.stream)

    def wait(self, event: Any) -> None:
        self._enter()
        _call(cuda.cuEventSynchronize, event, doing="waiting for the GPU")

    def seconds(self, start: Any, stop: Any) -> float:
        self._enter()
        return float(_call(cuda.cuEventElapsedTime, start, stop)) / 1000

    # ---- kernels ----------------------------------------------------------------------------

    def load(self, binary: bytes, name: str) -> Any:
        self._enter()
        module = _call(cuda.cuModuleLoadData, binary, doing=f"loading kernel {name}")
        return _call(cuda.cuModuleGetFunction, module, name.encode(), doing=f"finding {name}")

    def launch(self, function: Any, grid: Grid, block: Grid, parameters: Parameters) -> None:
        self._enter()
        (code,) = cuda.cuLaunchKernel(
            function, *grid, *block, 0, self.stream, parameters.address, 0
        )
        if code:
            raise _failure(code, f"a launch of {grid} blocks of {block} threads")

    def graph(self, nodes: Sequence[tuple[Any, Grid, Grid, Parameters]]) -> Graph | None:
        self._enter()
        return BindingsGraph(self, nodes)

    def synchronize(self) -> None:
        self._enter()
        _call(cuda.cuStreamSynchronize, self.stream, doing="waiting for the GPU")

    def close(self) -> None:
        self._enter()
        _call(cuda.cuStreamSynchronize, self.stream)
        _call(cuda.cuStreamDestroy, self.stream)
        self._current.context = None
        _call(cuda.cuDevicePrimaryCtxRelease, self.device)


class BindingsGraph:
    """A CUDA graph: a chain of kernels, since each may read what the one before it wrote."""

    def __init__(
        self, context: BindingsContext, nodes: Sequence[tuple[Any, Grid, Grid, Parameters]]
    ) -> None:
        self._context = context
        self._graph = _call(cuda.cuGraphCreate, 0)
        self._kinds = [_node(*node) for node in nodes]
        self._nodes: list[Any] = []
        for kind in self._kinds:
            before = self._nodes[-1:]
            self._nodes.append(
                _call(cuda.cuGraphAddKernelNode, self._graph, before, len(before), kind)
            )
        self._ready = _call(cuda.cuGraphInstantiate, self._graph, 0)

    def update(self, number: int, parameters: Parameters) -> None:
        kind = self._kinds[number]
        kind.kernelParams = parameters.address
        self._context._enter()
        _call(cuda.cuGraphExecKernelNodeSetParams, self._ready, self._nodes[number], kind)

    def launch(self) -> None:
        self._context._enter()
        _call(cuda.cuGraphLaunch, self._ready, self._context.stream)

    def __del__(self) -> None:
        ready = self.__dict__.get("_ready")
        if ready is not None:
            # The codes do not matter: the driver may be gone already.
            cuda.cuGraphExecDestroy(ready)
            cuda.cuGraphDestroy(self._graph)


def _node(function: Any, grid: Grid, block: Grid, parameters: Parameters) -> Any:
    kind = cuda.CUDA_KERNEL_NODE_PARAMS()
    kind.func = function
    kind.gridDimX, kind.gridDimY, kind.gridDimZ = grid
    kind.blockDimX, kind.blockDimY, kind.blockDimZ = block
    kind.kernelParams = parameters.address
    return kind
