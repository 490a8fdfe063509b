"""Everything that is checked on a machine with a GPU, in stages with a time limit each.

    python3 benchmarks/gpu_checks.py --out results               # all stages: 40 minutes at most
    python3 benchmarks/gpu_checks.py --out results --only kit benchmarks
    python3 benchmarks/gpu_checks.py --list

The most informative stages come first. Nothing is installed: packages of the checkout are found as
`without_installing.py` describes them. Each stage writes NAME.log to the folder; summary.md has the
closing line, the outcome and the seconds of each, and is rewritten after every stage, so that
what was reached is kept if the time ends. Exit status: 0 if all stages passed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest", "-q", "--maxfail=40", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Stage:
    """One command.

    :param command: the arguments.
    :param seconds: its time limit.
    :param device: whether the GPU is the default device.
    """

    command: tuple[str, ...]
    seconds: int
    device: bool = False


def stages(out: Path, workers: int) -> dict[str, Stage]:
    """By name, in the order in which they run."""
    tests = (*PYTEST, "-n", str(workers))
    kit = ("--pyargs", "weft.testing.conformance", "--weft-device", "CUDA")
    # Beside tests that take all memory, a new process finds none: these run alone.
    alone = ROOT / "core" / "weft" / "testing" / "conformance" / "test_exit.py"
    tool = (sys.executable, "-m", "weft.tools.cli")
    return {
        "devices": Stage((*tool, "devices"), 60),
        "plugin": Stage((*tests, "tests/plugins/cuda"), 240),
        "kit": Stage((*tests, *kit, "--ignore", str(alone)), 420),
        "exit": Stage((*PYTEST, str(alone), "--weft-device", "CUDA"), 60),
        "benchmarks": Stage((sys.executable, "benchmarks/gpu.py", "--out", str(out)), 480),
        "tensors": Stage((*tests, "tests/unit/tensor", "tests/unit/nn"), 600, True),
        "properties": Stage((*tests, "tests/property"), 360, True),
        "networks": Stage((*tests, "tests/models"), 240, True),
    }


def environment(stage: Stage, packages: Path) -> dict[str, str]:
    """Of the process of a stage. packages: where those of the checkout are described."""
    made = dict(os.environ)
    describe = (sys.executable, str(ROOT / "benchmarks" / "without_installing.py"), str(packages))
    said = subprocess.run(describe, capture_output=True, text=True, check=True).stdout
    made["PYTHONPATH"] = said.partition('"')[2].rpartition('"')[0]
    made.setdefault("WEFT_TEST_FEWER", "20")
    made.setdefault("WEFT_CACHE_DIR", str(packages / "cache"))
    if stage.device:
        made["WEFT_DEVICE"] = "CUDA"
    return made


def run(name: str, stage: Stage, out: Path, packages: Path) -> tuple[str, str, float]:
    """(outcome, last line, seconds) of a stage; its output goes to a file."""
    began = perf_counter()
    path = out / f"{name}.log"
    with path.open("w") as log:
        process = subprocess.Popen(
            stage.command, cwd=ROOT, env=environment(stage, packages), stdout=log,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(stage.seconds)
            outcome = "passed" if status == 0 else f"failed (status {status})"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # pytest's workers as well
            process.wait()
            outcome = f"not finished in {stage.seconds} s"
    lines = path.read_text(errors="replace").strip().splitlines()
    return outcome, lines[-1][:200] if lines else "", perf_counter() - began


def summary(rows: Sequence[tuple[str, str, str, float]]) -> str:
    """A table of the stages so far."""
    text = ["| stage | outcome | seconds | last line |", "|---|---|---|---|"]
    text += [f"| {name} | {how} | {time:.0f} | {last} |" for name, how, last, time in rows]
    return "\n".join(text) + "\n"


def main() -> int:
    """Run the selected stages; 0 if all passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gpu-checks"), help="folder for results")
    parser.add_argument("--only", nargs="+", default=[], metavar="STAGE", help="these stages")
    parser.add_argument("--workers", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--limit", type=int, default=3600, help="seconds of a stage at most")
    parser.add_argument("--list", action="store_true", help="print the stages and their limits")
    given = parser.parse_args()
    known = stages(given.out.resolve(), given.workers)
    if wrong := [name for name in given.only if name not in known]:
        parser.error(f"no stage {', '.join(wrong)}; there are {', '.join(known)}")
    chosen = {name: stage for name, stage in known.items() if name in (given.only or known)}
    if given.list:
        for name, stage in chosen.items():
            print(f"{name}: {stage.seconds} s at most: {' '.join(stage.command)}")
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="weft-gpu-") as folder:
        for name, stage in chosen.items():
            stage = replace(stage, seconds=min(stage.seconds, given.limit))
            rows.append((name, *run(name, stage, given.out, Path(folder))))
            (given.out / "summary.md").write_text(summary(rows))
            print(*rows[-1][:3], f"{rows[-1][3]:.0f} s", sep="; ", flush=True)
    return 0 if all(outcome == "passed" for _, outcome, _, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
