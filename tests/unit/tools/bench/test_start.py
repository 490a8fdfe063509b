"""Programs run as Python would start them, and how they end."""

import sys

import pytest

from weft.base.errors import ArgumentError
from weft.tools.bench.start import Ending, started


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def go(text, *words, name="a_program_of_mine.py"):
        (tmp_path / name).write_text(text)
        return started([*(words or [name])], 3, lambda: None)

    return go


def test_a_program_that_ends_well_has_its_own_command_line(run, tmp_path):
    before = list(sys.argv)
    text = "import sys\nopen('seen', 'w').write(repr((sys.argv, __name__)))"
    assert run(text, "a_program_of_mine.py", "--a", "1") == Ending()
    assert (tmp_path / "seen").read_text() == ("(['a_program_of_mine.py', '--a', '1'], '__main__')")
    assert sys.argv == before
    assert run("raise SystemExit") == run("raise SystemExit(0)") == Ending()


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("raise SystemExit(3)", 3, "ended with code 3"),
        ("raise SystemExit('no data')", 1, "ended early"),
        ("raise KeyboardInterrupt", 130, "was interrupted"),
        ("def f():\n    raise ValueError('of mine')\nf()", 1, "failed: ValueError"),
        ("def (", 1, "failed: SyntaxError"),
        ("from weft.base.errors import ArgumentError\nraise ArgumentError('mine')", 1, "failed"),
    ],
)
def test_how_a_program_ends_is_an_answer(run, text, code, why):
    ending = run(text)
    assert ending.code == code and why in ending.because


def test_a_traceback_shows_the_program_and_nothing_of_ours(run, capsys):
    run("def f():\n    raise ValueError('of mine')\nf()")
    told = capsys.readouterr().err
    assert "ValueError: of mine" in told and "in f" in told
    assert "runpy" not in told and "start.py" not in told


def test_a_function_is_called_once_and_then_as_often_as_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counted = (
        "count = []\ndef f():\n    count.append(1)\n    open('seen', 'w').write(str(len(count)))"
    )
    (tmp_path / "a_program_of_mine.py").write_text(counted)
    warm = []
    assert started(["a_program_of_mine.py:f"], 3, lambda: warm.append(1)) == Ending()
    assert (tmp_path / "seen").read_text() == "4" and warm == [1]
    (tmp_path / "a_program_of_mine.py").write_text("raise SystemExit(4)")
    assert started(["a_program_of_mine.py:f"], 3, lambda: None).code == 4


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nothing.py"], "no such program"),
        (["nothing.py:f"], "no such program"),
        (["no_such_module:f"], "no such module"),
        (["-m", "no_such_module"], "no such module"),
        (["-m", "no_such_package.module"], "no such module"),
        (["-m"], "no module was named"),
        (["math:nothing"], "no function"),
    ],
)
def test_missing_programs(words, why):
    with pytest.raises(ArgumentError, match=why):
        started(words, 1, lambda: None)
