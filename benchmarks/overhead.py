"""What Python costs around the kernels: weft and its peers, in one run.

`python benchmarks/overhead.py` asks every peer that is installed in a process of its own, round by
round in turn, and writes the least times to benchmarks/overhead.md.

record       one lazy operation on a tensor, until its node is there
a + b        sixteen numbers, recorded and computed, again and again
a * s        the same by a Python number that is another one each time
sum          float((a * 2).sum()) of sixteen numbers
x[i]         a row of a matrix by an int that counts up, times two
chain        twenty operations by numbers on 1,000 elements
step         a training step of the demo's network (see peers.py), recorded and run again
kernels      of that, the time in kernels
captured     the same step where the peer replays it without recording
ResNet-50    one image, from the graph to kernels in order and their memory, the graph being new
             and equal to one that was scheduled before; recording it is not counted

All are seconds of CPU time, so that a busy machine does not show; kernels are counted on the clock.

Peers: `python -m pip install torch==2.15.0 tinygrad==0.14.0`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import networks
import peers
import run

HERE = Path(__file__).resolve().parent
RECORDED = 2000
CASES = (
    "record",
    "a + b",
    "a * s",
    "sum",
    "x[i]",
    "chain",
    "step",
    "kernels",
    "captured",
    "ResNet-50",
)
Jobs = dict[str, Callable[[], float]]


def least(job: Callable[[], float], seconds: float = 1.5) -> float:
    """The least of the times that a job reports, over so many seconds, after a few to warm up."""
    for _ in range(3):
        job()
    began, found = perf_counter(), job()
    while perf_counter() - began < seconds:
        found = min(found, job())
    return found


def timed(job: Callable[[], Any]) -> Callable[[], float]:
    """A job that reports how long it takes."""

    def run() -> float:
        began = process_time()
        job()
        return process_time() - began

    return run


def _record(tensor: Any) -> Callable[[], float]:
    x, y = tensor.empty(16), tensor.empty(16)

    def run() -> float:
        z = x
        began = process_time()
        for _ in range(RECORDED // 2):
            z = (z + y) * y
        return (process_time() - began) / RECORDED

    return run


def _counted(job: Callable[[int], Any]) -> Callable[[], float]:
    """A job that is given a number that counts up, of which a hundred make one time."""
    counter = count()

    def run() -> float:
        began = process_time()
        for _ in range(100):
            job(next(counter))
        return (process_time() - began) / 100

    return run


def _eager(a: Any, b: Any, matrix: Any, row: Any, computed: Callable[[Any], Any]) -> Jobs:
    """Small operations outside of any capture. computed: makes sure that a value is."""

    def chain(_: int) -> None:
        y = row
        for _ in range(10):
            y = y * 1.01 + 0.1
        computed(y)

    return {
        "a + b": _counted(lambda i: computed(a + b)),
        "a * s": _counted(lambda i: computed(a * (i / 7 + 2))),
        "sum": _counted(lambda i: float((a * 2).sum())),
        "x[i]": _counted(lambda i: computed(matrix[i % 100] * 2)),
        "chain": _counted(chain),
    }


def _arrays() -> list[Any]:
    return [peers.vector(16, 1), peers.vector(16, 2), peers.vector(700, 3).reshape(100, 7),
            peers.vector(1000, 4)]  # fmt: skip


def _rescheduled(tensor: Any, schedule: Callable[[Any], Any]) -> Callable[[], float]:
    def run() -> float:
        graph = networks.resnet50(tensor)
        began = process_time()
        schedule(graph)
        return process_time() - began

    return run


def weft() -> Jobs:
    """Everything through the public methods."""
    from weft import Tensor
    from weft.engine import stats

    peer = peers.Weft()
    step = peer.training()
    arrays = [Tensor(array).realize() for array in _arrays()]

    def kernels() -> float:
        stats.timing = True
        before = stats.seconds
        step()
        stats.timing = False
        return stats.seconds - before

    return {
        "record": _record(Tensor), **_eager(*arrays, Tensor.realize),
        "step": timed(step), "kernels": kernels,
        "ResNet-50": _rescheduled(Tensor, lambda graph: graph.schedule_with_vars()),
    }  # fmt: skip


def tinygrad() -> Jobs:
    """As its users do it, with its JIT and without."""
    from tinygrad import Tensor
    from tinygrad.helpers import Context

    peer = peers.Tinygrad()
    a, b = (peer.own(peers.vector(16, seed)) for seed in (1, 2))
    captured = peer.training()

    class Rebuilt(peers.Tinygrad):
        def stepper(self, forward: Callable[[], Any], optimiser: Any) -> Callable[[], float]:
            def step() -> float:
                with Context(TRAINING=1):
                    optimiser.zero_grad()
                    loss = forward()
                    loss.backward()
                    return float(loss.realize(*optimiser.schedule_step()).item())

            return step

    return {
        "record": _record(Tensor), "a + b": timed(lambda: (a + b).realize()),
        "step": timed(Rebuilt().training()), "captured": timed(captured),
        "ResNet-50": _rescheduled(Tensor, _linear),
    }  # fmt: skip


def _linear(graph: Any) -> Any:
    if hasattr(graph, "schedule_linear"):
        return graph.schedule_linear()
    return graph.schedule_with_vars()


def torch() -> Jobs:
    """Computes at once: there is nothing to record or to schedule."""
    peer = peers.Torch()
    arrays = [peer.torch.from_numpy(array) for array in _arrays()]
    return {**_eager(*arrays, lambda value: value), "step": timed(peer.training())}


def numpy() -> Jobs:
    """Computes at once, without gradients."""
    return _eager(*_arrays(), lambda value: value)


PEERS: dict[str, Callable[[], Jobs]] = {
    "weft": weft, "PyTorch": torch, "NumPy": numpy, "tinygrad": tinygrad,
}  # fmt: skip


def serve(name: str) -> None:
    """Measure everything that one peer can do; JSON on standard output."""
    found: dict[str, Any] = {}
    for case, job in PEERS[name]().items():
        try:
            found[case] = least(job)
        except Exception as error:
            found[case] = f"{type(error).__name__}: {error}".partition("\n")[0][:60]
    print(json.dumps(found))


def ask(name: str, environment: dict[str, str]) -> dict[str, Any]:
    """One round of one peer, in a process of its own."""
    environment = {**environment, "CPU_COUNT": "1"}
    command = [sys.executable, str(HERE / "overhead.py"), "--peer", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    return {"failed": (done.stderr.strip().splitlines() or ["its process ended"])[-1][:80]}


def merged(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The least of each case; what failed stays what it said."""
    found: dict[str, Any] = {}
    for answer in rounds:
        for case, value in answer.items():
            known = found.get(case)
            both = isinstance(known, float) and isinstance(value, float)
            found[case] = min(known, value) if both else value
    return found


def shown(value: Any) -> str:
    """Microseconds or milliseconds; nothing where there is none."""
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value * 1e6:.1f} us" if value < 1e-3 else f"{value * 1e3:.2f} ms"


def table(found: dict[str, dict[str, Any]]) -> str:
    """Rows of Markdown, one for each case, and one for the share of Python in weft's step."""
    names = list(found)
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for case in CASES:
        cells = " | ".join(shown(found[name].get(case)) for name in names)
        lines.append(f"| {case} | {cells} |")
    mine = found.get("weft", {})
    if isinstance(mine.get("step"), float) and isinstance(mine.get("kernels"), float):
        share = shown(max(0.0, mine["step"] - mine["kernels"]))
        lines.append(f"| step, Python's share | {share} |{' |' * (len(names) - 1)}")
    failed = [f"{name}: {row['failed']}" for name, row in found.items() if "failed" in row]
    return "\n".join(lines + [""] * bool(failed) + failed)


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer", choices=PEERS, help="serve one peer (used by the script itself)")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.peer:
        serve(chosen.peer)
        return
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in PEERS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(chosen.rounds):
            for name, answers in rounds.items():
                answers.append(ask(name, run.environment(folder)))
    text = table({name: merged(answers) for name, answers in rounds.items()})
    print(text)
    heading = "# What Python costs around the kernels\n\n"
    about = f"Written by `python benchmarks/overhead.py`; least of {chosen.rounds} rounds.\n\n"
    (HERE / "overhead.md").write_text(heading + about + text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
