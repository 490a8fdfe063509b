"""Schedules by structure: made once, right every time."""

import threading

import pytest

from weft import Tensor, Variable
from weft.base import trace
from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.device import registry
from weft.engine import forget_programs
from weft.schedule.cache import ScheduleCache, schedules, template_for
from weft.schedule.structural_key import structure_of
from weft.uop import UOp


@pytest.fixture(autouse=True)
def empty():
    schedules.clear()
    schedules.hits = schedules.misses = 0
    yield
    schedules.clear()


def own(*values):
    return Tensor(list(values)).contiguous().realize()


def test_an_equal_graph_is_looked_up():
    for number in range(3):
        a, b = own(1.0, number), own(2.0, 3.0)
        before = schedules.misses
        assert (a * b + 1).tolist() == [3.0, number * 3.0 + 1]
        assert (schedules.misses > before) == (number == 0)


def test_switched_off_nothing_is_kept():
    with settings.override(SCHEDULE_CACHE=0):
        assert [(own(1.0, n) + 1).tolist()[1] for n in range(2)] == [1.0, 2.0]
    assert len(schedules) == 0 and schedules.hits == 0


def test_subscribers_see_every_schedule():
    seen = []
    stop = trace.subscribe(seen.append, only=["schedule"])
    try:
        for number in range(2):
            (own(1.0, number) + 1).realize()
    finally:
        stop()
    assert len(seen) >= 2 and schedules.hits == 0


def test_equal_and_different_buffers_are_distinguished():
    a, b = own(1.0, 2.0), own(3.0, 4.0)
    assert (a * 2 + b).tolist() == [5.0, 8.0]
    assert (a * 2 + a).tolist() == [3.0, 6.0]
    assert (b * 2 + a).tolist() == [7.0, 10.0]


@pytest.mark.parametrize("held_first", [True, False])
def test_which_inner_values_are_held_may_change(held_first):
    for held in (held_first, not held_first, held_first):
        x = own(1.0, 2.0, 3.0)
        total = x.sum()
        keep = total if held else None
        del total
        y = x / (keep if held else x.sum())
        with settings.override(GROUP_KERNELS=0):
            assert y.tolist() == pytest.approx([1 / 6, 2 / 6, 3 / 6])
        if held:
            assert keep.item() == 6.0
        x.assign(x * 0).realize()
        if held:
            assert keep.item() == 6.0


def test_readers_of_overwritten_memory_are_protected_every_time():
    for number in range(3):
        x = own(1.0, number)
        reader, view, copy = x + 10, x[1:], x[1:].contiguous()
        x.assign(x * 2).realize()
        assert (reader.tolist(), copy.tolist()) == ([11.0, number + 10.0], [number])
        assert view.tolist() == [number * 2.0]
        assert x.tolist() == [2.0, number * 2.0]


def test_windows_keep_their_values_every_time():
    for number in range(3):
        x = own(0.0, 1.0, 2.0, float(number))
        window = x[2:].contiguous().realize()
        x.assign(x + 5).realize()
        assert window.tolist() == [2.0, number] and x.tolist()[3] == number + 5


def test_writes_go_to_the_memory_of_the_day():
    state = own(0.0, 0.0)
    for number in range(4):
        state.assign(state + own(1.0, float(number)))
        state.realize()
    assert state.tolist() == [4.0, 6.0]
    assert schedules.hits > schedules.misses


def test_values_of_variables_are_those_of_the_day():
    n = Variable("n", 1, 4)
    x = own(1.0, 10.0, 100.0, 1000.0)
    found = [x[: n.bind(value)].sum().item() for value in (2, 4, 1)]
    assert found == [11.0, 1111.0, 1.0]


def test_a_failed_schedule_changes_nothing_and_can_be_retried(monkeypatch):
    def fail(*arguments):
        raise WeftError("not today")

    for number in range(2):
        x = own(1.0, float(number))
        y = x * 3
        x.assign(y + 1)
        with monkeypatch.context() as patch:
            patch.setattr("weft.engine.execute.lower_schedule_item", fail)
            with pytest.raises(WeftError, match="not today"):
                x.realize()
        assert x.tolist() == [4.0, number * 3 + 1.0] and y.tolist() == [3.0, number * 3.0]


def test_forgetting_programs_forgets_schedules():
    (own(1.0) + 1).realize()
    assert len(schedules) > 0
    forget_programs()
    assert len(schedules) == 0


def graph(length):
    node = UOp.new_buffer("REF", 4, Tensor([1.0]).uop.dtype)
    for number in range(length):
        node = node + number
    return structure_of(UOp.sink(node.contiguous()))


def test_the_least_recently_used_goes_first():
    sizes = [len(graph(n).sources) for n in (4, 5, 6)]
    cache = ScheduleCache(most_nodes=sum(sizes) - 1)
    templates = [template_for(graph(n)) for n in (4, 5, 6)]
    cache.put(graph(4), templates[0])
    cache.put(graph(5), templates[1])
    assert cache.get(graph(4)) is templates[0]
    cache.put(graph(6), templates[2])
    assert cache.get(graph(5)) is None
    assert cache.get(graph(4)) is templates[0] and cache.get(graph(6)) is templates[2]


def test_schedules_larger_than_the_cache_are_not_stored():
    cache = ScheduleCache(most_nodes=3)
    cache.put(graph(8), template_for(graph(8)))
    assert len(cache) == 0


def test_devices_that_were_closed_are_not_met_again():
    with settings.override(DEVICE="REF"):
        for number in range(2):
            x = Tensor([1.0, number]).contiguous().realize()
            assert (x + 1).tolist() == [2.0, number + 1.0]
            registry.close("REF")


def test_several_threads_use_it_at_once():
    failures = []

    def work(number):
        try:
            for turn in range(20):
                x = Tensor([float(number), float(turn)]).contiguous()
                if (x * 3 + turn).tolist() != [number * 3.0 + turn, turn * 4.0]:
                    failures.append((number, turn))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
