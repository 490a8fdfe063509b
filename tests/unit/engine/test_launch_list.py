"""Launch lists run what schedules run: the same values, counts and errors, on other memory."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, Variable, settings
from weft.base.errors import DeviceError
from weft.engine import stats
from weft.engine.launch_list import LaunchList
from weft.engine.runners import KernelRunner

CALLS = 4


@pytest.fixture
def runs(monkeypatch):
    """The launch lists that were run."""
    found = []
    run = LaunchList.run

    def noted(launches, memory):
        found.append(launches)
        run(launches, memory)

    monkeypatch.setattr(LaunchList, "run", noted)
    return found


def number(seed, *shape):
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32)).realize()


def results(seed):
    x, y = number(seed, 4, 5), number(seed + 1, 5, 3)
    return (x @ y).relu(), x.sum(0), y.transpose(0, 1) + 1, (x.softmax() @ y).max(1)


def test_several_tensors_over_other_memory(runs):
    for seed in range(CALLS):
        found = results(seed)
        Tensor.realize(*found)
        for one, other in zip(found, results(seed)):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)
    assert len(runs) >= CALLS - 1


def test_tensors_of_one_device_beside_sharded_ones(runs):
    devices = ("CPU", "CPU:1")
    assert (Tensor([1.0, 2.0]).shard(devices, 0) + 1).tolist() == [2.0, 3.0]
    for seed in range(CALLS):
        Tensor.realize(*results(seed))
    assert runs


def test_the_statistics_are_those_of_a_schedule(runs):
    counts = []
    for seed in range(CALLS):
        found = results(seed)
        before = stats.kernels, stats.ops, stats.bytes
        Tensor.realize(*found)
        after = stats.kernels, stats.ops, stats.bytes
        counts.append([now - then for now, then in zip(after, before)])
    assert runs and counts == [counts[0]] * CALLS


def test_earlier_results_keep_their_memory(runs):
    kept = []
    for seed in range(CALLS):
        found = results(seed)
        Tensor.realize(*found)
        kept.append((seed, found))
    assert runs
    for seed, found in kept:
        for one, other in zip(found, results(seed)):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_writes_and_variables_run_as_schedules(runs):
    n = Variable("n", 1, 8)
    for size in range(2, 2 + CALLS):
        x, total = number(0, 8), Tensor.zeros(3).contiguous().realize()
        total += 2.0
        part = x[: n.bind(size)].sum()
        Tensor.realize(total, part)
        np.testing.assert_allclose(part.item(), x.numpy()[:size].sum(), rtol=1e-5)
        assert total.tolist() == [2.0] * 3
    assert not runs


def test_a_failing_kernel_is_reported_and_can_be_repeated(runs, monkeypatch):
    for seed in range(2):
        Tensor.realize(*results(seed))

    def failing(*args, **kwargs):
        raise OSError("no such memory")

    found = results(5)
    kernels = [kernel for kernel, _, _ in runs[-1].launches]
    runners = [kernel.runner for kernel in kernels]
    assert all(isinstance(kernel, KernelRunner) for kernel in kernels)
    for kernel in kernels:
        monkeypatch.setattr(kernel, "runner", failing)
    with pytest.raises(DeviceError, match="no such memory"):
        Tensor.realize(*found)
    for kernel, runner in zip(kernels, runners):
        monkeypatch.setattr(kernel, "runner", runner)
    for one, other in zip(found, results(5)):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_observed_runs_are_schedules(runs):
    for seed in range(CALLS):
        with settings.override(DEBUG=2):
            Tensor.realize(*results(seed))
    assert not runs
