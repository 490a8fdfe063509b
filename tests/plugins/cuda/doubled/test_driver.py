"""What is asked of the driver, by whichever package WEFT_CUDA_DRIVER names: the same of each."""

import ctypes
import gc
import os
import subprocess
import sys

import pytest

from weft import Tensor
from weft.device import registry
from weft.plugin import (
    BufferHints,
    CompiledProgram,
    DeviceError,
    Launch,
    LinearProgram,
    Ops,
    OutOfMemory,
    UOp,
    dtypes,
)
from weft_cuda import weft_compiler
from weft_cuda.bindings_only import KernelGraph, Loaded
from weft_cuda.driver import PROCESS, Parameters, find_driver
from weft_cuda.graph import LaunchGraph
from weft_cuda.renderer import CudaRenderer
from weft_cuda.runner import KernelRunner

MIB = 1 << 20


@pytest.fixture
def gpu():
    return registry.open("CUDA").device


def python(code, **environment):
    """What a process of its own prints, its complaints included."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def runner(gpu, body, pointers=1, threads=1):
    """A kernel of our own, loaded as if the core had made it."""
    slots = [UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(64), (), slot) for slot in range(pointers)]
    zero = UOp.const(dtypes.int, 0)
    uops = [*slots, zero, *(UOp(Ops.INDEX, slot.dtype, (slot, zero)) for slot in slots)]
    linear = LinearProgram.of("k", uops)
    names = ", ".join(f"int* p{slot}" for slot in range(pointers))
    source = f'extern "C" __global__ void __launch_bounds__({threads}) k({names}) {{ {body} }}'
    binary = weft_compiler(gpu).compile(source, "k")
    return KernelRunner(gpu.context, CompiledProgram("k", binary, source, linear))


def integers(gpu, handle, count=1):
    found = bytearray(4 * count)
    gpu.allocator.copy_out(memoryview(found), handle)
    return list(memoryview(found).cast("i"))


def test_the_chosen_package_answers():
    chosen = os.environ.get("WEFT_CUDA_DRIVER")
    assert find_driver().name == (chosen or find_driver().name)
    said = python("from weft_cuda.driver import find_driver; find_driver()", WEFT_CUDA_DRIVER="no")
    assert "DeviceUnavailable" in said and "WEFT_CUDA_DRIVER=no" in said


def test_pooled_memory_is_freed_for_other_sizes(gpu):
    allocator = gpu.allocator
    for size in (600 * MIB, 700 * MIB, 800 * MIB):  # of 1 GiB
        allocator.free(allocator.allocate(size, BufferHints()), size)
    with pytest.raises(OutOfMemory, match="no memory left"):
        allocator.allocate(1025 * MIB, BufferHints())


@pytest.mark.parametrize("peers", ["0", "1"])
def test_copies_between_gpus_whether_they_see_each_other_or_not(peers):
    code = (
        "from weft import Tensor; x = Tensor([1., 2., 3.], device='CUDA:1') * 2;"
        "print([(x.to('CUDA') + n).tolist() for n in range(3)])"
    )
    assert "[[2.0, 4.0, 6.0], [3.0, 5.0, 7.0], [4.0, 6.0, 8.0]]" in python(code, SIMT_PEERS=peers)


def test_resource_usage_of_a_kernel(gpu):
    context = gpu.context
    body = "__shared__ int t[32]; t[threadIdx.x] = 1; __syncthreads(); p0[0] = t[5];"
    function = runner(gpu, body, threads=32).function
    usage = context.usage(function)
    assert (usage.threads, usage.shared) == (32, 128)
    assert usage.registers > 0 and usage.spilled == 0
    assert context.blocks(function, 32, 0) == 32
    assert context.blocks(function, 32, 40 << 10) == 2
    with pytest.raises(DeviceError, match="shared memory"):
        context.allow_shared(function, 1 << 20)


def test_more_threads_than_a_kernel_was_made_for(gpu):
    kernel = runner(gpu, "p0[threadIdx.x] = 1;", threads=4)
    handle = gpu.allocator.allocate(64, BufferHints())
    with pytest.raises(DeviceError, match="LAUNCH_OUT_OF_RESOURCES") as caught:
        kernel([handle], local_size=(8, 1, 1))
    assert "fewer threads" in caught.value.try_


def test_more_shared_memory_than_a_source_may_declare(gpu):
    """Two arrays of 32 KiB: the launch allocates them, alone and in a graph."""
    count = 8192
    first, second = (
        UOp(Ops.DEFINE_LOCAL, dtypes.int.ptr(count, type(dtypes.int.ptr().space).LOCAL), (), name)
        for name in ("first", "second")
    )
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), (), 0)
    at = UOp.const(dtypes.int, count - 1)
    zero, value = UOp.const(dtypes.int, 0), UOp.const(dtypes.int, 41)
    stores = [first.index(at).store(value), second.index(zero).store(UOp.const(dtypes.int, 7))]
    load = first.index(at).load()
    stores.append(out.index(zero).store(load))
    uops = list(dict.fromkeys(u for store in stores for u in store.toposort()))
    linear = LinearProgram.of("k", uops)
    source = CudaRenderer().render(linear)
    assert "extern __shared__" in source
    binary = weft_compiler(gpu).compile(source, "k")
    kernel = KernelRunner(gpu.context, CompiledProgram("k", binary, source, linear))
    assert kernel.shared == 64 << 10
    handles = [gpu.allocator.allocate(16, BufferHints()) for _ in range(2)]
    kernel(handles[:1])
    graph = LaunchGraph.of(gpu.context, [Launch(kernel, (handles[1],), (1, 1, 1), (1, 1, 1))])
    graph([handles[1:]], [()], wait=True)
    assert [integers(gpu, handle) for handle in handles] == [[41], [41]]


class RecordingGraph:
    """A graph that records which launches are updated."""

    def __init__(self, graph):
        self.graph, self.numbers = graph, []

    def update(self, number, parameters):
        self.numbers.append(number)
        self.graph.update(number, parameters)

    def launch(self):
        self.graph.launch()


def test_only_changed_arguments_of_a_graph_are_updated(gpu):
    kernel = runner(gpu, "p0[0] = p1[0] + 1;", pointers=2)
    handles = [gpu.allocator.allocate(64, BufferHints()) for _ in range(4)]
    gpu.allocator.copy_in(handles[0], memoryview(bytearray(64)))
    a, b, c, d = handles
    sizes = (1, 1, 1), (1, 1, 1)
    graph = LaunchGraph.of(
        gpu.context, [Launch(kernel, (b, None), *sizes), Launch(kernel, (None, b), *sizes)]
    )
    told = graph._graph = RecordingGraph(graph._graph)
    given, result = graph.setter([(0, 1)]), graph.setter([(1, 0)])
    given(a)
    result(c)
    graph.launch()
    assert integers(gpu, c) == [2] and sorted(told.numbers) == [0, 1]
    told.numbers.clear()
    given(a)
    result(d)
    graph.launch()
    assert integers(gpu, d) == [2] and told.numbers == [1]
    assert graph([(b, d), (c, b)], [(), ()], wait=True) >= 0
    assert integers(gpu, c) == [4]


def test_code_is_given_back_with_its_kernel_and_not_before(gpu):
    count = ctypes.CDLL("libcuda.so.1").simt_unloaded
    handle = gpu.allocator.allocate(64, BufferHints())
    kernel = runner(gpu, "p0[0] = 7;")
    graph = LaunchGraph.of(gpu.context, [Launch(kernel, (handle,), (1, 1, 1), (1, 1, 1))])
    before = count()
    del kernel
    graph.launch()
    assert integers(gpu, handle) == [7]
    del graph
    assert count() > before
    kernel = runner(gpu, "p0[0] = 8;")
    kernel([handle])
    del kernel  # with the launch on its way
    assert integers(gpu, handle) == [8]


def test_a_launch_may_be_timed(gpu):
    kernel = runner(gpu, "p0[0] = 1;")
    handle = gpu.allocator.allocate(64, BufferHints())
    assert kernel([handle], wait=True) >= 0 and integers(gpu, handle) == [1]


def test_a_kernel_without_parameters_of_its_own_size_is_refused(gpu):
    kernel = runner(gpu, "p0[0] = p1[0];", pointers=2)
    short = Parameters(1)
    with pytest.raises((DeviceError, ValueError)):
        kernel._parameters.fill([1], [])
    if find_driver().name == "pycuda":  # which hands over all of them as one
        with pytest.raises(DeviceError, match="INVALID_VALUE"):
            gpu.context.launch(kernel.function, (1, 1, 1), (1, 1, 1), short)


def test_code_that_is_none(gpu):
    with pytest.raises(DeviceError, match="INVALID_IMAGE") as caught:
        gpu.context.load(b"nothing that could be run" * 9, "k")
    assert "loading kernel k" in caught.value.asked


@pytest.mark.skipif(find_driver().name != "pycuda", reason="cuda-bindings answers here")
def test_pycuda_alone_does_the_same_with_less():
    """No graphs, no allocation in stream order, and between GPUs by way of the host."""
    code = """
import sys
sys.modules["cuda.bindings"] = None
import numpy
from weft import Tensor, jit
from weft.device import registry

@jit
def step(x):
    doubled = (x * 2).contiguous()
    return (doubled + doubled.sum()).realize()

context = registry.open("CUDA").device.context
assert context.bindings_only is None and context.chip.pools and not context.pools
for turn in range(4):
    kept = step(Tensor([1.0, turn], device="CUDA").realize())
print(kept.tolist(), (kept.to("CUDA:1") + 1).tolist(), context.graph([]))
try:
    context.allocate(1 << 40)
except Exception as error:
    print(type(error).__name__, error.because)
"""
    said = python(code)
    assert said.startswith("[10.0, 14.0] [11.0, 15.0] None\nOutOfMemory"), said
    assert "CUDA_ERROR_OUT_OF_MEMORY" in said and said.count("\n") == 2


def test_how_full_a_multiprocessor_gets(gpu):
    kernel = runner(gpu, "p0[threadIdx.x] = 1;", threads=256)
    assert kernel.occupancy((256, 1, 1)) == 1.0
    assert kernel.occupancy((32, 1, 1)) == 0.5  # 32 blocks are the most, of 2048 threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX only")
def test_a_forked_process_gets_an_error():
    code = """
import os
from weft import Tensor
from weft.plugin import DeviceError
kept = (Tensor([1.0, 2.0], device="CUDA") + 1).realize()
child = os.fork()
if child == 0:
    try:
        kept.numpy()
    except DeviceError as error:
        print(error, flush=True)
    del kept
    os._exit(0)
os.waitpid(child, 0)
print(kept.tolist())
"""
    said = python(code)
    assert "forked" in said and "spawn" in said and "[2.0, 3.0]" in said
    assert "Traceback" not in said
    assert not PROCESS.forked


def test_nothing_is_said_when_a_program_ends():
    code = """
import threading
from weft import Tensor, jit

@jit
def step(x):
    doubled = (x * 2).contiguous()
    return (doubled + doubled.sum()).realize()

for turn in range(4):
    kept = step(Tensor([1.0, 2.0], device="CUDA").realize())
other = Tensor([1.0], device="CUDA:1").realize()
made = []
thread = threading.Thread(target=lambda: made.append(Tensor([3.0], device="CUDA").realize()))
thread.start()
thread.join()
# These die when modules are empty already.
import builtins
from weft.device import registry
builtins.kept = [kept, other, made, step, registry.open("CUDA"), registry.open("CUDA:1")]
print(kept.tolist())
"""
    assert python(code) == "[8.0, 10.0]\n"


def test_a_device_that_is_closed_opens_again():
    first = registry.open("CUDA:1").device
    handle = first.allocator.allocate(64, BufferHints())
    assert (Tensor([1.0], device="CUDA:1") + 1).tolist() == [2.0]
    registry.close("CUDA:1")
    with pytest.raises(DeviceError, match="closed"):
        first.synchronize()
    first.allocator.free(handle, 64)
    assert (Tensor([2.0], device="CUDA:1") + 1).tolist() == [3.0]
    assert registry.open("CUDA:1").device is not first


def test_objects_of_a_lost_context_are_freed_silently(gpu, monkeypatch):
    def lost(*_, **__):
        raise DeviceError("the GPU is lost")

    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    kernel, event = runner(gpu, "p0[0] = 1;"), gpu.context.event()
    kind = type(gpu.context)
    with monkeypatch.context() as patched:
        patched.setattr(kind, "within" if hasattr(kind, "within") else "_enter", lost)
        del kernel, event
        gc.collect()
    assert not said


def test_uninitialized_objects_are_freed_silently(gpu, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    for kind in (type(gpu.context.event()), KernelGraph, Loaded):
        if hasattr(kind, "__del__"):
            kind.__new__(kind)
    assert not said
