"""Progress of a search: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import io

import pytest

from weft.base.settings import settings
from weft.engine import progress
from weft.engine.progress import Progress
from weft.engine.search_budget import Budget


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_search(told: Progress) -> None:
    told.begin(0, 1)
    told.step_built()
    told.step_ran(2.0, 2.0)
    told.begin(1, 4)
    for _ in range(4):
        told.step_built()
    for _ in range(4):
        told.step_ran(1e-3, 2e-3)
    told.end(5, "UNROLL 0 4, 2.00 times as fast", ["a note"])


@pytest.fixture
def output_on(monkeypatch):
    def go(stream, debug=0):
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setattr(progress, "_EVERY", -1.0)
        with settings.override(DEBUG=debug):
            a_search(Progress("r_4"))
        return stream.getvalue()

    return go


def test_a_terminal_sees_one_line_change(output_on, monkeypatch):
    monkeypatch.setattr(progress, "_columns", lambda: 200)
    text = output_on(Terminal())
    drawn = text.split("\r\x1b[K")
    assert len(drawn) == 14 and "\n" not in "".join(drawn[:-1])
    assert "round 1 [#######.............] built 3, ran 0 of 4" in "".join(drawn)
    assert (
        "[####################] built 4, ran 4 of 4, best 1.00 ms, heuristic 2.00 ms" in drawn[-2]
    )
    assert drawn[-1].startswith("search r_4: 5 tried in") and drawn[-1].endswith("as fast\n")
    assert "a note" not in text and "a note" in output_on(Terminal(), debug=1)


def test_the_line_is_never_longer_than_the_terminal(output_on, monkeypatch):
    monkeypatch.setattr(progress, "_columns", lambda: 30)
    drawn = output_on(Terminal()).split("\r\x1b[K")
    assert max(len(line) for line in drawn[:-1]) == 29


def test_progress_lines_without_a_terminal(output_on):
    assert output_on(io.StringIO()) == ""
    lines = output_on(io.StringIO(), debug=1).splitlines()
    assert [line.split(": ", 1)[1].split(" in ")[0] for line in lines] == [
        "start: 1 tried, best 2.00 s, heuristic 2.00 s", "5 tried", "a note",
    ]  # fmt: skip


def test_a_long_search_without_a_terminal_prints_lines(output_on, monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY", -1.0)
    lines = output_on(io.StringIO()).splitlines()
    assert all(line.startswith("search r_4: ") for line in lines)
    assert "round 1: built 4, ran 4 of 4, best 1.00 ms, heuristic 2.00 ms, 0 s" in lines[-2]
    assert lines[-1].endswith("UNROLL 0 4, 2.00 times as fast")


def test_lines_name_the_budget(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "_LINE_EVERY", -1.0)
    Progress("r_4", Budget(60)).begin(0, 1)
    assert stream.getvalue() == "search r_4: start: built 0, ran 0 of 1, 0 s of 60 s\n"


def test_without_a_stderr_nothing_is_drawn(monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        told = Progress("r_4")
        assert not told.live
        monkeypatch.setattr(progress, "_LINE_EVERY", -1.0)
        told.begin(0, 1)
