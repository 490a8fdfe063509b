"""Launches that are replayed: the same as single ones, with new memory and new values."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from weft import Tensor, dtypes, jit
from weft.base.settings import settings
from weft.plugin import Launch
from weft.testing.conformance.programs import Builder
from weft.uop import UOp
from weft_opencl.allocator import BufferAllocator
from weft_opencl.driver import OpenCLDevice
from weft_opencl.graph import LaunchGraph

_spec = spec_from_file_location("opencl_runner", Path(__file__).with_name("test_runner.py"))
_runner = module_from_spec(_spec)
_spec.loader.exec_module(_runner)
built, memory, values_in = _runner.built, _runner.memory, _runner.values_in

INT = dtypes.int32


@pytest.fixture
def scaled(device):
    """(runner, grid) of out[i] = data[i] * step + i."""
    b = Builder()
    step = b.add(UOp.variable("step", 0, 9))
    out, data = b.argument(0, INT, 4), b.argument(1, INT, 4)
    at = b.special("gidx0", 4)
    b.store(out, at, b.load(data, at) * step + at)
    program, runner = built(device, b)
    return runner, program.global_size


def test_arguments_stay_until_they_change(device, scaled):
    allocator = BufferAllocator(device)
    runner, grid = scaled
    data, middle, out, other = (memory(allocator, [n] * 4) for n in (1, 0, 0, 5))
    launches = [
        Launch(runner, (middle, data), grid, None, (2,)),
        Launch(runner, (out, middle), grid, None, (3,)),
    ]
    graph = LaunchGraph.of(device, launches)
    graph.launch()
    assert values_in(allocator, out, 4) == [3 * (2 + i) + i for i in range(4)]
    put = graph.setter([(0, 1)])
    put(other)
    graph.launch()
    assert values_in(allocator, out, 4) == [3 * (10 + i) + i for i in range(4)]
    # the kernel's own arguments are none of the graph's
    runner((out, data), global_size=grid, values=(0,), wait=True)
    graph.launch()
    assert values_in(allocator, out, 4) == [3 * (10 + i) + i for i in range(4)]


def test_other_values_and_seconds(device, scaled):
    allocator = BufferAllocator(device)
    runner, grid = scaled
    data, out = memory(allocator, [7] * 4), memory(allocator, [0] * 4)
    graph = LaunchGraph.of(device, [Launch(runner, (None, None), grid, None, (1,))])
    seconds = graph([(out, data)], [(4,)], wait=True)
    assert values_in(allocator, out, 4) == [28 + i for i in range(4)]
    assert seconds is not None and 0 <= seconds < 1
    assert graph([(out, data)], [()], wait=False) is None
    assert values_in(allocator, out, 4) == [28 + i for i in range(4)]


def test_kernels_of_another_device_are_left_to_the_engine(device, scaled):
    runner, grid = scaled
    other = OpenCLDevice(device.id, device.handle, device.facts)
    assert LaunchGraph.of(other, [Launch(runner, (), grid)]) is None


@pytest.mark.parametrize("images", [0, 1])
def test_a_replayed_function_gives_the_same(device, images):
    weights = np.random.default_rng(1).integers(-2, 3, (4, 4, 4)).astype(np.float32)
    with settings.override(IMAGE=images):
        layers = [Tensor(w, device="OPENCL").realize() for w in weights]

        @jit
        def network(x):
            for layer in layers:
                x = (x @ layer).relu().contiguous()
            return x.realize()

        for turn in range(5):
            given = np.arange(12, dtype=np.float32).reshape(3, 4) - turn
            wanted = given
            for w in weights:
                wanted = np.maximum(wanted @ w, 0)
            found = network(Tensor(given, device="OPENCL").realize()).numpy()
            np.testing.assert_array_equal(found, wanted)
