"""The workloads of `workloads.py`, every peer in its own process, side by side in one run.

`python benchmarks/limits.py` holds every process to one core, goes through all workloads round by
round with every peer in turn, and writes medians, rates and ratios to benchmarks/results/limits.md;
`--threads 2` gives each two cores. weft, tinygrad and JAX run what they captured once (`jit`),
PyTorch and NumPy compute as written. Results are compared; one that differs gets no figure.

Peers: `python -m pip install numpy torch==2.13.0 jax tinygrad==0.14.0`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from run import environment, machine
from workloads import WORKLOADS, Workload

HERE = Path(__file__).resolve().parent
LEAST_SECONDS = 0.1  # a short job is repeated until it has lasted this long
SLOW_SECONDS = 2.0  # of what takes longer one sample is enough
TOLERANCE = {None: 2e-3, "bfloat16": 3e-2}


# ---- peers ---------------------------------------------------------------------------------------


class NumPy:
    kind = "numpy"

    def __init__(self, threads: int) -> None:
        self.version, self.lib = np.__version__, np

    def own(self, array: np.ndarray, cast: str | None) -> Any:
        return array

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        return lambda: function(self.lib, *given)

    def numbers(self, result: Any) -> np.ndarray:
        return np.asarray(result, np.float64)


class Torch(NumPy):
    kind = "torch"

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self.version, self.lib = torch.__version__, torch

    def own(self, array: np.ndarray, cast: str | None) -> Any:
        made = self.lib.from_numpy(array)
        return made if cast is None else made.to(getattr(self.lib, cast))

    def numbers(self, result: Any) -> np.ndarray:
        return result.detach().double().numpy()


class Jax(NumPy):
    kind = "jax"

    def __init__(self, threads: int) -> None:
        import jax

        self.version, self.lib = jax.__version__, jax

    def own(self, array: np.ndarray, cast: str | None) -> Any:
        return self.lib.numpy.asarray(array, None if cast is None else cast)

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        captured = self.lib.jit(lambda *arrays: function(self.lib, *arrays))
        return lambda: self.lib.block_until_ready(captured(*given))

    def numbers(self, result: Any) -> np.ndarray:
        return np.asarray(result.astype(self.lib.numpy.float32), np.float64)


class Weft(NumPy):
    kind = "lazy"

    def __init__(self, threads: int) -> None:
        from importlib.metadata import version

        from weft import Tensor, jit

        self.version, self.lib, self.capture, self.tensor = version("weft"), None, jit, Tensor

    def own(self, array: np.ndarray, cast: str | None) -> Any:
        made = self.tensor(array)
        return (made if cast is None else made.cast(cast)).contiguous().realize()

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        def all_of(*tensors: Any) -> Any:
            found = function(self.lib, *tensors)
            found = tuple(found) if isinstance(found, (list, tuple)) else (found,)
            return tuple(one.realize() for one in found)

        captured = self.capture(all_of)
        return lambda: captured(*given)

    def numbers(self, result: Any) -> np.ndarray:
        return result.float().numpy().astype(np.float64)


class Tinygrad(Weft):
    def __init__(self, threads: int) -> None:
        from importlib.metadata import version

        from tinygrad import Tensor, TinyJit

        self.version, self.lib, self.capture, self.tensor = (
            version("tinygrad"), None, TinyJit, Tensor,
        )  # fmt: skip


PEERS = {"weft": Weft, "NumPy": NumPy, "PyTorch": Torch, "JAX": Jax, "tinygrad": Tinygrad}


# ---- one peer in its process ---------------------------------------------------------------------


def serve(name: str, threads: int) -> None:
    """Answer a line with a workload's name by {"seconds", "numbers"}, until input ends."""
    try:
        peer = PEERS[name](threads)
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    print(json.dumps({"version": peer.version}), flush=True)
    known = {workload.name: workload for workload in WORKLOADS}
    ready: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        workload, answer = known[line.strip()], {}
        try:
            if workload.name not in ready:
                ready[workload.name], answer["numbers"] = prepared(peer, workload)
            answer["seconds"] = measured(ready[workload.name])
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}".partition("\n")[0]}
        print(json.dumps(answer), flush=True)


def prepared(peer: Any, workload: Workload) -> tuple[Callable[[], Any], list[float]]:
    """The call to be measured, after what it takes to settle; some numbers of its result."""
    function = workload.by.get(peer.kind)
    if function is None:
        raise LookupError("does not take part")
    given = [
        peer.own(array, workload.cast if array.dtype == np.float32 else None)
        for array in workload.inputs()
    ]
    call = peer.call(function, given)
    for _ in range(3):
        result = call()
    numbers: list[float] = []
    for one in result if isinstance(result, (tuple, list)) else (result,):
        values = peer.numbers(one).reshape(-1)
        numbers += [float(values[len(values) * part // 7]) for part in range(7)]
    return call, numbers


def measured(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    calls, began = 0, perf_counter()
    while True:
        call()
        calls += 1
        passed = perf_counter() - began
        if passed >= LEAST_SECONDS:
            return passed / calls


# ---- all of them ---------------------------------------------------------------------------------


class Worker:
    """A peer in its own process, on as many cores as it may use."""

    def __init__(self, name: str, threads: int, chosen: dict[str, str]) -> None:
        self.name = name
        self.samples: dict[str, list[float]] = {}
        self.numbers: dict[str, list[float]] = {}
        self.failures: dict[str, str] = {}
        usable = sorted(os.sched_getaffinity(0))
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name, "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=chosen, preexec_fn=lambda: os.sched_setaffinity(0, usable[-threads:]),
        )  # fmt: skip
        self.about = self.answer()

    def answer(self) -> dict[str, Any]:
        for line in self.process.stdout or ():
            if line.startswith("{"):  # a library that prints must not be taken for an answer
                return json.loads(line)
        return {"missing": "its process ended", "failed": "its process ended"}

    def sample(self, workload: Workload) -> None:
        name, known = workload.name, self.samples.get(workload.name, [])
        slow = bool(known) and known[0] > SLOW_SECONDS
        if "missing" in self.about or name in self.failures or slow:
            return
        assert self.process.stdin is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        found = self.answer()
        if "failed" in found:
            self.failures[name] = found["failed"]
            return
        self.samples.setdefault(name, []).append(found["seconds"])
        self.numbers.setdefault(name, found.get("numbers", []))

    def seconds(self, workload: Workload, workers: list[Worker]) -> float | None:
        """The median; None where there is none, or where the result is another than the others'."""
        samples = self.samples.get(workload.name)
        return statistics.median(samples) if samples and self.agrees(workload, workers) else None

    def agrees(self, workload: Workload, workers: list[Worker]) -> bool:
        name = workload.name
        others = [w.numbers[name] for w in workers if name in w.numbers]
        middle = np.median(np.array(others), axis=0)
        apart = np.abs(np.array(self.numbers[name]) - middle).max()
        return bool(apart <= TOLERANCE[workload.cast] * max(1.0, np.abs(middle).max()))


def rows(workers: list[Worker], workloads: list[Workload]) -> tuple[list[str], list[float]]:
    """The lines of the table, and weft's time over the best peer's for each."""
    lines, ratios = [], []
    for workload in workloads:
        number, unit = workload.work
        times = [worker.seconds(workload, workers) for worker in workers]
        others = [time for time in times[1:] if time]
        cells = ["-" if time is None else f"{number / time / 1e9:.3g}" for time in times]
        ratio = "-"
        if times[0] and others:
            ratios.append(times[0] / min(others))
            ratio = f"{ratios[-1]:.2f}"
        rate = "GFLOP/s" if unit == "flop" else "GB/s"
        lines.append(f"| {workload.name} | {rate} | {' | '.join(cells)} | {ratio} |")
    return lines, ratios


def report(workers: list[Worker], workloads: list[Workload], threads: int, rounds: int) -> str:
    names = [worker.name for worker in workers]
    lines, ratios = rows(workers, workloads)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan
    text = [
        "# At the machine's limit", "",
        f"One run of `python benchmarks/limits.py --threads {threads} --rounds {rounds}` on "
        f"{machine()}, {datetime.now(UTC):%Y-%m-%d}; {threads} core{'s'[: threads > 1]} for each; "
        f"rates from medians of {rounds} interleaved rounds. The last column is weft's time over "
        "that of the best peer: below 1 weft is the fastest.", "",
        f"| workload | rate | {' | '.join(names)} | weft / best peer |",
        "|" + "---|" * (len(names) + 3), *lines, "",
        f"Geometric mean of the last column: {mean:.2f}; fastest in "
        f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}.", "",
    ]  # fmt: skip
    for worker in workers:
        about = worker.about.get("version") or f"missing: {worker.about.get('missing')}"
        text.append(f"- {worker.name} {about}")
        failures = {n: why for n, why in worker.failures.items() if "take part" not in why}
        text += [f"  - {name}: {why}" for name, why in failures.items()]
        wrong = [
            w.name for w in workloads if w.name in worker.numbers and not worker.agrees(w, workers)
        ]
        text += [f"  - {name}: another result than the others'" for name in wrong]
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--only", nargs="*", default=[], help="words of the workloads to run")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.threads)
        return
    chosen = [w for w in WORKLOADS if not options.only or any(o in w.name for o in options.only)]
    names = ["weft", *(name for name in options.peers if name != "weft")]
    several = {"1": "limits.md"}.get(str(options.threads), f"limits_{options.threads}.md")
    output = options.output or HERE / "results" / several
    with tempfile.TemporaryDirectory() as folder:
        given = {**environment(folder, options.threads)}
        workers = [Worker(name, options.threads, given) for name in names]
        for number in range(options.rounds):
            for workload in chosen:
                print(f"{number + 1}/{options.rounds} {workload.name}", file=sys.stderr, flush=True)
                for worker in workers:
                    worker.sample(workload)
    text = report(workers, chosen, options.threads, options.rounds)
    output.parent.mkdir(exist_ok=True)
    output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
