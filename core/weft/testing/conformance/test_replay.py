"""Recorded functions, submissions of many launches, random programs: all equal to one by one."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import pack, unpack
from weft.base.settings import settings
from weft.device import Buffer, Launch, LinearProgram, SettableGraph, ValueGraph
from weft.engine import program_for
from weft.tensor import Tensor
from weft.tensor.jit import jit
from weft.testing.conformance.programs import Builder, compiled
from weft.testing.programs import Refused, Seeded, run_program
from weft.uop import UOp

INT = dtypes.int32


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).integers(-9, 9, shape).astype(numpy.float32)


def test_a_recorded_function_gives_what_it_gave(weft_device, weft_compute, weft_bytes):
    @jit
    def step(x, y):
        x = (x * 2 + y).realize()
        x = (x - y.sum()).realize()
        return (x + 1).realize(), x.max()

    for number in range(4):
        a, b = numbers(6, seed=number), numbers(6, seed=number + 9)
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
        prg: Any = program_for(item.ast, weft_device.name)  # takes no numbers as arguments
        program = prg.p.program
        handles = tuple(item.bufs[slot].handle for slot in prg.slots)
        launches.append(Launch(prg.runner, handles, program.global_size, program.local_size))
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


def doubled_plus(weft_device, count):
    """A program that writes a number and an input into its output, and its runner."""
    b = Builder()
    number = UOp.variable("number", 0, 1000)
    out, data = b.argument(0, INT, count), b.argument(1, INT, count)
    b.add(number)
    at = b.loop(count, 0)
    b.store(out, at, b.load(data, at) * 2 + number)
    b.end(at)
    program = LinearProgram.of("doubled_plus", b.nodes)
    return program, weft_device.runner(compiled(weft_device, program))


def integers(device, *values):
    return Buffer(device.id, len(values), INT).copy_in(pack(values, INT))


def read(buffer):
    return unpack(buffer.copy_out(), INT)


def test_a_submission_is_replayed_on_other_memory_and_with_other_values(
    weft_device, weft_compute, weft_bytes
):
    """Two launches, of which the second reads what the first writes."""
    _, runner = doubled_plus(weft_device, 3)
    first = [integers(weft_device, *row) for row in ((0, 0, 0), (0, 0, 0), (1, 2, 3))]
    other = [integers(weft_device, *row) for row in ((9, 9, 9), (9, 9, 9), (-1, 50, 7))]

    def handles(memory):
        end, middle, start = (buffer.handle for buffer in memory)
        return [(middle, start), (end, middle)]

    bound = [Launch(runner, pair, None, None, (5,)) for pair in handles(first)]
    graph = weft_device.graph(bound)
    if graph is None:
        pytest.skip("this device takes launches one by one")
    for number, (memory, given) in enumerate([(first, (1, 2, 3)), (other, (-1, 50, 7))] * 2):
        numbers = [(10 + number,), (100 * number,)]
        seconds = graph(handles(memory), numbers, wait=True)
        wanted = [(2 * value + 10 + number) * 2 + 100 * number for value in given]
        assert read(memory[0]) == wanted, f"replay {number}"
        assert isinstance(seconds, float)
    assert graph(handles(first), [(0,), (0,)], wait=False) is None
    assert read(first[0]) == [4, 8, 12], "a copy out waits for a replay"


def test_a_submission_with_set_arguments(weft_device, weft_compute, weft_bytes):
    """An argument that was not set is unchanged."""
    _, runner = doubled_plus(weft_device, 2)
    out, one, two = (integers(weft_device, *row) for row in ((0, 0), (1, 2), (30, 40)))
    graph = weft_device.graph([Launch(runner, (out.handle, one.handle), None, None, (7,))])
    if not isinstance(graph, SettableGraph):
        pytest.skip("this device has no submission whose arguments are set one by one")
    graph([(out.handle, one.handle)], [(7,)], wait=True)
    change = graph.setter([(0, 1)])
    for buffer, wanted in ((two, [67, 87]), (one, [9, 11]), (two, [67, 87])):
        change(buffer.handle)
        for _ in range(2):
            out.copy_in(bytes(8))
            graph.launch()
            assert read(out) == wanted


def test_a_submission_with_set_values(weft_device, weft_compute, weft_bytes):
    """`ComputeCaps.graph_values`: a value that was not set is unchanged."""
    if not weft_device.compute.graph_values:
        pytest.skip("this device declares no graphs whose values are set one by one")
    _, runner = doubled_plus(weft_device, 2)
    end, middle, start = (integers(weft_device, *row) for row in ((0, 0), (0, 0), (1, 2)))
    pairs = [(middle.handle, start.handle), (end.handle, middle.handle)]
    graph = weft_device.graph([Launch(runner, pair, None, None, (7,)) for pair in pairs])
    assert isinstance(graph, ValueGraph)
    change = graph.value_setter([(1, 0)])
    for value in (5, 100, 0):
        change(value)
        graph.launch()
        assert read(end) == [18 + value, 22 + value]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed, weft_device, weft_compute, weft_bytes):
    with settings.override(DEVICE=weft_device.name):
        try:
            run_program(Seeded(9000 + seed), most=10)
        except Refused:
            pytest.skip("the scheduler refuses this program on every device")
