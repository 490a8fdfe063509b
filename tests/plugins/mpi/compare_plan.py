"""Compare the steps that `weft plan` predicts with those of ranks on this machine.

    python tests/plugins/mpi/compare_plan.py --ranks 2 4

The ranks time all-reduces first: these give the latency and the bandwidth of the link. Each rank
stays on one processor. The plan is told how many share one. Prints a line for each technique.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from weft_mpi.launch import command

SMALL, LARGE = 1 << 10, 1 << 20
"""Elements of the all-reduces that give the link."""

PLAN = """
import argparse
from weft_mpi import plan
parser = argparse.ArgumentParser()
plan.add_arguments(parser)
plan.run(parser.parse_args())
"""
PROGRAM = """
import json, os, statistics, sys, time
from weft import Device, Tensor, jit, nn
from weft_mpi.process import current

process = current()
mesh = Device.mesh(("data", process.size))
planned = process.planned
STEPS = 13
if planned is None and hasattr(os, "sched_setaffinity"):
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[process.rank % len(processors)]})

def now():
    return time.perf_counter() if planned is None else sum(s.seconds for s in planned.steps)

def usual(call):
    times = []
    for _ in range(STEPS):
        started = now()
        call()
        times.append(now() - started)
    return statistics.median(times[3:])

def exchange(size):
    parts = Tensor.ones(process.size, size).shard(mesh, 0).contiguous().realize()
    total = jit(lambda x: x.sum(axis=0))
    return usual(lambda: total(parts).realize())

def training(wrap):
    Tensor.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))
    net = wrap(model)
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.01)
    x = Tensor.randn(512, 512).shard(mesh, 0).realize()

    @jit
    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    with Tensor.train():
        return usual(lambda: step(x).realize())

def tensor_parallel(model):
    nn.parallel.column_parallel(model[0], mesh)
    nn.parallel.row_parallel(model[2], mesh)
    return lambda x: model(x.shard(mesh))

found = {}
if planned is None:
    found["exchange"] = [exchange(size) for size in json.loads(sys.argv[1])]
found["data parallel"] = training(lambda model: nn.parallel.DataParallel(model, mesh))
found["fully sharded"] = training(lambda model: nn.parallel.FullySharded(model, mesh))
found["tensor parallel"] = training(tensor_parallel)
if process.rank == 0:
    print("found " + json.dumps(found))
"""


def run(words: Sequence[str]) -> dict[str, float]:
    """The figures that a program prints.

    :raises RuntimeError: if it fails.
    """
    environment = os.environ | {"WEFT_CPU_THREADS": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    if done.returncode or not lines:
        raise RuntimeError(done.stdout + done.stderr)
    return json.loads(lines[0].removeprefix("found "))


def link_of(ranks: int, small: float, large: float) -> str:
    """The link whose model gives these times of a small and of a large all-reduce."""
    rounds = (ranks - 1).bit_length()
    latency = small / rounds
    steps, share = (1, 1.0) if ranks == 2 else (2 * (ranks - 1), 2 * (ranks - 1) / ranks)
    bandwidth = share * 4 * LARGE / max(large - steps * latency, 1e-6)
    return f"{bandwidth / 1e9:.6f}GB/s,{latency * 1e6:.3f}us"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--within", type=float, default=0.25, help="the difference that is fine")
    asked = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(PROGRAM)
        for ranks in asked.ranks:
            measured = run([*command(ranks), str(path), json.dumps([SMALL, LARGE])])
            link = link_of(ranks, *measured.pop("exchange"))
            crowd = max(1.0, ranks / (os.cpu_count() or 1))
            words = ["--ranks", str(ranks), "--link", link, "--ranks-per-processor", str(crowd)]
            planned = run([sys.executable, "-c", PLAN, *words, str(path)])
            print(f"{ranks} ranks, link {link}, {crowd:.1f} ranks per processor")
            for name, seconds in measured.items():
                ratio = planned[name] / seconds
                wrong += abs(ratio - 1) > asked.within
                print(f"  {name:16} {seconds * 1e3:9.2f} ms, plan {planned[name] * 1e3:9.2f} ms, "
                      f"ratio {ratio:.2f}", flush=True)  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
