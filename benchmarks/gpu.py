"""How near a GPU's limits weft gets, compared with PyTorch on the same GPU: one command.

    python benchmarks/gpu.py                    # an hour's question in a few minutes
    python benchmarks/gpu.py --only matmul      # cases whose name holds this
    WEFT_BEAM=2 python benchmarks/gpu.py        # with kernels that were searched for

Where nothing can be installed, first: eval "$(python3 benchmarks/without_installing.py)".
The rest of what is checked on a machine with a GPU:

    python3 benchmarks/gpu_checks.py --out results

Each result is compared with PyTorch's (with NumPy's where there is no PyTorch) before anything is
timed. Times are the GPU's own, between events; the least of several turns. Written are
benchmarks/results/NAME.md, to read, and NAME.json, with every kernel: what was applied to it, its
sizes, registers, spilled bytes, occupancy. `--small` takes sizes for a test double
and needs `--out`.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_cases import Array, Case, cases

from weft import Tensor, jit
from weft.device import registry
from weft.engine import lower_schedule_item
from weft.plugin import BufferHints

HERE = Path(__file__).resolve().parent
Result = dict[str, Any]


class Peer:
    """PyTorch on the same GPU, or what is there of it."""

    def __init__(self) -> None:
        self.torch: Any = None
        try:
            import torch

            self.torch = torch
            self.cuda = torch.cuda.is_available()
            self.name = f"PyTorch {torch.__version__}" + ("" if self.cuda else ", on the CPU")
        except ImportError:
            self.name, self.cuda = "NumPy (PyTorch is not installed)", False

    def job(self, case: Case, inputs: list[Array]) -> tuple[Array, Callable[[], Any] | None]:
        """The result, and what computes it again on the GPU; None where there is none."""
        if self.torch is None:
            return np.asarray(case.plain(*inputs)), None
        torch, place = self.torch, "cuda" if self.cuda else "cpu"
        torch.set_float32_matmul_precision("highest" if case.exact else "high")
        own = [torch.from_numpy(x).to(place).to(getattr(torch, case.dtype)) for x in inputs]

        def run() -> Any:
            return case.peer(torch, *own)

        return run().float().cpu().numpy(), run if self.cuda else None

    def seconds(self, run: Callable[[], Any], turns: int) -> float:
        """Of one call, by the GPU's clock."""
        torch, found = self.torch, []
        for _ in range(3):
            run()
        for _ in range(turns):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            run()
            stop.record()
            torch.cuda.synchronize()
            found.append(start.elapsed_time(stop) / 1000)
        return min(found)


def timed(case: Case, made: list[Tensor], turns: int) -> tuple[float, list[Result]]:
    """Least seconds of all kernels together, and what is known of each."""
    steps = [lower_schedule_item(item) for item in case.weft(*made).schedule()]
    rounds = [[step.run(wait=True) or 0.0 for step in steps] for _ in range(turns + 1)][1:]
    kernels = []
    for number, step in enumerate(steps):
        if not step.prg.is_kernel:
            continue
        program = step.prg.p.program
        kernels.append(
            {
                "name": program.name,
                "seconds": min(turn[number] for turn in rounds),
                "grid": [str(size) for size in program.global_size or ()],
                "block": [str(size) for size in program.local_size or ()],
                "opts": [str(opt) for opt in program.applied],
                "source": step.prg.p.src,
                **usage(step.prg.runner, program.local_size or ()),
            }
        )
    return min(map(sum, rounds)), kernels


def usage(runner: Any, block: Any) -> Result:
    """Registers, shared memory and blocks at a time, where the device's plugin reports them."""
    context = getattr(runner, "context", None)
    if not hasattr(context, "usage"):
        return {}
    taken = context.usage(runner.function)
    return {
        "registers": taken.registers,
        "spilled": taken.spilled,
        "shared": taken.shared + runner.shared,
        "occupancy": runner.occupancy(tuple(map(int, block))),
    }


def compare(case: Case, device: str, peer: Peer, turns: int) -> Result:
    """One case: its results compared, then both timed. What goes wrong is a result as well."""
    found: Result = {"name": case.name, "unit": case.unit}
    precision = case.precision()
    if precision is None:
        return found | {"skipped": "weft has no setting for this precision"}
    try:
        inputs = list(case.inputs())
        made = [Tensor(x, device=device).cast(case.dtype).realize() for x in inputs]
        expected, run = peer.job(case, inputs)
        with precision:
            got = case.weft(*made).cast("float32").numpy()
            apart = float(np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30))
            found["apart"] = apart
            if not apart <= case.tolerance:
                return found | {"failed": f"results are {apart:.2g} apart"}
            seconds, kernels = timed(case, made, turns)
    except Exception as error:
        return found | {"failed": f"{type(error).__name__}: {error}"}
    scale = case.work / (1e12 if case.unit == "TFLOP/s" else 1e9)
    found |= {"seconds": seconds, "rate": scale / seconds, "kernels": kernels}
    if run is not None:
        other = peer.seconds(run, turns)
        found |= {"peer_seconds": other, "peer_rate": scale / other, "of_peer": other / seconds}
    return found


def copies(device: str, peer: Peer, small: bool, turns: int) -> Iterator[Result]:
    """Bytes per second within the GPU's memory, and between it and Python's."""
    gpu = registry.open(device).device
    nbytes = 1 << 16 if small else 1 << 30
    allocator, context = gpu.allocator, gpu.context
    here, there = (allocator.allocate(nbytes, BufferHints()) for _ in range(2))
    host = memoryview(bytearray(nbytes))
    start, stop = context.event(), context.event()

    def within() -> float:
        context.record(start)
        context.copy(there.address, here.address, nbytes, context)
        context.record(stop)
        context.wait(stop)
        return float(context.seconds(start, stop))

    def called(work: Callable[[], Any]) -> Callable[[], float]:
        def run() -> float:
            gpu.synchronize()
            began = perf_counter()
            work()
            gpu.synchronize()
            return perf_counter() - began

        return run

    jobs = {
        "copy within the GPU": (within, 2),
        "copy to the GPU": (called(lambda: allocator.copy_in(here, host)), 1),
        "copy from the GPU": (called(lambda: allocator.copy_out(host, here)), 1),
    }
    for name, (job, times) in jobs.items():
        seconds = min(job() for _ in range(turns))
        rate = times * nbytes / max(seconds, 1e-9) / 1e9
        yield {"name": name, "unit": "GB/s", "seconds": seconds, "rate": rate}
    if peer.cuda:
        torch = peer.torch
        a, b = (torch.empty(nbytes, dtype=torch.uint8, device="cuda") for _ in range(2))
        seconds = peer.seconds(lambda: b.copy_(a), turns)
        rate = 2 * nbytes / seconds / 1e9
        yield {"name": "copy within the GPU, PyTorch", "unit": "GB/s", "seconds": seconds,
               "rate": rate}  # fmt: skip
    for handle in (here, there):
        allocator.free(handle, nbytes)


def launches(device: str, peer: Peer, small: bool, turns: int) -> Iterator[Result]:
    """What a kernel that does next to nothing costs: launched alone, and replayed with others."""
    count = 20 if small else 1000
    x = Tensor(np.zeros(16, np.float32), device=device).realize()

    def chain(value: Tensor) -> Tensor:
        for _ in range(count):
            value = (value + 1).realize()
        return value

    (step,) = map(lower_schedule_item, (x + 1).schedule())
    synchronize = registry.open(device).synchronize

    def alone() -> None:
        for _ in range(count):
            step.run(wait=False)
        synchronize()

    captured = jit(chain)
    for _ in range(4):
        result = captured(x)
    assert float(result.numpy()[0]) == count
    for name, job in (("launch", alone), ("replay", lambda: captured(x))):
        seconds = min(_clocked(job) for _ in range(turns)) / count
        yield {"name": f"{name}, a kernel of {count}", "unit": "us", "seconds": seconds,
               "rate": seconds * 1e6}  # fmt: skip
    if peer.cuda:
        torch = peer.torch
        value = torch.zeros(16, device="cuda")

        def eager() -> None:
            for _ in range(count):
                value.add_(1)
            torch.cuda.synchronize()

        eager()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(count):
                value.add_(1)
        replay = [graph.replay, torch.cuda.synchronize]
        for name, job in (("launch", eager), ("replay", lambda: [part() for part in replay])):
            seconds = min(_clocked(job) for _ in range(turns)) / count
            yield {"name": f"{name}, a kernel of {count}, PyTorch", "unit": "us",
                   "seconds": seconds, "rate": seconds * 1e6}  # fmt: skip


def _clocked(job: Callable[[], Any]) -> float:
    began = perf_counter()
    job()
    return perf_counter() - began


def line(result: Result, copy: float | None) -> str:
    """A row of the table."""
    cells = [result["name"]]
    if "rate" not in result:
        return f"| {cells[0]} | {result.get('failed') or result.get('skipped')} | | | |"
    cells.append(f"{result['rate']:.4g} {result['unit']}")
    cells.append(f"{result['peer_rate']:.4g}" if "peer_rate" in result else "")
    cells.append(f"{result['of_peer']:.0%}" if "of_peer" in result else "")
    share = copy and result["unit"] == "GB/s" and not result["name"].startswith("copy")
    cells.append(f"{result['rate'] / copy:.0%}" if share and copy else "")
    return "| " + " | ".join(cells) + " |"


def page(results: list[Result], about: Result) -> str:
    """The results for people."""
    copy = next((r["rate"] for r in results if r["name"] == "copy within the GPU"), None)
    rows = [line(result, copy) for result in results]
    said = [f"- {key}: {value}" for key, value in about.items()]
    rates = [r["of_peer"] for r in results if "of_peer" in r]
    if rates:
        said.append(f"- geometric mean of PyTorch's speed: {statistics.geometric_mean(rates):.0%}")
    head = "| case | weft | PyTorch | of PyTorch | of a copy |\n|---|---|---|---|---|"
    return "\n".join([f"# weft on {about['GPU']}", "", head, *rows, "", *said, ""])


def keep_sources(results: list[Result], folder: Path | None) -> None:
    """Take the kernels' sources out of the results, into a file each where there is a folder."""
    for result in results:
        for number, kernel in enumerate(result.get("kernels", ())):
            source = kernel.pop("source")
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                name = re.sub(r"\W+", "-", result["name"]).strip("-")
                (folder / f"{name}-{number}.cu").write_text(source)


def main() -> int:
    """Measure, print, write; 1 if something failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="CUDA")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--small", action="store_true", help="sizes for a test double")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--sources", type=Path, default=None, help="a folder for the kernels")
    given = parser.parse_args()
    if given.small and given.out is None:
        parser.error("--small is no measurement: say with --out where it goes")
    turns = 2 if given.small else given.turns
    peer, gpu = Peer(), registry.open(given.device).device
    about = {
        "GPU": gpu.chip.name,
        "architecture": gpu.chip.arch,
        "driver through": type(gpu.context).__module__,
        "peer": peer.name,
        "weft": version("weft"),
        "Python": platform.python_version(),
        "day": datetime.now(UTC).date().isoformat(),
    }
    results: list[Result] = []

    def note(result: Result) -> None:
        results.append(result)
        print(line(result, None), flush=True)

    groups = {"copy": copies, "launch replay": launches}
    for words, group in groups.items():
        if any(given.only in word for word in words.split()):
            for result in group(given.device, peer, given.small, turns):
                note(result)
    for case in cases(given.small):
        if given.only in case.name:
            note(compare(case, given.device, peer, turns))
    keep_sources(results, given.sources)
    folder = given.out or HERE / "results"
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", gpu.chip.name.lower()).strip("-")
    (folder / f"{name}.md").write_text(page(results, about))
    whole = {"about": about, "results": results}
    (folder / f"{name}.json").write_text(json.dumps(whole, indent=1) + "\n")
    print(f"written to {folder / name}.md and .json")
    return 1 if any("failed" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
