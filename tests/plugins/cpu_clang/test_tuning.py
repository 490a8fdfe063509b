"""Measured facts of this processor, and tables that are shipped for others."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

import weft_cpu_clang
from weft.base.settings import settings
from weft.plugin import MachineFact, MachineModel, Ops, dtypes
from weft_cpu_clang import measurement, tuning
from weft_cpu_clang.offline import offline_toolchain
from weft_cpu_clang.toolchain import find_toolchain

FACTS = [
    MachineFact("clock", 3.68123, "GHz"),
    MachineFact("vector multiply-adds", 1.96, "per cycle", "pipes"),
    MachineFact("latency of a multiply-add", 4.03, "cycles", "multiply_add_latency"),
    MachineFact("memory: latency", 487.3, "cycles", "memory_latency"),
    MachineFact("L2: loads", 31.27, "bytes per cycle", "l2_bytes_per_cycle"),
]
ROUNDED = {
    "pipes": 2.0, "multiply_add_latency": 4.0, "memory_latency": 490.0, "l2_bytes_per_cycle": 31.0,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "FOLDER", tmp_path)
    tuning.table_of.cache_clear()
    with settings.override(CACHE_DIR=str(tmp_path / "cache")):
        yield tmp_path
    tuning.table_of.cache_clear()


def table(folder, **changes):
    content = {
        "format": 1, "processor": "example",
        "machine": {"x86-64-v4": {"memory_latency": 300.0, "unknown": 5}},
        "kernels": {"x86-64-v4, 1 thread": {"a": [True, []]}},
    }  # fmt: skip
    (folder / "example.json").write_text(json.dumps({**content, **changes}))


def toolchain_of(processor, flags=("-march=native",)):
    facts = dataclasses.replace(
        offline_toolchain("x86-64-v4").facts, flags=flags, processor=processor, level="x86-64-v4"
    )
    return dataclasses.replace(offline_toolchain("x86-64-v4"), facts=facts)


def test_facts_are_rounded():
    assert tuning.rounded(FACTS) == ROUNDED


def test_measured_facts_are_kept_for_this_processor(folder, monkeypatch):
    monkeypatch.setattr(measurement, "facts_of", lambda *_: iter(FACTS))
    toolchain = toolchain_of("example")
    assert tuning.measured_here(toolchain) == {}
    facts = tuning.measure(toolchain, MachineModel())
    next(facts)
    assert tuning.measured_here(toolchain) == {}  # interrupted
    assert len(list(tuning.measure(toolchain, MachineModel()))) == len(FACTS)
    assert tuning.measured_here(toolchain) == ROUNDED


def test_the_model_has_what_was_measured():
    facts = toolchain_of("example").facts
    model = tuning.machine_model(MachineModel(l1_bytes=1 << 16), facts, {**ROUNDED, "page": 1.0})
    assert (model.l1_bytes, model.memory_latency) == (1 << 16, 490.0)
    assert model.throughput(Ops.MULACC, dtypes.float32) == 2 * 16
    assert tuning.machine_model(MachineModel(), facts, {}).memory_latency == 256.0


def test_a_table_is_for_one_processor(folder):
    table(folder)
    known = tuning.tuning_of(toolchain_of("example"), 1)
    assert known.machine == {"memory_latency": 300.0, "unknown": 5.0}
    assert known.plans == {"a": [True, []]} and known.processor == "example"
    assert tuning.tuning_of(toolchain_of("example"), 2).plans == {}
    for other in ("another", ""):
        assert not tuning.tuning_of(toolchain_of(other), 1).machine


def test_facts_of_this_machine_are_preferred(folder, monkeypatch):
    table(folder)
    monkeypatch.setattr(measurement, "facts_of", lambda *_: iter(FACTS))
    toolchain = toolchain_of("example")
    list(tuning.measure(toolchain, MachineModel()))
    assert tuning.tuning_of(toolchain, 1).machine["memory_latency"] == 490.0


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2}, {"processor": "another"}, {"machine": 5, "kernels": 5},
        {"machine": {"x86-64-v4": 5}, "kernels": {"x86-64-v4, 1 thread": 5}},
        {"machine": {"x86-64-v4": {"memory_latency": "far"}}, "kernels": {}},
    ],
)  # fmt: skip
def test_other_tables_are_ignored(folder, changes):
    table(folder, **changes)
    known = tuning.tuning_of(toolchain_of("example"), 1)
    assert not known.machine and not known.plans


def test_a_damaged_table_is_ignored(folder):
    (folder / "example.json").write_text("{")
    assert not tuning.tuning_of(toolchain_of("example"), 1).machine


def test_another_processor_than_this_one_has_no_facts():
    assert tuning.tuning_of(offline_toolchain("x86-64-v4"), 1) == tuning.Tuning()


def test_shipped_tables_are_of_the_format():
    tuning.table_of.cache_clear()
    for path in tuning.FOLDER.glob("*.json"):
        content = json.loads(path.read_text())
        assert tuning.table_of(path.stem) == content
        for level, known in content["machine"].items():
            facts = dataclasses.replace(toolchain_of(path.stem).facts, level=level)
            tuning.machine_model(MachineModel(), facts, known)


def test_this_machine_can_be_measured(monkeypatch):
    monkeypatch.setattr(measurement, "RUNS", 3)
    monkeypatch.setattr(measurement, "SECONDS", 1e-4)
    monkeypatch.setattr(measurement, "_LONG", 0.0)
    monkeypatch.setattr(measurement, "_LEAST_FAR", 1 << 23)
    monkeypatch.setattr(measurement, "_MOST_FAR", 1 << 23)
    found = list(measurement.facts_of(find_toolchain(), MachineModel()))
    names = [fact.name for fact in found]
    assert names[0] == "clock" and "memory: latency" in names and "L1: loads" in names
    assert all(math.isfinite(fact.value) and fact.value > 0 for fact in found)


def test_the_hook_measures(monkeypatch, folder):
    monkeypatch.setattr(measurement, "facts_of", lambda *_: iter(FACTS))
    device = weft_cpu_clang.Processor(weft_cpu_clang.DeviceId("CPU"), find_toolchain())
    assert list(weft_cpu_clang.weft_measure(device)) == FACTS
