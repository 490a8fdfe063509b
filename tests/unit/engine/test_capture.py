"""What a recording keeps, and for whom."""

import threading

import pytest

from helpers.schedules import floats, read, scheduled
from weft import Variable
from weft.base.errors import CaptureError
from weft.engine import run_schedule
from weft.engine.capture import recorded, recording


def test_executed_steps_are_recorded_in_order():
    items, _ = scheduled((floats(1, 2).reshape((2, 1)) + floats(3, 4).reshape((2, 1))).contiguous())
    with recorded("step") as record:
        run_schedule(items)
        run_schedule(items)
    assert len(record.steps) == 2 * len(items) > 0
    assert [step.bufs for step in record.steps[: len(items)]] == [item.bufs for item in items]


def test_nothing_is_recorded_without_a_recorder():
    items, _ = scheduled(floats(1, 2).reshape((2, 1)).copy_to_device("HOST"))
    with recorded("step") as record:
        pass
    run_schedule(items)
    assert recording() is None and record.steps == []


def test_other_threads_are_not_recorded():
    seen = []
    with recorded("step") as record:
        thread = threading.Thread(target=lambda: seen.append(recording()))
        thread.start()
        thread.join()
        assert recording() is record
    assert seen == [None]


def test_an_error_ends_the_recording():
    with pytest.raises(KeyError), recorded("step"):
        raise KeyError
    assert recording() is None


def test_reading_is_refused_by_name():
    with recorded("step") as record, pytest.raises(CaptureError) as caught:
        record.refuse_reading((3,))
    assert "step" in caught.value.asked and "(3,)" in caught.value.asked


def test_values_that_python_takes_are_noted():
    n, m = Variable("n", 1, 8), Variable("m", 1, 8)
    bound = n.bind(3)
    with recorded("step") as record:
        assert int(bound + 1) == 4 and (m.bind(2) * 2).render()
        assert record.read == {n}
        record.read_values_of(3, m.bind(2) + 1)
        assert record.read == {n, m}
    assert int(bound) == 3


def test_changing_buffers_are_tracked():
    """From memory that was there before, through every step; numbers from Python stay."""
    x = floats(1, 2).reshape((2, 1))
    items, _ = scheduled((x + 1.0).copy_to_device("HOST"))
    assert len(items) == 2
    first = items[0].inputs[0]
    with recorded("step", {id(first)}) as record:
        run_schedule(items)
    assert all(record.is_changing(buffer) for item in items for buffer in item.bufs)
    with recorded("step") as record:
        run_schedule(items)
    assert not any(record.is_changing(buffer) for item in items for buffer in item.bufs)


def test_unneeded_buffers_are_freed_while_steps_are_referenced():
    items, result = scheduled((floats(1, 2) + 1.0).copy_to_device("HOST"))
    assert len(items) == 2
    passing, before = items[0].outputs[0], items[0].inputs[0]
    for known, stays in ((), True), ({id(before)}, False):
        with recorded("step", known) as record:
            run_schedule(items, unneeded={1: [passing]})
        assert passing.is_allocated is stays and record.steps[0].bufs[0] is passing
        assert read(result) == [2, 3]
    run_schedule(items)
    assert passing.is_allocated
