import json

import pytest

from weft.base.errors import ArgumentError
from weft.device import registry
from weft.testing.report import Outcome, Report, facts_of

KIT = "core/weft/testing/conformance"


def sample():
    opened = registry.open("REF")
    facts = facts_of(opened, registry.current().plugins_of("REF")[0])
    return Report(
        "REF",
        facts,
        [
            Outcome(f"{KIT}/test_ops.py::test_native_op[ADD-float]", "passed"),
            Outcome(f"{KIT}/test_ops.py::test_native_op[MUL-float]", "failed", "off | by 1"),
            Outcome(f"{KIT}/test_ops.py::test_native_op[ADD-half]", "skipped", "not declared"),
            Outcome(f"{KIT}/test_ops.py::test_native_op[MUL-half]", "skipped", "not declared"),
            Outcome("test_views.py::test_a", "xfailed", "no windows"),
        ],
    )


def test_counts_by_area():
    assert sample().areas() == {
        "ops": {"passed": 1, "failed": 1, "error": 0, "skipped": 2, "xfailed": 0},
        "views": {"passed": 0, "failed": 0, "error": 0, "skipped": 0, "xfailed": 1},
    }


def test_operations_by_dtype():
    found = sample().operations()
    assert found["float"] == {"ADD": "passed", "MUL": "failed"}
    assert set(found["half"].values()) == {"skipped"}


def test_the_commonest_reason_comes_first():
    report = sample()
    report.outcomes.insert(0, Outcome("test_x.py::test", "skipped", "rare"))
    assert list(report.reasons("skipped")) == ["not declared", "rare"]


def test_markdown():
    text = sample().markdown()
    assert text.startswith("# REF: 1 test fails (1 passed)\n")
    assert "| compute.limits.max_upcast | 16 |" in text
    assert "|  | float |\n|---|---|\n| ADD | yes |\n| MUL | NO |\n" in text
    assert "| off \\| by 1 | 1 | ops: test_native_op[MUL-float] |" in text


def test_html_is_escaped():
    report = Report("A<B>", {"name": "x & y"})
    assert "<h1>A&lt;B&gt;" in report.html() and "x &amp; y" in report.html()
    page = sample().html()
    assert '<td class="yes">yes</td>' in page and '<td class="bad">NO</td>' in page
    assert "<th></th><th></th>" not in page, "a table without heads has no row of them"


def test_json_has_everything():
    found = json.loads(sample().json())
    assert found["tests"][4] == {
        "test": "test_views.py::test_a", "outcome": "xfailed", "reason": "no windows",
    }  # fmt: skip
    assert "float" in found["capabilities"]["compute"]["dtypes"]


def test_the_suffix_names_the_form(tmp_path):
    sample().write(tmp_path / "deep" / "sheet.md")
    assert (tmp_path / "deep" / "sheet.md").read_text() == sample().markdown()
    with pytest.raises(ArgumentError, match="three forms"):
        sample().write(tmp_path / "sheet.pdf")


def test_nothing_wrong_is_said_so():
    assert Report("X", {}, [Outcome("a::b", "passed")]).title() == "X: conforms (1 passed)"


def test_a_run_in_which_nothing_was_tested_certifies_nothing():
    report = Report("X", {}, [Outcome("a::b", "skipped", "X is unavailable: no driver")])
    assert report.title() == "X: nothing was tested"
