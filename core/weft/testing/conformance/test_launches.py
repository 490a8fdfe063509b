"""Launches: what they wait for, what waits for them, that all of a grid runs, and in step."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.device import Buffer, Feature, LinearProgram
from weft.testing.conformance.programs import Builder, compiled, run
from weft.uop import Ops, UOp

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

INT = dtypes.int32
COUNT = 1 << 16


@pytest.fixture
def plus(weft_device):
    """``plus(buffer, number)`` adds a number to all of a buffer in place, and does not wait."""
    b = Builder()
    number = UOp.variable("number", 0, 1000)
    data = b.argument(0, INT, COUNT)
    b.add(number)
    at = b.loop(COUNT, 0)
    b.store(data, at, b.load(data, at) + number)
    b.end(at)
    program = LinearProgram.of("plus", b.nodes)
    runner = weft_device.runner(compiled(weft_device, program))

    def launch(buffer, value, wait=False):
        return runner([buffer.handle], global_size=None, local_size=None, values=[value], wait=wait)

    return launch


def zeros(device):
    return Buffer(device.id, COUNT, INT).copy_in(bytes(4 * COUNT))


def numbers(buffer):
    return set(memoryview(bytes(buffer.copy_out())).cast("i"))


def test_a_copy_out_waits_for_launches(weft_device, plus):
    buffer = zeros(weft_device)
    for value in (1, 20, 300):
        plus(buffer, value)
    assert numbers(buffer) == {321}


def test_a_copy_in_waits_for_launches_before_and_is_seen_by_those_after(weft_device, plus):
    buffer = zeros(weft_device)
    plus(buffer, 1)
    data = bytearray(b"\7\0\0\0" * COUNT)
    buffer.copy_in(data)
    data[:] = bytes(len(data))  # what was given may be used for something else now
    plus(buffer, 1)
    assert numbers(buffer) == {8}


def test_a_copy_in_does_not_overtake_a_launch_that_reads(weft_device):
    """Memory that is freed and reused is written while an earlier launch may still read it."""
    b = Builder()
    out, data = b.argument(0, INT, COUNT), b.argument(1, INT, COUNT)
    at = b.loop(COUNT, 0)
    b.store(out, at, b.load(data, at) + 1)
    b.end(at)
    runner = weft_device.runner(compiled(weft_device, LinearProgram.of("read", b.nodes)))
    results = []
    for number in range(4):
        result = zeros(weft_device)
        given = Buffer(weft_device.id, COUNT, INT).copy_in(bytes([number, 0, 0, 0]) * COUNT)
        handles = [result.handle, given.handle]
        runner(handles, global_size=None, local_size=None, values=[], wait=False)
        del given, handles  # the next iteration gets this memory
        results.append(result)
    assert [numbers(result) for result in results] == [{1}, {2}, {3}, {4}]


def test_a_window_of_the_host_waits_for_launches(weft_device, plus):
    buffer = zeros(weft_device)
    if weft_device.allocator.map_host(buffer.handle) is None:
        pytest.skip("the host cannot see this memory")
    plus(buffer, 5)
    assert set(weft_device.allocator.map_host(buffer.handle).cast("i")) == {5}


def test_synchronize_waits_for_launches(weft_device, plus):
    buffer = zeros(weft_device)
    window = weft_device.allocator.map_host(buffer.handle)
    if window is None:
        pytest.skip("the host cannot see this memory")
    plus(buffer, 5)
    weft_device.synchronize()
    assert set(window.cast("i")) == {5}


def test_a_launch_that_is_waited_for_says_how_long_it_took(weft_device, plus):
    buffer = zeros(weft_device)
    seconds = plus(buffer, 1, wait=True)
    assert isinstance(seconds, float) and seconds >= 0
    assert plus(buffer, 1) is None


def test_each_launch_has_its_own_values(weft_device):
    """Those of a launch that has not run yet are not those of the next."""
    b = Builder()
    place, number = UOp.variable("a_place", 0, 63), UOp.variable("number", 0, 1000)
    data = b.argument(0, INT, 64)
    b.add(place)
    b.add(number)
    b.store(data, place, number)
    runner = weft_device.runner(compiled(weft_device, LinearProgram.of("put", b.nodes)))
    buffer = Buffer(weft_device.id, 64, INT).copy_in(bytes(256))
    for at in range(64):
        values = [at, at * at % 997]
        runner([buffer.handle], global_size=None, local_size=None, values=values, wait=False)
    found = list(memoryview(bytes(buffer.copy_out())).cast("i"))
    assert found == [at * at % 997 for at in range(64)]


def grid(weft_compute, local):
    limits = weft_compute.limits
    if limits.global_size is None:
        pytest.skip("this device has no launch grid")
    if local and (limits.local_size is None or (limits.local_threads or 0) < 6):
        pytest.skip("this device has no groups of six")


@pytest.mark.parametrize("sizes", [(1, 7), (2, 3, 5), (129,)], ids=str)
@pytest.mark.parametrize("local", [(), (2, 3)], ids=str)
def test_every_work_item_of_a_grid_runs_once(weft_device, weft_compute, sizes, local):
    grid(weft_compute, local)
    groups = [*sizes, 1, 1][:3]
    items = [*local, 1, 1][:3]
    count = 1
    for size in groups + items:
        count *= size
    b = Builder()
    out = b.argument(0, INT, count)
    at = UOp.const(INT, 0)
    for prefix, extents in (("gidx", groups), ("lidx", items)):
        for axis, extent in enumerate(extents):
            if extent > 1:
                at = at * extent + b.special(f"{prefix}{axis}", extent)
    at = b.add(at)
    b.store(out, at, b.load(out, at) + at + 1)
    (found,) = run(weft_device, b, [(INT, count)])
    assert found == [n + 1 for n in range(count)], f"{groups} groups of {items}"


@pytest.mark.parametrize("direction", ["left", "right"])
def test_work_items_wait_for_each_other_in_every_round(weft_device, weft_needs, direction):
    """In each iteration every item takes the value of its neighbour, between two barriers."""
    weft_needs(Feature.SHARED)
    weft_needs(Feature.BARRIER)
    threads = min(weft_device.capabilities.compute.limits.local_threads or 1, 64)
    rounds, groups = 5, 3
    b = Builder()
    out = b.argument(0, INT, groups * threads)
    ring = b.shared("ring", INT, threads)
    group, me = b.special("gidx0", groups), b.special("lidx0", threads)
    b.store(ring, me, me + group * 1000)
    iteration = b.loop(rounds, 0)
    b.add(UOp(Ops.BARRIER, dtypes.void, (), "written"))
    taken = b.load(ring, (me + (1 if direction == "left" else threads - 1)) % threads)
    b.add(UOp(Ops.BARRIER, dtypes.void, (), "read"))
    b.store(ring, me, taken)
    b.end(iteration)
    b.add(UOp(Ops.BARRIER, dtypes.void, (), "done"))
    result = b.add(UOp(Ops.LOAD, INT, (ring.index(me),), "after"))
    b.store(out, group * threads + me, result)
    (found,) = run(weft_device, b, [(INT, groups * threads)])
    shift = rounds if direction == "left" else -rounds
    assert found == [
        g * 1000 + (i + shift) % threads for g in range(groups) for i in range(threads)
    ]
