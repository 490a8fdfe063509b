"""``weft viz FILE.py``: run a program and write a page that shows its passes, kernels and runs.

    weft viz train.py --epochs 1
    weft viz --out page.html -- python -m my.program

The page is a single file for any browser: the passes with their graphs before and after, the rules
that fired, every kernel with its source, and when what ran.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from weft.tools.program import USAGE
from weft.tools.program import run as run_program
from weft.tools.watch import DEFAULT_PAGE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--out", default=DEFAULT_PAGE, help=f"the page, {DEFAULT_PAGE} by default")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=USAGE)


def run(arguments: argparse.Namespace) -> int:
    """Run the program; its exit code. It says itself where the page is."""
    # made whole here, so that a program that changes its folder does not matter
    return run_program(arguments.program, VIZ=str(Path(arguments.out).expanduser().absolute()))
