"""The host side on the framework's double: opening, memory, launching, waiting, failing."""

from __future__ import annotations

import mmap
import subprocess
import sys

import numpy
import pytest

import weft_metal
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.plugin import (
    CapabilityError,
    CompiledProgram,
    CompileError,
    DeviceError,
    DeviceId,
    DeviceUnavailable,
    LinearProgram,
    OutOfMemory,
)
from weft.testing.conformance.programs import Builder
from weft.uop import UOp


def adding(number=1, size=4, name="adds", variable=False):
    """data0[i] = data0[i] + number, or + a variable."""
    b = Builder()
    out = b.argument(0, dtypes.int32, size)
    addend = UOp.variable("n", 0, 100) if variable else UOp.const(dtypes.int32, number)
    at = b.loop(size, 0)
    b.store(out, at, b.load(out, at) + addend)
    b.end(at)
    return LinearProgram.of(name, b.nodes)


def loaded(gpu, program):
    source = weft_metal.weft_renderer().render(program)
    binary = weft_metal.weft_compiler(gpu).compile(source, program.name)
    return weft_metal.weft_runner(gpu, CompiledProgram(program.name, binary, source, program))


def memory(gpu, *numbers):
    allocator = weft_metal.weft_allocator(gpu)
    data = numpy.array(numbers, dtype=numpy.int32).tobytes()
    handle = allocator.allocate(len(data), None)
    allocator.copy_in(handle, memoryview(data))
    return allocator, handle


def numbers(allocator, handle):
    out = bytearray(handle.nbytes)
    allocator.copy_out(memoryview(out), handle)
    return numpy.frombuffer(out, dtype=numpy.int32).tolist()


def test_importing_loads_nothing_native():
    code = "import sys, weft_metal; print({'Metal', 'objc', 'ctypes'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "set()", done.stderr


def test_it_says_why_it_does_not_open(no_framework, monkeypatch):
    with pytest.raises(DeviceUnavailable) as caught:
        weft_metal.weft_open(DeviceId("METAL"))
    if sys.platform != "darwin":
        assert "macOS" in str(caught.value) and "offline" in caught.value.try_
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(DeviceUnavailable) as caught:
        weft_metal.weft_open(DeviceId("METAL"))
    assert caught.value.try_ == "pip install pyobjc-framework-Metal"


def test_capabilities_of_the_gpu(gpu):
    caps = gpu.capabilities
    assert caps.name == "Double M2" and "apple8" in caps.fingerprint
    assert caps.compute.limits.local_threads == 1024 and caps.compute.limits.shared_bytes == 32768
    assert caps.memory.max_allocation == 1 << 30
    assert caps.compute.warp_size == 32 and len(caps.compute.tensor_cores) == 3


def test_older_systems_have_no_bfloat(framework, monkeypatch):
    monkeypatch.setattr("platform.mac_ver", lambda: ("13.6", ("", "", ""), ""))
    compute = weft_metal.weft_open(DeviceId("METAL")).capabilities.compute
    assert dtypes.bfloat16 not in compute.dtypes and len(compute.tensor_cores) == 2
    monkeypatch.setattr("platform.mac_ver", lambda: ("14.0", ("", "", ""), ""))
    assert dtypes.bfloat16 in weft_metal.weft_open(DeviceId("METAL")).capabilities.compute.dtypes


def test_all_entries_of_the_argument_table(gpu):
    """As many buffers as are declared, and a variable besides: there is no entry more."""
    count = gpu.capabilities.compute.limits.max_buffers
    b = Builder()
    out, total = b.argument(0, dtypes.int32, 4), UOp.variable("n", 0, 100)
    b.add(total)
    for slot in range(1, count):
        total = b.add(total + b.load(b.argument(slot, dtypes.int32, 4), 0))
    b.store(out, 0, total)
    run, (allocator, target) = loaded(gpu, LinearProgram.of("many", b.nodes)), memory(gpu, 0)
    others = [memory(gpu, slot)[1] for slot in range(1, count)]
    run([target, *others], values=[1000])
    assert numbers(allocator, target) == [1000 + sum(range(1, count))] and count == 30


def test_the_second_gpu_and_no_third(framework):
    assert weft_metal.weft_open(DeviceId("METAL", "1")).capabilities.name == "Double M3"
    with pytest.raises(DeviceUnavailable, match="no such"):
        weft_metal.weft_open(DeviceId("METAL", "2"))


def test_copies_wait_for_kernels(gpu):
    run, (allocator, handle) = loaded(gpu, adding()), memory(gpu, 1, 2, 3, 4)
    assert run([handle]) is None and run([handle]) is None
    assert bytes(handle.buffer.contents().as_buffer(4)) == b"\1\0\0\0", "nothing has run yet"
    assert numbers(allocator, handle) == [3, 4, 5, 6]
    run([handle])
    assert bytes(allocator.map_host(handle)[:4]) == b"\4\0\0\0"
    assert run([handle], wait=True) == pytest.approx(1e-6)


def test_a_copy_within_the_gpu_keeps_its_place_in_the_queue(gpu):
    run, (allocator, source) = loaded(gpu, adding()), memory(gpu, 1, 2, 3, 4)
    target = allocator.allocate(16, None)
    run([source])
    assert allocator.link_copy(target, source, gpu, 16)
    run([source])
    assert numbers(allocator, target) == [2, 3, 4, 5]
    assert numbers(allocator, source) == [3, 4, 5, 6]
    other = weft_metal.weft_open(DeviceId("METAL", "1"))
    assert not allocator.link_copy(target, source, other, 16)


def test_windows_pass_their_offset(gpu):
    run, (allocator, whole) = loaded(gpu, adding()), memory(gpu, *range(12))
    run([allocator.view(allocator.view(whole, 16, 32), 0, 16)])
    assert numbers(allocator, whole) == [0, 1, 2, 3, 5, 6, 7, 8, 8, 9, 10, 11]


def test_more_launches_than_the_queue_holds(gpu):
    run, (allocator, handle) = loaded(gpu, adding()), memory(gpu, 0, 0, 0, 0)
    for _ in range(200):
        run([handle])
    assert numbers(allocator, handle) == [200] * 4


def test_variables(gpu):
    run, (allocator, handle) = loaded(gpu, adding(variable=True)), memory(gpu, 1, 2, 3, 4)
    run([handle], values=[40])
    assert numbers(allocator, handle) == [41, 42, 43, 44]


def test_the_compilers_log_reaches_the_user(gpu):
    with pytest.raises(CompileError) as caught:
        weft_metal.weft_compiler(gpu).compile(
            "kernel void k(device int* a [[buffer(0)]]) {\n  oops;\n}\n", "k"
        )
    assert caught.value.log and caught.value.source


def test_a_library_is_made_once(gpu, framework, monkeypatch):
    made = []
    real = framework.Gpu.newLibraryWithSource_options_error_

    def counted(self, source, options, error):
        made.append(source)
        return real(self, source, options, error)

    monkeypatch.setattr(framework.Gpu, "newLibraryWithSource_options_error_", counted)
    loaded(gpu, adding(7))
    assert len(made) == 1


def test_too_much_memory(gpu):
    with pytest.raises(OutOfMemory) as caught:
        weft_metal.weft_allocator(gpu).allocate(1 << 40, None)
    assert str(1 << 30) in caught.value.because


def test_a_group_larger_than_the_pipeline_allows(gpu, framework, monkeypatch):
    monkeypatch.setattr(framework.Pipeline, "maxTotalThreadsPerThreadgroup", lambda self: 32)
    run, (_, handle) = loaded(gpu, adding()), memory(gpu, 1, 2, 3, 4)
    with pytest.raises(CapabilityError, match="at most 32"):
        run([handle], local_size=(8, 8, 1))


def failing(framework, monkeypatch, code):
    error = framework.NSError("the driver's own words", code)
    monkeypatch.setattr(framework.CommandBuffer, "error", lambda self: error)


@pytest.mark.parametrize("code, words", [(3, "not its own"), (2, "longer"), (77, "own words")])
def test_a_failure_on_the_gpu_is_raised_when_waiting(gpu, framework, monkeypatch, code, words):
    run, (_, handle) = loaded(gpu, adding()), memory(gpu, 1, 2, 3, 4)
    failing(framework, monkeypatch, code)
    run([handle])
    with pytest.raises(DeviceError, match="gave up") as caught:
        gpu.synchronize()
    assert words in caught.value.because and "own words" in caught.value.because
    gpu.synchronize()


def test_a_gpu_without_memory_for_commands_says_so(gpu, framework, monkeypatch):
    run, (_, handle) = loaded(gpu, adding()), memory(gpu, 1, 2, 3, 4)
    failing(framework, monkeypatch, 8)
    with pytest.raises(OutOfMemory):
        run([handle], wait=True)


def test_after_a_failure_nothing_is_left_that_waits(gpu, framework, monkeypatch):
    run, (allocator, handle) = loaded(gpu, adding()), memory(gpu, 1, 2, 3, 4)
    with monkeypatch.context() as patched:
        failing(framework, patched, 3)
        run([handle])
        run([handle])
        with pytest.raises(DeviceError):
            gpu.synchronize()
    assert numbers(allocator, handle) == [3, 4, 5, 6], "both of them did run"


def test_reading_beyond_a_buffer_is_seen(gpu):
    run, (_, handle) = loaded(gpu, adding(size=8)), memory(gpu, 1, 2, 3, 4)
    run([handle])
    with pytest.raises(DeviceError, match="gave up") as caught:
        gpu.synchronize()
    assert "element 4 of 4" in caught.value.because


def pages(nbytes):
    return memoryview(mmap.mmap(-1, nbytes))


def test_whole_pages_of_python_are_used_in_place(gpu):
    given = pages(mmap.PAGESIZE)
    given[:16] = numpy.arange(4, dtype=numpy.int32).tobytes()
    allocator, run = weft_metal.weft_allocator(gpu), loaded(gpu, adding())
    handle = allocator.wrap(given[:16])
    run([handle])
    gpu.synchronize()
    assert numpy.frombuffer(given[:16], numpy.int32).tolist() == [1, 2, 3, 4]
    given[0] = 9
    assert numbers(allocator, handle)[0] == 9


def test_other_memory_of_python_is_not_wrapped(gpu, framework, monkeypatch):
    allocator, given = weft_metal.weft_allocator(gpu), pages(2 * mmap.PAGESIZE)
    assert allocator.wrap(given[16:64]) is None, "it begins within a page"
    assert allocator.wrap(given.toreadonly()) is None
    real = framework.Gpu.newBufferWithLength_options_
    monkeypatch.setattr(
        framework.Gpu, "newBufferWithBytesNoCopy_length_options_deallocator_",
        lambda self, memory, length, options, done: real(self, length, options),
    )  # fmt: skip
    assert allocator.wrap(given) is None, "what the framework gave is a copy"


def test_the_gpu_copies_whole_words_only(gpu):
    allocator, source = memory(gpu, 1, 2, 3, 4)
    target = allocator.allocate(16, None)
    assert not allocator.link_copy(target, source, gpu, 15)
    assert not allocator.link_copy(target, allocator.view(source, 2, 4), gpu, 4)
    assert allocator.link_copy(target, source, gpu, 16)
    assert numbers(allocator, target) == [1, 2, 3, 4]


def test_fast_math_is_a_choice(framework, monkeypatch):
    monkeypatch.setenv("WEFT_METAL_FAST_MATH", "1")
    monkeypatch.setattr(framework, "EXACT", False)
    fast = weft_metal.weft_open(DeviceId("METAL"))
    assert fast.compile_options()._said["mathMode"] == framework.MTLMathModeFast
    loaded(fast, adding())
    monkeypatch.setenv("WEFT_METAL_FAST_MATH", "0")
    exact = weft_metal.weft_open(DeviceId("METAL"))
    assert exact.compile_options()._said["mathMode"] == framework.MTLMathModeSafe
    assert exact.capabilities.fingerprint != fast.capabilities.fingerprint


def test_older_systems_disable_fast_math_by_the_old_name(gpu, framework, monkeypatch):
    monkeypatch.delattr(framework, "MTLMathModeSafe")
    said = []
    monkeypatch.setattr(
        framework.MTLCompileOptions, "setFastMathEnabled_", lambda self, on: said.append(on),
        raising=False,
    )  # fmt: skip
    gpu.compile_options()
    assert said == [False]


def test_the_double_refuses_unknown_selectors(framework):
    device = framework.MTLCreateSystemDefaultDevice()
    with pytest.raises(AttributeError):
        device.newBufferWithLenght_options_(4, 0)
    with pytest.raises(TypeError):
        device.newBufferWithLength_options_(4)


def test_tensors(metal):
    a = numpy.random.default_rng(0).standard_normal((40, 50)).astype(numpy.float32)
    b = numpy.random.default_rng(1).standard_normal((50, 30)).astype(numpy.float32)
    x, y = Tensor(a, device=metal), Tensor(b, device=metal)
    assert numpy.allclose((x @ y).relu().numpy(), numpy.maximum(a @ b, 0), atol=1e-4)
    assert numpy.allclose(x.half().softmax(1).float().sum(1).numpy(), 1, atol=1e-2)
    assert numpy.allclose(x.sum(0).numpy(), a.sum(0), atol=1e-4)


def test_long_sums(metal):
    a = numpy.random.default_rng(0).standard_normal((4, 4096)).astype(numpy.float32)
    assert numpy.allclose(Tensor(a, device=metal).sum(1).numpy(), a.sum(1), atol=1e-3)


@pytest.mark.parametrize("wanted", [dtypes.float16, dtypes.bfloat16], ids=str)
@pytest.mark.parametrize(
    "given", [dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64], ids=str
)
def test_wide_integers_round_once_without_float64(metal, given, wanted):
    rng = numpy.random.default_rng(0)
    values = []
    for bit in range(1, given.bitsize):
        for _ in range(12):
            # Next to the middle between two narrow numbers, where rounding twice goes wrong.
            middle = (1 << bit) + (1 << max(bit - 8, 0)) + int(rng.integers(-1, 2))
            values += [middle, -middle, int(rng.integers(0, 1 << bit, dtype=numpy.uint64))]
    values = [v for v in values if int(given.min) <= v <= int(given.max)]
    found = Tensor(values, dtype=given, device=metal).cast(wanted).float().tolist()
    assert found == [truncate(v, wanted) for v in values]
