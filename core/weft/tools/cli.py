"""Command line: find the subcommand of ``weft``, import its module alone, and run it.

Other distributions add subcommands: an entry point of the group ``weft.commands`` names a module
with the functions `add_arguments` and `run`.

An error of weft ends the command with its text and code 1; WEFT_DEBUG >= 1 shows a traceback.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points

from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.tools.compiled_modules import compiled_modules


@dataclass(frozen=True)
class Command:
    """A subcommand: where it lives and what it does, in a line."""

    module: str
    summary: str


GROUP = "weft.commands"

COMMANDS: dict[str, Command] = {
    "bench": Command(
        "weft.tools.commands.bench", "time a program's kernels, and how far they are from the limit"
    ),
    "compile": Command(
        "weft.tools.commands.compile",
        "write a model as a C library, or a program's kernels for a device that is not here",
    ),
    "demo": Command(
        "weft.tools.commands.demo", "learn real handwritten digits, from graph to weights"
    ),
    "devices": Command(
        "weft.tools.commands.devices", "list every installed device plugin and its state"
    ),
    "new-device": Command(
        "weft.tools.commands.new_device", "write a device plugin to start from, with its tests"
    ),
    "opt": Command("weft.tools.commands.opt", "run named compiler passes on IR text"),
    "replay": Command(
        "weft.tools.commands.replay",
        "keep schedules and kernels, make them again elsewhere",
    ),
    "run": Command("weft.tools.commands.run", "run an ONNX model, time it, compare it"),
    "tune": Command(
        "weft.tools.commands.tune", "measure this machine, and search for faster kernels"
    ),
    "viz": Command("weft.tools.commands.viz", "run a program, make a page that shows how"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process by default); returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if arguments[0] == "--version":
        print(_version())
        return 0
    command = all_commands().get(arguments[0])
    if command is None:
        print(f"weft: there is no command {arguments[0]!r}\n\n{_help()}", file=sys.stderr)
        return 2
    return _run(arguments[0], command, arguments[1:])


def all_commands() -> dict[str, Command]:
    """The subcommands of weft and of other installed distributions, which are not imported."""
    found = {
        entry.name: Command(entry.value, f"see weft {entry.name} --help")
        for entry in entry_points(group=GROUP)
    }
    return {**found, **COMMANDS}


def _run(name: str, command: Command, rest: Sequence[str]) -> int:
    module = import_module(command.module)
    parser = argparse.ArgumentParser(prog=f"weft {name}", description=command.summary)
    module.add_arguments(parser)
    parsed = parser.parse_args(rest)
    try:
        return int(module.run(parsed) or 0)
    except WeftError as error:
        if settings.DEBUG >= 1:
            raise
        print(f"weft {name}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has closed it
        sys.stderr.close()
        return 0


def _version() -> str:
    from importlib.metadata import version

    count = len(compiled_modules())
    return f"weft {version('weft')}" + (f", {count} modules compiled" if count else ", pure Python")


def _help() -> str:
    commands = sorted(all_commands().items())
    width = max(len(name) for name, _ in commands)
    lines = [f"  {name.ljust(width)}  {command.summary}" for name, command in commands]
    return "usage: weft <command> [options]\n\ncommands:\n" + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
