"""What it costs in Python to get from a program to source: weft and its peer, case by case.

`python benchmarks/schedule_cost.py` measures every case with every peer that is installed, each
time in a fresh process, in turn, and writes the medians to benchmarks/schedule_cost.md. Nothing is
compiled by a C compiler, and nothing is run.

record    the methods of Tensor, until the graph is there
schedule  from the graph to kernels in order, with their memory
lower     from kernels to the linear programs of a device, each distinct kernel once
render    from these to source

All are seconds of CPU time of the process, imports left out. weft lowers for its C plugin where
that is installed, the peer for its device that runs nothing, whose source is C as well; its
"lower" includes render.

Peer: `python -m pip install tinygrad==0.14.0`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import networks

HERE = Path(__file__).resolve().parent
LAYERS = (1, 2, 4, 8, 16, 32)
PENDING = (25_000, 50_000, 100_000)
RECORDED = 20_000
MOST_SECONDS = 100  # after which a peer's larger cases of the same kind are left out
TOO_SLOW = f"over {MOST_SECONDS} s on the clock"
Times = dict[str, float]


def _network(name: str, tensor: Any) -> list[Any]:
    if name.startswith("ResNet-50"):
        return [networks.resnet50(tensor)]
    if name.startswith("GPT-2"):
        return networks.gpt2(tensor, training="backward" in name)
    if name.startswith(("layers ", "trained layers ")):
        new = networks.Parameters(tensor)
        count = int(name.split()[-1])
        x = networks.blocks(tensor.empty(1, 64, 128), count, 4, new)
        return [x, *x.sum().gradient(*new.made)] if name.startswith("trained") else [x]
    count = int(name.split()[1])
    x, y = tensor.empty(16), tensor.empty(16)
    for _ in range(count // 2):
        x = (x + y) * y
    return [x]


class Peer:
    """Measures the cases with one library."""

    tensor: Any

    def generate(self, tensors: Sequence[Any]) -> Times:
        """From recorded tensors to source; seconds of each part, and the number of kernels."""
        raise NotImplementedError(f"{type(self).__name__} does not generate code")

    def measure(self, case: str) -> Times:
        """One case, once."""
        if case == "record one op":
            return self._record()
        again = case.endswith("again")
        if again:
            self.generate(_network(case, self.tensor))
        begin = time.process_time()
        made = _network(case, self.tensor)
        recorded = time.process_time() - begin
        return {"record": recorded, **self.generate(made)}

    def _record(self) -> Times:
        x = y = self.tensor.empty(16)
        best = math.inf
        for _ in range(5):
            begin = time.process_time()
            for _ in range(RECORDED // 2):
                y = y + x
                y = y * x
            best = min(best, time.process_time() - begin)
            y = x
        return {"record": best / RECORDED}


class Weft(Peer):
    """Sources are remembered by kernel, as the engine remembers programs."""

    def __init__(self) -> None:
        from weft import Tensor
        from weft.base.errors import DeviceError
        from weft.device import registry

        self.tensor = Tensor
        try:
            self.device = registry.open("CPU")
        except DeviceError:
            self.device = registry.open("NULL")
        self.sources: dict[Any, str] = {}

    def generate(self, tensors: Sequence[Any]) -> Times:
        from weft.codegen.pipeline import lower
        from weft.uop import Ops

        begin = time.process_time()
        items, _ = tensors[0].schedule_with_vars(*tensors[1:])
        scheduled = time.process_time()
        kernels = [item.ast for item in items if item.ast.op is Ops.SINK]
        fresh = [ast for ast in dict.fromkeys(kernels) if ast not in self.sources]
        programs = [lower(ast, self.device.target) for ast in fresh]
        lowered = time.process_time()
        for ast, program in zip(fresh, programs):
            self.sources[ast] = self.device.renderer.render(program)
        rendered = time.process_time()
        return {
            "schedule": scheduled - begin, "lower": lowered - scheduled,
            "render": rendered - lowered, "kernels": len(kernels), "distinct": len(fresh),
        }  # fmt: skip


class Tinygrad(Peer):
    """Remembers schedules and programs itself."""

    def __init__(self) -> None:
        from tinygrad import Tensor

        self.tensor = Tensor

    def generate(self, tensors: Sequence[Any]) -> Times:
        from tinygrad.engine.realize import lower_and_compile

        begin = time.process_time()
        linear = tensors[0].schedule_linear(*tensors[1:])
        scheduled = time.process_time()
        lower_and_compile(linear)
        lowered = time.process_time()
        return {
            "schedule": scheduled - begin, "lower": lowered - scheduled, "render": 0.0,
            "kernels": len(linear.src),
        }  # fmt: skip


PEERS: dict[str, Callable[[], Peer]] = {"weft": Weft, "tinygrad": Tinygrad}
CASES = (
    "record one op",
    "ResNet-50 forward",
    "ResNet-50 forward again",
    "GPT-2 small forward",
    "GPT-2 small forward + backward",
    "GPT-2 small forward + backward again",
    *(f"layers {count}" for count in LAYERS),
    *(f"trained layers {count}" for count in LAYERS),
    *(f"pending {count} ops" for count in PENDING),
)


# ---- the table ----------------------------------------------------------------------------------


def ask(peer: str, case: str) -> dict[str, Any]:
    """One sample of one case from a fresh process."""
    environment = {**os.environ, "DEV": "NULL", "PARALLEL": "0", "WEFT_CACHE": "0"}
    if peer == "weft":
        environment.setdefault("WEFT_DEVICE", "CPU")
    try:
        done = subprocess.run(
            [sys.executable, str(HERE / "schedule_cost.py"), "--worker", peer, case],
            env=environment,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": TOO_SLOW}
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if answers:
        return answers[-1]
    lines = done.stderr.strip().splitlines() or ["its process ended"]
    return {"failed": lines[-1][:80]}


def total(times: dict[str, Any]) -> float:
    """Seconds from graph to source, recording left out."""
    return times["schedule"] + times["lower"] + times["render"]


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """The slope of the straight line through log(seconds) over log(size), by least squares."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(s) for _, s in points]
    middle, height = statistics.mean(xs), statistics.mean(ys)
    return sum((x - middle) * (y - height) for x, y in zip(xs, ys)) / sum(
        (x - middle) ** 2 for x in xs
    )


def measure(peers: Sequence[str], cases: Sequence[str], rounds: int) -> dict[str, dict[str, Any]]:
    """The medians: by peer, by case."""
    samples: dict[str, dict[str, list[dict[str, Any]]]] = {peer: {} for peer in peers}
    for _ in range(rounds):
        for case in cases:
            for peer in peers:
                known = samples[peer].setdefault(case, [])
                if known and "failed" in known[-1]:
                    continue
                kind = case.split()[0]
                slow = any(
                    rows and rows[-1].get("failed") == TOO_SLOW
                    for other, rows in samples[peer].items()
                    if other.split()[0] == kind
                )
                known.append({"failed": TOO_SLOW} if slow else ask(peer, case))
    found: dict[str, dict[str, Any]] = {peer: {} for peer in peers}
    for peer in peers:
        for case, rows in samples[peer].items():
            good = [row for row in rows if "failed" not in row]
            found[peer][case] = (
                {key: statistics.median(row[key] for row in good) for key in good[0]}
                if good
                else rows[-1]
            )
    return found


def shown(seconds: float) -> str:
    """Three figures, in the unit that fits."""
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"
    raise AssertionError("unreachable")


def cells(case: str, times: dict[str, Any] | None) -> list[str]:
    """record, schedule, lower, render, sum of the last three, kernels."""
    if times is None:
        return ["-"] * 6
    if "failed" in times:
        return [times["failed"], *["-"] * 5]
    if "schedule" not in times:
        return [shown(times["record"]), *["-"] * 5]
    parts = [
        shown(times[part]) if times[part] else "-"
        for part in ("record", "schedule", "lower", "render")
    ]
    return [*parts, shown(total(times)), str(int(times["kernels"]))]


def table(found: dict[str, dict[str, Any]], cases: Sequence[str]) -> str:
    """Markdown: a row for each case and peer."""
    lines = [
        "| case | peer | record | schedule | lower | render | sum | kernels |",
        "|" + "---|" * 8,
    ]
    for case in cases:
        for peer, rows in found.items():
            lines.append(f"| {case} | {peer} | {' | '.join(cells(case, rows.get(case)))} |")
    return "\n".join(lines)


def growth(found: dict[str, dict[str, Any]]) -> str:
    """How the costs grow with the size of the graph: exponents of a power law."""
    lines = []
    for peer, rows in found.items():
        for label, sizes, name, parts in (
            ("transformer layers", LAYERS, "layers {}", "record schedule lower render"),
            ("transformer layers, schedule alone", LAYERS, "layers {}", "schedule"),
            (
                "the same with gradients",
                LAYERS,
                "trained layers {}",
                "record schedule lower render",
            ),
            ("the same, schedule alone", LAYERS, "trained layers {}", "schedule"),
            ("pending operations", PENDING, "pending {} ops", "record schedule lower render"),
        ):
            points = [
                (n, sum(rows[name.format(n)][part] for part in parts.split()))
                for n in sizes
                if "schedule" in rows.get(name.format(n), {})
            ]
            if len(points) > 1:
                lines.append(
                    f"- {peer}, {label} from {points[0][0]:,} to {points[-1][0]:,}: "
                    f"time ~ n^{exponent(points):.2f}"
                )
    return "\n".join(lines)


ABOUT = """# What scheduling and code generation cost

Written by `python benchmarks/schedule_cost.py`, which says what is measured: CPU time of one
process, medians of {rounds} fresh processes each, Python {python}, {peers}.

{table}

{growth}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="words that the names of cases start with")
    parser.add_argument("--worker", choices=PEERS, help="serve one peer: measure the one case")
    parser.add_argument("--only", choices=PEERS, action="append", help="these peers alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-write", action="store_true", help="only print the table")
    chosen = parser.parse_args()
    if chosen.worker:
        print(json.dumps(PEERS[chosen.worker]().measure(" ".join(chosen.cases))), flush=True)
        return
    cases = [c for c in CASES if not chosen.cases or any(map(c.startswith, chosen.cases))]
    found = measure(chosen.only or list(PEERS), cases, chosen.rounds)
    filled = ABOUT.format(
        rounds=chosen.rounds,
        python=sys.version.split()[0],
        peers=", ".join(f"{peer} {_version(peer)}" for peer in found),
        table=table(found, cases),
        growth=growth(found),
    )
    print(filled)
    if not (chosen.no_write or chosen.cases or chosen.only):
        (HERE / "schedule_cost.md").write_text(filled, encoding="utf-8")


def _version(peer: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(peer)
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    main()
