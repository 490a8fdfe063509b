"""Schedules run: items, programs, counters, reports, on the reference device."""

import struct

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.base.settings import settings
from weft.device import binding
from weft.engine import (
    forget_programs,
    lower_schedule,
    lower_schedule_item,
    program_for,
    run_schedule,
    stats,
)
from weft.schedule import ScheduleItem, create_schedule_with_vars, kernelize_map
from weft.uop import Ops, UOp

DEVICE = "REF"


def floats(*values):
    node = UOp.new_buffer(DEVICE, len(values), dtypes.float)
    binding.buffer_of(node).copy_in(struct.pack(f"{len(values)}f", *values))
    return node


def scheduled(node):
    sink = UOp.sink(node)
    final = sink.substitute(kernelize_map(sink))
    return create_schedule_with_vars(final)[0], final.src[0]


def read(node):
    data = bytes(binding.buffer_behind(node).copy_out())
    return list(struct.unpack(f"{len(data) // 4}f", data))


def test_a_schedule_computes():
    items, result = scheduled(floats(1, 2, 3) * floats(4, 5, 6) + 1.0)
    run_schedule(items)
    assert read(result) == [5, 11, 19]


def test_items_know_outputs_and_inputs():
    (item,), _ = scheduled(floats(1, 2) + floats(3, 4))
    assert item.outputs == item.bufs[:1] and item.inputs == item.bufs[1:]
    assert not item.outputs[0].is_allocated and all(b.is_allocated for b in item.inputs)


def test_an_item_is_lowered_to_something_that_runs():
    (item,), result = scheduled(floats(1, 2) + floats(3, 4))
    step = lower_schedule_item(item)
    assert step.bufs == item.bufs
    assert Ops.STORE in [u.op for u in step.prg.p.uops]
    assert step.prg.p.name in step.prg.p.src
    assert step.run() >= 0
    assert read(result) == [4, 6]


def test_copies_and_windows_run():
    x = floats(1, 2, 3, 4)
    items, result = scheduled(x.reshape((2, 2)).copy_to_device("HOST"))
    run_schedule(items)
    assert read(result) == [1, 2, 3, 4]


def test_equal_kernels_are_one_program():
    (first,), _ = scheduled(floats(1, 2) * 7.0)
    (second,), _ = scheduled(floats(3, 4) * 7.0)
    assert first.ast is second.ast
    assert program_for(first.ast, DEVICE) is program_for(second.ast, DEVICE)
    kept = program_for(first.ast, DEVICE)
    forget_programs()
    assert program_for(first.ast, DEVICE) is not kept


def test_the_counters_count():
    items, _ = scheduled((floats(1, 2) * 3.0).reshape((1, 2)).reduce(Ops.ADD, (1,)).reshape((1,)))
    before = stats.kernels, stats.bytes, stats.ops
    run_schedule(items)
    assert stats.kernels == before[0] + len(items)
    assert stats.bytes > before[1] and stats.ops > before[2]


def test_everything_is_compiled_before_anything_runs():
    good, _ = scheduled(floats(1, 2) + 1.0)
    x = floats(1, 2)
    target = good[0].ast.src[0].src[0]
    broken = ScheduleItem(UOp.sink(target.store(UOp(Ops.UNIQUE, dtypes.float, arg=0))), good[0].bufs)
    with pytest.raises(SpecError, match="no value inside a kernel"):
        run_schedule([*good, broken])
    assert not good[0].bufs[0].is_allocated
    assert read(x) == [1, 2]


def test_debug_two_prints_a_line_per_kernel(capsys):
    items, _ = scheduled(floats(1, 2) + 1.0)
    with settings.override(DEBUG=2):
        run_schedule(items)
    line = capsys.readouterr().err
    assert DEVICE in line and "E_2" in line and "arg   2" in line and "GB/s" in line


def test_debug_four_prints_the_source_once(capsys):
    items, _ = scheduled(floats(1, 2) + 17.0)
    with settings.override(DEBUG=4):
        for _ in range(2):
            for step in lower_schedule(items):
                step.run()
    assert capsys.readouterr().err.count(lower_schedule(items)[0].prg.p.src) == 1
