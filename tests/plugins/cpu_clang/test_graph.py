"""Many launches as one call: the same as one by one, with changed arguments."""

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.dtype import dtypes
from weft.plugin import CompiledProgram, Estimates, Launch, LinearProgram
from weft.uop import Ops, UOp
from weft_cpu_clang.graph import MOST_ARGUMENTS, LaunchTable, source
from weft_cpu_clang.runner import FunctionRunner
from weft_cpu_clang.threads import ThreadPool

FLOAT = dtypes.float.ptr(1)


def adding(bench, inputs, name):
    """A kernel that stores the sum of its inputs, one float each, and of a variable."""
    zero = UOp.const(dtypes.int, 0)
    out = UOp(Ops.DEFINE_GLOBAL, FLOAT, (), 0).index(zero)
    nodes = [zero, out.src[0], out]
    variable = UOp.variable("n", 0, 100)
    total = variable.cast(dtypes.float)
    nodes += [variable, total]
    for slot in range(1, inputs + 1):
        place = UOp(Ops.DEFINE_GLOBAL, FLOAT, (), slot).index(zero)
        load = place.load()
        total = total + load
        nodes += [place.src[0], place, load, total]
    nodes.append(UOp(Ops.STORE, dtypes.void, (out, total)))
    return bench.load(name, nodes)


def floats(bench, *values):
    return [bench.memory(np.float32(value).tobytes()) for value in values]


def read(bench, handle):
    into = bytearray(4)
    bench.allocator.copy_out(memoryview(into), handle)
    return np.frombuffer(into, np.float32)[0]


@pytest.fixture
def table(bench):
    """Three launches, each adding to what the one before it gave."""
    out = floats(bench, 0, 0, 0)
    given = floats(bench, 1, 2, 3)
    runner = adding(bench, 2, "adding")
    launches = [
        Launch(runner, (out[0], given[0], given[1]), values=(10,)),
        Launch(runner, (out[1], out[0], given[2]), values=(20,)),
        Launch(runner, (out[2], out[1], out[1]), values=(0,)),
    ]
    return LaunchTable.of(launches, bench.device.toolchain), out, given, launches


def test_all_are_run_in_order(bench, table):
    graph, out, *_ = table
    graph.launch()
    assert [read(bench, handle) for handle in out] == [13, 36, 72]


def test_a_setter_changes_every_place_it_was_made_for(bench, table):
    graph, out, *_ = table
    other = floats(bench, 100)[0]
    put = graph.setter([(0, 1), (1, 2)])
    put(other)
    graph.launch()
    assert [read(bench, handle) for handle in out] == [112, 232, 464]


def test_a_value_setter_changes_every_place_it_was_made_for(bench, table):
    graph, out, *_ = table
    put = graph.value_setter([(0, 0), (2, 0)])
    put(50)
    graph.launch()
    assert [read(bench, handle) for handle in out] == [53, 76, 202]


def test_a_setter_after_all_arguments_were_others(bench, table):
    graph, out, given, launches = table
    put, other = graph.setter([(0, 1), (1, 2)]), floats(bench, 100)[0]
    put(other)
    graph([launch.handles for launch in launches], [(10,), (20,), (0,)], wait=False)
    assert [read(bench, handle) for handle in out] == [13, 36, 72]
    put(other)
    graph.launch()
    assert [read(bench, handle) for handle in out] == [112, 232, 464]


def test_all_arguments_replaced(bench, table):
    graph, out, given, launches = table
    handles = [launch.handles for launch in launches]
    seconds = graph(handles, [(0,), (0,), (1,)], wait=True)
    assert seconds >= 0
    assert [read(bench, handle) for handle in out] == [3, 6, 13]


@pytest.mark.parametrize("inputs", [0, 1, 5, 6, 9, MOST_ARGUMENTS - 2])
def test_any_number_of_arguments(bench, inputs):
    runner = adding(bench, inputs, f"adding_{inputs}")
    out, *given = floats(bench, 0, *range(1, inputs + 1))
    launch = Launch(runner, (out, *given), values=(7,))
    LaunchTable.of([launch], bench.device.toolchain).launch()
    assert read(bench, out) == 7 + sum(range(inputs + 1))


def test_too_many_arguments_are_launched_one_by_one(bench):
    runner = adding(bench, MOST_ARGUMENTS, "adding_too_many")
    launch = Launch(runner, tuple(floats(bench, *range(MOST_ARGUMENTS + 1))), values=(7,))
    assert LaunchTable.of([launch], bench.device.toolchain) is None


def test_launches_of_others_are_refused(bench):
    assert LaunchTable.of([Launch(print, ())], bench.device.toolchain) is None


def test_the_code_has_a_case_for_every_number_of_arguments():
    assert source().count("case ") == MOST_ARGUMENTS + 1


def test_a_recorded_function_is_one_call(monkeypatch):
    calls = []
    launch = LaunchTable.launch
    monkeypatch.setattr(LaunchTable, "launch", lambda self: (calls.append(self), launch(self)))

    @jit
    def chained(x, y):
        for number in range(20):
            x = (x * 2 + y + number).realize()
        return x, (x[1:] + y[:3]).contiguous()

    def expected(x, y):
        for number in range(20):
            x = x * 2 + y + number
        return x, x[1:] + y[:3]

    for turn in range(5):
        x, y = np.arange(4.0) + turn, np.arange(4.0) * turn
        found = chained(Tensor(x, device="CPU").realize(), Tensor(y, device="CPU").realize())
        for ours, want in zip(found, expected(x, y)):
            np.testing.assert_array_equal(ours.numpy(), want)
    assert calls


def counting(bench):
    """A kernel that adds 1 to each of its elements, as long as threads would share it."""
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1 << 20), (), 0)
    place = out.index(UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 1 << 20),), "gidx0"))
    store = place.store(place.load() + 1)
    nodes = [u for u in UOp.sink(store).toposort() if u.op is not Ops.SINK]
    program = LinearProgram.of("counting", nodes, estimates=Estimates(ops=1 << 20, bytes=8 << 20))
    source = bench.renderer.render(program)
    return CompiledProgram("counting", bench.compiler.compile(source, "counting"), source, program)


@pytest.mark.parametrize("threads", [1, 3])
def test_kernels_that_threads_share_are_run_among_others(bench, threads):
    toolchain = bench.device.toolchain
    pool = ThreadPool(toolchain, threads) if threads > 1 else None
    runner = FunctionRunner(counting(bench), pool)
    assert runner.parts == 4 * threads if threads > 1 else runner.parts == 1
    many = bench.memory(bytes(4 << 20))
    alone = adding(bench, 2, "adding")
    (total,) = floats(bench, 0)
    launches = [
        Launch(runner, (many,)),
        Launch(alone, (total, many, many), values=(5,)),
        Launch(runner, (many,)),
    ]
    graph = LaunchTable.of(launches, toolchain)
    for _ in range(3):
        graph.launch()
    np.testing.assert_array_equal(np.frombuffer(many.window, np.float32), 6)
    assert read(bench, total) == 5 + 5 + 5
    alone_in_row = LaunchTable.of([Launch(runner, (many,))], toolchain)
    for _ in range(3):
        alone_in_row.launch()
    np.testing.assert_array_equal(np.frombuffer(many.window, np.float32), 9)
    if pool is not None:
        pool.stop()
