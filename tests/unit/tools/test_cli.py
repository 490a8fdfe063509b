import importlib
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from weft.base.errors import DeviceError
from weft.base.settings import settings
from weft.tools import cli


@pytest.fixture
def command(monkeypatch):
    """``command(function)`` installs a subcommand ``try`` that runs it."""

    def install(function):
        module = ModuleType("weft_test_command")
        module.add_arguments = lambda parser: parser.add_argument("--count", type=int, default=1)
        module.run = function
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(cli.COMMANDS, "try", cli.Command(module.__name__, "a try"))

    return install


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"], ["help"]])
def test_help_lists_the_commands(arguments, capsys):
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(name in printed and c.summary in printed for name, c in cli.COMMANDS.items())


def test_an_unknown_command(capsys):
    assert cli.main(["weave"]) == 2
    assert "'weave'" in capsys.readouterr().err


def test_arguments_reach_the_command(command):
    command(lambda arguments: arguments.count + 10)
    assert cli.main(["try", "--count", "5"]) == 15
    assert cli.main(["try"]) == 11


def test_weft_errors_are_printed_without_traceback(command, capsys):
    def fails(arguments):
        raise DeviceError("it is gone", because="no reason")

    command(fails)
    assert cli.main(["try"]) == 1
    assert capsys.readouterr().err.startswith("weft try: it is gone\n  because: no reason")
    with settings.override(DEBUG=1), pytest.raises(DeviceError):
        cli.main(["try"])


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("weft ")


def test_every_command_has_its_module():
    for command in cli.COMMANDS.values():
        assert importlib.util.find_spec(command.module) is not None


def test_other_distributions_add_commands(monkeypatch, capsys):
    module = ModuleType("weft_test_other")
    module.add_arguments = lambda parser: None
    module.run = lambda arguments: 7
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = [EntryPoint("other", module.__name__, cli.GROUP)]
    monkeypatch.setattr(cli, "entry_points", lambda group: found if group == cli.GROUP else [])
    assert cli.main(["other"]) == 7
    assert cli.main([]) == 0
    assert "see weft other --help" in capsys.readouterr().out
