"""Levels of x86-64: which are told apart, which are refused, and equal values at each of them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from weft.plugin import ArgumentError, CompileError, DeviceUnavailable
from weft_cpu_clang import levels, toolchain
from weft_cpu_clang.capabilities import describe, target_name
from weft_cpu_clang.levels import LEVELS, VARIABLE, check_runs, chosen_level, level_of


def macros(*names):
    return {f"__{name}__" for name in names}


EVERYTHING = {f"__{name}__" for names in levels._ADDS.values() for name in names}


def test_a_level_needs_all_of_its_instructions_and_of_those_below():
    assert level_of(EVERYTHING) == "x86-64-v4"
    assert level_of(EVERYTHING - macros("AVX512VL")) == "x86-64-v3"
    assert level_of(EVERYTHING - macros("F16C")) == "x86-64-v2"
    assert level_of(EVERYTHING - macros("POPCNT")) == "x86-64"
    assert level_of(macros("ARM_NEON")) == ""


def test_a_level_that_the_processor_lacks_is_refused_with_what_is_missing():
    check_runs("x86-64-v3", EVERYTHING - macros("AVX512F"))
    with pytest.raises(DeviceUnavailable) as caught:
        check_runs("x86-64-v4", EVERYTHING - macros("AVX512F", "AVX512DQ"))
    assert caught.value.because == "it lacks AVX512F, AVX512DQ"
    assert "x86-64-v3" in caught.value.try_
    with pytest.raises(CompileError, match="not x86-64"):
        check_runs("x86-64", macros("ARM_NEON"))


@pytest.mark.parametrize("said, meant", [("", "native"), (" X86-64-V3 ", "x86-64-v3")])
def test_the_setting_is_read_without_regard_to_case(monkeypatch, said, meant):
    monkeypatch.setenv(VARIABLE, said)
    assert chosen_level() == meant


def test_a_level_that_does_not_exist_is_an_error(monkeypatch):
    monkeypatch.setenv(VARIABLE, "x86-64-v9")
    with pytest.raises(ArgumentError, match="x86-64-v4"):
        chosen_level()


def at_level(monkeypatch, level):
    """The toolchain for a level. Skips where this processor does not execute it."""
    monkeypatch.setenv(VARIABLE, level)
    toolchain.find_toolchain.cache_clear()
    try:
        return toolchain.find_toolchain()
    except DeviceUnavailable as reason:
        pytest.skip(str(reason.because))
    finally:
        toolchain.find_toolchain.cache_clear()


@pytest.mark.parametrize("level", LEVELS)
def test_kernels_of_a_level_use_its_instructions(monkeypatch, bench, level):
    tools = at_level(monkeypatch, level)
    assert tools.facts.level == level and target_name(tools) == level
    widths = {"x86-64": 16, "x86-64-v2": 16, "x86-64-v3": 32, "x86-64-v4": 64}
    compute = describe(tools).compute
    assert compute.vector_bytes == widths[level]
    here = bench.device.capabilities.compute
    assert compute.cache_bytes == here.cache_bytes, "a level changes no cache"
    assert tools.facts.far == bench.device.toolchain.facts.far


def test_levels_share_no_kernels(monkeypatch):
    found = {level: at_level(monkeypatch, level).fingerprint for level in LEVELS[:2]}
    assert len(set(found.values())) == 2


PROGRAM = """
import sys
import numpy as np
from weft import Device, Tensor
kinds = sys.argv[2:]
given = np.load(sys.argv[1])
results = {}
for kind in kinds:
    x = Tensor(given[kind], device="CPU").realize()
    n = x.shape[0]
    z = x.flip(-1)
    z = z.cat(z.flip(-1)).reshape(2, n)
    results[kind] = z.cat(z.flip(-2)).numpy()
np.savez(sys.argv[1] + ".out.npz", **results)
print(Device["CPU"].capabilities.name)
"""


@pytest.mark.parametrize("level", LEVELS)
def test_moved_values_keep_the_sign_of_zero_at_every_level(monkeypatch, tmp_path, level):
    at_level(monkeypatch, level)
    rng = np.random.default_rng(5)
    kinds = ("float16", "float32", "float64")
    given = {kind: rng.choice([-0.0, 0.0, 1.5, -2.0], 7).astype(kind) for kind in kinds}
    path = tmp_path / "given.npz"
    np.savez(path, **given)
    command = [sys.executable, "-c", PROGRAM, str(path), *kinds]
    told = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True)
    assert told.stdout.strip().endswith(level)
    found = np.load(f"{path}.out.npz")
    for kind in kinds:
        z = given[kind][::-1]
        z = np.concatenate([z, z[::-1]]).reshape(2, -1)
        z = np.concatenate([z, z[::-1]])
        np.testing.assert_array_equal(found[kind], z)
        np.testing.assert_array_equal(np.signbit(found[kind]), np.signbit(z))
