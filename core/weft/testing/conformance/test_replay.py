"""Recorded functions, submissions of many launches, random programs: all equal to one by one."""

from __future__ import annotations

import numpy
import pytest

from weft.base.settings import settings
from weft.device.program import Launch
from weft.engine import lower_schedule_item
from weft.tensor import Tensor
from weft.tensor.jit import jit
from weft.testing.programs import Refused, Seeded, run_program


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).integers(-9, 9, shape).astype(numpy.float32)


def test_a_recorded_function_gives_what_it_gave(weft_device, weft_compute, weft_bytes):
    @jit
    def step(x, y):
        x = (x * 2 + y).realize()
        x = (x - y.sum()).realize()
        return (x + 1).realize(), x.max()

    for turn in range(4):
        a, b = numbers(6, seed=turn), numbers(6, seed=turn + 9)
        given = [Tensor(array, device=weft_device.name).realize() for array in (a, b)]
        wide, largest = step(*given)
        want = a * 2 + b - b.sum()
        numpy.testing.assert_array_equal(wide.numpy(), want + 1)
        assert largest.item() == want.max()


def test_one_submission_is_the_same_as_single_launches(weft_device, weft_compute, weft_bytes):
    x = Tensor(numbers(8), device=weft_device.name).realize()
    first = (x + 1).contiguous()
    items = first.schedule() + (first * 3).contiguous().schedule()
    launches, lowered = [], []
    for item in items:
        for buffer in item.bufs:
            buffer.allocate()
        prg = lower_schedule_item(item).prg
        program = prg.program.p.program
        handles = tuple(item.bufs[slot].handle for slot in prg.program.slots)
        launches.append(
            Launch(prg.program.runner, handles, program.global_size, program.local_size)
        )
        lowered.append(handles)
    graph = weft_device.graph(launches)
    if graph is None:
        pytest.skip("this device takes launches one by one")
    last = items[-1].bufs[0]
    for launch in launches:
        launch.runner(launch.handles, global_size=launch.global_size, local_size=launch.local_size)
    weft_device.synchronize()
    wanted = bytes(last.copy_out())
    last.copy_in(bytes(last.nbytes))
    graph(lowered, [()] * len(launches), wait=True)
    assert bytes(last.copy_out()) == wanted


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed, weft_device, weft_compute, weft_bytes):
    with settings.override(DEVICE=weft_device.name):
        try:
            run_program(Seeded(9000 + seed), most=10)
        except Refused:
            pytest.skip("the scheduler refuses this program on every device")
