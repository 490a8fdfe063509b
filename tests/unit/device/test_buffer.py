import gc
import sys
from weakref import ref

import numpy
import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CapabilityError, DTypeError, OutOfMemory, PluginError
from weft.device import Buffer, Capabilities, MemoryCaps, registry
from weft.device.buffer import flat_memory, numpy_dtype
from weft.device.parts import Allocator
from weft.device.usage import usage
from weft.testing.fakes import CrashingAllocator, RecordingAllocator, fake_plugin


@pytest.fixture
def allocator(fresh_registry):
    allocator = RecordingAllocator()
    fresh_registry.register(fake_plugin(allocator=allocator), "FAKE")
    return allocator


def register(family, **memory):
    allocator = RecordingAllocator()
    caps = Capabilities(MemoryCaps(**memory))
    registry.register(fake_plugin(family, allocator=allocator, capabilities=caps), family)
    return allocator


def test_the_printed_form(allocator):
    buffer = Buffer("FAKE", 1, dtypes.int)
    assert repr(buffer) == "<buf real:False device:FAKE size:1 dtype:dtypes.int offset:0>"
    buffer.allocate()
    assert repr(buffer) == "<buf real:True device:FAKE size:1 dtype:dtypes.int offset:0>"


def test_memory_comes_with_the_first_touch_and_goes_with_the_last_holder(allocator):
    gc.collect()  # of what others left
    before = usage.resident
    buffer = Buffer("fake:0", 25, dtypes.int)
    assert allocator.log == [] and not buffer.is_allocated
    assert buffer.handle is buffer.handle
    assert allocator.log == [("allocate", 100)]
    assert usage.resident == before + 100
    window = buffer.view(1, dtypes.int, 4)
    handle = window.handle
    del buffer
    gc.collect()
    assert usage.resident == before + 100, "a window keeps its buffer"
    del window
    gc.collect()
    assert usage.resident == before
    pool = registry.open("FAKE").pool
    assert pool.kept_bytes == 100 and pool.drop() == 100
    assert allocator.log == [("allocate", 100), ("free", 100)]
    del handle


def test_peak_usage_counts_the_most(allocator):
    usage.reset_peak()
    before = usage.resident
    for size in (10, 30, 20):
        Buffer("FAKE", size, dtypes.uint8).allocate()
    assert usage.peak == before + 30


def test_deallocating_and_touching_again(allocator):
    buffer = Buffer("FAKE", 4, dtypes.uint8).copy_in(b"abcd")
    buffer.deallocate()
    assert not buffer.is_allocated
    buffer.copy_in(b"efgh")
    assert bytes(buffer.copy_out()) == b"efgh"


def test_windows_of_windows_have_one_base(allocator):
    whole = Buffer("FAKE", 16, dtypes.uint8).copy_in(bytes(range(16)))
    outer = whole.view(8, dtypes.uint8, 4)
    inner = outer.view(1, dtypes.uint16, 2)
    assert inner.base is whole and inner.offset == 6
    assert bytes(inner.copy_out()) == bytes([6, 7])
    assert whole.view(4, dtypes.float32, 0).handle is whole.handle


@pytest.mark.parametrize("size,offset", [(17, 0), (16, 1), (1, 16), (1, -1)])
def test_windows_stay_inside(allocator, size, offset):
    whole = Buffer("FAKE", 16, dtypes.uint8)
    with pytest.raises(ArgumentError):
        whole.view(size, dtypes.uint8, offset)


def test_a_window_of_no_elements(allocator):
    assert bytes(Buffer("FAKE", 4, dtypes.uint8).view(0, dtypes.float32, 4).copy_out()) == b""


def test_alignment(fresh_registry):
    register("EIGHT", alignment=8)
    register("NONE", alignment=None)
    eight, none = Buffer("EIGHT", 32, dtypes.uint8), Buffer("NONE", 32, dtypes.uint8)
    assert eight.view(1, dtypes.uint8, 16).offset == 16
    with pytest.raises(CapabilityError):
        eight.view(1, dtypes.uint8, 4)
    with pytest.raises(CapabilityError):
        none.view(16, dtypes.uint8, 0)
    assert none.view(8, dtypes.float32, 0).nbytes == 32, "all of it is no window"


def test_persistent_memory_is_not_counted_nor_pooled(fresh_registry):
    allocator = register("FILE", persistent=True, resident=False)
    before = usage.resident
    buffer = Buffer("FILE", 10, dtypes.uint8).allocate()
    assert usage.resident == before
    del buffer
    gc.collect()
    assert allocator.log == [("allocate", 10), ("free", 10)]


def test_nonsense_is_refused(allocator):
    with pytest.raises(ArgumentError):
        Buffer("FAKE", -1, dtypes.uint8)
    with pytest.raises(ArgumentError):
        Buffer("FAKE", 1, dtypes.uint8, offset=4)
    with pytest.raises(ArgumentError):
        Buffer("FAKE", 4, dtypes.uint8).copy_in("text")
    with pytest.raises(ArgumentError):
        Buffer("FAKE", 4, dtypes.uint8).copy_out(b"1234")


def test_no_elements_touch_no_bytes(allocator):
    buffer = Buffer("FAKE", 0, dtypes.float32).copy_in(b"")
    assert bytes(buffer.copy_out()) == b"" == bytes(buffer.as_memoryview())
    assert buffer.numpy().shape == (0,)
    assert allocator.log == []


def test_windows_of_the_host_keep_the_memory(allocator):
    buffer = Buffer("FAKE", 4, dtypes.int32).copy_in(numpy.arange(4, dtype=numpy.int32))
    array = buffer.numpy()
    pool = registry.open("FAKE").pool
    del buffer
    gc.collect()
    assert pool.used_bytes == 16, "the array still needs it"
    assert array.tolist() == [0, 1, 2, 3]
    del array
    gc.collect()
    assert pool.used_bytes == 0


def test_a_window_or_a_copy(allocator, fresh_registry):
    buffer = Buffer("FAKE", 2, dtypes.uint8).copy_in(b"ab")
    window, copy = buffer.as_memoryview(), buffer.as_memoryview(window=False)
    buffer.copy_in(b"cd")
    assert (bytes(window), bytes(copy)) == (b"cd", b"ab")
    register("FILE", persistent=True)
    stored = Buffer("FILE", 2, dtypes.uint8).copy_in(b"ab")
    snapshot, seen = stored.as_memoryview(), stored.as_memoryview(window=True)
    stored.copy_in(b"cd")
    assert (bytes(snapshot), bytes(seen)) == (b"ab", b"cd")
    blind = fake_plugin("BLIND", allocator=RecordingAllocator(window=False))
    fresh_registry.register(blind, "BLIND")
    hidden = Buffer("BLIND", 2, dtypes.uint8).copy_in(b"ab")
    assert bytes(hidden.as_memoryview()) == b"ab"
    with pytest.raises(CapabilityError):
        hidden.as_memoryview(window=True)


def test_wrapping_python_memory_copies_nothing():
    data = numpy.arange(6, dtype=numpy.float32)
    buffer = Buffer.wrap(data, dtypes.float32)
    assert buffer.device == str(registry.staging()) and buffer.size == 6
    data[0] = 42
    assert buffer.numpy()[0] == 42
    buffer.copy_in(numpy.zeros(6, dtype=numpy.float32))
    assert data.sum() == 0


def test_wrapping_unsupported_memory(allocator):
    with pytest.raises(ArgumentError):
        Buffer.wrap(b"abc", dtypes.int32)
    with pytest.raises(ArgumentError):
        Buffer.wrap(numpy.zeros((4, 4))[:, ::2], dtypes.float64)
    with pytest.raises(CapabilityError):
        Buffer.wrap(b"abcd", dtypes.int32, device="FAKE")


def test_flat_memory():
    array = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    assert flat_memory(array).nbytes == 12 and flat_memory(array).format == "B"
    assert flat_memory(numpy.zeros((0, 3))).nbytes == 0
    assert bytes(flat_memory(numpy.array(7, dtype=numpy.uint8))) == b"\7"
    with pytest.raises(ArgumentError):
        flat_memory(numpy.zeros((2, 3)).T)
    with pytest.raises(ArgumentError):
        flat_memory(5)


def test_flat_memory_of_dtypes_that_memoryview_does_not_know():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert flat_memory(numpy.ones(3, dtype=ml_dtypes.bfloat16)).nbytes == 6


def test_numpy_dtypes():
    for dtype in dtypes.all:
        if dtype not in (dtypes.void, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2):
            assert numpy_dtype(dtype).itemsize == dtype.itemsize
    with pytest.raises(DTypeError):
        numpy_dtype(dtypes.float32.vec(4))


CALLS = {
    "allocate": lambda buffer: buffer.allocate(),
    "view": lambda buffer: buffer.view(16, dtypes.uint8, 16).allocate(),
    "copy_in": lambda buffer: buffer.copy_in(bytes(64)),
    "copy_out": lambda buffer: buffer.copy_out(),
    "map_host": lambda buffer: buffer.as_memoryview(),
    "wrap": lambda buffer: Buffer.wrap(bytearray(4), device="FAKE"),
}


def buffer_of(allocator, size=64, persistent=False):
    caps = Capabilities(MemoryCaps(alignment=16, persistent=persistent))
    registry.register(fake_plugin(allocator=allocator, capabilities=caps), "FAKE")
    return Buffer("FAKE", size, dtypes.uint8)


@pytest.mark.parametrize("call", CALLS)
def test_a_crash_of_the_allocator_is_the_plugins_fault(fresh_registry, call):
    buffer = buffer_of(CrashingAllocator(call))
    with pytest.raises(PluginError, match="failed inside the plugin of FAKE") as caught:
        CALLS[call](buffer)
    assert caught.value.because == "fake plugin FAKE raised KeyError: 'crashed'"
    assert caught.value.asked.endswith(", on FAKE") and caught.value.try_
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [MemoryError, OutOfMemory, DTypeError, KeyboardInterrupt])
@pytest.mark.parametrize("call", CALLS)
def test_errors_of_weft_are_not_wrapped(fresh_registry, call, error):
    buffer = buffer_of(CrashingAllocator(call, error=error))
    expected = OutOfMemory if error is MemoryError else error
    with pytest.raises(expected) as caught:
        CALLS[call](buffer)
    assert not isinstance(caught.value, PluginError)


def test_a_crash_of_free_is_reported(fresh_registry):
    told = []
    buffer = buffer_of(CrashingAllocator("free"))
    registry.open(buffer.device).pool.enabled = False
    buffer.allocate()
    hook, sys.unraisablehook = sys.unraisablehook, told.append
    try:
        del buffer
    finally:
        sys.unraisablehook = hook
    assert isinstance(told[0].exc_value, PluginError)
    assert "fake plugin FAKE" in told[0].exc_value.because


ANSWERS = [("allocate", None), ("map_host", b"x" * 64), ("map_host", memoryview(bytes(63)))]


@pytest.mark.parametrize("call,answer", ANSWERS)
def test_an_answer_that_is_none_is_the_plugins_fault(fresh_registry, call, answer):
    allocator = RecordingAllocator()
    setattr(allocator, call, lambda *arguments: answer)
    with pytest.raises(PluginError, match="inside the plugin of FAKE") as caught:
        CALLS[call](buffer_of(allocator))
    assert " returned " in caught.value.because


@pytest.mark.parametrize("size", [64, 1 << 22])
def test_memory_dies_without_python(fresh_registry, size):
    """An exception of a signal handler there would be lost."""
    buffer = buffer_of(RecordingAllocator(), size).allocate()
    pool = registry.open(buffer.device).pool
    used, resident, called = pool.used_bytes, usage.resident, []
    nbytes = buffer.nbytes
    sys.setprofile(lambda frame, event, _: called.append(event))
    del buffer
    sys.setprofile(None)
    assert set(called) <= {"c_call", "c_return"}
    assert (pool.used_bytes, pool.kept_bytes) == (used - nbytes, nbytes)
    assert usage.resident in (resident, resident - nbytes)


class Held:
    """A handle that something may look at weakly."""


class LeavesItToPython(RecordingAllocator):
    """It frees nothing: its handles are objects."""

    free = Allocator.free

    def allocate(self, nbytes, hints):
        return Held()


def test_memory_that_is_not_pooled_dies_with_its_handle(fresh_registry):
    buffer = buffer_of(LeavesItToPython(), persistent=True).allocate()
    pool, handle, called = registry.open(buffer.device).pool, ref(buffer.handle), []
    sys.setprofile(lambda frame, event, _: called.append(event))
    del buffer
    sys.setprofile(None)
    assert handle() is None and set(called) <= {"c_call", "c_return"}
    assert (pool.used_bytes, pool.kept_bytes) == (0, 0)


def test_memory_that_is_not_pooled_is_freed_at_once(fresh_registry):
    allocator = RecordingAllocator()
    buffer = buffer_of(allocator, persistent=True).allocate()
    del buffer
    assert allocator.log == [("allocate", 64), ("free", 64)]


def test_memory_freed_on_another_device_does_not_count_for_the_peak(fresh_registry):
    register("OTHER")
    buffer = buffer_of(RecordingAllocator(), 1 << 20).allocate()
    usage.reset_peak()
    peak = usage.peak
    del buffer
    held = Buffer("OTHER", 1 << 20, dtypes.uint8).allocate()
    assert held.is_allocated and usage.peak <= peak
