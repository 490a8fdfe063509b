"""Recorder: subscribe to the trace and keep what the page shows, in plain types.

A step is a span, or a point with facts. Applied rules are counted by step, with a few examples
each. Runs of kernels are kept apart from the steps, since there may be very many.
"""

from __future__ import annotations

import inspect
import linecache
import math
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from weft.base.sequences import partition
from weft.base.trace import Event
from weft.device import LinearProgram
from weft.spec.passes import Picture
from weft.tools.viz.node_table import NONE, NodeTable
from weft.uop import UOp

EVENTS = (
    "realize", "kernelize", "pass", "rewrite", "rule", "kernel", "lower", "compile", "source",
    "run", "copy",
)  # fmt: skip
EXAMPLES = 3
LONGEST_LAW = 600


class Recorder:
    """`trace.subscribe(recorder, only=EVENTS)`, and in the end `recorder.as_json()`.

    most_steps, most_runs: how many of each are kept; what goes beyond is counted.
    """

    def __init__(
        self, most_nodes: int = 400_000, most_steps: int = 100_000, most_runs: int = 200_000
    ) -> None:
        self.nodes = NodeTable(most_nodes)
        self.most_steps, self.most_runs = most_steps, most_runs
        self.steps: list[list[Any]] = []
        self.runs: list[list[Any]] = []
        self.dropped_steps = self.dropped_runs = 0
        self._around_runs: dict[int, int] = {}
        # names of kernels may be equal: runs are assigned by program
        self._sources: WeakKeyDictionary[LinearProgram, int] = WeakKeyDictionary()
        self._rules: dict[tuple[str, Any], int] = {}
        self._rule_rows: list[list[str]] = []
        # (number of the step, rule) -> [count, examples]
        self._fired: dict[tuple[int, int], list[Any]] = {}
        self._lock = threading.RLock()

    @property
    def empty(self) -> bool:
        """Whether nothing happened."""
        return not (self.steps or self.runs or self._fired)

    def __call__(self, event: Event) -> None:
        with self._lock:
            if event.name == "rule":
                self._rule(event)
            elif event.name == "run":
                self._run(event)
            elif len(self.steps) >= self.most_steps:
                self.dropped_steps += 1
            else:
                if event.name == "source" and isinstance(event.facts.get("program"), LinearProgram):
                    self._sources[event.facts["program"]] = event.number
                facts = {name: self._plain(value) for name, value in event.facts.items()}
                if event.error is not None:
                    facts["error"] = event.error
                self.steps.append(
                    [event.number, event.parent or 0, event.name, event.start, event.end, facts]
                )

    def _rule(self, event: Event) -> None:
        facts = event.facts
        key = (facts["set"], facts["rule"])
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = len(self._rule_rows)
            self._rule_rows.append(rule_row(facts["set"], facts["rule"], facts["pattern"]))
        # a step that is not kept is no place to count by
        step = 0 if len(self.steps) >= self.most_steps else event.parent or 0
        seen = self._fired.setdefault((step, rule), [0, []])
        seen[0] += 1
        if len(seen[1]) < EXAMPLES and isinstance(facts["after"], UOp):
            seen[1].append([self.nodes.number(facts["before"]), self.nodes.number(facts["after"])])

    def _run(self, event: Event) -> None:
        self._around_runs[event.number] = event.parent or 0
        if len(self.runs) >= self.most_runs:
            self.dropped_runs += 1
            return
        program = event.facts.get("program")
        ops = moved = None
        kernel = 0
        if isinstance(program, LinearProgram):
            ops, moved = program.estimates.ops, program.estimates.bytes
            kernel = self._sources.get(program, 0)
        self.runs.append([
            event.parent or 0, self.nodes.text(str(event.facts.get("name"))),
            self.nodes.text(str(event.facts.get("device"))), event.start, event.end,
            event.facts.get("seconds"), ops if isinstance(ops, int) else None,
            moved if isinstance(moved, int) else None, kernel,
        ])  # fmt: skip

    def _plain(self, value: Any) -> Any:
        """A fact in types that JSON has; graphs are numbers of the node table."""
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, UOp):
            return {"graph": self.nodes.number(value)}
        if isinstance(value, Picture):
            marks = {self.nodes.number(node): word for node, word in value.marks.items()}
            marks.pop(NONE, None)
            return {"graph": self.nodes.number(value.graph), "marks": marks}
        if isinstance(value, LinearProgram):
            return self._program(value)
        if isinstance(value, tuple):
            lists = [item for item in value if isinstance(item, list | tuple)]
            if len(lists) == 1 and lists[0] and all(isinstance(u, UOp) for u in lists[0]):
                return {"lines": self._lines(lists[0])}
        return repr(value)[:1000]

    def _lines(self, nodes: Any) -> list[int]:
        numbers = [self.nodes.number(node) for node in nodes]
        kept, lost = partition(numbers, lambda n: n != NONE)
        return [] if lost else list(kept)

    def _program(self, program: LinearProgram) -> dict[str, Any]:
        sizes = {"global_size": program.global_size, "local_size": program.local_size}
        estimates = program.estimates
        return {
            "lines": self._lines(program.uops),
            "opts": [str(opt) for opt in program.applied],
            "ops": str(estimates.ops),
            "loads and stores, bytes": str(estimates.lds),
            "memory, bytes": str(estimates.bytes),
            **{name: str(size) for name, size in sizes.items() if size is not None},
        }

    def as_json(self) -> dict[str, Any]:
        """Everything, in plain types. Times are microseconds since the first event."""
        with self._lock:
            starts = [step[3] for step in self.steps] + [run[3] for run in self.runs]
            began = min(starts, default=0)
            above = self._around_runs  # a copy belongs to its run, which is no step

            def since(time: int) -> float:
                return round((time - began) / 1000, 1)

            return {
                "version": 1,
                "notes": self._notes(),
                "nodes": self.nodes.as_json(),
                "steps": [
                    [n, above.get(p, p), name, since(start), since(end), facts]
                    for n, p, name, start, end, facts in sorted(self.steps, key=lambda s: s[0])
                ],
                "runs": [[*run[:3], since(run[3]), since(run[4]), *run[5:]] for run in self.runs],
                "rules": self._rule_rows,
                "fired": self._fired_rows(),
            }

    def _fired_rows(self) -> list[list[Any]]:
        """[step, rule, count, examples]; step 0 where it was in none that is kept."""
        kept = {step[0] for step in self.steps}
        rows: dict[tuple[int, int], list[Any]] = {}
        for (number, rule), (count, examples) in self._fired.items():
            step = self._around_runs.get(number, number)
            row = rows.setdefault((step if step in kept else 0, rule), [0, []])
            row[0] += count
            row[1] = (row[1] + examples)[:EXAMPLES]
        return [[*key, *row] for key, row in rows.items()]

    def _notes(self) -> list[str]:
        notes = []
        if self.nodes.full:
            notes.append(
                f"Only the first {len(self.nodes):,} nodes were kept: later graphs are missing."
            )
        if self.dropped_steps:
            notes.append(f"{self.dropped_steps:,} later steps were not kept.")
        if self.dropped_runs:
            notes.append(f"{self.dropped_runs:,} later runs were not kept.")
        return notes


def rule_row(matcher: str, function: Callable[..., Any], pattern: Any) -> list[str]:
    """[name, set, law, place] of a rule. The law of a table row is the row itself."""
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    place = "" if code is None else f"{_inside(code.co_filename)}:{code.co_firstlineno}"
    law = inspect.getdoc(function) or ""
    if name == "<lambda>" and code is not None:
        law = _written_at(code)
        name = law if len(law) <= 60 else f"{law[:57]}..."
    law = law or ("" if pattern is None else repr(pattern))
    return [name, matcher, law[:LONGEST_LAW], place]


def _written_at(code: Any) -> str:
    """The source lines of a lambda, joined."""
    ends = [place[1] or 0 for place in code.co_positions()]
    last = max(ends, default=code.co_firstlineno)
    lines = (linecache.getline(code.co_filename, n) for n in range(code.co_firstlineno, last + 1))
    return " ".join(line.strip() for line in lines).rstrip(",")


def _inside(filename: str) -> str:
    """A path from the package on, where it is in one."""
    parts = filename.replace("\\", "/").split("/")
    return "/".join(parts[parts.index("weft") :]) if "weft" in parts else parts[-1]
