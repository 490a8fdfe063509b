"""Tables for a processor: exported, merged, refused where they are for another one."""

from __future__ import annotations

import json

import pytest

from weft.base.errors import ArgumentError, CapabilityError, FileError
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device import Tuning, registry
from weft.engine import tuned_plans
from weft.engine.tuning_database import plan_data
from weft.tools.tune import table

PLAN = Plan((Opt(OptKind.UNROLL, 1, 4), Opt(OptKind.VECTOR, 0, 8)))


@pytest.fixture
def device(monkeypatch, tmp_path):
    found = registry.open("REF")
    tuning = Tuning("example", "wide", "wide, 1 thread", {"memory_latency": 300.0})
    monkeypatch.setattr(found.device, "tuning", tuning)
    tuned_plans.forget_tables()
    with settings.override(CACHE_DIR=str(tmp_path)):
        yield found
    tuned_plans.forget_tables()


def test_an_export_has_a_line_for_each_plan_and_number(device, tmp_path):
    tuned_plans.keep({"a" * 24: plan_data(PLAN), "b" * 24: plan_data(PLAN)}, device)
    path = tmp_path / "example.json"
    made = table.export(path, device)
    text = path.read_text()
    assert json.loads(text) == json.loads(json.dumps(made))
    assert made["machine"] == {"wide": {"memory_latency": 300.0}}
    assert f'"{"a" * 24}": [true, [["unroll", 1, 4], ["vector", 0, 8]]],' in text
    assert len(text.splitlines()) == 15


def test_an_export_adds_to_a_file(device, tmp_path, monkeypatch):
    path = tmp_path / "example.json"
    tuned_plans.keep({"a": plan_data(PLAN)}, device)
    table.export(path, device)
    other = Tuning("example", "narrow", "narrow, 1 thread", {"memory_latency": 200.0})
    monkeypatch.setattr(device.device, "tuning", other)
    tuned_plans.forget_tables()
    made = table.export(path, device)
    assert (
        made["machine"].keys() == {"wide", "narrow"} == {k.split(",")[0] for k in made["kernels"]}
    )


def test_refusals(device, tmp_path, monkeypatch):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"format": 1, "processor": "other"}))
    with pytest.raises(ArgumentError, match="another processor"):
        table.export(path, device)
    path.write_text("not JSON")
    with pytest.raises(ArgumentError, match="no table"):
        table.export(path, device)
    with pytest.raises(FileError):
        table.export(tmp_path / "missing" / "file.json", device)
    with pytest.raises(FileError):
        table.export(tmp_path, device)
    path.unlink()
    monkeypatch.setattr(device.device, "tuning", None)
    with pytest.raises(CapabilityError, match="no table can be exported"):
        table.export(path, device)
