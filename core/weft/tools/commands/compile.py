"""``weft compile``: a model as a C library; or a program for a device that is absent.

    weft compile model.onnx --out folder [--size batch=8] [--name detector]
    weft compile --target FAMILY:arch program.py --out sources

A model becomes C sources, a header, a file of weights and a shared library that runs without
Python, for one size of each axis: symbolic sizes are 1, unless `--size` or `--input` says another
one. `main.c` is an example that calls it.

With `--target`, a Python program runs unchanged, with the target as its default device. Graphs are
scheduled, and code is generated for the capabilities of that architecture. Nothing is launched:
values that the program reads back are zeros, and its branches on such values follow the zeros. The
output is one source for each kernel, the bytes that the program wrote to the device's memory, and
``plan.json``: the kernels, the memory, and all steps in order (`weft.tools.plan_files`). These
files are sufficient to run the program without weft.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from weft.base.errors import ArgumentError
from weft.base.settings import settings
from weft.base.text import human_size, plural
from weft.device import registry
from weft.onnx import load
from weft.tools.bench.start import run_file
from weft.tools.commands.run import inputs_of
from weft.tools.dry_run import DryRun, dry_run
from weft.tools.plan_files import write

DEFAULT_FOLDER = "weft-compiled"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--target", metavar="FAMILY:ARCH", help="for what a program is compiled")
    parser.add_argument("--out", default=DEFAULT_FOLDER, help=f"{DEFAULT_FOLDER} by default")
    parser.add_argument("--no-data", action="store_true", help="leave out what the program writes")
    parser.add_argument("--name", help="of the library of a model; by default that of its file")
    parser.add_argument("--no-build", action="store_true", help="write the sources of a model only")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=FILE.npy", help="an input of a model"
    )
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="a symbolic size, or 1"
    )
    parser.add_argument("program", help="an ONNX file, or with --target a Python file")
    parser.add_argument("arguments", nargs="*", help="of that program")


def run(arguments: argparse.Namespace) -> int:
    """Write the library of a model, or what a program would launch; 1 if that is nothing.

    :raises ArgumentError: for a target without an architecture, or a program that is no file.
    """
    if arguments.target is None:
        return _compile_model(arguments)
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


def _compile_model(arguments: argparse.Namespace) -> int:
    path = Path(arguments.program)
    if path.suffix != ".onnx":
        raise ArgumentError(
            "a program is compiled for a target",
            asked=f"weft compile {path}",
            because="it is no ONNX model, and --target is missing",
            try_="--target FAMILY:arch, as the family's plugin documents them",
        )
    model = load(path)
    folder = Path(arguments.out).expanduser()
    arguments.seed = 0
    inputs = inputs_of(model, arguments)
    made = model.export_c(
        folder, inputs, name=arguments.name or path.stem, build=not arguments.no_build
    )
    size = sum(each.stat().st_size for each in folder.glob("*.weights"))
    print(f"{made}: {plural(len(list(folder.glob('kernels/*.c'))), 'kernel')}, ", end="")
    print(f"{human_size(size)} of weights, {folder / 'main.c'} is an example")
    return 0


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
