import json
import math

import pytest

from weft import Tensor
from weft.base import trace
from weft.spec.passes import Pass, Picture, run_passes
from weft.tools.viz.recorder import EVENTS, Recorder, rule_row
from weft.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite

fold = PatternMatcher([(UPat.var("x") * 1, lambda x: x)], "fold")


@fold.rule(UPat(Ops.ADD, src=(UPat.var("x"), UPat.const(0))))
def add_nothing(x):
    """x + 0 -> x"""
    return x


@pytest.fixture
def record():
    """``record(function)``: what was recorded while it ran, in plain types."""

    def during(function, **limits):
        recorder = Recorder(**limits)
        stop = trace.subscribe(recorder, only=EVENTS)
        try:
            function()
        finally:
            stop()
        data = recorder.as_json()
        json.dumps(data, allow_nan=False)
        return data

    return during


def texts_of(data, column):
    return [data["nodes"]["texts"][number] for number in data["nodes"][column]]


class Marked:
    def __init__(self, graph):
        self.graph = graph
        self.marked = {}

    def picture(self):
        return Picture(self.graph, dict(self.marked))


def mark(subject, ctx):
    subject.marked[subject.graph] = "realized"
    return subject


def folded_and_marked():
    x = UOp.variable("x", 0, 9)
    graph = (x * 1 + 0) + (x + 3) * 1
    with trace.span("kernelize"):
        passes = (
            Pass("fold", lambda sink, ctx: graph_rewrite(sink, fold)),
            Pass("wrap", lambda sink, ctx: Marked(sink)),
            Pass("mark", mark),
            Pass("listed", lambda subject, ctx: ("info", [x, x + 3])),
        )
        run_passes(passes, UOp.sink(graph), None)


def outline(data):
    """A recording as text without its times."""
    ops = texts_of(data, "op")
    depth = {0: -1}
    lines = []
    for number, parent, name, start, end, facts in data["steps"]:
        depth[number] = depth[parent] + 1
        said = []
        for key, value in sorted(facts.items()):
            if isinstance(value, dict) and "graph" in value:
                marks = "".join(f" {ops[int(n)]}={w}" for n, w in value.get("marks", {}).items())
                said.append(f"{key}={ops[value['graph']]}%{value['graph']}{marks}")
            elif isinstance(value, dict):
                said.append(f"{key}={[ops[n] for n in value['lines']]}")
            else:
                said.append(f"{key}={value}")
        lines.append("  " * depth[number] + " ".join([name, *said]))
        for step, rule, count, examples in data["fired"]:
            if step == number:
                name, matcher, law, _ = data["rules"][rule]
                shown = [f"%{before}->%{after}" for before, after in examples]
                lines.append(f"{'  ' * (depth[number] + 1)}{count} x {name} of {matcher}: {law}")
                lines.append(f"{'  ' * (depth[number] + 2)}{' '.join(shown)}")
    return "\n".join(lines)


def test_steps_graphs_marks_and_rules(record, golden):
    assert outline(record(folded_and_marked)) == golden.file("observation/recording.txt")


def test_laws_are_docstrings_and_table_rows():
    (pattern, function), (_, named) = fold.patterns
    name, matcher, law, place = rule_row("fold", function, pattern)
    assert "lambda x: x" in law and matcher == "fold"
    assert place.startswith("test_recorder.py:")
    assert rule_row("fold", named, None)[:3] == ["add_nothing", "fold", "x + 0 -> x"]


def test_a_whole_computation(record):
    a = Tensor([[1.0, 2.0], [3.0, 4.0]], device="REF")
    data = record(lambda: ((a + 1) * 1).sum(1).tolist())
    names = [step[2] for step in data["steps"]]
    assert {"realize", "kernelize", "pass", "kernel", "lower", "source"} <= set(names)
    assert {"clean", "create_kernels", "lowerer", "linearization"} <= {
        step[5].get("name") for step in data["steps"]
    }
    (source,) = [step for step in data["steps"] if step[2] == "source"]
    assert source[5]["source"] and source[5]["program"]["lines"]
    ran = [run for run in data["runs"] if run[-1] == source[0]]
    assert len(ran) == 1 and ran[0][3] <= ran[0][4] and ran[0][5] >= 0
    assert "sum" in " ".join(data["nodes"]["texts"]) and data["notes"] == []


def test_failed_steps_are_recorded_with_their_error(record):
    def fails():
        with trace.span("realize"):
            raise KeyError("x")

    def run():
        with pytest.raises(KeyError):
            fails()

    assert record(run)["steps"][0][5] == {"error": "KeyError"}


def test_a_copy_replaces_its_run(record):
    def run():
        with trace.span("realize"), trace.span("run", name="copy", device="A"):
            with trace.span("copy", source="A", to="B", nbytes=3):
                pass

    data = record(run)
    (realize, copy) = data["steps"]
    assert copy[2] == "copy" and copy[1] == realize[0] == data["runs"][0][0]


def test_rules_that_fire_in_a_run_are_counted_around_it(record):
    x = UOp.variable("x", 0, 9)

    def run():
        graph_rewrite(x + 0, fold)
        with trace.span("realize"):
            graph_rewrite(x + 0, fold)
            with trace.span("run", name="k", device="D"):
                graph_rewrite((x + 1) + 0, fold)

    data = record(run)
    (step,) = [s[0] for s in data["steps"] if s[2] == "realize"]
    fired = {row[0]: row[2:] for row in data["fired"]}
    assert fired[0][0] == 1 and fired[step][0] == 2 and len(fired[step][1]) == 2


def test_limits_are_applied_and_reported(record):
    def run():
        for _ in range(5):
            with trace.span("realize", seconds=math.inf):
                pass
            with trace.span("run", name="k", device="D"):
                pass
        trace.point("rewrite", before=UOp.variable("x", 0, 9) + 1, after=None)

    data = record(run, most_steps=2, most_runs=3)
    assert (len(data["steps"]), len(data["runs"])) == (2, 3)
    assert data["notes"] == ["4 later steps were not kept.", "2 later runs were not kept."]
    rules = record(folded_and_marked, most_steps=0)
    assert rules["steps"] == [] and {row[0] for row in rules["fired"]} == {0}
    small = record(folded_and_marked, most_nodes=2)
    assert small["notes"][0].startswith("Only the first 2 nodes")
