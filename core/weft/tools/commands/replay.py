"""``weft replay``: store schedules and kernels, and make them again in another checkout.

    weft replay capture --out before program.py      on one checkout
    weft replay compare before                       on another: what differs, and how many

`compare` ends with 0 where everything is as it was captured, else with 1.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from weft.base.errors import ArgumentError
from weft.base.text import plural
from weft.tools.program import USAGE
from weft.tools.program import run as run_program
from weft.tools.replay.compare import compare
from weft.tools.replay.record import KINDS

DEFAULT_FOLDER = "weft-replay"
ONLY = {"schedule": ("schedule",), "kernels": ("kernel",)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    actions = parser.add_subparsers(dest="action", required=True)
    capture = actions.add_parser("capture", help="run a program, keep its schedules and kernels")
    capture.add_argument("--out", default=DEFAULT_FOLDER, help=f"{DEFAULT_FOLDER} by default")
    capture.add_argument("program", nargs=argparse.REMAINDER, help=USAGE)
    again = actions.add_parser("compare", help="make them again with this checkout")
    again.add_argument("folder", nargs="?", default=DEFAULT_FOLDER)
    again.add_argument("--only", choices=tuple(ONLY), help="schedules, or kernels, alone")
    again.add_argument(
        "--arch",
        action="append",
        default=[],
        metavar="FAMILY=ARCH",
        help="for kernels of this family: an architecture that its plugin offers without hardware",
    )


def run(arguments: argparse.Namespace) -> int:
    """Capture: the program's exit code. Compare: 0 if all is the same, else 1."""
    if arguments.action == "capture":
        folder = Path(arguments.out).expanduser().absolute()
        code = run_program(arguments.program, PROCESS_REPLAY=str(folder))
        counts = [len(list((folder / kind).glob("*.txt"))) for kind in KINDS]
        print(f"{folder}: {', '.join(map(plural, counts, KINDS))}")
        return code
    kinds = ONLY[arguments.only] if arguments.only else KINDS
    report = compare(Path(arguments.folder), print, kinds, dict(map(_pair, arguments.arch)))
    print(report.summary())
    return 0 if report.same else 1


def _pair(text: str) -> tuple[str, str]:
    family, equals, arch = text.partition("=")
    if not (family and equals and arch):
        raise ArgumentError("--arch takes a family and an architecture", asked=text, try_="X=y")
    return family.upper(), arch
