"""How near the heuristic comes to what a search finds, kernel by kernel.

`python benchmarks/search.py` searches for every kernel of `CASES`, with `--programs` also of
`programs.py` (`weft bench kernel` shows a single one), and writes benchmarks/search.md: the
heuristic's time, the best time that was found, their ratio, and what was done differently. Both
times are the shortest of several runs in turn, on memory of their own, in a process of their own.
What was searched for before is taken from the disk cache, unless `--anew`.

The heuristic should stay within 1.15 of what is found.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from programs import PROGRAMS
from run import machine

HERE = Path(__file__).resolve().parent
GOAL = 1.15


def _square(tensor: Any, size: int = 4096) -> Any:
    return tensor.empty(size, size)


CASES: dict[str, Callable[[Any], list[Any]]] = {
    "matmul 512": lambda t: [_square(t, 512) @ _square(t, 512)],
    "matmul 1024": lambda t: [_square(t, 1024) @ _square(t, 1024)],
    "matmul 1000": lambda t: [_square(t, 1000) @ _square(t, 1000)],
    "matmul, transposed": lambda t: [_square(t, 512) @ _square(t, 512).transpose(0, 1)],
    "matvec 4096": lambda t: [_square(t) @ t.empty(4096)],
    "elementwise chain, 4 M": lambda t: [_chain(*(t.empty(1 << 22) for _ in range(3)))],
    "transcendentals, 4 M": lambda t: [(t.empty(1 << 22).exp() + 1).log().tanh()],
    "sum, 16 M": lambda t: [t.empty(1 << 24).sum()],
    "max, 16 M": lambda t: [t.empty(1 << 24).max()],
    "sum of rows": lambda t: [_square(t).sum(1)],
    "sum of columns": lambda t: [_square(t).sum(0)],
    "softmax 4096": lambda t: [_square(t).softmax()],
    "layernorm 4096": lambda t: [_square(t).layernorm()],
    "transpose": lambda t: [_square(t).transpose(0, 1).contiguous()],
    "conv 3x3": lambda t: [t.empty(8, 64, 56, 56).conv2d(t.empty(64, 64, 3, 3), padding=1)],
}


def _chain(a: Any, b: Any, c: Any) -> Any:
    return (a * b + c).relu() * 0.5 - a / (c * c + 1)


def kernels(names: list[str], device: str, programs: bool) -> Iterator[tuple[str, Any]]:
    """(case, AST) of every kernel, each once."""
    from weft import Tensor
    from weft.base.settings import settings
    from weft.uop import Ops

    seen = set()
    builds = {**CASES, **{program.name: program.build for program in PROGRAMS}}
    for name, build in builds.items():
        if name not in names if names else not programs and name not in CASES:
            continue
        with settings.override(DEVICE=device):
            first, *others = build(Tensor)
            items, _ = first.schedule_with_vars(*others)
        for item in items:
            if item.ast.op is Ops.SINK and item.ast not in seen:
                seen.add(item.ast)
                yield name, item.ast


def searched(case: str, ast: Any, device: str, width: int, anew: bool) -> dict[str, Any]:
    """One row of the table."""
    from weft.codegen.pipeline import loops_for
    from weft.device import registry
    from weft.engine.search import search

    opened = registry.open(device)
    found = search(ast, opened, width, anew)
    seconds = {one.plan: one.seconds for one in found.tries if one.seconds is not None}
    return {
        "case": case,
        "kernel": loops_for(ast, opened.target, True).name,
        "heuristic": seconds.get(found.heuristic),
        "best": seconds.get(found.best),
        "plan": str(found.best) if found.best != found.heuristic else "",
        "chosen": str(found.heuristic),
        "tries": len(found.tries),
        "failed": sorted({one.because for one in found.tries if one.because}),
        "notes": found.notes,
    }


def ratio(row: dict[str, Any]) -> float:
    """How many times as long the heuristic's choice takes."""
    return row["heuristic"] / row["best"] if row["best"] else math.nan


def report(rows: list[dict[str, Any]], width: int, device: str) -> str:
    """The whole of search.md."""
    from weft.device import registry

    speed = registry.capabilities(device).speed
    known = [row for row in rows if row["best"]]
    over = [row for row in known if ratio(row) > GOAL]
    mean = math.exp(sum(math.log(ratio(row)) for row in known) / max(1, len(known)))
    lines = [
        "# What a search finds",
        "",
        f"One run of `python benchmarks/search.py --width {width}` on {machine()}, {device} "
        f"({speed}), "
        f"{datetime.now(UTC):%Y-%m-%d}: {len(known)} kernels, the heuristic's choice takes "
        f"{mean:.2f} times as long as the best that was found in the geometric mean, and more than "
        f"{GOAL} times as long in {len(over)} of them. Times are the shortest of several runs.",
        "",
        "| program | kernel | heuristic | best | ratio | tried | found | instead of |",
        "|" + "---|" * 8,
    ]
    for row in sorted(known, key=ratio, reverse=True):
        mark = " **>**" if ratio(row) > GOAL else ""
        other = row["chosen"] if row["plan"] else ""
        lines.append(
            f"| {row['case']} | `{row['kernel']}` | {_shown(row['heuristic'])} | "
            f"{_shown(row['best'])} | {ratio(row):.2f}{mark} | {row['tries']} | {row['plan']} | "
            f"{other} |"
        )
    lines.append("")
    for row in rows:
        if not row["best"]:
            lines.append(f"- {row['case']}, `{row['kernel']}`: {'; '.join(row['notes'])}")
    return "\n".join(lines) + "\n"


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases and programs")
    parser.add_argument("--programs", action="store_true", help="those of programs.py too")
    parser.add_argument("--width", type=int, default=2)
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--anew", action="store_true", help="search again for what is known")
    parser.add_argument("--no-write", action="store_true", help="only print the table")
    chosen = parser.parse_args()
    rows = []
    for case, ast in kernels(chosen.names, chosen.device, chosen.programs):
        row = searched(case, ast, chosen.device, chosen.width, chosen.anew)
        rows.append(row)
        print(
            f"{case}: {row['kernel']}: {ratio(row):.2f}  {row['plan']}", file=sys.stderr, flush=True
        )
        for because in row["failed"]:
            print(f"    failed: {because}", file=sys.stderr, flush=True)
    text = report(rows, chosen.width, chosen.device)
    print(text)
    if not (chosen.no_write or chosen.names):
        (HERE / "search.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
