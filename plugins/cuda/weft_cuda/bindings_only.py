"""Driver functions that pycuda lacks, through cuda-bindings: stream-ordered allocation, peer
copies, graphs, occupancy.

Handles of contexts and streams are plain integers of either library. The context of the GPU must be
current in the calling thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cuda.bindings import driver as cuda

from weft.plugin import DeviceError, OutOfMemory
from weft_cuda.driver import ALREADY_FRIENDS, DEINITIALIZED, PROCESS, Node, Parameters, failure


def call(function: Callable[..., Any], *arguments: Any, doing: str = "") -> Any:
    """What a function gives besides its code. :raises DeviceError: if the code is not success."""
    code, *rest = function(*arguments)
    if code:
        raise failed(code, doing or function.__name__)
    return rest[0] if rest else None


def failed(code: Any, doing: str) -> Exception:
    """What to raise for a code."""
    text = cuda.cuGetErrorString(code)[1] or b"?"
    name = cuda.cuGetErrorName(code)[1] or str(int(code)).encode()
    return failure(int(code), name.decode(), text.decode(), doing)


class Loaded:
    """A function that can be launched. Its code is unloaded with the last reference.

    :param within: calls a function while the context is current.
    """

    __slots__ = ("_module", "_within", "function")
    _process = PROCESS

    def __init__(self, within: Callable[..., Any], binary: bytes, name: str) -> None:
        self._within = within
        load = partial(call, cuda.cuModuleLoadData, binary, doing=f"loading kernel {name}")
        self._module = within(load)
        arguments = self._module, name.encode()
        self.function = within(
            partial(call, cuda.cuModuleGetFunction, *arguments, doing=f"finding {name}")
        )

    def __del__(self) -> None:
        module = getattr(self, "_module", None)
        if module is not None and not self._process.over:
            try:
                # What is on its way is waited for by the driver.
                self._within(cuda.cuModuleUnload, module)
            except DeviceError:
                pass  # the context is gone, and the code with it


class BindingsOnly:
    """One GPU.

    :param ordinal: its number.
    :param context: handle.
    :param stream: handle.
    :param pools: whether it allocates in stream order.
    """

    def __init__(self, ordinal: int, context: int, stream: int, pools: bool) -> None:
        self.ordinal = ordinal
        self.device = call(cuda.cuDeviceGet, ordinal)
        self.context = cuda.CUcontext(context)
        self.stream = cuda.CUstream(stream)
        self._friends: set[int] = set()
        self.pool = call(cuda.cuDeviceGetDefaultMemPool, self.device) if pools else None
        if self.pool is not None:
            # What is freed is kept for the next allocation rather than given back at every wait.
            keep = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
            call(cuda.cuMemPoolSetAttribute, self.pool, keep, cuda.cuuint64_t((1 << 64) - 1))

    # ---- memory -----------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> int:
        """In stream order. The pool releases unused memory before an allocation fails.

        :raises OutOfMemory: if that is not enough either.
        """
        doing = f"{nbytes} bytes"
        try:
            return int(call(cuda.cuMemAllocAsync, nbytes, self.stream, doing=doing))
        except OutOfMemory:
            self.trim()
            return int(call(cuda.cuMemAllocAsync, nbytes, self.stream, doing=doing))

    def trim(self) -> None:
        """Give back what the pool keeps."""
        call(cuda.cuStreamSynchronize, self.stream, doing="waiting for the GPU")
        if self.pool is not None:
            call(cuda.cuMemPoolTrimTo, self.pool, 0)

    def free(self, address: int) -> None:
        """In stream order."""
        forgive(cuda.cuMemFreeAsync(address, self.stream)[0])

    def copy(self, dst: int, src: int, nbytes: int, source: BindingsOnly) -> None:
        """From the memory of another GPU; without the host, where they see each other."""
        self._befriend(source)
        call(
            cuda.cuMemcpyPeerAsync, dst, self.context, src, source.context, nbytes, self.stream,
            doing=f"{nbytes} bytes from GPU {source.ordinal} to GPU {self.ordinal}",
        )  # fmt: skip

    def _befriend(self, other: BindingsOnly) -> None:
        """This GPU may read the other's memory, if the hardware lets it."""
        if other.ordinal in self._friends:
            return
        if call(cuda.cuDeviceCanAccessPeer, self.device, other.device):
            (code,) = cuda.cuCtxEnablePeerAccess(other.context, 0)
            if code and int(code) != ALREADY_FRIENDS:
                raise failed(code, f"GPU {self.ordinal} reads GPU {other.ordinal}")
            if other.pool is not None:
                # Memory of a pool is opened by the pool's own rule.
                who = cuda.CUmemAccessDesc()
                who.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
                who.location.id = self.ordinal
                who.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                call(cuda.cuMemPoolSetAccess, other.pool, [who], 1)
        self._friends.add(other.ordinal)

    # ---- kernels ----------------------------------------------------------------------------

    @staticmethod
    def loaded(within: Callable[..., Any], binary: bytes, name: str) -> Loaded:
        """A function of this GPU; see `Loaded`."""
        return Loaded(within, binary, name)

    def allow_shared(self, kernel: Loaded, nbytes: int) -> None:
        """Let launches request so much dynamic shared memory."""
        most = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        doing = f"{nbytes} bytes of shared memory"
        call(cuda.cuFuncSetAttribute, kernel.function, most, nbytes, doing=doing)

    def blocks(self, kernel: Loaded, threads: int, shared: int) -> int:
        """How many blocks of it one multiprocessor runs at a time."""
        ask = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
        return int(call(ask, kernel.function, threads, shared))

    def graph(self, within: Callable[..., Any], nodes: Sequence[Node]) -> KernelGraph:
        """Launches bound into one; their functions are `Loaded`.

        :param within: calls a function while the context is current, for what is done later.
        """
        return KernelGraph(within, self.stream, nodes)


def forgive(code: Any) -> None:
    """At the end of the process the driver may be gone before the last buffer.

    :raises DeviceError: if something else went wrong.
    """
    if code and int(code) != DEINITIALIZED:
        raise failed(code, "freeing memory")


class KernelGraph:
    """A CUDA graph: a chain of kernels, since each may read what the one before it wrote."""

    _process = PROCESS

    def __init__(self, within: Callable[..., Any], stream: Any, nodes: Sequence[Node]) -> None:
        self._within, self._stream = within, stream
        self._kept = [node.function for node in nodes]
        self._graph = call(cuda.cuGraphCreate, 0)
        self._kinds = [_kind(node) for node in nodes]
        self._nodes: list[Any] = []
        for kind in self._kinds:
            before = self._nodes[-1:]
            self._nodes.append(
                call(cuda.cuGraphAddKernelNode, self._graph, before, len(before), kind)
            )
        self._ready = call(cuda.cuGraphInstantiate, self._graph, 0)

    def update(self, number: int, parameters: Parameters) -> None:
        """Give one of the kernels other parameters."""
        kind = self._kinds[number]
        kind.kernelParams = parameters.address
        change = cuda.cuGraphExecKernelNodeSetParams
        self._within(call, change, self._ready, self._nodes[number], kind)

    def launch(self) -> None:
        """Submit it."""
        self._within(call, cuda.cuGraphLaunch, self._ready, self._stream)

    def __del__(self) -> None:
        if self._process.over:
            return
        # It may have been made in part. The codes do not matter: the context may be gone already.
        ready, graph = self.__dict__.get("_ready"), self.__dict__.get("_graph")
        if ready is not None:
            cuda.cuGraphExecDestroy(ready)
        if graph is not None:
            cuda.cuGraphDestroy(graph)


def _kind(node: Node) -> Any:
    kind = cuda.CUDA_KERNEL_NODE_PARAMS()
    kind.func = node.function.function
    kind.gridDimX, kind.gridDimY, kind.gridDimZ = node.grid
    kind.blockDimX, kind.blockDimY, kind.blockDimZ = node.block
    kind.sharedMemBytes = node.shared
    kind.kernelParams = node.parameters.address
    return kind
