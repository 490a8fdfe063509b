"""Time against size: twelve operations on 1 to 10^8 float32 elements, weft beside its peers.

    python benchmarks/sizes.py            measures, writes results/sizes.json and the picture
    python benchmarks/sizes.py --draw     draws docs/images/sizes.svg from results/sizes.json

Every peer has one thread and a process of its own. Times are CPU time of one call with its result
computed, the least of several, so that a busy machine does not show. weft and JAX are measured
twice: each call as written, and captured by `jit`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "sizes.json"
PICTURE = HERE.parent / "docs" / "images" / "sizes.svg"
SIZES = tuple(10**power for power in range(9))
LEAST = 0.05
"""Seconds of CPU time that a measurement takes at least, unless it was repeated enough."""
REPEATS = 3
PEERS = ("weft", "weft captured", "NumPy", "PyTorch", "JAX", "JAX captured")
COLOURS = ("#1f77b4", "#1f77b4", "#2ca02c", "#d62728", "#9467bd", "#9467bd")
ONE_THREAD = {
    "WEFT_CPU_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}

Case = Callable[[Any, Any, Any], Any]


def cases(where: Any) -> dict[str, Case]:
    """The operations, on two vectors and on a matrix with the elements of the first. where: a
    module with the functions of NumPy."""
    return {
        "add": lambda a, b, m: a + b,
        "multiply by a number": lambda a, b, m: a * 2.5,
        "divide": lambda a, b, m: a / b,
        "square root": lambda a, b, m: where.sqrt(a),
        "exp": lambda a, b, m: where.exp(a),
        "tanh": lambda a, b, m: where.tanh(a),
        "maximum": lambda a, b, m: where.maximum(a, b),
        "less than": lambda a, b, m: a < b,
        "to int32": lambda a, b, m: where.to_int32(a),
        "sum": lambda a, b, m: a.sum(),
        "sums of rows": lambda a, b, m: m.sum(1),
        "transposed copy": lambda a, b, m: where.transposed(m),
    }


class Functions:
    """The functions of a peer by the names that `cases` uses."""

    def __init__(self, module: Any, to_int32: Any, transposed: Any) -> None:
        self.sqrt, self.exp, self.tanh = module.sqrt, module.exp, module.tanh
        self.maximum = module.maximum
        self.to_int32, self.transposed = to_int32, transposed


Peer = tuple[Functions, Callable[[Any], Any], Callable[[Any], Any], Callable[[Case], Case]]


def _as_written(function: Case) -> Case:
    return function


def peer(name: str) -> Peer:
    """The functions of a peer, how an array becomes its own, how a result is computed, and how a
    function is captured."""
    if name.startswith("weft"):
        import weft

        functions = Functions(weft, lambda a: a.cast("int32"), lambda m: m.T.contiguous())
        own: Callable[[Any], Any] = lambda a: weft.Tensor(a).realize()  # noqa: E731
        return (
            functions,
            own,
            lambda r: r.realize(),
            weft.jit if "captured" in name else _as_written,
        )
    if name == "NumPy":
        import numpy as np

        functions = Functions(np, lambda a: a.astype(np.int32), lambda m: np.ascontiguousarray(m.T))
        return functions, lambda a: a, lambda r: r, _as_written
    if name == "PyTorch":
        import torch

        torch.set_num_threads(1)
        functions = Functions(torch, lambda a: a.to(torch.int32), lambda m: m.T.contiguous())
        return functions, torch.from_numpy, lambda r: r, _as_written
    import jax
    import jax.numpy as jnp

    functions = Functions(jnp, lambda a: a.astype("int32"), lambda m: jnp.copy(m.T))
    capture = jax.jit if "captured" in name else _as_written
    return functions, jnp.asarray, lambda r: r.block_until_ready(), capture


def measured(job: Callable[[], Any]) -> float:
    """Seconds of CPU time of a call, the least of several groups of calls."""
    job()
    count, best = 1, math.inf
    done = 0
    while done < REPEATS:
        began = process_time()
        for _ in range(count):
            job()
        seconds = process_time() - began
        if seconds < LEAST / 4 and count < 1 << 16:
            count *= 4
            continue
        best = min(best, seconds / count)
        done += 1
    return best


def serve(name: str, largest: int) -> None:
    """Measure one peer; a line of JSON for each size."""
    import numpy as np

    functions, own, computed, capture = peer(name)
    generator = np.random.default_rng(0)
    for size in (size for size in SIZES if size <= largest):
        first = generator.random(size, dtype=np.float32) + np.float32(0.5)
        rows = 10 ** (int(math.log10(size) + 0.5) // 2)
        given = [own(x) for x in (first, first[::-1].copy(), first.reshape(rows, size // rows))]
        found: dict[str, float | None] = {}
        for case, function in cases(functions).items():
            run = capture(function)
            try:
                found[case] = measured(lambda run=run, given=given: computed(run(*given)))
            except Exception as error:
                print(f"{name}, {case}, {size}: {error}", file=sys.stderr)
                found[case] = None
        print(json.dumps({"size": size, "seconds": found}), flush=True)


def ask(name: str, largest: int) -> dict[str, dict[str, float | None]]:
    """What one peer needs, by operation and size; empty if it is not installed."""
    command = [sys.executable, __file__, "--peer", name, "--largest", str(largest)]
    done = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE, text=True, check=False
    )
    found: dict[str, dict[str, float | None]] = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        for case, seconds in row["seconds"].items():
            found.setdefault(case, {})[str(row["size"])] = seconds
    return found


# ---- the picture ---------------------------------------------------------------------------------

COLUMNS, WIDTH, HEIGHT, GAP, TOP = 3, 250, 170, 46, 64
FASTEST, SLOWEST = 1e-7, 1.0


def _x(size: int) -> float:
    return WIDTH * math.log10(size) / (len(SIZES) - 1)


def _y(seconds: float) -> float:
    share = math.log(min(max(seconds, FASTEST), SLOWEST) / FASTEST) / math.log(SLOWEST / FASTEST)
    return HEIGHT * (1 - share)


def _panel(case: str, found: dict[str, dict[str, dict[str, float | None]]]) -> list[str]:
    """One operation: lines over a grid."""
    parts = [f'<text x="0" y="-8" font-size="12">{case}</text>']
    for power in range(-7, 1):
        y = _y(10.0**power)
        parts.append(f'<path d="M0 {y:.1f}H{WIDTH}" stroke="#e5e5e5"/>')
        label = {-6: "1 us", -3: "1 ms", 0: "1 s"}.get(power)
        if label:
            parts.append(f'<text x="-4" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for power in range(0, len(SIZES), 2):
        x = _x(10**power)
        text = f'10<tspan dy="-4" font-size="7">{power}</tspan>' if power else "1"
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT + 14}" text-anchor="middle">{text}</text>')
    for name, colour in zip(PEERS, COLOURS):
        row = found.get(name, {}).get(case, {})
        points = [(int(size), seconds) for size, seconds in row.items() if seconds]
        line = " ".join(f"{_x(size):.1f},{_y(seconds):.1f}" for size, seconds in points)
        dash = ' stroke-dasharray="4 3"' if "captured" in name else ""
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"{dash}/>')
    return parts


def picture(results: dict[str, Any]) -> str:
    """All operations as SVG."""
    found = results["seconds"]
    names = list(found["weft"])
    rows = -(-len(names) // COLUMNS)
    width = COLUMNS * (WIDTH + GAP) + 20
    height = TOP + rows * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="10">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="8" y="16" font-size="13">CPU time of one call against the number of float32 '
        f"elements, one thread, {results['machine']}</text>",
    ]
    for place, (name, colour) in enumerate(zip(PEERS, COLOURS)):
        dash = ' stroke-dasharray="4 3"' if "captured" in name else ""
        x = 8 + 125 * place
        parts.append(f'<path d="M{x} 32h22" stroke="{colour}"{dash}/>')
        parts.append(f'<text x="{x + 26}" y="36">{name}</text>')
    for place, case in enumerate(names):
        x = 44 + (place % COLUMNS) * (WIDTH + GAP)
        y = TOP + (place // COLUMNS) * (HEIGHT + GAP)
        parts += [f'<g transform="translate({x} {y})">', *_panel(case, found), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def machine() -> str:
    """The processor, for people."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()} ({len(names)} cores)"


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer", choices=PEERS, help="serve one peer (used by the script itself)")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="number of elements")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    chosen = parser.parse_args()
    if chosen.peer:
        serve(chosen.peer, chosen.largest)
        return
    if not chosen.draw:
        results = {
            "machine": machine(),
            "python": platform.python_version(),
            "date": datetime.date.today().isoformat(),
            "seconds": {name: ask(name, chosen.largest) for name in PEERS},
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(picture(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
