"""Memory planning: two live intermediates never overlap."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor
from weft.base.settings import settings
from weft.device import registry
from weft.device.capabilities import MemoryCaps
from weft.engine import stats
from weft.schedule.cache import schedules
from weft.schedule.memory_planning import (
    Lifetime,
    _plan_device,
    pack_arena,
    plan_memory,
    reuse_buffers,
)

ARENAS = MemoryCaps(alignment=1)
WHOLE = MemoryCaps(alignment=None)


def need(number, nbytes, first, last, device="REF"):
    return Lifetime(number, device, nbytes, first, last)


@st.composite
def lifetimes(draw):
    count = draw(st.integers(2, 24))
    needs = []
    for number in range(count):
        first = draw(st.integers(0, 12))
        last = first + draw(st.integers(0, 6))
        needs.append(need(number, draw(st.sampled_from((1, 64, 100, 4096, 4097))), first, last))
    return needs


def at_one_time(a, b):
    return a.first <= b.last and b.first <= a.last


def overlaps(needs, offsets):
    """The pairs that overlap in memory and in time."""
    found = []
    for i, (a, (arena_a, start_a)) in enumerate(zip(needs, offsets)):
        for b, (arena_b, start_b) in list(zip(needs, offsets))[i + 1 :]:
            in_one_place = (
                arena_a == arena_b and start_a < start_b + b.nbytes and start_b < start_a + a.nbytes
            )
            if in_one_place and at_one_time(a, b):
                found.append((a, b))
    return found


@given(lifetimes(), st.sampled_from((ARENAS, MemoryCaps(alignment=256), WHOLE)))
def test_no_two_are_in_one_place_at_one_time(needs, caps):
    offsets, sizes = _plan_device(needs, caps)
    assert overlaps(needs, offsets) == []
    for wanted, (arena, start) in zip(needs, offsets):
        assert start + wanted.nbytes <= sizes[arena]
        assert start % (caps.alignment or 1) == 0
        if caps.alignment is None:
            assert start == 0 and sizes[arena] == wanted.nbytes


@given(lifetimes())
def test_an_arena_is_no_larger_than_everything_side_by_side(needs):
    _, size = pack_arena(needs, 1)
    assert max(n.nbytes for n in needs) <= size <= sum(n.nbytes for n in needs)


def test_a_chain_needs_the_memory_of_one_pair():
    needs = [need(i, 1024, i, i + 1) for i in range(10)]
    starts, size = pack_arena(needs, 64)
    assert size == 2048 and set(starts) == {0, 1024}


def test_gaps_are_filled():
    needs = [need(0, 300, 0, 9), need(1, 200, 0, 1), need(2, 100, 0, 9), need(3, 200, 2, 3)]
    starts, size = pack_arena(needs, 1)
    assert size == 600 and starts[1] == starts[3] == 300


def test_starts_are_aligned():
    starts, _ = pack_arena([need(i, 65, 0, 1) for i in range(3)], 64)
    assert sorted(starts) == [0, 128, 256]


def test_whole_buffers_serve_others_of_their_size():
    needs = [need(0, 8, 0, 1), need(1, 8, 1, 2), need(2, 8, 2, 3), need(3, 16, 3, 4)]
    numbers, sizes = reuse_buffers(needs)
    assert numbers == [0, 1, 0, 2] and sizes == [8, 8, 16]


def test_arenas_are_split_at_the_allocation_limit():
    caps = MemoryCaps(alignment=1, max_allocation=1500)
    needs = [need(0, 1024, 0, 2), need(1, 1024, 1, 3), need(2, 1024, 3, 4)]
    offsets, sizes = _plan_device(needs, caps)
    assert max(sizes) <= 1500 and overlaps(needs, offsets) == []


def test_every_device_has_an_arena_of_its_own():
    needs = [need(i, 128, i, i + 1, device) for i in range(4) for device in ("REF", "REF:vector")]
    needs = [Lifetime(n, w.device, w.nbytes, w.first, w.last) for n, w in enumerate(needs)]
    layout = plan_memory(needs)
    assert sorted(device for device, _ in layout.arenas) == ["REF", "REF:vector"]
    for wanted in needs:
        assert layout.arenas[layout.spots[wanted.number].arena][0] == wanted.device
    assert layout.planned < layout.unplanned == 8 * 128


def test_a_single_intermediate_and_empty_ones_are_left_alone():
    assert plan_memory([need(0, 64, 0, 1), need(1, 0, 0, 1)]).spots == {}


def test_arenas_are_memory_on_their_device():
    layout = plan_memory([need(0, 64, 0, 1), need(1, 64, 2, 3)])
    (arena,) = layout.allocate()
    assert (arena.device, arena.nbytes, arena.is_allocated) == ("REF", layout.planned, False)


@pytest.fixture
def apart():
    """Every CONTIGUOUS a kernel of its own."""
    with settings.override(GROUP_KERNELS=0):
        yield


def picture(needs, offsets, sizes):
    """One line for each need: its lifetime, size and offset."""
    lines = [f"arenas of {', '.join(map(str, sizes))} bytes"]
    for wanted, (arena, start) in zip(needs, offsets):
        time = "".join("#" if wanted.first <= step <= wanted.last else "." for step in range(8))
        place = f"arena {arena} from {start}"
        lines.append(f"{wanted.number}  {time}  {wanted.nbytes:6} bytes  {place}")
    return "\n".join(lines)


def test_before_and_after(golden):
    needs = [
        need(0, 4096, 0, 1), need(1, 4096, 1, 2), need(2, 100, 1, 6), need(3, 2048, 3, 4),
        need(4, 2048, 3, 5), need(5, 4096, 5, 6), need(6, 100, 6, 7),
    ]  # fmt: skip
    alone = picture(needs, [(n.number, 0) for n in needs], [n.nbytes for n in needs])
    shared = picture(needs, *_plan_device(needs, ARENAS))
    whole = picture(needs, *_plan_device(needs, WHOLE))
    text = f"before\n{alone}\n\nafter\n{shared}\n\nafter, without sub-buffers\n{whole}"
    assert text == golden.file("schedules/memory_of_intermediates.txt")


def long_chain(x, steps=6):
    for number in range(steps):
        x = (x * (number + 2)).contiguous()
    return x


@pytest.mark.parametrize("device", ["REF", None])
def test_memory_sharing_lowers_the_peak_and_changes_no_result(apart, device):
    with settings.override(DEVICE=device or settings.DEVICE):
        x = Tensor.arange(1000).contiguous().realize()
        found = []
        for plan in (1, 0):
            stats.reset()
            before = stats.memory
            with settings.override(MEMORY_PLANNER=plan):
                values = long_chain(x).tolist()
            found.append((values, stats.peak_memory - before))
        assert found[0][0] == found[1][0] == [i * math.prod(range(2, 8)) for i in range(1000)]
        assert found[0][1] < found[1][1]


def test_it_is_done_without_sub_buffers_too(apart, monkeypatch):
    opened = registry.open("REF")
    without = replace(opened.capabilities, memory=MemoryCaps(alignment=None))
    monkeypatch.setattr(opened, "capabilities", without)
    schedules.clear()
    stats.reset()
    x = Tensor.arange(100, device="REF").contiguous().realize()
    assert long_chain(x).tolist() == [i * math.prod(range(2, 8)) for i in range(100)]
    assert stats.planned_bytes == 2 * x.nbytes() and stats.unplanned_bytes == 5 * x.nbytes()
    schedules.clear()


def test_buffers_of_live_tensors_are_not_shared(apart):
    x = Tensor.ones(256).contiguous().realize()
    middle = (x + 1).contiguous()
    last = long_chain(middle)
    last.realize()
    assert middle.uop.base.realized is not None and middle.uop.base.buffer.base is None
    long_chain(x + 3).realize()
    assert middle.tolist() == [2.0] * 256


def test_planned_memory_is_counted(apart):
    stats.reset()
    long_chain(Tensor.ones(64).contiguous().realize()).realize()
    assert 0 < stats.planned_bytes < stats.unplanned_bytes
    stats.reset()
    assert stats.planned_bytes == 0
