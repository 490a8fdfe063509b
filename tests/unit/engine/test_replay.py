"""Recorded steps over other memory: what each memory is taken for, and what is run."""

from dataclasses import replace

import pytest

from weft import Tensor, Variable, settings
from weft.base.dtype import dtypes
from weft.base.errors import OutOfMemory, PluginError
from weft.device import Buffer, binding, registry
from weft.engine import stats
from weft.engine.argument_slots import ArgumentSlots
from weft.engine.capture import recorded
from weft.engine.recorded_steps import CONSTANT, INPUT, INTERMEDIATE, OUTPUT, Unreplayable
from weft.engine.replay import Replay


def memory(tensor):
    return binding.buffer_of(tensor.uop.base)


def record(function, *inputs):
    """(steps, buffers of the inputs, buffer of the result) of one run."""
    for tensor in inputs:
        tensor.realize()
    with recorded("test") as found:
        result = function(*inputs).realize()
    return found.steps, [memory(t) for t in inputs], memory(result)


def kinds(replay):
    return sorted(m.kind for m in replay._memories.values())


def chain(x):
    y = (x + 1).contiguous().realize()
    return ((y * 2).contiguous().realize() + y).contiguous()


def test_kinds_of_memory():
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    replay = Replay(steps, given, outputs=[result])
    assert kinds(replay) == sorted([INPUT, INTERMEDIATE, INTERMEDIATE, OUTPUT])
    assert replay.written == [] and replay.read == {0}


def test_a_replay_computes_on_other_memory_and_gives_fresh_memory():
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    other = memory(Tensor([5.0, 6.0]).realize())
    (first,) = replay.run([other], {})
    (second,) = replay.run(given, {})
    assert first.numpy().tolist() == [18.0, 21.0]
    assert second.numpy().tolist() == [6.0, 9.0]


def test_memory_used_again_for_an_output():
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    (first,) = replay.run(given, {})
    (second,) = replay.run([memory(Tensor([0.0, 0.0]).realize())], {}, [first])
    assert second is first and first.numpy().tolist() == [3.0, 3.0]


def test_steps_of_constants_run_once():
    def function(x):
        table = (Tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0) * 2).contiguous().realize()
        return x + table

    steps, given, result = record(function, Tensor([1.0, 2.0]))
    replay = Replay(steps, given, outputs=[result])
    assert len(replay.steps) == 1 < len(replay.recorded)
    assert CONSTANT in kinds(replay)
    replay.prepare()
    (made,) = replay.run(given, {})
    assert made.numpy().tolist() == [9.0, 14.0]


def test_steps_of_volatile_buffers_run_again():
    source = Tensor([1.0, 2.0])
    host = binding.buffer_of(source.uop.src[0] if source.uop.src else source.uop)
    steps, given, result = record(lambda x: x + (source * 2).realize(), Tensor([1.0, 2.0]))
    assert len(Replay(steps, given, outputs=[result]).steps) == 1
    assert len(Replay(steps, given, outputs=[result], volatile=[id(host)]).steps) > 1


def test_dead_steps_are_removed():
    def function(x):
        (x * 5).contiguous().realize()
        return x + 1

    steps, given, result = record(function, Tensor([1.0, 2.0]))
    assert (len(steps), len(Replay(steps, given, outputs=[result]).steps)) == (2, 1)


def test_intermediates_share_memory():
    def function(x):
        for _ in range(6):
            x = (x + 1).contiguous().realize()
        return x

    steps, given, result = record(function, Tensor([1.0] * 64))
    with settings.override(MEMORY_PLANNER=1):
        replay = Replay(steps, given, outputs=[result])
        replay.prepare()
    assert 0 < replay._layout.planned < replay._layout.unplanned
    assert replay.run(given, {})[0].numpy().tolist() == [7.0] * 64


def test_two_runs_of_one_thing_have_one_pattern():
    def patterns(function):
        steps, given, result = record(function, Tensor([1.0, 2.0]))
        return Replay(steps, given, outputs=[result]).pattern()

    assert patterns(chain) == patterns(chain)
    assert patterns(chain) != patterns(lambda x: chain(x) + 1)


def test_numbers_are_listed():
    steps, given, result = record(lambda x: x + Tensor([4.0, 5.0]), Tensor([1.0, 2.0]))
    (found,) = Replay(steps, given, outputs=[result]).numbers()
    assert memoryview(found).cast("f").tolist() == [4.0, 5.0]


def test_writes_to_inputs():
    x = Tensor([1.0, 2.0]).realize()
    steps, given, _ = record(lambda x: x.assign(x + 1), x)
    replay = Replay(steps, given)
    assert replay.written == [0] and not replay.writes_constant()
    replay.prepare()
    other = Tensor([7.0, 8.0]).realize()
    assert replay.run([memory(other)], {}) == []
    assert other.tolist() == [8.0, 9.0] and x.tolist() == [2.0, 3.0]


def test_writes_to_constants_are_detected():
    x = Tensor([1.0, 2.0]).realize()
    steps, given, _ = record(lambda x: x.assign(x + 1), x)
    assert Replay(steps, [], known=[id(given[0])]).writes_constant()


def test_a_result_that_is_not_computed_is_refused():
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    elsewhere = Buffer(result.device, 2, dtypes.float32)
    with pytest.raises(Unreplayable):
        Replay(steps, given, outputs=[elsewhere])


def test_windows_of_inputs():
    x = Tensor([1.0, 2.0, 3.0, 4.0])
    steps, given, result = record(lambda x: x.bitcast(dtypes.int32)[2:].contiguous() + 1, x)
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    other = Tensor([9, 9, 5, 6], dtype=dtypes.int32).bitcast(dtypes.float32).contiguous().realize()
    assert replay.run([memory(other)], {})[0].numpy().tolist() == [6, 7]


def test_counters_and_reports_go_on(capsys):
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    kernels = sum(step.prg.is_kernel for step in steps)
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    before = stats.kernels, stats.bytes
    replay.run(given, {})
    assert stats.kernels == before[0] + kernels and stats.bytes > before[1]
    with settings.override(DEBUG=2):
        (made,) = replay.run(given, {})
    assert made.numpy().tolist() == [6.0, 9.0]
    assert capsys.readouterr().err.count("***") >= kernels


class _Graphs:
    """Takes kernels together, as a device with graphs does."""

    def __init__(self):
        self.bound = []

    def __call__(self, launches):
        self.bound.append(len(launches))

        def run(handles, values, *, wait):
            for launch, arguments in zip(launches, handles):
                launch.runner(
                    arguments, global_size=launch.global_size, local_size=launch.local_size,
                    values=(), wait=False,
                )  # fmt: skip

        return run


def alone(x):
    return (x + 1).contiguous().realize()


@pytest.mark.parametrize("least, bound", [(1, [1]), (2, [])])
def test_a_single_kernel_is_batched_where_the_device_requests_it(monkeypatch, least, bound):
    steps, given, result = record(alone, Tensor([1.0, 2.0]))
    graphs, device = _Graphs(), registry.open(result.device)
    capabilities = replace(device.capabilities, compute=replace(device.compute, graph_from=least))
    monkeypatch.setattr(device, "capabilities", capabilities)
    monkeypatch.setattr(device, "graph", graphs)
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    assert graphs.bound == bound
    other = memory(Tensor([5.0, 6.0]).realize())
    assert replay.run([other], {})[0].numpy().tolist() == [6.0, 7.0]


def test_a_device_that_has_something_to_wait_for_is_waited_for(monkeypatch):
    steps, given, result = record(alone, Tensor([1.0, 2.0]))
    waited = []
    monkeypatch.setattr(
        registry.open(result.device).device, "synchronize", lambda: waited.append(1)
    )
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    replay.run([memory(Tensor([5.0, 6.0]).realize())], {})
    assert waited


@pytest.mark.parametrize("level, bound", [(1, [3]), (2, [])])
def test_kernels_in_a_row_go_to_the_device_together(monkeypatch, level, bound):
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    graphs = _Graphs()
    monkeypatch.setattr(registry.open(result.device), "graph", graphs)
    replay = Replay(steps, given, outputs=[result])
    with settings.override(JIT=level):
        replay.prepare()
    assert graphs.bound == bound
    other = memory(Tensor([5.0, 6.0]).realize())
    assert replay.run([other], {})[0].numpy().tolist() == [18.0, 21.0]


class _ValueGraphs:
    """Graphs whose arguments and values are set one by one."""

    def __init__(self):
        self.bound, self.launches, self.values = 0, [], []

    def __call__(self, launches):
        self.bound += 1
        self.launches = launches
        self.handles = [list(launch.handles) for launch in launches]
        self.values = [list(launch.values) for launch in launches]

        class Graph:
            def __call__(graph, handles, values, *, wait):
                raise AssertionError("arguments are set one by one")

            def launch(graph):
                for launch, own, values in zip(self.launches, self.handles, self.values):
                    launch.runner(own, global_size=None, local_size=None, values=values, wait=False)

            def setter(graph, places):
                return lambda handle: self._set(self.handles, places, handle)

            def value_setter(graph, places):
                return lambda value: self._set(self.values, places, value)

        return Graph()

    def _set(self, lists, places, new):
        for launch, index in places:
            lists[launch][index] = new


@pytest.mark.parametrize("declared, bound", [(True, 1), (False, 0)])
def test_values_of_variables_are_set_where_the_device_declares_it(monkeypatch, declared, bound):
    x, n = Tensor([1.0, 2.0, 3.0, 4.0], device="REF").realize(), Variable("n", 1, 4)

    def function(x):
        first = x[: n.bind(2)].sum().contiguous().realize()
        return (first + x[: n.bind(2)].max()).contiguous()

    steps, given, result = record(function, x)
    graphs, device = _ValueGraphs(), registry.open("REF")
    compute = replace(device.compute, graph_from=1, graph_values=declared)
    monkeypatch.setattr(device, "capabilities", replace(device.capabilities, compute=compute))
    monkeypatch.setattr(device, "graph", graphs)
    (variable,) = {v for step in steps for v in step.prg.variables}
    replay = Replay(steps, given, outputs=[result], dynamic=[variable])
    replay.prepare()
    assert graphs.bound == bound
    for count, expected in ((3, 9.0), (1, 2.0), (4, 14.0)):
        assert replay.run(given, {variable: count})[0].numpy().tolist() == [expected]


def test_a_device_that_was_closed_is_another_one():
    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    assert replay.is_valid
    with registry.use(registry.Registry()):
        assert not replay.is_valid
    assert replay.is_valid


def test_trace_of_a_replay(golden):
    def function(x):
        table = (Tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0) * 2).contiguous().realize()
        (x * 7).contiguous().realize()
        return chain(x * table)

    steps, given, result = record(function, Tensor([1.0, 2.0]))
    recorded = Replay(steps, given, outputs=[result])
    ran = [f"ran: {step.prg.name}" for step in steps]
    assert "\n".join([*ran, *recorded.lines()]) == golden


class Flaky:
    """A runner that fails at these of its calls."""

    def __init__(self, runner, *failing):
        self.runner, self.failing, self.calls = runner, failing, 0

    def __call__(self, *arguments, **named):
        self.calls += 1
        if self.calls - 1 in self.failing:
            raise KeyError("lost")
        return self.runner(*arguments, **named)


def two_writes(monkeypatch, *failing):
    """A replay of writes to two memories, the second of which fails at these calls."""
    one, other = Tensor([1.0], device="REF").realize(), Tensor([1, 2], device="REF").realize()
    buffers = [memory(one), memory(other)]
    with recorded("test") as found:
        one.assign(one + 1).realize()
        other.assign(other * 2).realize()
    runner = Flaky(found.steps[1].prg.runner, *failing)
    monkeypatch.setattr(found.steps[1].prg, "runner", runner)
    replay = Replay(found.steps, buffers)
    replay.prepare()
    return replay, buffers


def test_a_launch_that_fails_between_writes_is_tried_again(monkeypatch):
    replay, buffers = two_writes(monkeypatch, 0)
    with pytest.warns(UserWarning, match="tried a second time"):
        replay.run(buffers, {})
    assert [b.numpy().tolist() for b in buffers] == [[3.0], [4, 8]]


def test_once(monkeypatch):
    replay, buffers = two_writes(monkeypatch, 0, 1)
    with pytest.raises(PluginError, match="replaying 2 steps failed inside the plugin") as caught:
        replay.run(buffers, {})
    assert "KeyError: 'lost'" in caught.value.because
    assert "was written before it failed" in caught.value.__cause__.__notes__[0]


def test_no_recovery_without_writes(monkeypatch):
    replay, buffers = two_writes(monkeypatch)
    runner = Flaky(replay._launches[0], 0)
    replay._launches[0] = runner
    with pytest.raises(PluginError):
        replay.run(buffers, {})
    assert runner.calls == 1 and [b.numpy().tolist() for b in buffers] == [[2.0], [2, 4]]
    replay.run(buffers, {})
    assert [b.numpy().tolist() for b in buffers] == [[3.0], [4, 8]]


def test_a_crash_of_a_device_that_is_waited_for(monkeypatch):
    steps, given, result = record(lambda x: x + 1, Tensor([1.0, 2.0]))
    replay = Replay(steps, given, outputs=[result])
    replay.prepare()
    replay._wait = [lambda: {}["x"]]
    with pytest.raises(PluginError, match="inside the plugin"):
        replay.run(given, {})

    def full():
        raise OutOfMemory("no room")

    replay._wait = [full]
    with pytest.raises(OutOfMemory, match="no room"):
        replay.run(given, {})


def test_a_graph_without_setters_is_a_plugin_error():
    class Graph:
        def setter(self, places):
            return {}[places[0]]

        def launch(self):
            pass

        __call__ = launch

    steps, given, result = record(chain, Tensor([1.0, 2.0]))
    replay, arguments = Replay(steps, given, outputs=[result]), [None]
    replay._patches, replay._new = [ArgumentSlots([(arguments, 0)])], []
    with pytest.raises(PluginError, match="binding launches together failed"):
        replay._move_to(Graph(), [arguments], steps[0].prg.device)
