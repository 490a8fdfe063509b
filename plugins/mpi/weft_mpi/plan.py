"""``weft plan``: run a program as one rank of many, whose exchanges take the time of a link model.

weft plan --ranks 8 --link 50GB/s,2us train.py
weft plan --mesh data=4,model=2 --trace plan.json train.py
weft plan --ranks 8 --link 50GB/s,2us --rates 60TFLOP/s,3TB/s,5us train.py
"""

from __future__ import annotations

import argparse
import runpy
import sys
from math import prod
from pathlib import Path

from weft.plugin import ArgumentError
from weft_mpi.kernel_model import Rates
from weft_mpi.link_model import Link
from weft_mpi.planned_rank import PlannedProcess, planned


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--ranks", type=int, help="how many ranks the program has")
    parser.add_argument("--mesh", help="the sizes of its mesh instead, data=4,model=2")
    parser.add_argument("--rank", type=int, default=0, help="the rank that is planned")
    parser.add_argument("--link", default="10GB/s,5us", help="bandwidth and latency of a link")
    parser.add_argument("--rates", help="operations and bytes per second and seconds of a launch, "
                        "60TFLOP/s,3TB/s,5us: no kernel of the rank runs")  # fmt: skip
    parser.add_argument("--ranks-per-processor", type=float, default=1.0, help="kernels take as "
                        "many times longer as ranks share a processor")  # fmt: skip
    parser.add_argument("--trace", type=Path, help="write a trace for Perfetto there")
    parser.add_argument("program", help="a program file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its own arguments")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    rates = Rates.parse(options.rates) if options.rates else None
    link, crowd = Link.parse(options.link), options.ranks_per_processor
    process = PlannedProcess(_ranks(options), link, options.rank, rates, crowd)
    if not 0 <= process.rank < process.size:
        raise ArgumentError(
            "this program has no such rank", asked=f"rank {process.rank} of {process.size}"
        )
    sys.argv = [options.program, *options.arguments]
    with planned(process):
        runpy.run_path(options.program, run_name="__main__")
    print(process.report())
    if options.trace is not None:
        process.write_trace(options.trace)
    return 0


def _ranks(options: argparse.Namespace) -> int:
    if options.ranks is not None and options.mesh is None:
        return options.ranks
    try:
        sizes = [int(part.partition("=")[2]) for part in (options.mesh or "").split(",")]
    except ValueError:
        sizes = []
    found = prod(sizes)
    if not sizes or found < 1 or options.ranks not in (None, found):
        raise ArgumentError(
            "a plan needs the number of ranks, or the sizes of a mesh of as many",
            asked=f"--ranks {options.ranks} --mesh {options.mesh}",
            try_="--ranks 8, or --mesh data=4,model=2",
        )
    return found
