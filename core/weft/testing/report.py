"""The report of a run of the conformance kit: a device's capability sheet.

in: what the device declares, and the outcome of every test    out: Markdown, JSON or HTML

The sheet compares the declaration with the results: native dtypes and operations, skipped tests
with reasons, expected failures with reasons. The JSON has all data; Markdown and HTML have the same
sheet for people.
"""

from __future__ import annotations

import html
import json
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from weft.base.errors import ArgumentError
from weft.tools.capabilities import plain

OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed")
SIGNS = {"passed": "yes", "failed": "NO", "error": "NO", "skipped": "-", "xfailed": "no"}

_NATIVE = re.compile(r"test_native_op\[(\w+)-(\w+)\]$")


@dataclass(frozen=True)
class Outcome:
    """One test: its id, what became of it, and the reason where there is one."""

    test: str
    outcome: str
    reason: str = ""

    @property
    def area(self) -> str:
        """The kit's file that it is in, as a word."""
        stem = self.test.partition("::")[0].rpartition("/")[2]
        return stem.removeprefix("test_").removesuffix(".py")

    @property
    def short(self) -> str:
        """Its area and name: what ``-k`` and a list of expected failures understand."""
        return f"{self.area}: {self.test.partition('::')[2] or self.test}"


@dataclass
class Report:
    """A run.

    :ivar device: the device string.
    :ivar facts: the declarations of the device and its plugin, as plain types.
    :ivar outcomes: of every test, in order.
    """

    device: str
    facts: dict[str, Any] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)

    def counts(self, outcomes: Iterable[Outcome] | None = None) -> dict[str, int]:
        """How many of each outcome."""
        listed = [one.outcome for one in (self.outcomes if outcomes is None else outcomes)]
        return {name: listed.count(name) for name in OUTCOMES}

    def areas(self) -> dict[str, dict[str, int]]:
        """Counts by area, in the order of the tests."""
        names = dict.fromkeys(one.area for one in self.outcomes)
        return {
            name: self.counts(one for one in self.outcomes if one.area == name) for name in names
        }

    def reasons(self, outcome: str) -> dict[str, list[str]]:
        """Tests of this outcome by their reason, the commonest first."""
        found: dict[str, list[str]] = {}
        for one in self.outcomes:
            if one.outcome == outcome:
                found.setdefault(one.reason or "without a reason", []).append(one.short)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def operations(self) -> dict[str, dict[str, str]]:
        """Outcome of each native operation by dtype: ``{"float": {"ADD": "passed"}}``."""
        found: dict[str, dict[str, str]] = {}
        for one in self.outcomes:
            if match := _NATIVE.search(one.test):
                found.setdefault(match[2], {})[match[1]] = one.outcome
        return found

    # ---- writing ----------------------------------------------------------------------------

    def write(self, path: Path) -> None:
        """Write the report in the form that the file's suffix names.

        :raises ArgumentError: for a suffix that is none of .md, .json, .html.
        """
        form = FORMS.get(path.suffix.lower())
        if form is None:
            raise ArgumentError(
                "a report has one of three forms",
                asked=str(path),
                because=f"its suffix is {path.suffix!r}",
                try_=f"one of {', '.join(FORMS)}",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(form(self), encoding="utf-8")

    def json(self) -> str:
        """Everything, for programs."""
        content = {
            "device": self.device,
            **self.facts,
            "counts": self.counts(),
            "areas": self.areas(),
            "operations": self.operations(),
            "tests": [vars(one) for one in self.outcomes],
        }
        return json.dumps(content, indent=1) + "\n"

    def sheet(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """The sheet as tables: title, heads, rows of words."""
        counts = self.counts()
        tables = [
            ("The device", ["", ""], [[k, v] for k, v in _flat(self.facts)]),
            (
                "What was tested",
                ["area", *OUTCOMES],
                [[a, *map(_count, c.values())] for a, c in self.areas().items()]
                + [["all", *map(_count, counts.values())]],
            ),
        ]
        operations = self.operations()
        kinds = {d: row for d, row in operations.items() if set(row.values()) != {"skipped"}}
        names = list(dict.fromkeys(op for row in kinds.values() for op in row))
        if names:
            rows = [
                [op, *(SIGNS[row[op]] if op in row else "" for row in kinds.values())]
                for op in names
            ]
            tables.append(("Operations it has itself", ["", *kinds], rows))
        for outcome, title in (
            ("failed", "Failures"),
            ("error", "Errors"),
            ("xfailed", "Expected failures"),
            ("skipped", "What is not there"),
        ):
            rows = [[why, str(len(t)), t[0]] for why, t in self.reasons(outcome).items()]
            if rows:
                tables.append((title, ["reason", "tests", "such as"], rows))
        return tables

    def markdown(self) -> str:
        """For people who read text."""
        lines = [f"# {self.title()}", ""]
        for title, heads, rows in self.sheet():
            lines += [f"## {title}", ""]
            for number, row in enumerate([heads, *rows]):
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
                if number == 0:
                    lines.append("|" + "---|" * len(heads))
            lines.append("")
        return "\n".join(lines)

    def html(self) -> str:
        """The report as one HTML file without external resources."""
        parts = [f"<h1>{html.escape(self.title())}</h1>"]
        for title, heads, rows in self.sheet():
            parts.append(f"<h2>{html.escape(title)}</h2><table>")
            for number, row in enumerate([heads, *rows] if any(heads) else rows):
                tag = "th" if number == 0 and any(heads) else "td"
                cells = "".join(_cell(tag, cell) for cell in row)
                parts.append(f"<tr>{cells}</tr>")
            parts.append("</table>")
        body = "\n".join(parts)
        return _PAGE.format(title=html.escape(self.title()), body=body)

    def title(self) -> str:
        """The verdict in a line."""
        counts = self.counts()
        wrong = counts["failed"] + counts["error"]
        if not wrong and not counts["passed"]:
            return f"{self.device}: nothing was tested"
        failing = "1 test fails" if wrong == 1 else f"{wrong} tests fail"
        verdict = failing if wrong else "conforms"
        return f"{self.device}: {verdict} ({counts['passed']} passed)"


def facts_of(device: Any, plugin: Any) -> dict[str, Any]:
    """The declarations of an opened device and its plugin, as plain types."""
    return {
        "weft": _weft_version(),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "plugin": plugin.label,
        "api": ".".join(map(str, plugin.api)) if plugin.api else "",
        "capabilities": plain(device.capabilities),
    }


def _weft_version() -> str:
    try:
        return metadata.version("weft")
    except metadata.PackageNotFoundError:
        return "not installed"


def _flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as rows: ``compute.limits.max_buffers``."""
    rows: list[tuple[str, str]] = []
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            inner = prefix if name in ("capabilities",) else f"{prefix}{name}."
            ordered = dict(sorted(value.items())) if name == "vector_widths" else value
            rows += _flat(ordered, inner)
        elif isinstance(value, list | tuple):
            rows.append((f"{prefix}{name}", ", ".join(map(_words, value)) or "none"))
        else:
            rows.append((f"{prefix}{name}", "none" if value in (None, "", {}) else str(value)))
    return rows


def _words(value: Any) -> str:
    """A record among others: ``name=x dims=8x8``."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_words(item)}" for name, item in value.items())
    return "x".join(map(_words, value)) if isinstance(value, list | tuple) else str(value)


def _cell(tag: str, text: str) -> str:
    marked = {"yes": "yes", "NO": "bad", "no": "bad"}.get(text)
    kind = f' class="{marked}"' if marked else ""
    return f"<{tag}{kind}>{html.escape(text)}</{tag}>"


def _count(number: int) -> str:
    return str(number) if number else ""


_PAGE = """<!doctype html>
<meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem;
        padding: 0 1rem }}
table {{ border-collapse: collapse; display: block; overflow-x: auto }}
td, th {{ border: 1px solid #8884; padding: .15rem .5rem; text-align: left; vertical-align: top }}
td:last-child {{ overflow-wrap: anywhere }}
.yes {{ color: light-dark(#17693a, #7fd29b) }}
.bad {{ color: #fff; background: #b3261e; font-weight: 600 }}
:root {{ color-scheme: light dark }}
</style>
{body}
"""

FORMS = {".md": Report.markdown, ".json": Report.json, ".html": Report.html}
