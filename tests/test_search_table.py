"""The table of what a search finds: what is timed again, and what stays in it."""

import argparse
import importlib
import sys
from pathlib import Path

import pytest

from weft import Tensor
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.engine import search as engine
from weft.engine.tuning_database import SearchResult, Try
from weft.uop import Ops

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
OURS, OTHER = Plan((Opt(OptKind.UNROLL, 1, 4),)), Plan((Opt(OptKind.UNROLL, 1, 8),))


@pytest.fixture(scope="module")
def benchmarks():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("search")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def ast():
    items, _ = Tensor.empty(6, 32, device="REF").sum(1).schedule_with_vars()
    return next(item.ast for item in items if item.ast.op is Ops.SINK)


def row_of(benchmarks, monkeypatch, ast, ours, best, again):
    """The row of a search with these seconds, where alternating runs give `again`."""
    found = SearchResult(OTHER if best else OURS, OURS, [Try(OURS, ours), Try(OTHER, best or 9.0)])
    monkeypatch.setattr(engine, "search", lambda *_: found)
    asked = []
    monkeypatch.setattr(
        engine,
        "time_interleaved",
        lambda _, __, plans, seconds: asked.append((plans, seconds)) or again,
    )
    row = benchmarks.searched("a sum", ast, "REF", 1, False)
    benchmarks.confirm(row, ast, "REF", 1, 3.0)
    return row, asked


def test_a_plan_that_is_clearly_faster_is_timed_again(benchmarks, monkeypatch, ast):
    row, asked = row_of(benchmarks, monkeypatch, ast, 1.3, 1.0, [1.02, 1.01])
    assert asked == [([OURS, OTHER], 3.0)]
    assert row["again"] == 1.3 and benchmarks.ratio(row) == pytest.approx(1.02 / 1.01)


@pytest.mark.parametrize(("ours", "best"), [(1.04, 1.0), (1.0, None)])
def test_a_plan_that_is_not_is_left(benchmarks, monkeypatch, ast, ours, best):
    row, asked = row_of(benchmarks, monkeypatch, ast, ours, best, [2.0, 1.0])
    assert not asked and row["again"] is None and benchmarks.ratio(row) == ours


def test_a_plan_that_cannot_be_timed_again_keeps_the_ratio_of_the_search(
    benchmarks, monkeypatch, ast
):
    row, _ = row_of(benchmarks, monkeypatch, ast, 1.3, 1.0, "no answer within 10.0 s")
    assert benchmarks.ratio(row) == 1.3 and "no answer" in row["failed"][-1]


def test_a_page_has_one_table_for_each_number_of_threads(benchmarks, monkeypatch, ast):
    row, _ = row_of(benchmarks, monkeypatch, ast, 1.3, 1.0, [1.2, 1.0])
    tables = [{"rows": [row], "loads": [0.5], "speed": f"{n} threads"} for n in (1, 2)]
    chosen = argparse.Namespace(confirm=3.0, width=1, device="REF", rounds=3, plans=0)
    text = benchmarks.report(tables, chosen)
    assert "Rounds of a search: 3, plans of each: all at most" in text
    assert text.count("| a sum |") == 2 and text.count("1.20 **>** (1.30)") == 2
    assert "## REF: 1 threads" in text and "## REF: 2 threads" in text
    assert "more than 1.15 times as long in 1 of them" in text


def test_a_process_gets_its_number_of_threads(benchmarks, monkeypatch):
    def run(command, env, check):
        assert check and env["WEFT_CPU_THREADS"] == "2" and "--shared" in command
        Path(command[command.index("--rows") + 1]).write_text('{"rows": []}', encoding="utf-8")

    monkeypatch.setattr(benchmarks.subprocess, "run", run)
    assert benchmarks.measured_by(2, ["--", "a sum"]) == {"rows": []}
