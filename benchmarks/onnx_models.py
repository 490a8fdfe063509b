"""Real ONNX models in weft and in ONNX Runtime: differences, times and memory.

`python benchmarks/onnx_models.py` runs each model of `onnx_model_cases.py` whose wheel is
installed, each time in a process of its own, and writes benchmarks/results/onnx_models.md.

difference  the largest difference from ONNX Runtime's outputs, relative to the largest magnitude
first       seconds from the import of the library to the outputs of the first call: with an empty
            cache on disk, and with what that process has left there
call        milliseconds of a call, NumPy arrays in and out; the least of all calls of all rounds
memory      the largest memory of a process that starts with a filled cache, in MB

The rounds of both libraries alternate. `--only` selects models by the beginning of their names.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from onnx_model_cases import CASES, Inputs, largest_difference

HERE = Path(__file__).resolve().parent
PEERS = ("weft", "ONNX Runtime")
DISTRIBUTIONS = {"weft": "weft", "ONNX Runtime": "onnxruntime"}
MOST_SECONDS = 600
WARM_CALLS = 4  # weft records in the first ones
LEAST_CALLS, MOST_CALLS = 5, 2000

Sample = dict[str, float]
Call = Callable[[], dict[str, np.ndarray]]


# ---- one process ---------------------------------------------------------------------------------


def weft_call(file: Path, inputs: Inputs, threads: int) -> Call:
    """Load a model in weft. WEFT_CPU_THREADS sets the threads."""
    import weft.onnx

    model = weft.onnx.load(file)
    return lambda: {name: each.numpy() for name, each in model(inputs).items()}


def onnxruntime_call(file: Path, inputs: Inputs, threads: int) -> Call:
    """Load a model in ONNX Runtime."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return lambda: dict(zip(names, session.run(names, inputs), strict=True))


def sample(peer: str, case: str, file: Path, threads: int, seconds: float, outputs: Path) -> Sample:
    """Load and call a model in this process, and save the outputs."""
    inputs = CASES[case].inputs()
    make = weft_call if peer == "weft" else onnxruntime_call
    clock = time.perf_counter()
    call = make(file, inputs, threads)
    result = call()
    found = {"first": time.perf_counter() - clock}
    if seconds:
        for _ in range(WARM_CALLS):
            result = call()
        found["call"] = _least(call, seconds)
    np.savez(outputs, **{str(i): each for i, each in enumerate(result.values())})
    return found | {"memory": peak_memory()}


def peak_memory() -> float:
    """Return the largest resident memory of this process, in MB."""
    try:  # ru_maxrss may be that of the parent, which this process was before its start
        text = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(text.partition("VmHWM:")[2].split()[0]) / (1 << 10)
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _least(call: Call, seconds: float) -> float:
    """Return the time of the shortest of several calls."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < LEAST_CALLS or (time.perf_counter() < end and len(times) < MOST_CALLS):
        clock = time.perf_counter()
        call()
        times.append(time.perf_counter() - clock)
    return min(times)


# ---- all processes -------------------------------------------------------------------------------


class Measurement:
    """Runs one model in processes of both libraries.

    :ivar samples: the least values by (peer, cache and threads).
    :ivar difference: the largest one between the outputs of the two libraries.
    """

    def __init__(self, case: str, folder: Path, seconds: float) -> None:
        self.case, self.folder, self.seconds = case, folder, seconds
        self.file = CASES[case].source(folder)
        self.samples: dict[tuple[str, str], Sample] = {}
        self.difference = 0.0

    def round(self, threads: list[int]) -> None:
        """Take one sample of everything, with caches that are empty at first.

        :raises RuntimeError: if a process fails, or the outputs have different shapes.
        """
        with tempfile.TemporaryDirectory(prefix="weft-onnx-") as caches:
            self._take("weft", "cold", max(threads), 0, caches)
            for count in threads:
                for peer in PEERS:
                    self._take(peer, str(count), count, self.seconds, caches)
                mine, theirs = (dict(np.load(self._outputs(peer))) for peer in PEERS)
                try:
                    new = largest_difference(mine, theirs)
                except AssertionError as error:
                    raise RuntimeError(str(error)) from None
                self.difference = max(self.difference, new)

    def _outputs(self, peer: str) -> Path:
        return self.folder / f"{peer}.npz"

    def _take(self, peer: str, what: str, threads: int, seconds: float, caches: str) -> None:
        command = [
            sys.executable, str(HERE / "onnx_models.py"), "--worker", peer, self.case,
            str(self.file), str(threads), str(seconds), str(self._outputs(peer)),
        ]  # fmt: skip
        environment = os.environ | {"WEFT_CACHE_DIR": caches, "WEFT_CPU_THREADS": str(threads)}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(_reason(done.stderr))
        new: Sample = json.loads(done.stdout.splitlines()[-1])
        known = self.samples.setdefault((peer, what), new)
        self.samples[peer, what] = {name: min(known[name], each) for name, each in new.items()}


def _reason(text: str) -> str:
    """Return the line of a traceback that names the error."""
    lines = [line for line in text.splitlines() if line and not line.startswith(" ")]
    return lines[-1][:120] if lines else "the process ended without a message"


def measure(case: str, folder: Path, options: argparse.Namespace) -> Measurement | str:
    """Return the samples of a model; or why there are none."""
    try:
        found = Measurement(case, folder, options.seconds)
        for _ in range(options.rounds):
            found.round(options.threads)
    except subprocess.TimeoutExpired:
        return f"over {MOST_SECONDS} s"
    except RuntimeError as error:
        return str(error)
    return found


# ---- the table -----------------------------------------------------------------------------------


def row(found: Measurement, threads: list[int]) -> list[str]:
    """Return the cells of a model."""
    samples, most = found.samples, str(max(threads))
    cells = [
        f"{found.difference:.0e}",
        f"{samples['weft', 'cold']['first']:.2f}",
        f"{min(samples['weft', str(count)]['first'] for count in threads):.2f}",
        f"{min(samples[PEERS[1], str(count)]['first'] for count in threads):.2f}",
    ]
    for count in map(str, threads):
        mine, theirs = (samples[peer, count]["call"] for peer in PEERS)
        cells += [f"{1e3 * mine:.3g}", f"{1e3 * theirs:.3g}", f"{mine / theirs:.2f}"]
    return cells + [f"{samples[peer, most]['memory']:.0f}" for peer in PEERS]


def ratios(results: dict[str, Measurement | str], count: int) -> list[float]:
    """Return weft's time over ONNX Runtime's of each measured model."""
    samples = [found.samples for found in results.values() if not isinstance(found, str)]
    return [
        each["weft", str(count)]["call"] / each[PEERS[1], str(count)]["call"] for each in samples
    ]


def table(results: dict[str, Measurement | str], threads: list[int]) -> str:
    """Return the whole page."""
    versions = ", ".join(f"{peer} {version(DISTRIBUTIONS[peer])}" for peer in PEERS)
    heads = ["model", "difference", "first: cold", "cached", "ORT"]
    for count in threads:
        unit = "1 thread" if count == 1 else f"{count} threads"
        heads += [f"call, {unit}", "ORT", "ratio"]
    heads += ["memory", "ORT"]
    lines = [
        "# ONNX models",
        "",
        "Written by `python benchmarks/onnx_models.py`, which says what is measured.",
        f"{versions} (ORT), on {processor()} with {os.cpu_count()} cores. "
        f"Load average after the last model: {os.getloadavg()[2]:.1f}.",
        "",
        f"| {' | '.join(heads)} |",
        "|---|" + "--:|" * (len(heads) - 1),
    ]
    for case, found in results.items():
        empty = [""] * (len(heads) - 2)
        cells = [found, *empty] if isinstance(found, str) else row(found, threads)
        lines.append(f"| {case} | {' | '.join(cells)} |")
    for count in threads:
        if every := ratios(results, count):
            mean = math.exp(sum(map(math.log, every)) / len(every))
            above = sum(each > 1 for each in every)
            lines += [
                "",
                f"Threads: {count}. Geometric mean of the ratios: {mean:.2f}. "
                f"Models above 1: {above} of {len(every)}.",
            ]
    return "\n".join(lines) + "\n"


def processor() -> str:
    """Return the name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _selected(beginnings: list[str]) -> list[str]:
    names = [name for name, case in CASES.items() if case.file() is not None]
    return [name for name in names if not beginnings or name.startswith(tuple(beginnings))]


def main() -> None:
    """Measure and write, or give one sample where this is the process of one."""
    if sys.argv[1:2] == ["--worker"]:
        peer, case, file, threads, seconds, outputs = sys.argv[2:]
        taken = sample(peer, case, Path(file), int(threads), float(seconds), Path(outputs))
        print(json.dumps(taken))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0, help="of calls in each process")
    parser.add_argument("--to", type=Path, default=HERE / "results" / "onnx_models.md")
    options = parser.parse_args()
    try:
        version("onnxruntime")
    except PackageNotFoundError:
        parser.error("ONNX Runtime is missing: python -m pip install onnxruntime")
    results: dict[str, Any] = {}
    for case in _selected(options.only):
        with tempfile.TemporaryDirectory(prefix="weft-model-") as folder:
            results[case] = measure(case, Path(folder), options)
            found = results[case]
            shown = found if isinstance(found, str) else " | ".join(row(found, options.threads))
        print(f"{case} | {shown}", flush=True)
    options.to.write_text(table(results, options.threads), encoding="utf-8")


if __name__ == "__main__":
    main()
