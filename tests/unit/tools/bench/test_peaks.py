from dataclasses import replace

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.search_space import Plan
from weft.device import registry
from weft.device.capabilities import Feature
from weft.engine.candidate_measurement import UNOPTIMIZED, Measurement, build
from weft.tools.bench import peaks
from weft.tools.bench.peaks import Peaks, copies, peaks_of, products


@pytest.fixture
def quick(monkeypatch, tmp_path):
    monkeypatch.setattr(peaks, "_ENOUGH", 0.0)
    monkeypatch.setattr(peaks, "_ENOUGH_COPIED", 0.0)
    monkeypatch.setattr(peaks, "_TIMES", 1)
    with settings.override(CACHE_DIR=str(tmp_path)):
        yield


def test_measured_once(quick, monkeypatch):
    device = registry.open("REF")
    (found,) = peaks_of(device)
    assert found.flops > 0 and found.bandwidth > 0 and not found.threads
    monkeypatch.setattr(peaks, "_measured", lambda *_: pytest.fail("measured again"))
    assert peaks_of(device) == [found]
    with pytest.raises(pytest.fail.Exception):
        peaks_of(device, refresh=True)


def test_limits_of_a_busy_machine_are_measured_again(quick, monkeypatch):
    device = registry.open("REF")
    busy = iter([4.0, 3.0, 1.0, 5.0])
    monkeypatch.setattr(peaks, "time_limit_factor", lambda: next(busy))
    speeds = iter([10.0, 40.0])
    monkeypatch.setattr(peaks, "_measured", lambda *_: Peaks(next(speeds), 1.0))
    assert [peaks_of(device)[0].flops for _ in range(4)] == [10.0, 10.0, 40.0, 40.0]


@pytest.mark.parametrize("more, roofs", [(1.05, 1), (1.9, 2)])
def test_threads_that_bring_nothing_have_no_roof_of_their_own(quick, monkeypatch, more, roofs):
    device = registry.open("REF")
    able = replace(device.compute, features=device.compute.features | {Feature.THREADS})
    monkeypatch.setattr(device, "capabilities", replace(device.capabilities, compute=able))
    monkeypatch.setattr(
        peaks, "_measured", lambda _, __, threads: Peaks(more if threads else 1.0, 1.0, threads)
    )
    found = peaks_of(device, refresh=True)
    assert len(found) == roofs and found[-1].flops == more


def test_no_limits_without_a_clock(quick, monkeypatch):
    monkeypatch.setattr(peaks, "_MOST_PRODUCTS", 64)
    monkeypatch.setattr(peaks, "_MOST_COPIED", 64)
    monkeypatch.setattr(peaks, "_ENOUGH", 1.0)
    assert peaks_of(registry.open("NULL"), refresh=True) == []


@pytest.mark.parametrize("size", [2, 8, 64])
def test_kernels_do_the_counted_work(size):
    device = registry.open("REF")
    ast, operations = products(size, dtypes.float32)
    built = build(ast, UNOPTIMIZED, device)
    assert operations == 2 * 192 * size <= built.program.estimates.ops
    trial = Measurement(ast, device)
    _, results = trial.results(built)
    a = trial.content[1].view(np.float32).reshape(-1, 192)
    want = a * trial.content[2].view(np.float32).sum()
    np.testing.assert_allclose(np.frombuffer(results[0], np.float32).reshape(want.shape), want)

    ast, moved = copies(size, dtypes.float32)
    built = build(ast, Plan(), device)
    assert moved == built.program.estimates.bytes == 8 * size
    trial = Measurement(ast, device)
    assert trial.results(built)[1][0] == bytes(trial.content[1])


def test_the_least_time_is_that_of_the_bottleneck():
    one = Peaks(flops=100.0, bandwidth=10.0)
    assert one.least(200, 1) == 2.0 and not one.is_bound_by_memory(200, 1)
    assert one.least(1, 50) == 5.0 and one.is_bound_by_memory(1, 50)
