"""Levels of x86-64, targets of aarch64: which are known, which are refused, equal values at all."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from weft.plugin import ArgumentError, CompileError, DeviceUnavailable
from weft_cpu_clang import arm_extensions, levels, toolchain
from weft_cpu_clang.capabilities import describe, target_name
from weft_cpu_clang.levels import (
    LEVELS,
    NATIVE,
    VARIABLE,
    check_family,
    check_runs,
    chosen_level,
    level_of,
)


def macros(*names):
    return {f"__{name}__" for name in names}


EVERYTHING = {f"__{name}__" for names in levels._ADDS.values() for name in names}


def test_a_level_needs_all_of_its_instructions_and_of_those_below():
    assert level_of(EVERYTHING) == "x86-64-v4"
    assert level_of(EVERYTHING - macros("AVX512VL")) == "x86-64-v3"
    assert level_of(EVERYTHING - macros("F16C")) == "x86-64-v2"
    assert level_of(EVERYTHING - macros("POPCNT")) == "x86-64"
    assert level_of(macros("ARM_NEON")) == ""


def test_an_unsupported_level_names_the_missing_features():
    check_runs("x86-64-v3", set(), EVERYTHING - macros("AVX512F"))
    with pytest.raises(DeviceUnavailable) as caught:
        check_runs("x86-64-v4", set(), EVERYTHING - macros("AVX512F", "AVX512DQ"))
    assert caught.value.because == "it lacks AVX512F, AVX512DQ"
    assert "x86-64-v3" in caught.value.try_


NEON = macros("aarch64", "ARM_NEON")
HALVES = NEON | {"__ARM_FEATURE_FP16_VECTOR_ARITHMETIC", "__ARM_FEATURE_DOTPROD"}


def test_a_target_of_aarch64_is_named_by_its_extensions():
    assert level_of(NEON) == "armv8-a"
    assert level_of(HALVES) == "armv8-a+fp16+dotprod"


def test_an_extension_that_the_processor_lacks_is_refused(monkeypatch):
    monkeypatch.setattr(arm_extensions, "of_processor", lambda: ())
    check_runs("armv8.2-a+fp16+dotprod", HALVES, HALVES)
    check_runs("armv8-a", NEON, HALVES)
    with pytest.raises(DeviceUnavailable) as caught:
        check_runs("armv8.2-a+fp16+dotprod", HALVES, NEON)
    assert caught.value.because == "it lacks fp16, dotprod"
    assert f"{VARIABLE}=armv8-a," in caught.value.try_
    monkeypatch.setattr(arm_extensions, "of_processor", lambda: ("fp16", "dotprod"))
    check_runs("armv8.2-a+fp16+dotprod", HALVES, NEON)


def test_a_level_of_another_family_needs_another_compiler():
    check_family("x86-64", EVERYTHING)
    check_family("armv8-a", NEON)
    for level, native, named in (
        ("x86-64", NEON, "not x86-64"),
        ("armv8-a", EVERYTHING, "not aarch64"),
        ("x86-64", macros("riscv"), "not x86-64"),
    ):
        with pytest.raises(CompileError, match=named):
            check_family(level, native)


@pytest.mark.parametrize(
    "said, meant",
    [
        ("", "native"),
        (" X86-64-V3 ", "x86-64-v3"),
        ("armv8-a", "armv8-a"),
        ("ARMv8.2-A+FP16+dotprod", "armv8.2-a+fp16+dotprod"),
        ("armv9-a+sve2", "armv9-a+sve2"),
    ],
)
def test_the_setting_is_read_without_regard_to_case(monkeypatch, said, meant):
    monkeypatch.setenv(VARIABLE, said)
    assert chosen_level() == meant


@pytest.mark.parametrize("said", ["x86-64-v9", "armv7-a", "armv8-a+", "armv8-a,-O0", "arm"])
def test_a_level_that_does_not_exist_is_an_error(monkeypatch, said):
    monkeypatch.setenv(VARIABLE, said)
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


def test_levels_of_equal_features_generate_equal_code(monkeypatch):
    """Flags and the name of a level reach no source: `.ci/levels.py` relies on that."""
    capabilities = {}
    for level in (NATIVE, *LEVELS):
        monkeypatch.setenv(VARIABLE, level)
        toolchain.find_toolchain.cache_clear()
        try:
            tools = toolchain.find_toolchain()
        except DeviceUnavailable:
            continue
        finally:
            toolchain.find_toolchain.cache_clear()
        features = replace(tools.facts, flags=(), level="", version="", pairs=())
        compute = replace(describe(tools).compute, pair_dots=())
        assert capabilities.setdefault(features, compute) == compute
    assert capabilities


@pytest.mark.parametrize("level", LEVELS)
def test_kernels_of_a_level_use_its_instructions(monkeypatch, bench, level):
    tools = at_level(monkeypatch, level)
    assert tools.facts.level == level and target_name(tools) == level
    widths = {"x86-64": 16, "x86-64-v2": 16, "x86-64-v3": 32, "x86-64-v4": 64}
    compute = describe(tools).compute
    assert compute.vector_bytes == widths[level]
    here = bench.device.capabilities.compute
    assert compute.cache_bytes == here.cache_bytes, "a level changes no cache"
    assert tools.facts.cross_page_prefetch == bench.device.toolchain.facts.cross_page_prefetch


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


ARM_TARGETS = ("armv8-a", "armv8.2-a+fp16+dotprod", "armv8.6-a+bf16+i8mm", "armv8.2-a+fp16+sve")


@pytest.mark.parametrize("target", ARM_TARGETS)
def test_a_target_of_aarch64_has_its_extensions(monkeypatch, bench, target):
    tools = at_level(monkeypatch, target)
    assert target_name(tools) == target
    extensions = tools.facts.level.split("+")[1:]
    assert {*target.split("+")[1:]} <= {*extensions}
    assert tools.facts.half and tools.facts.bfloat16 == ("bf16" in extensions)
    compute = describe(tools).compute
    assert compute.vector_bytes == 16 and compute.vector_registers == 32
    assert tools.fingerprint != bench.device.toolchain.fingerprint


@pytest.mark.parametrize("level", (*LEVELS, *ARM_TARGETS))
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
