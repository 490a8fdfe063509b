"""Sources that are kept on disk: a second process generates nothing."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace

import pytest

from helpers.schedules import DEVICE
from weft import Tensor, Variable
from weft.base.disk_cache import DiskCache
from weft.base.settings import settings
from weft.codegen import pipeline
from weft.device import registry
from weft.device.capabilities import ComputeCaps
from weft.engine import forget_programs, kernel_cache, lower_schedule_item, programs


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    # subscribers of all tests may see them, but must not change their effect
    monkeypatch.setattr(kernel_cache.trace, "enabled", lambda name=None: False)
    with settings.override(CACHE_DIR=str(tmp_path), CACHE=1, SPEC=0, DEBUG=0, BEAM=0):
        forget_programs()
        yield
    forget_programs()


@pytest.fixture
def lowered(monkeypatch):
    """The ASTs that were lowered."""
    seen = []

    def lower(ast, *more, **options):
        seen.append(ast)
        return programs_lower(ast, *more, **options)

    programs_lower = pipeline.lower
    monkeypatch.setattr(pipeline, "lower", lower)
    return seen


def item(scale=2.0):
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE).realize()
    return (x.sum(1) * scale).schedule()[-1]


def test_a_kernel_that_was_kept_is_not_lowered_again(lowered):
    first = lower_schedule_item(item())
    first.run()
    forget_programs()
    again = lower_schedule_item(item())
    again.run()
    assert len(lowered) == 1
    assert again.bufs[0].numpy().tolist() == first.bufs[0].numpy().tolist() == [6.0, 14.0]
    one, other = first.prg.p, again.prg.p
    assert (one.src, one.name, one.estimates) == (other.src, other.name, other.estimates)
    assert one.program.applied == other.program.applied
    assert other.uops == one.uops and len(lowered) == 2  # made on demand


def test_settings_that_change_the_source_change_the_key(lowered, monkeypatch):
    lower_schedule_item(item())
    changes = 0
    for change in ({"NOOPT": 1}, {"FUSE_ARANGE": 0}):
        forget_programs()
        with settings.override(**change):
            lower_schedule_item(item())
        changes += 1
    assert len(lowered) == 1 + changes
    forget_programs()
    monkeypatch.setattr(kernel_cache, "_stamp", lambda folder: "the code was edited")
    lower_schedule_item(item())
    assert len(lowered) == 2 + changes


def test_other_kernels_are_others(lowered):
    lower_schedule_item(item(2.0))
    forget_programs()
    lower_schedule_item(item(3.0))
    assert len(lowered) == 2


def test_kernels_of_variables_are_kept_too(lowered):
    def run(rows):
        n = Variable("n", 1, 8).bind(rows)
        x = Tensor(list(range(16)), device=DEVICE).reshape(8, 2).realize()
        return (x[:n] * 2).sum(0).tolist()

    assert run(3) == [12, 18]
    before = len(lowered)
    forget_programs()
    assert run(5) == [40, 50] and len(lowered) == before


@pytest.mark.parametrize("kept", [b"", b"[]", b"{", json.dumps({"name": "f"}).encode()])
def test_unreadable_entries_are_misses(lowered, kept, monkeypatch):
    lower_schedule_item(item())
    monkeypatch.setattr(DiskCache, "get", lambda cache, key: kept)
    assert kernel_cache.find("any", item().ast, lambda: None) is None


@pytest.mark.parametrize("setting", [{"CACHE": 0}, {"DEBUG": 5}, {"SPEC": 1}])
def test_the_cache_is_skipped_while_passes_are_traced(lowered, setting, capsys):
    lower_schedule_item(item())
    forget_programs()
    with settings.override(**setting):
        lower_schedule_item(item())
    assert len(lowered) == 2


def test_a_stamp_changes_with_the_files(tmp_path):
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "code.py"
    file.write_text("one = 1\n")
    stamp = kernel_cache._stamp.__wrapped__
    before = stamp(str(tmp_path))
    assert stamp(str(tmp_path)) == before
    file.write_text("one = 10\n")
    after = stamp(str(tmp_path))
    (tmp_path / "notes.txt").write_text("no code")
    assert before != after == stamp(str(tmp_path))


def test_capabilities_are_serialized_once(lowered, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_last", [])
    written, as_text = [], kernel_cache.as_text
    monkeypatch.setattr(kernel_cache, "as_text", lambda can: written.append(can) or as_text(can))
    device = registry.open(DEVICE)
    ast, can = item().ast, device.target.compute
    key = kernel_cache.key_of(ast, (), device)
    assert key == kernel_cache.key_of(ast, (), device) and as_text(can) in key
    assert sum(one is can for one in written) == 1
    monkeypatch.setitem(device.__dict__, "target", replace(device.target, compute=ComputeCaps()))
    assert kernel_cache.key_of(ast, (), device) != key


@pytest.fixture
def strategies(tmp_path, monkeypatch):
    """A module with two strategies."""
    text = "def one(kernel):\n    return ()\n\n\ndef other(kernel):\n    return ()\n"
    (tmp_path / "two_strategies.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("two_strategies")
    sys.modules.pop("two_strategies")


def test_another_strategy_is_another_key(strategies, monkeypatch):
    """Also where both are in one module, which does not change."""
    device, ast = registry.open(DEVICE), item().ast
    keys = {kernel_cache.key_of(ast, (), device)}
    for choose in (strategies.one, strategies.other):
        monkeypatch.setattr(device.device, "choose", choose)
        keys.add(kernel_cache.key_of(ast, (), device))
    assert len(keys) == 3 and None not in keys


def test_the_files_of_a_strategy_are_part_of_the_key(strategies, monkeypatch):
    device, ast = registry.open(DEVICE), item().ast
    monkeypatch.setattr(device.device, "choose", strategies.one)
    stamped = []
    monkeypatch.setattr(kernel_cache, "_stamp", lambda place: stamped.append(place) or place)
    assert kernel_cache.key_of(ast, (), device)
    assert strategies.__file__ in stamped


def test_kernels_are_keyed_by_strategy(strategies, monkeypatch, lowered):
    device = registry.open(DEVICE)
    with settings.override(CACHE=0):
        for choose in (strategies.one, strategies.other, strategies.other):
            monkeypatch.setattr(device.device, "choose", choose)
            monkeypatch.delitem(device.__dict__, "target", raising=False)
            programs._loaded.clear()
            lower_schedule_item(item())
    monkeypatch.delitem(device.__dict__, "target", raising=False)
    assert len(lowered) == 2, "the third is the second again"
