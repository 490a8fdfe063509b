"""``weft compile``: the sources and the launch plan of a program for a device that is not here.

    weft compile --target FAMILY:arch program.py --out sources

The program runs as it is, with the target as its default device: graphs are scheduled and code is
generated for what that architecture can do, and nothing is launched. What the program reads back is
zeros, so one that decides by its own numbers takes the way that zeros take.

Written are one source for each kernel, and ``plan.json``: the kernels with what one launch costs,
and the launches in their order.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.base.errors import ArgumentError
from weft.base.settings import settings
from weft.base.text import plural
from weft.device import CompiledProgram, registry
from weft.tools.stand_in import Planned, StandIn, stand_in

DEFAULT_FOLDER = "weft-compiled"
PLAN = "plan.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--target", required=True, metavar="FAMILY:ARCH", help="for what")
    parser.add_argument("--out", default=DEFAULT_FOLDER, help=f"{DEFAULT_FOLDER} by default")
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
    kernels = write(folder, arguments.target, plan.offline.renderer.language, launches)
    print(f"{folder}: {plural(kernels, 'kernel')}, {plural(len(launches), 'launch', 'launches')}")
    return 0 if launches else 1


def planned(family: str, arch: str, program: Path, words: Sequence[str]) -> StandIn:
    """What the program would launch."""
    own, plan = stand_in(family, arch)
    before, path = sys.argv, list(sys.path)
    sys.argv = [str(program), *words]
    sys.path.insert(0, str(program.parent))
    try:
        with registry.use(own), settings.override(DEVICE=plan.offline.id.family, BEAM=0):
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:] = before, path
    return plan


def write(folder: Path, target: str, suffix: str, launches: Sequence[Planned]) -> int:
    """Write sources, as files of this suffix, and the plan; how many kernels there are."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    kernels: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    for launch in launches:
        source = launch.program.source
        if source not in files:
            files[source] = _file_name(launch.program, suffix, files)
            (folder / files[source]).write_text(source, encoding="utf-8")
            kernels.append(_kernel(launch.program, files[source]))
        steps.append(
            {
                "source": files[source],
                "kernel": launch.program.name,
                "global_size": launch.global_size,
                "local_size": launch.local_size,
                "values": dict(zip(_names(launch.program), launch.values)),
                "buffers": launch.nbytes,
            }
        )
    content = {"target": target, "kernels": kernels, "launches": steps}
    (folder / PLAN).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return len(kernels)


def _kernel(program: CompiledProgram, file: str) -> dict[str, Any]:
    linear = program.program
    costs = linear.estimates
    return {
        "source": file,
        "name": program.name,
        "outputs": linear.outs,
        "variables": _names(program),
        "operations": _number(costs.ops),
        "bytes": _number(costs.bytes),
        "optimisations": [str(option) for option in linear.applied],
    }


def _names(program: CompiledProgram) -> list[str]:
    return [u.arg.name for u in program.program.variables]


def _number(value: Any) -> int | str:
    """Costs may depend on variables."""
    return value if isinstance(value, int) else value.render()


def _file_name(program: CompiledProgram, suffix: str, taken: Mapping[str, str]) -> str:
    plain = f"{program.name}.{suffix}"
    return plain if plain not in taken.values() else f"{program.name}-{len(taken)}.{suffix}"
