"""Kernels at exactly each declared limit run."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.testing.conformance.programs import Builder, run
from weft.uop import UOp

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

INT = dtypes.int32


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


def test_all_shared_memory(weft_device, weft_compute):
    nbytes = weft_compute.limits.shared_bytes
    if not nbytes:
        pytest.skip("this device has no shared memory")
    count = nbytes // INT.itemsize
    b = Builder()
    out = b.argument(0, INT, 1)
    memory = b.shared("all_of_it", INT, count)
    b.special("lidx0", 1)
    b.store(memory, count - 1, UOp.const(INT, 42))
    b.store(out, 0, b.load(memory, count - 1))
    (found,) = run(weft_device, b, [(INT, 1)])
    assert found == [42]


def test_deep_loops(weft_device):
    b = Builder()
    out = b.argument(0, INT, 1)
    loops = [b.loop(1 + n % 2, n) for n in range(12)]
    b.store(out, 0, b.add(b.load(out, 0) + 1))
    for loop in reversed(loops):
        b.end(loop)
    (found,) = run(weft_device, b, [(INT, 1)])
    assert found == [2**6]
