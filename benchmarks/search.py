"""How near the heuristic comes to what a search finds, kernel by kernel.

`python benchmarks/search.py` searches for every kernel of `search_cases.py`, with `--programs` also
of `programs.py` (`weft bench kernel` shows a single one), and writes benchmarks/search.md: the
heuristic's time, the best time that was found, their ratio, and what was done differently. Both
times are the shortest of several runs in turn, on memory of their own, in a process of their own.
What was searched for before is taken from the disk cache, unless `--anew`, so that a run that was
interrupted goes on where it was (`--known` only tells). WEFT_CPU_THREADS says for how many threads;
how busy the machine was is written down.

The heuristic should stay within 1.15 of what is found.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from programs import PROGRAMS
from run import machine
from search_cases import LAYERS, SINGLE

HERE = Path(__file__).resolve().parent
GOAL = 1.15


def kernels(names: list[str], device: str, programs: bool) -> Iterator[tuple[str, Any]]:
    """(case, AST) of every kernel, each once."""
    from weft import Tensor
    from weft.base.settings import settings
    from weft.uop import Ops

    seen = set()
    ours = {**SINGLE, **LAYERS}
    builds = {**ours, **{program.name: program.build for program in PROGRAMS}}
    for name, build in builds.items():
        if name not in names if names else not programs and name not in ours:
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


def is_known(ast: Any, device: str, width: int) -> bool:
    """Whether a search for this kernel came to its end, and still holds."""
    from weft.device import registry
    from weft.engine.found import kept, key_of

    opened = registry.open(device)
    found = kept(key_of(ast, opened, width), ast, opened)
    return found is not None and found.complete


def ratio(row: dict[str, Any]) -> float:
    """How many times as long the heuristic's choice takes."""
    return row["heuristic"] / row["best"] if row["best"] else math.nan


def report(rows: list[dict[str, Any]], width: int, device: str, loads: list[float]) -> str:
    """The whole of search.md. loads: of the machine, before each search."""
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
        f"{GOAL} times as long in {len(over)} of them. Times are the shortest of several runs. "
        f"{_load(loads)}",
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


def _load(loads: list[float]) -> str:
    """How busy the machine was with other work."""
    if not loads:
        return ""
    middle = sorted(loads)[len(loads) // 2]
    return (
        f"The machine's load was {min(loads):.1f} to {max(loads):.1f} meanwhile, {middle:.1f} in "
        f"the median, on {os.cpu_count()} processors; a search alone makes a load of up to as many."
    )


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases and programs")
    parser.add_argument("--programs", action="store_true", help="those of programs.py too")
    parser.add_argument("--width", type=int, default=2)
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--known", action="store_true", help="only what was searched for before")
    parser.add_argument("--anew", action="store_true", help="search again for what is known")
    parser.add_argument("--no-write", action="store_true", help="only print the table")
    chosen = parser.parse_args()
    rows, loads = [], []
    for case, ast in kernels(chosen.names, chosen.device, chosen.programs):
        if chosen.known and not is_known(ast, chosen.device, chosen.width):
            print(f"{case}: was not searched for", file=sys.stderr)
            continue
        row = searched(case, ast, chosen.device, chosen.width, chosen.anew)
        rows.append(row)
        loads.append(os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0)
        print(
            f"{case}: {row['kernel']}: {ratio(row):.2f}  {row['plan']}", file=sys.stderr, flush=True
        )
        for because in row["failed"]:
            print(f"    failed: {because}", file=sys.stderr, flush=True)
    text = report(rows, chosen.width, chosen.device, loads)
    print(text)
    if not (chosen.no_write or chosen.names):
        (HERE / "search.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
