"""What a training loop does to memory: new pages in each step, growth, the most in use.

`python benchmarks/steady.py` runs the training steps of `models.py` a thousand times with each
peer, one after another, each in a process of its own held to one core, and writes
benchmarks/results/steady.md. Linux counts: a *minor fault* is a page of 4 KiB that it had to hand
out or to find (field 10 of /proc/self/stat), *resident* is what /proc/self/statm says. Counting
begins when a tenth of the steps are done. A steady loop has neither faults nor growth: what is
freed is used again. A peer that needs longer than `--limit` seconds does fewer steps, and the table
says how many.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from limit_peers import PEERS, WARM_UP
from models import MODELS
from run import environment, machine

HERE = Path(__file__).resolve().parent
TRAINED = {model.name: model for model in MODELS if model.optimiser is not None}
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20


def faults_and_resident() -> tuple[int, int]:
    """(minor faults of this process so far, bytes resident now)"""
    faults = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[7])
    return faults, int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def most_resident() -> int:
    """The most bytes that were resident at a time since the process began."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def watch(peer: str, name: str, steps: int, limit: float) -> dict[str, Any]:
    """Run the steps here, and count: {"version", "steps", "faults", "growth", "most"}.

    faults are those of the counted steps, growth is what is resident after the last beyond what
    was before the first of them, most is beyond what was resident before the model was made.
    """
    made = PEERS[peer](1)
    gc.collect()
    empty = faults_and_resident()[1]
    job = made.job(TRAINED[name])
    for _ in range(WARM_UP):
        job.call()
    began = perf_counter()
    job.call()
    once = perf_counter() - began
    steps = max(10, min(steps, int(limit / once)))
    for _ in range(steps // 10):
        job.call()
    gc.collect()
    before, resident = faults_and_resident()
    counted = steps - steps // 10
    for _ in range(counted):
        job.call()
    after, still = faults_and_resident()
    return {
        "version": made.version, "steps": counted, "faults": after - before,
        "growth": still - resident, "most": most_resident() - empty,
    }  # fmt: skip


def asked(peer: str, name: str, steps: int, limit: float, given: dict[str, str]) -> dict[str, Any]:
    """What `watch` says in a process of its own; {"failed": why} where it ended otherwise."""
    core = sorted(os.sched_getaffinity(0))[-1:]
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--watch", peer, name, str(steps), str(limit)], env=given,
            capture_output=True, text=True, timeout=10 * limit + 300,
            preexec_fn=lambda: os.sched_setaffinity(0, core),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": "over the limit"}
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode == 0 and last.startswith("{"):
        return json.loads(last)
    return {"failed": (done.stderr.strip().rpartition("\n")[2] or f"exit {done.returncode}")[:120]}


def line_of(name: str, peer: str, found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"| {name} | {peer} | - | {found['failed']} | | |"
    a_step = found["faults"] / found["steps"]
    return (
        f"| {name} | {peer} {found['version']} | {found['steps']} | {a_step:.2f} | "
        f"{found['growth'] / MIB:+.1f} | {found['most'] / MIB:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--watch", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds for the steps of one row"
    )
    parser.add_argument("--peers", nargs="*", choices=list(PEERS),
                        default=["weft", "PyTorch", "JAX", "tinygrad"])  # fmt: skip
    parser.add_argument("--output", type=Path, default=HERE / "results" / "steady.md")
    options = parser.parse_args()
    if options.watch:
        peer, name, steps, limit = options.watch
        print(json.dumps(watch(peer, name, int(steps), float(limit))))
        return
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        given = {**environment(folder, 1), "CPU_COUNT": "1"}
        for name in TRAINED:
            for peer in options.peers:
                found = asked(peer, name, options.steps, options.limit, given)
                lines.append(line_of(name, peer, found))
                print(lines[-1], flush=True)
    text = [
        "# What a training loop does to memory", "",
        f"One run of `python benchmarks/steady.py` on {machine()}, {datetime.now(UTC):%Y-%m-%d}; "
        "one core for each. Pages taken anew in a step, growth of what is resident over all "
        "counted steps, and the most that was resident beyond the libraries themselves: "
        "parameters, inputs and intermediates, and what compiling took.", "",
        "| training step | peer | steps counted | pages a step | growth, MiB | most, MiB |",
        "|---|---|---|---|---|---|", *lines,
    ]  # fmt: skip
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
