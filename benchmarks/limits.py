"""The workloads of `workloads.py` and the models of `models.py`, every peer in its own process.

`python benchmarks/limits.py` runs every peer on one core, interleaves the peers in rounds for each
workload, and writes medians, rates and ratios to benchmarks/results/limits.md. `--threads 2` gives
each peer two cores. `limit_peers.py` has the code of each peer. Results are compared; a result that
differs gets no figure. A peer that needs more than `--limit` seconds to prepare or to run a
workload is ended, restarted for the next workload, and marked "over the limit". The file is written
after every workload, so that an interrupted run leaves a table.

`--random 40 --seed 1` runs 40 random workloads of `random_workloads.py` instead. `--arch x86-64-v3`
restricts every peer that has such an option to that level of the processor, and measures the limit
there. `--beside FOLDER` times another checkout of weft in the same rounds.

Peers: `python -m pip install numpy torch==2.15.0 jax tinygrad==0.14.0`; torch.compile needs g++.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import select
import signal
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from ceiling import Ceiling, measured
from limit_peers import PEERS, WARM_UP, Job
from models import MODELS, Model
from random_workloads import random_workloads
from run import environment, machine
from workloads import WORKLOADS, Workload

HERE = Path(__file__).resolve().parent
LEAST_SECONDS = 0.1  # a short job is repeated until it has lasted this long
SLOW_SECONDS = 2.0  # of what takes longer one sample is enough
SHORT_ROUNDS = 3  # as many rounds of a job that is repeated: memory is shared with others
TOLERANCE = {None: 2e-3, "bfloat16": 3e-2}
OVER = "over the limit"
UNITS = {"flop": "GFLOP/s", "byte": "GB/s", "call": "ms", "kernel": "us a kernel"}

BESIDE = "weft, the other checkout"
LEVELS = {  # of x86-64: the settings that restrict the peers' libraries to them
    "x86-64-v3": {
        "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2", "OPENBLAS_CORETYPE": "Haswell",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    },
    "x86-64-v4": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE", "ATEN_CPU_CAPABILITY": "avx512",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512", "OPENBLAS_CORETYPE": "SkylakeX",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX512",
        "NPY_DISABLE_CPU_FEATURES": "AVX512_ICL AVX512_SPR",
    },
}  # fmt: skip

Row = Workload | Model


def rows_of(count: int, seed: int) -> tuple[Row, ...]:
    """The rows of the table: random workloads, or the standard list if `count` is 0."""
    return random_workloads(count, seed) if count else (*WORKLOADS, *MODELS)


def settings_of_level(arch: str | None) -> dict[str, str]:
    """Settings that restrict weft and its peers to a level of x86-64; tinygrad has none."""
    return {} if arch is None else {"WEFT_CPU_ARCH": arch, **LEVELS[arch]}


# ---- one peer in its process ---------------------------------------------------------------------


def serve(name: str, threads: int, rows: tuple[Row, ...]) -> None:
    """Answer a line with a workload's name by {"seconds", "numbers"}, until input ends."""
    try:
        peer = PEERS["weft" if name == BESIDE else name](threads)
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    print(json.dumps({"version": peer.version}), flush=True)
    known = {row.name: row for row in rows}
    ready: tuple[str, Job] | None = None  # one at a time: models take much memory
    for line in sys.stdin:
        row, answer = known[line.strip()], {}
        try:
            if ready is None or ready[0] != row.name:
                ready = None
                peer.forget()
                job = peer.job(row)
                for _ in range(WARM_UP):
                    result = job.call()
                ready, answer["numbers"] = (row.name, job), job.numbers(result)
                del result
            answer["seconds"] = timed(ready[1])
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}".partition("\n")[0][:200]}
        print(json.dumps(answer), flush=True)


def timed(job: Job) -> float:
    """Seconds of one call."""
    calls, began = 0, perf_counter()
    while True:
        job.call()
        calls += 1
        passed = perf_counter() - began
        if passed >= LEAST_SECONDS:
            return passed / calls


# ---- all of them ---------------------------------------------------------------------------------


class Worker:
    """A peer in its own process, on as many cores as it may use."""

    def __init__(
        self, name: str, threads: int, chosen: dict[str, str], limit: float, drawn: list[str]
    ) -> None:
        self.name, self.threads, self.chosen, self.limit = name, threads, chosen, limit
        self.drawn = drawn  # options that name the rows
        self.samples: dict[str, list[float]] = {}
        self.numbers: dict[str, list[float]] = {}
        self.failures: dict[str, str] = {}
        self.about: dict[str, Any] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.begin()

    def begin(self) -> None:
        usable = sorted(os.sched_getaffinity(0))[-self.threads :]
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", self.name, "--threads", str(self.threads),
             *self.drawn],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=self.chosen, start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, usable),
        )  # fmt: skip
        self.pending = b""
        found = self.answer()
        if not self.about or "version" in found:
            self.about = found

    def end(self) -> None:
        """The process and what it has started, a compiler perhaps."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process = None

    def answer(self) -> dict[str, Any]:
        """What the process says next; after the limit, or its death, it is ended."""
        assert self.process is not None and self.process.stdout is not None
        source, until = self.process.stdout.fileno(), perf_counter() + self.limit
        while True:
            while b"\n" in self.pending:
                line, _, self.pending = self.pending.partition(b"\n")
                if line.startswith(b"{"):  # a library that prints is not taken for an answer
                    return json.loads(line)
            ready, _, _ = select.select([source], [], [], max(0.0, until - perf_counter()))
            read = os.read(source, 1 << 16) if ready else b""
            if not read:
                self.end()
                why = "its process ended" if ready else f"{OVER} of {self.limit:.0f} s"
                return {"missing": why, "failed": why}
            self.pending += read

    def asked(self, name: str) -> dict[str, Any]:
        """The answer to a workload's name."""
        try:
            if self.process is not None and self.process.stdin is not None:
                self.process.stdin.write(name.encode() + b"\n")
                self.process.stdin.flush()
                return self.answer()
        except (OSError, ValueError):  # it is gone, or what it said is no answer
            self.end()
        return {"failed": "its process ended"}

    def sample(self, row: Row) -> None:
        name, known = row.name, self.samples.get(row.name, [])
        slow = bool(known) and known[0] > SLOW_SECONDS
        if "missing" in self.about or name in self.failures or slow:
            return
        if self.process is None:
            self.begin()
        found = self.asked(name)
        if "failed" in found:
            self.failures[name] = found["failed"]
            return
        self.samples.setdefault(name, []).append(found["seconds"])
        if "numbers" in found:
            self.numbers.setdefault(name, found["numbers"])

    def is_repeated(self, row: Row) -> bool:
        """Whether the job is so short that more samples cost little."""
        known = self.samples.get(row.name)
        return known is not None and known[0] < LEAST_SECONDS

    def seconds(self, row: Row, workers: list[Worker]) -> float | None:
        """The median; None where there is none, or where the result is another than the others'."""
        samples = self.samples.get(row.name)
        return statistics.median(samples) if samples and self.agrees(row, workers) else None

    def agrees(self, row: Row, workers: list[Worker]) -> bool:
        name, mine = row.name, np.array(self.numbers[row.name])
        every = [w.numbers[name] for w in workers if name in w.numbers]
        same = [one for one in every if len(one) == len(mine)]
        if 2 * len(same) < len(every) or not np.isfinite(mine).all():
            return False
        middle = np.median(np.array(same), axis=0)
        apart = np.abs(mine - middle).max()
        return bool(apart <= TOLERANCE[row.cast] * max(1.0, np.abs(middle).max()))


# ---- the table -----------------------------------------------------------------------------------


def figure(row: Row, seconds: float) -> float:
    """A rate of what is counted, a time of what is called."""
    number, unit = row.work
    if unit == "call":
        return seconds * 1e3
    return seconds / number * 1e6 if unit == "kernel" else number / seconds / 1e9


def share(row: Row, seconds: float | None, ceiling: Ceiling | None) -> str:
    """weft's part of what the machine can do; a narrower dtype has another ceiling."""
    number, unit = row.work
    if seconds is None or ceiling is None or unit not in ("flop", "byte") or row.cast:
        return "-"
    whole = ceiling.flops if unit == "flop" else ceiling.bytes
    return f"{number / seconds / whole:.0%}"


def lines_of(
    workers: list[Worker], rows: list[Row], ceiling: Ceiling | None
) -> tuple[list[str], dict[str, float]]:
    """The lines of the table, and weft's time over the best peer's for each."""
    lines, ratios = [], {}
    for row in rows:
        times = [worker.seconds(row, workers) for worker in workers]
        others = [time for time in times[1:] if time]
        cells = []
        for worker, time in zip(workers, times, strict=True):
            missing = OVER if OVER in worker.failures.get(row.name, "") else "-"
            cells.append(missing if time is None else f"{figure(row, time):.3g}")
        ratio = "-"
        if times[0] and others:
            ratios[row.name] = times[0] / min(others)
            ratio = f"{ratios[row.name]:.2f}"
        part = share(row, times[0], ceiling)
        lines.append(
            f"| {row.name} | {UNITS[row.work[1]]} | {' | '.join(cells)} | {ratio} | {part} |"
        )
    return lines, ratios


def means(rows: list[Row], ratios: dict[str, float]) -> list[str]:
    """The geometric mean of the ratios, of each sort of workload and of all."""
    sorts = {"flop": "products and convolutions", "byte": "memory", "call": "models"}
    found = []
    for unit, name in ("", "all"), *sorts.items():
        chosen = [ratios[r.name] for r in rows if r.name in ratios and unit in ("", r.work[1])]
        if chosen:
            mean = math.exp(statistics.fmean(map(math.log, chosen)))
            won = sum(ratio < 1 for ratio in chosen)
            found.append(f"- {name}: {mean:.2f}; the fastest in {won} of {len(chosen)}")
    return found


def report(
    workers: list[Worker], rows: list[Row], ceiling: Ceiling | None, command: str,
    threads: int, rounds: int,
) -> str:  # fmt: skip
    names = [worker.name for worker in workers]
    lines, ratios = lines_of(workers, rows, ceiling)
    limit = f" This machine, just before: {ceiling}." if ceiling else ""
    text = [
        "# At the machine's limit", "",
        f"One run of `python benchmarks/limits.py {command}` on "
        f"{machine()}, {datetime.now(UTC):%Y-%m-%d}; {threads} core{'s'[: threads > 1]} for each; "
        f"medians of {rounds} interleaved rounds ({SHORT_ROUNDS * rounds} of what takes less than "
        f"{LEAST_SECONDS} s): rates, or times where milliseconds or microseconds are said.{limit} "
        "The last column but one is weft's time over that of the best peer: below 1 weft is the "
        "fastest. The last is weft's share of what this machine reaches: fused multiply-adds for "
        "arithmetic, a copy for what moves memory.", "",
        f"| workload | in | {' | '.join(names)} | weft / best peer | of the limit |",
        "|" + "---|" * (len(names) + 4), *lines, "",
        "weft's time over the best peer's, geometric means:", "", *means(rows, ratios), "",
    ]  # fmt: skip
    for worker in workers:
        about = worker.about.get("version") or f"missing: {worker.about.get('missing')}"
        text.append(f"- {worker.name} {about}")
        failures = {n: why for n, why in worker.failures.items() if "take part" not in why}
        text += [f"  - {name}: {why}" for name, why in failures.items()]
        wrong = [r for r in rows if r.name in worker.numbers and not worker.agrees(r, workers)]
        text += [f"  - {row.name}: another result than the others'" for row in wrong]
    return "\n".join(text) + "\n"


def in_random_order(workers: list[Worker], number: int) -> list[Worker]:
    """The workers in the order of one round, whose number is the seed. A peer changes the caches
    and the clock of the processor for the one that follows it, so the order differs each round."""
    return random.Random(number).sample(workers, len(workers))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--serve", choices=[*PEERS, BESIDE], help=argparse.SUPPRESS)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    made.add_argument("--only", nargs="*", default=[], help="words of the workloads to run")
    made.add_argument("--limit", type=float, default=90.0, help="seconds for one answer")
    made.add_argument("--arch", choices=LEVELS, help="restrict all to a level of x86-64")
    made.add_argument("--random", type=int, default=0, metavar="N", help="run N random workloads")
    made.add_argument("--seed", type=int, default=1, help="of the random workloads")
    made.add_argument("--beside", type=Path, default=None, help="another checkout of weft")
    made.add_argument("--output", type=Path, default=None)
    return made


def file_of(options: argparse.Namespace) -> Path:
    """Where the table goes, where no `--output` says so."""
    parts = ["random-limits" if options.random else "limits"]
    parts += [options.arch] if options.arch else []
    parts += [f"{options.threads}-threads"] if options.threads > 1 else []
    return HERE / "results" / f"{'-'.join(parts)}.md"


def paths_of(checkout: Path, folder: str) -> dict[str, str]:
    """What makes a process import another checkout."""
    command = [sys.executable, str(checkout / "benchmarks" / "without_installing.py"), folder]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"PYTHONPATH": shown.partition('"')[2].rpartition('"')[0]}


def begun(options: argparse.Namespace, folder: str) -> list[Worker]:
    """A worker for each peer; weft is the first."""
    threads, drawn = options.threads, ["--random", str(options.random), "--seed", str(options.seed)]
    given = {
        **environment(folder, threads),
        "CPU_COUNT": str(threads),
        **settings_of_level(options.arch),
    }
    names = ["weft", *(name for name in options.peers if name != "weft")]
    workers = [Worker(name, threads, given, options.limit, drawn) for name in names]
    if options.beside:
        other = {**given, **paths_of(options.beside.resolve(), f"{folder}/other")}
        other["WEFT_CACHE_DIR"] = f"{folder}/cache"
        workers.append(Worker(BESIDE, threads, other, options.limit, drawn))
    return workers


def main() -> None:
    options = parser().parse_args()
    rows = rows_of(options.random, options.seed)
    if options.serve:
        serve(options.serve, options.threads, rows)
        return
    chosen = [r for r in rows if not options.only or any(o in r.name for o in options.only)]
    output = options.output or file_of(options)
    output.parent.mkdir(exist_ok=True)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads :])
    ceiling = measured(options.threads, options.arch)
    workers: list[Worker] = []
    text = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            workers = begun(options, folder)
            for count, row in enumerate(chosen, 1):
                print(f"{count}/{len(chosen)} {row.name}", file=sys.stderr, flush=True)
                for number in range(SHORT_ROUNDS * options.rounds):
                    for worker in in_random_order(workers, number):
                        if number < options.rounds or worker.is_repeated(row):
                            worker.sample(row)
                command = " ".join(sys.argv[1:])
                text = report(
                    workers, chosen[:count], ceiling, command, options.threads, options.rounds
                )
                output.write_text(text)
        finally:
            for worker in workers:
                worker.end()
    print(text)


if __name__ == "__main__":
    main()
