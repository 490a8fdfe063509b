"""IR before and after a pass, in the style of FileCheck: every `tests/golden/passes/*/*.ir`.

The first line of a file is the command, `# RUN: weft opt ... -`; with a setting it is
`# RUN: env WEFT_NAME=1 weft opt ... -`. What follows `# before` is its input and what follows
`# after` its output, which `--update-golden` writes. A new file is found without a change here. The
numbers of memory and of copies that a pass makes differ from run to run; they are written as NEW.
"""

import io
import re
import shlex
from pathlib import Path

import pytest

from weft.base.settings import settings
from weft.device import registry
from weft.schedule import pipeline as scheduler
from weft.tools import cli

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "passes"
FILES = sorted(FOLDER.glob("*/*.ir"))
MOST_LINES = 40
NUMBERS = re.compile(r"(?<=UNIQUE void  arg=)(?!1\d{9})\d+|(?<=\('kept', )\d+")
PLUGINS = {"CPU": "weft_cpu_clang", "CUDA": "weft_cuda"}


def name_of(path):
    return path.relative_to(FOLDER).as_posix()


def parts(text):
    head, before = text.split("# before\n")
    return head, *before.split("# after\n")


def command_of(head):
    """The settings and the arguments of the command in the first line."""
    words = shlex.split(head.splitlines()[0].removeprefix("# RUN: "))
    values = {}
    if words[0] == "env":
        name, _, value = words[1].removeprefix("WEFT_").partition("=")
        values, words = {name: int(value)}, words[2:]
    assert words[0] == "weft"
    return values, words[1:]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_pass(path, golden, monkeypatch, capsys):
    head, before, _ = parts(path.read_text(encoding="utf-8"))
    values, command = command_of(head)
    if "--target" in command:
        family = command[command.index("--target") + 1].partition(":")[0]
        pytest.importorskip(PLUGINS[family], reason=f"the plugin of {family} is not installed")
    monkeypatch.setattr("sys.stdin", io.StringIO(before))
    with registry.use(registry.Registry()), settings.override(**values):
        assert cli.main(command) == 0, capsys.readouterr().err
    after = NUMBERS.sub("NEW", capsys.readouterr().out)
    text = f"{head}# before\n{before}# after\n{after}"
    assert text == golden.file(f"passes/{name_of(path)}")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_short_and_shows_its_pass(path):
    head, before, after = parts(path.read_text(encoding="utf-8"))
    named = re.search(r"--pass (\S+) ", head)
    assert named is not None and path.parent.name in named[1].split(",")
    assert max(before.count("\n"), after.count("\n")) <= MOST_LINES


def test_every_pass_of_the_scheduler_has_one():
    assert {step.name for step in scheduler.PASSES} <= {path.parent.name for path in FILES}
