"""The plugin's host side on the test doubles: memory, copies, streams, launches, graphs, errors."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy
import pytest

from weft import Tensor, jit
from weft.device import registry
from weft.plugin import BufferHints, DeviceError, DeviceUnavailable, OutOfMemory
from weft_cuda.bindings_only import KernelGraph
from weft_cuda.driver import Parameters
from weft_cuda.staging import PIECE


@pytest.fixture
def gpu():
    return registry.open("CUDA").device


@pytest.fixture
def allocator(gpu):
    return gpu.allocator


def allocated(allocator, nbytes):
    return allocator.allocate(nbytes, BufferHints())


def bytes_of(count, seed=0):
    return numpy.random.default_rng(seed).integers(0, 256, count, numpy.uint8)


def out(allocator, handle, nbytes):
    found = numpy.zeros(nbytes, numpy.uint8)
    allocator.copy_out(memoryview(found), handle)
    return found


@pytest.mark.parametrize("nbytes", [1, 17, 4097, PIECE, PIECE + 1, 3 * PIECE + 5])
def test_copies_of_odd_sizes(allocator, nbytes):
    data, handle = bytes_of(nbytes), allocated(allocator, nbytes)
    allocator.copy_in(handle, memoryview(data))
    assert (out(allocator, handle, nbytes) == data).all()
    allocator.free(handle, nbytes)


def test_the_source_of_a_copy_may_change_at_once(allocator):
    data, handle = bytes_of(2 * PIECE), allocated(allocator, 2 * PIECE)
    kept = data.copy()
    allocator.copy_in(handle, memoryview(data))
    data[:] = 0
    assert (out(allocator, handle, data.size) == kept).all()


def test_copies_follow_each_other_through_the_same_pinned_memory(allocator):
    handles = [allocated(allocator, 100) for _ in range(9)]
    data = [bytes_of(100, seed) for seed in range(9)]
    for handle, part in zip(handles, data):
        allocator.copy_in(handle, memoryview(part))
    for handle, part in zip(handles, data):
        assert (out(allocator, handle, 100) == part).all()


def test_windows_share_bytes(allocator):
    data, handle = bytes_of(256), allocated(allocator, 256)
    allocator.copy_in(handle, memoryview(data))
    assert (out(allocator, allocator.view(handle, 48, 16), 16) == data[48:64]).all()


def test_more_than_there_is(allocator):
    with pytest.raises(OutOfMemory) as caught:
        allocated(allocator, 1 << 40)
    assert "CUDA_ERROR_OUT_OF_MEMORY" in caught.value.because


def test_memory_is_given_back(allocator):
    for _ in range(5):  # 5 times 300 MiB do not fit at once
        allocator.free(allocated(allocator, 300 << 20), 300 << 20)


@pytest.mark.parametrize("name", ["CUDA:2", "CUDA:99999999999"])
def test_there_is_no_such_gpu(name):
    with pytest.raises(DeviceUnavailable, match="no such GPU") as caught:
        registry.open(name)
    assert "finds 2" in caught.value.because


def test_limits_are_the_drivers(gpu):
    assert gpu.chip.arch == "sm_80"
    limits = gpu.capabilities.compute.limits
    assert limits.global_size == ((1 << 31) - 1, 65535, 65535)
    assert limits.local_threads == 1024 and limits.shared_bytes == 99 << 10
    chip = gpu.chip
    assert (chip.processors, chip.processor_threads, chip.warp) == (4, 2048, 32)
    assert gpu.capabilities.memory.max_allocation == 1 << 30


def test_layout_of_kernel_parameters():
    parameters = Parameters(2, "iqi")
    parameters.fill([11, 22], [3, 1 << 40, -5])
    places = (ctypes.c_uint64 * 5).from_address(parameters.address)
    read = [ctypes.c_uint64.from_address(places[i]).value for i in (0, 1)]
    assert read == [11, 22]
    assert ctypes.c_int.from_address(places[2]).value == 3
    assert ctypes.c_int64.from_address(places[3]).value == 1 << 40
    assert ctypes.c_int.from_address(places[4]).value == -5


def test_from_one_gpu_to_another_without_the_host():
    data = bytes_of(1000).astype(numpy.float32)
    there = Tensor(data, device="CUDA") * 2
    here = (there.to("CUDA:1") + 1).numpy()
    assert (here == data * 2 + 1).all()


def test_a_graph_takes_other_inputs(monkeypatch):
    @jit
    def step(x):
        # Two kernels: what is read twice is stored first.
        a = (x * 2).contiguous()
        return (a + a.sum()).realize()

    graphs = []
    made = KernelGraph.launch
    monkeypatch.setattr(KernelGraph, "launch", lambda graph: (graphs.append(graph), made(graph)))
    for seed in range(6):
        x = numpy.random.default_rng(seed).integers(0, 9, 32).astype(numpy.float32)
        assert (step(Tensor(x, device="CUDA").realize()).numpy() == x * 2 + (x * 2).sum()).all()
    assert len(graphs) >= 3 and len(set(graphs)) == 1


def test_events_tell_the_time_between_them(gpu):
    context = gpu.context
    start, stop = context.event(), context.event()
    context.record(start)
    context.record(stop)
    context.wait(stop)
    assert context.seconds(start, stop) >= 0


def test_from_other_threads():
    found = []

    def work(value):
        found.append((Tensor([value] * 4, device="CUDA") + 1).tolist())

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [[i + 1.0] * 4 for i in range(4)]


def test_a_block_that_is_too_large(gpu):
    from weft_cuda import weft_compiler

    source = 'extern "C" __global__ void k(int* a) { a[threadIdx.x] = 1; }'
    function = gpu.context.load(weft_compiler(gpu).compile(source, "k"), "k")
    parameters = Parameters(1)
    parameters.fill([0], [])
    with pytest.raises(DeviceError, match="INVALID_VALUE"):
        gpu.context.launch(function, (1, 1, 1), (2048, 1, 1), parameters)


def test_without_stream_ordered_allocation():
    code = (
        "from weft import Tensor; from weft.device import registry;"
        "assert not registry.open('CUDA').device.chip.pools;"
        "print((Tensor([1., 2.], device='CUDA') + 1).tolist())"
    )
    environment = {**os.environ, "SIMT_POOLS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == "[2.0, 3.0]", done.stderr
