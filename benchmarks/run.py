"""weft against NumPy, PyTorch and tinygrad, on one thread each, in one run.

`python benchmarks/run.py` measures every case with every peer that is installed, round by round in
turn, so that a slower or faster minute of the machine meets all of them, and writes the medians and
their ratios to benchmarks/results.md. A peer that is not installed is reported as missing.
Results are compared with each other; a peer that computes something else is marked.

Peers: `python -m pip install numpy torch==2.15.0 tinygrad==0.14.0`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import stat
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = ("weft", "NumPy", "PyTorch", "tinygrad")
CASES = (
    "matmul 512",
    "matmul 1024",
    "elementwise chain, 4 M",
    "sum, 16 M",
    "training step",
)
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUM_CPU_THREADS",
    "WEFT_CPU_THREADS",
)


class Worker:
    """A peer in its own process."""

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        self.name = name
        self.samples: dict[str, list[float]] = {}
        self.results: dict[str, float] = {}
        self.failures: dict[str, str] = {}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.about = self._answer()

    @property
    def missing(self) -> str | None:
        return self.about.get("missing")

    def measure(self, case: str) -> None:
        """One sample of one case."""
        if self.missing or case not in self.about["cases"] or case in self.failures:
            return
        self._process.stdin.write(f"{case}\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        answer = self._answer()
        reason = answer.get("failed") or answer.get("missing")
        if reason:
            self.failures[case] = reason
            return
        self.samples.setdefault(case, []).append(answer["seconds"])
        if answer["result"] is not None:
            self.results[case] = answer["result"]

    def median(self, case: str) -> float | None:
        samples = self.samples.get(case)
        return statistics.median(samples) if samples else None

    def close(self) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()

    def _answer(self) -> dict[str, Any]:
        # A library that prints on its own must not be taken for an answer.
        for line in self._process.stdout:  # type: ignore[union-attr]
            if line.startswith("{"):
                return json.loads(line)
        return {"missing": "its process ended"}


def environment(folder: str, threads: int = 1) -> dict[str, str]:
    """As many threads for everybody, and the toolchain wheel's clang where a peer needs one."""
    chosen = {**os.environ, **dict.fromkeys(THREADS, str(threads)), "DEV": "CPU"}
    try:
        import ziglang
    except ImportError:
        return chosen
    compiler = Path(folder, "clang")
    compiler.write_text(f'#!/bin/sh\nexec "{Path(ziglang.__file__).parent / "zig"}" clang "$@"\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    return {**chosen, "CC": str(compiler)}


def agrees(case: str, worker: Worker, workers: list[Worker]) -> bool:
    """Whether a peer's result is that of the first other peer that has one, to 1 in 1,000."""
    others = [w.results[case] for w in workers if w is not worker and case in w.results]
    if case not in worker.results or not others:
        return True
    mine, middle = worker.results[case], statistics.median([*others, worker.results[case]])
    return abs(mine - middle) <= 1e-3 * max(1.0, abs(middle))


def shown(seconds: float | None) -> str:
    """Milliseconds with three figures."""
    return "-" if seconds is None else f"{seconds * 1e3:.3g} ms"


def table(workers: list[Worker], cases: list[str]) -> str:
    """Markdown: medians, then how many times as long weft takes."""
    lines = [
        "| case | " + " | ".join(w.name for w in workers) + " | "
        + " | ".join(f"weft / {w.name}" for w in workers[1:]) + " |",
        "|" + "---|" * (2 * len(workers)),
    ]  # fmt: skip
    for case in cases:
        medians = [w.median(case) for w in workers]
        cells = [
            shown(m) + ("" if agrees(case, w, workers) else " (differs!)")
            for w, m in zip(workers, medians, strict=True)
        ]
        own = medians[0]
        ratios = ["-" if not own or not m else f"{own / m:.2f}" for m in medians[1:]]
        lines.append(f"| {case} | {' | '.join([*cells, *ratios])} |")
    return "\n".join(lines)


def report(workers: list[Worker], cases: list[str], rounds: int) -> str:
    """The whole of results.md."""
    lines = [
        "# Benchmarks",
        "",
        f"One run of `python benchmarks/run.py --rounds {rounds}` on {machine()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, one thread each; medians of {rounds} interleaved rounds. "
        "A ratio below 1 means that weft is faster.",
        "",
        table(workers, cases),
        "",
    ]
    for worker in workers:
        if worker.missing:
            lines.append(f"- {worker.name}: missing ({worker.missing})")
            continue
        notes = f"; {worker.about['notes']}" if worker.about["notes"] else ""
        lines.append(f"- {worker.name} {worker.about['version']}{notes}")
        lines += [f"  - {case} failed: {why}" for case, why in worker.failures.items()]
    return "\n".join(lines) + "\n"


def quote(text: str) -> None:
    """Put the report, without its title, between the two marks of docs/benchmarks.md."""
    page = HERE.parent / "docs" / "benchmarks.md"
    before, mark, rest = page.read_text().partition("<!-- benchmarks: copied from")
    mark_end, _, after = rest.partition("<!-- end of benchmarks -->")
    mark += mark_end.partition("\n")[0]
    body = text.partition("\n\n")[2]
    page.write_text(f"{before}{mark}\n{body}<!-- end of benchmarks -->{after}")


def machine() -> str:
    """The processor's name and how many cores of it there are."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{name} ({os.cpu_count()} cores), Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peers", nargs="*", default=NAMES, choices=NAMES)
    parser.add_argument("--cases", nargs="*", default=CASES, choices=CASES)
    parser.add_argument("--output", type=Path, default=HERE / "results.md")
    options = parser.parse_args()
    names = ["weft", *(name for name in options.peers if name != "weft")]
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(name, environment(folder)) for name in names]
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
            for case in options.cases:
                for worker in workers:
                    worker.measure(case)
        for worker in workers:
            worker.close()
    text = report(workers, options.cases, options.rounds)
    options.output.write_text(text)
    if options.output == HERE / "results.md":
        quote(text)
    print(text)


if __name__ == "__main__":
    main()
