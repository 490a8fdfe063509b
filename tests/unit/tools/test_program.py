import sys

import pytest

from weft.base.errors import ArgumentError
from weft.tools.program import command_line, run


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["x.py", "--a"], [sys.executable, "x.py", "--a"]),
        (["--", "x.py"], [sys.executable, "x.py"]),
        (["-m", "pkg", "b"], [sys.executable, "-m", "pkg", "b"]),
        (["--", "make", "x.py"], ["make", "x.py"]),
    ],
)
def test_command_lines(words, line):
    assert command_line(words) == line


@pytest.mark.parametrize("words", [[], ["--"]])
def test_nothing_named(words):
    with pytest.raises(ArgumentError, match="no program"):
        command_line(words)


def test_it_runs_with_the_settings_and_its_exit_code_comes_back(tmp_path, capfd):
    program = tmp_path / "a program.py"
    program.write_text("import os, sys; print(os.environ['WEFT_DEBUG'], sys.argv[1:]); sys.exit(7)")
    assert run([str(program), "a b"], DEBUG=3) == 7
    assert capfd.readouterr().out.strip() == "3 ['a b']"


def test_invalid_programs(tmp_path):
    with pytest.raises(ArgumentError, match="cannot be started"):
        run([str(tmp_path / "nothing")])
