import dis
import functools
import random
import sys

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, OutOfMemory
from weft.device import pool as pool_module
from weft.device.parts import NO_HINTS, Allocator, BufferHints
from weft.device.pool import Pool
from weft.device.usage import usage
from weft.testing.fakes import RecordingAllocator


@pytest.fixture
def allocator():
    return RecordingAllocator()


def test_the_same_size_is_reused(allocator):
    pool = Pool(allocator)
    handle = pool.acquire(100, NO_HINTS)
    pool.release(handle, 100, NO_HINTS)
    assert pool.acquire(100, NO_HINTS) is handle
    assert allocator.log == [("allocate", 100)]


def test_other_sizes_and_hints_are_not(allocator):
    pool = Pool(allocator)
    handle = pool.acquire(100, NO_HINTS)
    pool.release(handle, 100, NO_HINTS)
    assert pool.acquire(101, NO_HINTS) is not handle
    assert pool.acquire(100, BufferHints(image=dtypes.imagef((2, 4, 4)))) is not handle


def test_the_last_returned_is_taken_first(allocator):
    pool = Pool(allocator)
    one, other = pool.acquire(8, NO_HINTS), pool.acquire(8, NO_HINTS)
    pool.release(one, 8, NO_HINTS)
    pool.release(other, 8, NO_HINTS)
    assert pool.acquire(8, NO_HINTS) is other


def test_persistent_memory_passes_through(allocator):
    pool = Pool(allocator, enabled=False)
    handle = pool.acquire(100, NO_HINTS)
    pool.release(handle, 100, NO_HINTS)
    assert allocator.log == [("allocate", 100), ("free", 100)]
    assert pool.kept_bytes == 0


def test_the_oldest_is_dropped_above_the_limit(allocator, monkeypatch):
    monkeypatch.setattr(pool_module, "KEEP_AT_LEAST", 10)
    pool = Pool(allocator)
    for size in (6, 7, 8):
        pool.release(pool.acquire(size, NO_HINTS), size, NO_HINTS)
    assert [entry for entry in allocator.log if entry[0] == "free"] == [("free", 6), ("free", 7)]
    assert pool.kept_bytes == 8


def test_counting(allocator):
    before = usage.pooled
    pool = Pool(allocator)
    handles = [pool.acquire(10, NO_HINTS) for _ in range(3)]
    assert (pool.used_bytes, pool.peak_bytes) == (30, 30)
    for handle in handles:
        pool.release(handle, 10, NO_HINTS)
    assert (pool.used_bytes, pool.kept_bytes, usage.pooled - before) == (0, 30, 30)
    assert pool.drop() == 30
    assert (pool.kept_bytes, usage.pooled - before, allocator.live) == (0, 0, 0)


class Tight(RecordingAllocator):
    """At most 100 bytes."""

    def allocate(self, nbytes, hints):
        if self.live + nbytes > 100:
            raise OutOfMemory("full")
        return super().allocate(nbytes, hints)


def test_pooled_memory_is_freed_when_memory_is_exhausted():
    allocator = Tight()
    pool = Pool(allocator)
    pool.release(pool.acquire(60, NO_HINTS), 60, NO_HINTS)
    pool.acquire(70, NO_HINTS)
    assert allocator.log == [("allocate", 60), ("free", 60), ("allocate", 70)]
    with pytest.raises(OutOfMemory):
        pool.acquire(40, NO_HINTS)


def test_memory_error_of_python_is_handled():
    class Plain(RecordingAllocator):
        def allocate(self, nbytes, hints):
            if self.live + nbytes > 100:
                raise MemoryError
            return super().allocate(nbytes, hints)

    pool = Pool(Plain())
    pool.release(pool.acquire(60, NO_HINTS), 60, NO_HINTS)
    pool.acquire(70, NO_HINTS)
    with pytest.raises(OutOfMemory, match="Plain raised MemoryError"):
        pool.acquire(40, NO_HINTS)


def test_the_largest_allocation_and_the_least(allocator):
    pool = Pool(allocator, max_allocation=50)
    with pytest.raises(OutOfMemory):
        pool.acquire(51, NO_HINTS)
    with pytest.raises(ArgumentError):
        pool.acquire(0, NO_HINTS)
    assert allocator.log == []


def test_memory_released_during_acquire_is_deferred():
    class Returning(RecordingAllocator):
        """As when the garbage collector runs a buffer's destructor inside an allocation."""

        def allocate(self, nbytes, hints):
            if waiting:
                pool.release(*waiting.pop())
                assert pool.kept_bytes == 0, "the pool must not change under its own feet"
            return super().allocate(nbytes, hints)

    waiting = []
    pool = Pool(Returning())
    first = pool.acquire(5, NO_HINTS)
    waiting.append((first, 5, NO_HINTS))
    pool.acquire(6, NO_HINTS)
    assert pool.acquire(5, NO_HINTS) is first


def test_slightly_smaller_requests_get_a_window():
    allocator = RecordingAllocator()
    pool = Pool(allocator, windows=True)
    size = pool_module.WINDOWS_FROM * 2
    large, larger = pool.acquire(size, NO_HINTS), pool.acquire(size * 2, NO_HINTS)
    pool.release(larger, size * 2, NO_HINTS)
    pool.release(large, size, NO_HINTS)
    window = pool.acquire(size - 1000, NO_HINTS)
    assert len(window) == size - 1000 and window.obj is large.obj
    assert (pool.used_bytes, pool.kept_bytes) == (size - 1000, size * 2)
    other = pool.acquire(size - 1000, NO_HINTS)
    assert len(other) == size - 1000 and other.obj is not larger.obj, "half of it would be wasted"
    pool.release(window, size - 1000, NO_HINTS)
    assert pool.kept_bytes == size * 3
    assert pool.acquire(size, NO_HINTS).obj is large.obj, "the whole came back"


def test_small_memory_and_memory_of_its_own_kind_is_not_cut():
    pool = Pool(RecordingAllocator(), windows=True)
    small, hints = pool_module.WINDOWS_FROM // 2, BufferHints(image=dtypes.imagef((2, 4, 4)))
    for size, kind in ((small, NO_HINTS), (small * 8, hints)):
        first = pool.acquire(size, kind)
        pool.release(first, size, kind)
        assert pool.acquire(size - 1, kind).obj is not first.obj


class Whole(RecordingAllocator):
    """Gives no windows."""

    view = Allocator.view


def test_an_allocator_without_windows_is_asked_once():
    allocator = Whole()
    pool = Pool(allocator, windows=True)
    size = pool_module.WINDOWS_FROM * 2
    pool.release(pool.acquire(size, NO_HINTS), size, NO_HINTS)
    assert len(pool.acquire(size - 1, NO_HINTS)) == size - 1
    assert not pool.windows and allocator.log[1:] == [("free", size), ("allocate", size - 1)]
    assert pool.kept_bytes == 0


@pytest.mark.parametrize("seed", range(4))
def test_held_memory_stays_near_the_peak(seed, monkeypatch):
    monkeypatch.setattr(pool_module, "KEEP_AT_LEAST", 0)
    draw, allocator = random.Random(seed), RecordingAllocator()
    pool = Pool(allocator, windows=True)
    held: list = []
    least = pool_module.WINDOWS_FROM
    for _ in range(2000):
        if held and draw.random() < 0.5:
            pool.release(*held.pop(draw.randrange(len(held))), NO_HINTS)
        else:
            size = draw.randrange(1, 40 * least)
            handle = pool.acquire(size, NO_HINTS)
            assert len(handle) == size
            held.append((handle, size))
        assert pool.used_bytes == sum(size for _, size in held)
        assert pool.used_bytes + pool.kept_bytes <= pool.peak_bytes * 5 // 4
        # a window holds on to all of its allocation, of which less than a fourth is wasted
        assert allocator.live <= (pool.used_bytes * 4) // 3 + pool.kept_bytes
    assert pool._sizes == sorted(size for _, size, kind in pool._free.values() if size >= least)


def test_sizes_in_turns_are_allocated_once():
    allocator = RecordingAllocator()
    pool = Pool(allocator, windows=True)
    for step in range(50):
        sizes = [(1 << 20) + 1000 * (step % 7) + 4096 * i for i in range(5)]
        taken = [pool.acquire(size, NO_HINTS) for size in sizes]
        for handle, size in zip(taken, sizes):
            pool.release(handle, size, NO_HINTS)
    assert sum(what == "allocate" for what, *_ in allocator.log) < 15


class Interrupted:
    """Raises KeyboardInterrupt where Python would, in the code of the pool: at the beginning of a
    function, after a call of a C function, after an iteration of a loop; at the moment of this
    number, except those before it begins to release memory."""

    def __init__(self, moment):
        self.left = moment
        self.last = None

    def __call__(self, frame, event, argument):
        code, last = frame.f_code, self.last
        self.last = (code, event)
        if code.co_filename != pool_module.__file__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "call":
            self.last = (code, "" if code.co_name == "release" else "RESUME")
        elif event == "opcode":
            self.last = (code, _names(code)[frame.f_lasti])
            if last[0] is code and last[1].startswith(("CALL", "RESUME", "JUMP_BACKWARD")):
                self.left -= 1
                if self.left < 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
        return self


@functools.cache
def _names(code):
    return {one.offset: one.opname for one in dis.get_instructions(code)}


def used(pool, given):
    """Some work for a pool; the handles that are in use are in `given`."""
    for size in (100, 80 << 10, 70 << 10, 100, 90 << 10):
        given.append((pool.acquire(size, NO_HINTS), size))
    while len(given) > 2:
        pool.release(*given.pop(0), NO_HINTS)
    for size in (100, 60 << 10, 89 << 10):
        given.append((pool.acquire(size, NO_HINTS), size))
    while given:
        pool.release(*given.pop(), NO_HINTS)


@pytest.mark.parametrize("enabled", [True, False])
def test_it_may_be_interrupted_anywhere(allocator, monkeypatch, enabled):
    monkeypatch.setattr(pool_module, "KEEP_AT_LEAST", 150 << 10)
    moment, interrupted, before, trace = 0, True, usage.pooled, sys.gettrace()
    while interrupted:
        pool, given, interrupted = Pool(allocator, enabled, windows=True), [], False
        sys.settrace(Interrupted(moment))
        try:
            used(pool, given)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(trace)
        moment += 1
        assert not pool._lock.locked()
        used(pool, [])  # and goes on
        in_use = sum(size for _, size in given)
        assert pool.used_bytes == in_use
        assert pool.kept_bytes == usage.pooled - before == sum(n for _, n, _ in pool._free.values())
        assert sorted(n for many in pool._by_kind.values() for n in many) == list(pool._free)
        pool.drop()
        assert not pool._by_kind and not pool._sizes and usage.pooled == before
        assert allocator.live == in_use
        allocator.live = 0
    assert moment > 50
