"""Kernels at exactly each declared limit run."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.testing.conformance.programs import Builder, run
from weft.uop import Ops, UOp

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

INT = dtypes.int32
MOST_GROUPS = 70_001


def test_as_many_buffers_as_allowed(weft_device, weft_compute):
    count = weft_compute.limits.max_buffers or 40
    b = Builder()
    out = b.argument(0, INT, 1)
    total = UOp.const(INT, 0)
    for slot in range(1, count):
        total = b.add(total + b.load(b.argument(slot, INT, 1), 0))
    b.store(out, 0, total)
    (found,) = run(weft_device, b, [(INT, 1)], [(INT, [slot]) for slot in range(1, count)])
    assert found == [sum(range(1, count))]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_largest_group(weft_device, weft_compute, axis):
    limits = weft_compute.limits
    if limits.local_size is None:
        pytest.skip("this device has no local dimensions")
    extent = min(limits.local_size[axis], limits.local_threads or limits.local_size[axis])
    b = Builder()
    out = b.argument(0, INT, extent)
    at = b.special(f"lidx{axis}", extent)
    b.store(out, at, at + 1)
    (found,) = run(weft_device, b, [(INT, extent)])
    assert found == list(range(1, extent + 1))


def test_the_most_work_items_over_three_axes(weft_device, weft_compute):
    limits = weft_compute.limits
    if limits.local_size is None or limits.local_threads is None:
        pytest.skip("this device declares no number of work items")
    extents, left = [], limits.local_threads
    for axis in (2, 1, 0):
        wanted = 2 if axis else left
        extent = next(n for n in range(wanted, 0, -1) if left % n == 0)
        extents.insert(0, min(extent, limits.local_size[axis]))
        left //= extent
    count = extents[0] * extents[1] * extents[2]
    b = Builder()
    out = b.argument(0, INT, count)
    x, y, z = (b.special(f"lidx{axis}", extent) for axis, extent in enumerate(extents))
    at = b.add((z * extents[1] + y) * extents[0] + x)
    b.store(out, at, at * 2)
    (found,) = run(weft_device, b, [(INT, count)])
    assert found == [2 * n for n in range(count)]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_largest_grid(weft_device, weft_compute, axis):
    """As many groups as are declared on each axis, or of more than that is quick more than 16 bits
    count; only the last of them and the one in the middle write."""
    limits = weft_compute.limits
    if limits.global_size is None:
        pytest.skip("this device has no launch grid")
    extent = min(limits.global_size[axis], MOST_GROUPS)
    b = Builder()
    out = b.argument(0, INT, 2)
    at = b.special(f"gidx{axis}", extent)
    for place, which in enumerate((extent // 2, extent - 1)):
        b.store(out, place, at + 1, gate=b.add(at.alu(Ops.CMPEQ, UOp.const(INT, which))))
    (found,) = run(weft_device, b, [(INT, 2)])
    assert found == [extent // 2 + 1, extent]


def test_as_large_a_local_array_as_declared(weft_device, weft_compute):
    length = weft_compute.limits.row_bytes // INT.itemsize
    if not length:
        pytest.skip("this device keeps no rows")
    b = Builder()
    out, data = b.argument(0, INT, length), b.argument(1, INT, length)
    kept = b.register(0, INT, length)
    first = b.loop(length, 0)
    b.store(kept, first, b.load(data, first))
    b.end(first)
    then = b.loop(length, 1)
    b.store(out, then, b.load(kept, then * -1 + (length - 1)))
    b.end(then)
    given = list(range(length))
    (found,) = run(weft_device, b, [(INT, length)], [(INT, given)])
    assert found == given[::-1]


def test_all_shared_memory(weft_device, weft_compute):
    nbytes = weft_compute.limits.shared_bytes
    if not nbytes:
        pytest.skip("this device has no shared memory")
    count = nbytes // INT.itemsize
    b = Builder()
    out = b.argument(0, INT, count)
    memory = b.shared("all_of_it", INT, count)
    b.special("lidx0", 1)
    first = b.loop(count, 0)
    b.store(memory, first, first * 3)
    b.end(first)
    then = b.loop(count, 1)
    b.store(out, then, b.load(memory, then))
    b.end(then)
    (found,) = run(weft_device, b, [(INT, count)])
    assert found == [3 * n for n in range(count)]


def test_deep_loops(weft_device):
    b = Builder()
    out = b.argument(0, INT, 1)
    loops = [b.loop(1 + n % 2, n) for n in range(12)]
    b.store(out, 0, b.add(b.load(out, 0) + 1))
    for loop in reversed(loops):
        b.end(loop)
    (found,) = run(weft_device, b, [(INT, 1)])
    assert found == [2**6]
