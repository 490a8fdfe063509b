"""IR before and after a pass, in the style of FileCheck: every `tests/golden/passes/*/*.ir`.

The first line of a file is the command, `# RUN: weft opt ... -`. What follows `# before` is its
input and what follows `# after` its output, which `--update-golden` writes. A new file is found
without a change here.
"""

import io
import shlex
from pathlib import Path

import pytest

from weft.device import registry
from weft.tools import cli

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "passes"
FILES = sorted(FOLDER.glob("*/*.ir"))
MOST_LINES = 40
PLUGINS = {"CPU": "weft_cpu_clang", "CUDA": "weft_cuda"}


def name_of(path):
    return path.relative_to(FOLDER).as_posix()


def parts(text):
    head, before = text.split("# before\n")
    return head, *before.split("# after\n")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_pass(path, golden, monkeypatch, capsys):
    head, before, _ = parts(path.read_text(encoding="utf-8"))
    command = shlex.split(head.splitlines()[0].removeprefix("# RUN: weft "))
    if "--target" in command:
        family = command[command.index("--target") + 1].partition(":")[0]
        pytest.importorskip(PLUGINS[family], reason=f"the plugin of {family} is not installed")
    monkeypatch.setattr("sys.stdin", io.StringIO(before))
    with registry.use(registry.Registry()):
        assert cli.main(command) == 0, capsys.readouterr().err
    text = f"{head}# before\n{before}# after\n{capsys.readouterr().out}"
    assert text == golden.file(f"passes/{name_of(path)}")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_short_and_shows_its_pass(path):
    head, before, after = parts(path.read_text(encoding="utf-8"))
    assert f"--pass {path.parent.name} " in head
    assert max(before.count("\n"), after.count("\n")) <= MOST_LINES


def test_the_files_are_found():
    assert len({path.parent.name for path in FILES}) >= 8
