"""`weft tune`: facts of the machine, searches of a program, an exported table."""

from __future__ import annotations

import json

import pytest

from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device import Device, MachineFact, Registry, Tuning, registry
from weft.device.hookspecs import hookimpl
from weft.engine import tuned_plans
from weft.engine.tuning_database import SearchResult, Try
from weft.testing.fakes import fake_plugin
from weft.tools import cli
from weft.tools.tune import kernel_search

FAST, SLOW = Plan((Opt(OptKind.UNROLL, 1, 4),)), Plan()
PROGRAM = "from weft import Tensor\nTensor.ones(6, 32).contiguous().realize().sum(1).realize()\n"


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program for the reference device, and searches that find a faster plan at once."""

    def search(ast, device, width, refresh):
        return SearchResult(FAST, SLOW, [Try(SLOW, 2e-3), Try(FAST, 1e-3)])

    monkeypatch.setattr(kernel_search, "search", search)
    tuned_plans.forget_tables()
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    with settings.override(CACHE_DIR=str(tmp_path / "cache"), DEVICE="REF"):
        yield str(path)
    tuned_plans.forget_tables()


def test_the_kernels_of_a_program(program, capsys):
    assert cli.main(["tune", program]) == 0
    shown = capsys.readouterr().out
    assert "the plugin of REF measures nothing" in shown
    assert "2.00 ms -> 1.00 ms, 2.00 times as fast: UNROLL 1 4" in shown
    assert "kernels searched" in shown and "together 2.00 times as fast" in shown
    assert tuned_plans.plans_of(registry.open())


def test_a_program_without_kernels(program, capsys, tmp_path):
    empty = tmp_path / "empty.py"
    empty.write_text("")
    assert cli.main(["tune", str(empty)]) == 1
    assert "no kernel ran" in capsys.readouterr().err


def test_an_interrupt_keeps_what_was_found(program, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(kernel_search, "search", interrupted)
    assert cli.main(["tune", program]) == 1
    shown = capsys.readouterr()
    assert "interrupted" in shown.err and "0 of" in shown.out


@pytest.mark.parametrize("words", [["--minutes", "0"], ["--width", "0"], ["no_such_program.py"]])
def test_what_is_no_program_is_an_error(program, capsys, words):
    assert cli.main(["tune", "--no-measure", *words]) == 1
    assert "weft tune: " in capsys.readouterr().err


def measuring(facts):
    """A registry with a device whose machine has these facts."""
    plugin = fake_plugin("FAKE")
    opened = plugin.weft_open

    @hookimpl
    def weft_measure(device):
        yield from facts

    @hookimpl
    def weft_open(id):
        device: Device = opened(id)
        device.tuning = Tuning("example", "wide", "wide, 1 thread", {"memory_latency": 300.0})
        return device

    plugin.weft_measure, plugin.weft_open = weft_measure, weft_open
    return plugin


@pytest.fixture
def measured():
    facts = [MachineFact("clock", 3.5, "GHz"), MachineFact("memory: latency", 300.0, "cycles")]
    with registry.use(Registry()) as own:
        own.register(measuring(facts))
        yield own


def test_facts_are_shown_and_exported(measured, capsys, tmp_path):
    path = tmp_path / "example.json"
    with settings.override(DEVICE="FAKE", CACHE_DIR=str(tmp_path)):
        assert cli.main(["tune", "--no-search", "--export", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "  clock: 3.5 GHz\n" in shown and f"written: {path}" in shown
    assert json.loads(path.read_text())["processor"] == "example"


def test_the_device_is_opened_again_after_a_measurement(measured, capsys):
    with settings.override(DEVICE="FAKE"):
        before = registry.open("FAKE")
        assert cli.main(["tune", "--no-search"]) == 0
        assert registry.open("FAKE") is not before


def test_a_fault_in_a_measurement_is_the_plugins(capsys):
    def facts():
        yield MachineFact("clock", 3.5, "GHz")
        raise RuntimeError("no such register")

    for given in (facts(), [5]):
        with registry.use(Registry()) as own, settings.override(DEVICE="FAKE"):
            own.register(measuring(given))
            assert cli.main(["tune", "--no-search"]) == 1
        assert "weft_measure" in capsys.readouterr().err
