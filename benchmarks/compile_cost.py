"""How long it takes until a program is ready: weft and its peers, from fresh processes.

`python benchmarks/compile_cost.py` runs every case with every peer that is installed, each time in
a process of its own, round by round in turn, and writes the least times to
benchmarks/compile_cost.md. `--only` and `--peers` choose.

ready     from a program whose parameters are in memory to the first result: tracing, scheduling,
          generating code, compiling it, and one run
process   from the start of the process to its end, with imports (and parameters, all zero)
CPU       seconds of CPU time of "ready", with those of the compilers that were started: what the
          clock would say of one core that has nothing else to do
cold      with caches on disk that are empty; warm: with what the cold process left there

Byte code of Python's modules is there in both cases, as it is from a library's second import on.
Compilers may use both cores of the machine, the network itself runs on `--threads`.

Peers: `python -m pip install torch==2.15.0 jax==0.10.2 tinygrad==0.14.0`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run
from limit_peers import PEERS, NumPy
from models import MODELS, Arrays, Lazy, Model, Numbers, normal

HERE = Path(__file__).resolve().parent
MOST_SECONDS = 240
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride of the first
DISTRIBUTIONS = {
    "weft": "weft", "JAX": "jax", "PyTorch": "torch", "PyTorch compiled": "torch",
    "tinygrad": "tinygrad",
}  # fmt: skip
HELLO = {
    "weft": "from weft import Tensor\nprint((Tensor([1, 2]) * 2).tolist())",
    "tinygrad": "from tinygrad import Tensor\nprint((Tensor([1, 2]) * 2).tolist())",
    "PyTorch": "import torch\nprint((torch.tensor([1, 2]) * 2).tolist())",
    "PyTorch compiled": "import torch\nf = torch.compile(lambda x: x * 2)\n"
    "print(f(torch.tensor([1, 2])).tolist())",
    "JAX": "import jax\nf = jax.jit(lambda x: x * 2)\nprint(f(jax.numpy.array([1, 2])).tolist())",
}


# ---- the cases ----------------------------------------------------------------------------------


def _convolution(new: Numbers, name: str, out: int, before: int, size: int) -> None:
    new.normal(f"{name}.weight", out, before, size, size)
    for fact in ("mean", "variance", "scale", "shift"):
        new.near_one(f"{name}.{fact}", out)


def resnet50_parameters() -> Arrays:
    """Of He et al. (2015), with the stride in the 3x3 convolution."""
    new, before = Numbers(1), 64
    _convolution(new, "stem", 64, 3, 7)
    for width, blocks, _ in STAGES:
        for block in range(blocks):
            name = f"{width}.{block}"
            _convolution(new, f"{name}.first", width, before, 1)
            _convolution(new, f"{name}.second", width, width, 3)
            _convolution(new, f"{name}.third", 4 * width, width, 1)
            if block == 0:
                _convolution(new, f"{name}.around", 4 * width, before, 1)
            before = 4 * width
    new.normal("last.weight", 1000, before)
    new.normal("last.bias", 1000, scale=0.1)
    return new.made


def resnet50(words: Lazy, p: dict[str, Any], x: Any) -> Any:
    """Logits (batch, 1000) of images (batch, 3, 224, 224), normalised by running statistics."""

    def convolved(name: str, x: Any, stride: int = 1) -> Any:
        facts = (p[f"{name}.{fact}"] for fact in ("mean", "variance", "scale", "shift"))
        return words.normalised(words.convolved(x, p[f"{name}.weight"], stride), *facts)

    x = words.pooled(words.relu(convolved("stem", x, 2)), 3, 2, 1)
    for width, blocks, first in STAGES:
        for block in range(blocks):
            name, stride = f"{width}.{block}", first if block == 0 else 1
            h = words.relu(convolved(f"{name}.first", x))
            h = words.relu(convolved(f"{name}.second", h, stride))
            h = convolved(f"{name}.third", h)
            x = words.relu(h + (convolved(f"{name}.around", x, stride) if block == 0 else x))
    return words.linear(words.mean(x, (2, 3)), p["last.weight"], p["last.bias"])


def _model(name: str) -> Model:
    return next(model for model in MODELS if model.name == name)


CASES: dict[str, Model | None] = {
    "hello": None,
    "MLP training step": _model("MLP, training step"),
    "GPT-2 small forward": _model("GPT-2 small, 128 tokens"),
    "ResNet-50 forward": Model(
        "ResNet-50", resnet50_parameters, lambda: normal(7, (1, 3, 224, 224)), resnet50
    ),
}


# ---- one sample ---------------------------------------------------------------------------------


def _cpu() -> float:
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class _Zeros(Numbers):
    """Parameters that cost nothing to make: their values do not matter here."""

    def normal(self, name: str, *shape: int, scale: float | None = None) -> None:
        self.made[name] = np.zeros(shape, np.float32)

    near_one = normal


def _without_numbers(model: Model) -> Model:
    """The same with parameters of zeros."""
    globals_of = model.parameters.__globals__  # its module's, where it finds Numbers
    kept = globals_of["Numbers"]

    def parameters() -> Arrays:
        globals_of["Numbers"] = _Zeros
        try:
            return model.parameters()
        finally:
            globals_of["Numbers"] = kept

    return replace(model, parameters=parameters)


def sample(peer: str, case: str, threads: int) -> dict[str, float]:
    """Seconds until the first result of a model, in this process."""
    model = CASES[case]
    assert model is not None  # what has none is a program of its own
    made: NumPy = PEERS[peer](threads)
    job = made.job(_without_numbers(model))
    clock, used = time.perf_counter(), _cpu()
    result = job.call()
    job.numbers(result)
    return {"ready": time.perf_counter() - clock, "ready CPU": _cpu() - used}


def ask(peer: str, case: str, threads: int, caches: str) -> dict[str, float] | str:
    """One sample in a fresh process; or why there is none."""
    command = [sys.executable, str(HERE / "compile_cost.py"), "--worker", peer, case, str(threads)]
    if CASES[case] is None:
        command = [sys.executable, "-c", HELLO[peer]]
    environment = run.environment(caches, threads)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment |= {
        "WEFT_CACHE_DIR": caches, "WEFT_CPU_THREADS": str(threads), "CACHEDB": f"{caches}/t.db",
        "CPU_COUNT": str(threads), "DEV": "CPU", "TORCHINDUCTOR_CACHE_DIR": caches,
        "JAX_COMPILATION_CACHE_DIR": caches, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1", "JAX_PLATFORMS": "cpu",
        "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir(), "weft-bytecode")),
    }  # fmt: skip
    clock, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"over {MOST_SECONDS} s"
    process = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["its process ended"])[-1][:80]
    found = {"process": process, "process CPU": cpu}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    return found


# ---- the table ----------------------------------------------------------------------------------

_SHOWN = ("ready", "ready CPU", "process", "process CPU")


def measure(peer: str, case: str, threads: int, rounds: int) -> dict[str, dict[str, float]] | str:
    """{"cold": ..., "warm": ...}: the least times of so many rounds."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="weft-cost-") as caches:
            for name in ("cold", "warm", "warm"):
                times = ask(peer, case, threads, caches)
                if isinstance(times, str):
                    return times
                known = found.setdefault(name, times)
                found[name] = {what: min(seconds, known[what]) for what, seconds in times.items()}
    return found


def table(results: dict[tuple[str, str], Any], threads: int) -> str:
    """The whole page."""
    shown = sorted({peer for _, peer in results}, key=list(DISTRIBUTIONS).index)
    versions = ", ".join(f"{peer} {version(DISTRIBUTIONS[peer])}" for peer in shown)
    lines = [
        "# Until a program is ready",
        "",
        "Written by `python benchmarks/compile_cost.py`, which says what is measured: seconds,",
        f"cold / warm, the least of the rounds. {os.cpu_count()} cores, networks on {threads}.",
        f"{versions}.",
        "",
        f"| case | peer | {' | '.join(_SHOWN)} |",
        "|---|---|" + "---|" * len(_SHOWN),
    ]
    for (case, peer), found in results.items():
        cells = [found] + ["-"] * (len(_SHOWN) - 1)
        if not isinstance(found, str):
            cells = [
                " / ".join(f"{found[name][what]:.2f}" for name in ("cold", "warm"))
                if what in found["cold"]
                else "-"
                for what in _SHOWN
            ]
        lines.append(f"| {case} | {peer} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _installed(peer: str) -> bool:
    try:
        return bool(version(DISTRIBUTIONS[peer]))
    except PackageNotFoundError:
        return False


def main() -> None:
    """Measure and write, or give one sample where this is the process of one."""
    if sys.argv[1:2] == ["--worker"]:
        peer, case, threads = sys.argv[2:5]
        print(json.dumps(sample(peer, case, int(threads))))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--peers", nargs="*", default=list(DISTRIBUTIONS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--to", type=Path, default=HERE / "compile_cost.md")
    given = parser.parse_args()
    results = {}
    for case in given.only:
        for peer in filter(_installed, given.peers):
            results[case, peer] = measure(peer, case, given.threads, given.rounds)
            print(case, peer, results[case, peer], flush=True)
    given.to.write_text(table(results, given.threads))


if __name__ == "__main__":
    main()
