"""Launches as an indirect command buffer, on a double that drops undeclared resources."""

from __future__ import annotations

import gc
import importlib.util
import weakref
from pathlib import Path

import numpy
import pytest

import weft_metal
from weft import Tensor, jit
from weft.plugin import CapabilityError, DeviceError, DeviceId, Launch
from weft_metal.graph import OneSubmission
from weft_metal.indirect import IndirectGraph

_spec = importlib.util.spec_from_file_location("host", Path(__file__).with_name("test_host.py"))
_host = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_host)
adding, loaded, memory, numbers = _host.adding, _host.loaded, _host.memory, _host.numbers


def two(gpu, handle, value=10):
    """A launch that adds 1, and one that adds a variable, over one buffer."""
    once, more = loaded(gpu, adding()), loaded(gpu, adding(name="more", variable=True))
    return [Launch(once, (handle,)), Launch(more, (handle,), values=(value,))]


def test_a_replay_is_one_submission(gpu):
    allocator, handle = memory(gpu, 1, 2, 3, 4)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    assert isinstance(graph, IndirectGraph)
    assert graph([[handle], [handle]], [(), (10,)], wait=True) > 0
    assert graph([[handle], [handle]], [(), (10,)], wait=False) is None
    assert numbers(allocator, handle) == [23, 24, 25, 26]


def test_values_and_memory_may_change(gpu):
    allocator, first = memory(gpu, 1, 2, 3, 4)
    _, other = memory(gpu, 0, 0, 0, 0)
    graph = weft_metal.weft_graph(gpu, two(gpu, first))
    graph([[first], [first]], [(), (10,)], wait=False)
    graph([[first], [other]], [(), (30,)], wait=False)
    graph([[other], [other]], [(), (30,)], wait=False)
    assert numbers(allocator, first) == [13, 14, 15, 16]
    assert numbers(allocator, other) == [61] * 4


def test_only_changed_commands_are_encoded_again(gpu, framework, monkeypatch):
    encoded = []
    real = IndirectGraph._encode
    monkeypatch.setattr(
        IndirectGraph, "_encode", lambda self, number: (encoded.append(number), real(self, number))
    )
    allocator, handle = memory(gpu, 1, 2, 3, 4)
    _, other = memory(gpu, 0, 0, 0, 0)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    for _ in range(3):
        graph([[handle], [handle]], [(), (10,)], wait=False)
    assert encoded == [0, 1]
    graph([[handle], [other]], [(), (10,)], wait=False)
    assert encoded == [0, 1, 1]


def test_arguments_can_be_set_one_by_one(gpu):
    allocator, first = memory(gpu, 1, 2, 3, 4)
    _, other = memory(gpu, 0, 0, 0, 0)
    launches = [Launch(loaded(gpu, adding()), (None,)), Launch(loaded(gpu, adding(5)), (None,))]
    graph = weft_metal.weft_graph(gpu, launches)
    put = graph.setter([(0, 0), (1, 0)])
    for handle in (first, other, other):
        put(handle)
        graph.launch()
    assert numbers(allocator, first) == [7, 8, 9, 10] and numbers(allocator, other) == [12] * 4


def test_later_commands_see_earlier_writes(gpu):
    """Commands that do not wait for each other run in the opposite order on the double."""
    double = loaded(gpu, _doubling())
    allocator, handle = memory(gpu, 1, 2, 3, 4)
    launches = [Launch(loaded(gpu, adding()), (handle,)), Launch(double, (handle,))]
    weft_metal.weft_graph(gpu, launches)([[handle], [handle]], [(), ()], wait=True)
    assert numbers(allocator, handle) == [4, 6, 8, 10]


def _doubling():
    b = _host.Builder()
    out = b.argument(0, _host.dtypes.int32, 4)
    at = b.loop(4, 0)
    value = b.load(out, at)
    b.store(out, at, value + value)
    b.end(at)
    return _host.LinearProgram.of("doubles", b.nodes)


def test_memory_is_kept_while_a_replay_may_use_it(gpu):
    allocator, handle = memory(gpu, 1, 2, 3, 4)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    graph([[handle], [handle]], [(), (10,)], wait=False)
    alive = weakref.ref(handle.buffer)
    del handle, graph
    gc.collect()
    assert alive() is not None
    gpu.synchronize()
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("forgotten", ["useResource_usage_", "setComputePipelineState_"])
def test_the_double_detects_memory_that_is_not_resident(gpu, framework, monkeypatch, forgotten):
    _, handle = memory(gpu, 1, 2, 3, 4)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    monkeypatch.setattr(framework.Encoder, forgotten, lambda self, *given: None)
    with pytest.raises(DeviceError, match="gave up") as caught:
        graph([[handle], [handle]], [(), (10,)], wait=True)
    assert "not resident" in caught.value.because


def test_newer_gpus_keep_pipelines_by_themselves(framework, monkeypatch):
    gpu = weft_metal.weft_open(DeviceId("METAL", "1"))
    allocator, handle = memory(gpu, 1, 2, 3, 4)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    monkeypatch.delattr(framework.Encoder, "setComputePipelineState_")
    graph([[handle], [handle]], [(), (10,)], wait=True)
    assert numbers(allocator, handle) == [12, 13, 14, 15]


def test_commands_are_not_changed_while_they_run(gpu):
    _, handle = memory(gpu, 1, 2, 3, 4)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    graph([[handle], [handle]], [(), (10,)], wait=False)
    with pytest.raises(AssertionError, match="being executed"):
        graph._encode(0)


def test_without_indirect_command_buffers_it_is_one_command_buffer(gpu, framework, monkeypatch):
    monkeypatch.delattr(framework, "MTLIndirectCommandBufferDescriptor")
    allocator, handle = memory(gpu, 1, 2, 3, 4)
    graph = weft_metal.weft_graph(gpu, two(gpu, handle))
    assert isinstance(graph, OneSubmission)
    assert graph([[handle], [handle]], [(), (10,)], wait=True) == pytest.approx(2e-6)
    assert numbers(allocator, handle) == [12, 13, 14, 15]


def test_a_group_larger_than_a_pipeline_allows(gpu, framework, monkeypatch):
    monkeypatch.setattr(framework.Pipeline, "maxTotalThreadsPerThreadgroup", lambda self: 32)
    _, handle = memory(gpu, 1, 2, 3, 4)
    launch = Launch(loaded(gpu, adding()), (handle,), local_size=(8, 8, 1))
    with pytest.raises(CapabilityError, match="at most 32"):
        weft_metal.weft_graph(gpu, [launch, launch])


def test_a_recorded_function(metal, monkeypatch):
    made = []
    real = IndirectGraph._execute
    monkeypatch.setattr(
        IndirectGraph, "_execute", lambda self, wait: (made.append(self), real(self, wait))[1]
    )

    @jit
    def step(x):
        y = (x * 2).sum(1, keepdim=True)
        return (x @ x.T).realize(), (x - y).realize()

    for seed in range(5):
        data = numpy.random.default_rng(seed).integers(-3, 4, (8, 8)).astype(numpy.float32)
        product, rest = step(Tensor(data, device=metal).realize())
        numpy.testing.assert_array_equal(product.numpy(), data @ data.T)
        numpy.testing.assert_array_equal(rest.numpy(), data - 2 * data.sum(1, keepdims=True))
    assert len(made) >= 2 and len(set(map(id, made))) == 1
