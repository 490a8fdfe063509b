"""What a replay costs: weft's jit and its peers', in one run.

`python benchmarks/jit_replay.py` asks every peer that is installed in a process of its own, round
by round in turn, and writes the least times to benchmarks/jit_replay.md.

nothing      a captured function that returns None
one kernel   x + 1 of sixteen numbers, and a fresh result
1,000        a thousand dependent kernels of sixteen numbers each (PyTorch: a thousand operations,
             computed one by one; jax: a loop of a thousand steps, compiled whole)
step         a training step of the demo's network (see peers.py), replayed
as written   the same step where nothing is captured

All are seconds of CPU time, so that a busy machine does not show.

Peers: `python -m pip install torch==2.15.0 tinygrad==0.14.0 jax==0.10.2`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import overhead
import peers
import run

HERE = Path(__file__).resolve().parent
CASES = ("nothing", "one kernel", "1,000", "step", "as written")
KERNELS = 1000
Jobs = dict[str, Callable[[], Callable[[], float]]]


def repeated(job: Callable[[], Any], times: int) -> Callable[[], float]:
    """A job that reports how long one of so many calls takes."""

    def run() -> float:
        began = process_time()
        for _ in range(times):
            job()
        return (process_time() - began) / times

    return run


def _chain(x: Any) -> Any:
    for _ in range(KERNELS):
        x = (x + 1).contiguous().realize()
    return x


def weft() -> Jobs:
    """`weft.jit`."""
    from weft import Tensor, jit

    x = peers.Weft().own(peers.vector(16, 1))

    class Captured(peers.Weft):
        def stepper(self, forward: Callable[[], Any], optimiser: Any) -> Callable[[], float]:
            @jit
            def captured() -> Any:
                optimiser.zero_grad()
                loss = forward()
                loss.backward()
                Tensor.realize(loss, *optimiser.schedule_step())
                return loss

            def step() -> float:
                with Tensor.train():
                    return float(captured().item())

            return step

    nothing, one, chain = jit(lambda x: None), jit(lambda x: x + 1), jit(_chain)
    return {
        "nothing": lambda: repeated(lambda: nothing(x), 2000),
        "one kernel": lambda: repeated(lambda: one(x), 2000),
        "1,000": lambda: repeated(lambda: chain(x), 10),
        "step": lambda: repeated(Captured().training(), 5),
        "as written": lambda: repeated(peers.Weft().training(), 5),
    }


def tinygrad() -> Jobs:
    """`TinyJit`, which gives the same memory at every call."""
    from tinygrad import TinyJit

    x = peers.Tinygrad().own(peers.vector(16, 1))
    one, chain = TinyJit(lambda x: (x + 1).realize()), TinyJit(_chain)
    return {
        "one kernel": lambda: repeated(lambda: one(x), 500),
        "1,000": lambda: repeated(lambda: chain(x), 10),
        "step": lambda: repeated(peers.Tinygrad().training(), 5),
    }


def torch() -> Jobs:
    """Computes at once."""
    peer = peers.Torch()
    x = peer.torch.from_numpy(peers.vector(16, 1))

    def chain() -> Any:
        y = x
        for _ in range(KERNELS):
            y = y + 1
        return y

    return {
        "one kernel": lambda: repeated(lambda: x + 1, 2000),
        "1,000": lambda: repeated(chain, 10),
        "as written": lambda: repeated(peer.training(), 5),
    }


def jax() -> Jobs:
    """`jax.jit`, waited for. Its chain would become one kernel if it were unrolled."""
    import jax as library
    from jax import lax

    x = library.numpy.asarray(peers.vector(16, 1))
    one = library.jit(lambda x: x + 1)
    chain = library.jit(lambda x: lax.fori_loop(0, KERNELS, lambda i, y: y + 1, x))
    return {
        "one kernel": lambda: repeated(lambda: one(x).block_until_ready(), 2000),
        "1,000": lambda: repeated(lambda: chain(x).block_until_ready(), 10),
    }


PEERS: dict[str, Callable[[], Jobs]] = {
    "weft": weft,
    "tinygrad": tinygrad,
    "PyTorch": torch,
    "jax": jax,
}


def serve(name: str) -> None:
    """Measure everything that one peer can do; JSON on standard output."""
    found: dict[str, Any] = {}
    for case, job in PEERS[name]().items():
        try:
            found[case] = overhead.least(job(), 1.0)
        except Exception as error:
            found[case] = f"{type(error).__name__}: {error}".partition("\n")[0][:60]
    print(json.dumps(found))


def ask(name: str, environment: dict[str, str]) -> dict[str, Any]:
    """One round of one peer, in a process of its own."""
    environment = {**environment, "CPU_COUNT": "1"}
    command = [sys.executable, str(HERE / "jit_replay.py"), "--peer", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    return {"failed": (done.stderr.strip().splitlines() or ["its process ended"])[-1][:80]}


def table(found: dict[str, dict[str, Any]]) -> str:
    """Rows of Markdown, one for each case."""
    names = list(found)
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for case in CASES:
        cells = " | ".join(overhead.shown(found[name].get(case)) for name in names)
        lines.append(f"| {case} | {cells} |")
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
    text = table({name: overhead.merged(answers) for name, answers in rounds.items()})
    print(text)
    heading = "# What a replay costs\n\n"
    about = f"Written by `python benchmarks/jit_replay.py`; least of {chosen.rounds} rounds.\n\n"
    (HERE / "jit_replay.md").write_text(heading + about + text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
