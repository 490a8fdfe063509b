"""The first result of a process: how long it takes from its start, weft beside its peers.

`python benchmarks/first_result.py` starts processes that compute one small result, peer by peer in
turn, and writes the table to benchmarks/first_result.md.

result   until the process has its result, on the clock; median and least of all rounds
end      until the process has ended, likewise
CPU      seconds of CPU time of the process, without helper processes that outlive it

weft is measured with an empty disk cache, with the cache of a process before that computed the
same, and with a table of ready kernels and no other kernel. Other processes on the machine lengthen
all times. `--rounds 0` only prepares the caches in `--folder`, so that a later call takes little
time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import sizes

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    "Python alone": "print(sum([2.0, 3.0, 4.0]))",
    "weft": "from weft import Tensor; print((Tensor([1.0, 2.0, 3.0]) + 1).tolist())",
    "NumPy": "import numpy; print((numpy.array([1.0, 2.0, 3.0]) + 1).tolist())",
    "PyTorch": "import torch; print((torch.tensor([1.0, 2.0, 3.0]) + 1).tolist())",
    "JAX": "import jax.numpy as jnp; print((jnp.array([1.0, 2.0, 3.0]) + 1).tolist())",
}


class Times(NamedTuple):
    """Seconds of one process."""

    result: float
    end: float
    cpu: float


def started(program: str, environment: dict[str, str]) -> Times | None:
    """The times of one process; None if it fails."""
    command = [sys.executable, "-c", program + "\nimport time; print(time.time())"]
    began = time()
    before = os.times()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        lines = process.stdout.read().split()
        code = process.wait()
    ended = time()
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return None if code or not lines else Times(float(lines[-1]) - began, ended - began, cpu)


class Case(NamedTuple):
    """A row of the table: what is started, and what is prepared before each start."""

    name: str
    program: str
    prepare: Callable[[str], None]


def _nothing(folder: str) -> None:
    """An empty cache."""


def _same_before(folder: str) -> None:
    """The cache of a process that computed the same."""
    _run(PROGRAMS["weft"], folder)


def _ready(folder: str) -> None:
    """The table of ready kernels alone."""
    _run("from weft.tools.ready_kernels import build; build('CPU')", folder, "1")


def _run(program: str, folder: str, ready: str = "0") -> None:
    environment = {**os.environ, "WEFT_CACHE_DIR": folder, "WEFT_READY_KERNELS": ready}
    subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, stdout=subprocess.DEVNULL
    )


CASES = (
    Case("Python alone", PROGRAMS["Python alone"], _nothing),
    Case("weft, empty cache", PROGRAMS["weft"], _nothing),
    Case("weft, the same before", PROGRAMS["weft"], _same_before),
    Case("weft, ready kernels", PROGRAMS["weft"], _ready),
    Case("NumPy", PROGRAMS["NumPy"], _nothing),
    Case("PyTorch", PROGRAMS["PyTorch"], _nothing),
    Case("JAX", PROGRAMS["JAX"], _nothing),
)


def prepare(folder: str) -> None:
    """Fill the caches that are not in this folder."""
    for case in CASES:
        cache = os.path.join(folder, case.name)
        if not os.path.exists(cache):
            case.prepare(cache)


def measure(rounds: int, prepared: str) -> dict[str, list[Times]]:
    """The times of all cases, one of each in a round."""
    found: dict[str, list[Times]] = {case.name: [] for case in CASES}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for number in range(rounds):
            for case in CASES:
                cache = os.path.join(prepared, case.name)
                if not os.path.exists(cache):  # it is empty
                    cache = os.path.join(folder, f"{case.name} {number}")
                # a table that is built in the background would take the time of the next case
                ready = "1" if case.prepare is _ready else "0"
                environment = {
                    **os.environ, "WEFT_CACHE_DIR": cache, "WEFT_READY_KERNELS": ready,
                }  # fmt: skip
                times = started(case.program, environment)
                if times is not None:
                    found[case.name].append(times)
    return found


def table(found: dict[str, list[Times]]) -> str:
    """Rows of Markdown."""
    lines = ["| | result | least | end | CPU |", "|---|---|---|---|---|"]
    for name, all_times in found.items():
        if not all_times:
            continue
        result, end, cpu = ([t[column] for t in all_times] for column in range(3))
        cells = [statistics.median(result), min(result), statistics.median(end), min(cpu)]
        lines.append(f"| {name} | " + " | ".join(f"{1e3 * cell:.0f} ms" for cell in cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", help="keeps prepared caches")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = os.path.abspath(chosen.folder or temporary)
        prepare(folder)
        if not chosen.rounds:
            return
        text = table(measure(chosen.rounds, folder))
    print(text)
    heading = "# The first result of a process\n\n"
    about = (
        f"Written by `python benchmarks/first_result.py --rounds {chosen.rounds}` on "
        f"{sizes.machine()}, Python {sys.version.split()[0]}.\n\n"
    )
    (HERE / "first_result.md").write_text(heading + about + text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
