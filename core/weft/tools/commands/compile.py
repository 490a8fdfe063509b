"""``weft compile``: sources and launch plan of a program for a device that is absent.

    weft compile --target FAMILY:arch program.py --out sources

The program runs unchanged, with the target as its default device. Graphs are scheduled, and code is
generated for the capabilities of that architecture. Nothing is launched: values that the program
reads back are zeros, and its branches on such values follow the zeros.

The output is one source for each kernel, the bytes that the program wrote to the device's memory,
and ``plan.json``: the kernels, the memory, and all steps in order (`weft.tools.plan_files`). These
files are sufficient to run the program without weft.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from weft.base.errors import ArgumentError
from weft.base.settings import settings
from weft.base.text import plural
from weft.device import registry
from weft.tools.bench.start import run_file
from weft.tools.dry_run import DryRun, dry_run
from weft.tools.plan_files import write

DEFAULT_FOLDER = "weft-compiled"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--target", required=True, metavar="FAMILY:ARCH", help="for what")
    parser.add_argument("--out", default=DEFAULT_FOLDER, help=f"{DEFAULT_FOLDER} by default")
    parser.add_argument("--no-data", action="store_true", help="leave out what the program writes")
    parser.add_argument("program", help="a Python file")
    parser.add_argument("arguments", nargs="*", help="of that program")


def run(arguments: argparse.Namespace) -> int:
    """Run the program, write what was planned; 1 if nothing was.

    :raises ArgumentError: for a target without an architecture, or a program that is no file.
    """
    family, colon, arch = arguments.target.partition(":")
    if not (family and colon and arch):
        raise ArgumentError(
            "a target is a family and an architecture",
            asked=arguments.target,
            try_="FAMILY:arch, as the family's plugin documents them",
        )
    program = Path(arguments.program)
    if not program.is_file():
        raise ArgumentError("there is no such program", asked=str(program), try_="a Python file")
    plan = planned(family.upper(), arch, program, arguments.arguments)
    folder, launches = Path(arguments.out).expanduser(), plan.launches
    kernels = write(folder, arguments.target, plan, with_data=not arguments.no_data)
    print(f"{folder}: {plural(kernels, 'kernel')}, {plural(len(launches), 'launch', 'launches')}")
    return 0 if launches else 1


def planned(family: str, arch: str, program: Path, words: Sequence[str]) -> DryRun:
    """What the program would launch.

    :raises SystemExit: with its exit code where it fails; its traceback has been printed.
    """
    own, plan = dry_run(family, arch)
    before, path = sys.argv, list(sys.path)
    sys.argv = [str(program), *words]
    sys.path.insert(0, str(program.parent))
    try:
        with registry.use(own), settings.override(DEVICE=plan.offline.id.family, BEAM=0):
            end = run_file(str(program))
    finally:
        sys.argv, sys.path[:] = before, path
    if end.code:
        raise SystemExit(end.code)
    return plan
