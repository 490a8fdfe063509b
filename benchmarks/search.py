"""How near the heuristic comes to what a search finds, kernel by kernel.

`python benchmarks/search.py` searches for every kernel of `search_cases.py`, with `--programs` also
of `programs.py` (`weft bench kernel` shows a single one), and writes benchmarks/search.md: the
heuristic's time, the best time that was found, their ratio, and what was done differently. Both
times are the shortest of several runs in turn, on memory of their own, in a process of their own.
What was searched for before is taken from the disk cache, unless `--anew`, so that a run that was
interrupted goes on where it was (`--known` only reports). How busy the machine was is written down.

`--confirm 3` times every plan that was found to be clearly faster once more, in turn with the
heuristic's choice for three seconds: the table has these times, since the best of a hundred plans
is the luckiest of them too. `--threads 1 2` makes one table for one thread and one for two, each
in a process of its own; that for several has only kernels that threads share. Without it
WEFT_CPU_THREADS says for how many threads. `--rounds 3 --plans 48` make a search three times as
short, which then tries some of all that it might. The text of search.md from the line `## Notes`
on is written by hand, and kept.

The heuristic should stay within 1.15 of what is found.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
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
DOUBTED = 1.05
"""A ratio from which on a plan that was found is timed again."""
BY_HAND = "## Notes\n"


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
        "again": None,
    }


def confirm(row: dict[str, Any], ast: Any, device: str, width: int, seconds: float) -> None:
    """Time the plan of a row once more in turn with the heuristic's choice, where it is clearly
    faster; the result of the search is kept, too."""
    from weft.device import registry
    from weft.engine.search import search, time_interleaved

    if not row["plan"] or not ratio(row) >= DOUBTED:
        return
    opened = registry.open(device)
    found = search(ast, opened, width)
    times = time_interleaved(ast, opened, [found.heuristic, found.best], seconds)
    if isinstance(times, str):
        row["failed"].append(f"it was not timed again: {times}")
        return
    row["again"] = ratio(row)
    row["heuristic"], row["best"] = times


def is_shared(ast: Any, device: str) -> bool:
    """Whether the heuristic has threads share a kernel."""
    from weft.codegen.opt.opts import OptKind
    from weft.codegen.opt.search_space import by_heuristic
    from weft.codegen.pipeline import loops_for
    from weft.device import registry

    chosen = by_heuristic(loops_for(ast, registry.open(device).target, True))
    return any(opt.kind is OptKind.THREAD for opt in chosen.opts)


def is_known(ast: Any, device: str, width: int) -> bool:
    """Whether a search for this kernel came to its end, and still holds."""
    from weft.device import registry
    from weft.engine.tuning_database import key_of, lookup

    opened = registry.open(device)
    found = lookup(key_of(ast, opened, width), ast, opened)
    return found is not None and found.complete


def ratio(row: dict[str, Any]) -> float:
    """How many times as long the heuristic's choice takes."""
    return row["heuristic"] / row["best"] if row["best"] else math.nan


def measured(chosen: argparse.Namespace) -> dict[str, Any]:
    """One table, by as many threads as this process has: its rows, and what they were taken on."""
    from weft.device import registry

    _bound(chosen.rounds, chosen.plans)
    rows, loads = [], []
    for case, ast in kernels(chosen.names, chosen.device, chosen.programs):
        if chosen.shared and not is_shared(ast, chosen.device):
            continue
        if chosen.known and not is_known(ast, chosen.device, chosen.width):
            print(f"{case}: was not searched for", file=sys.stderr)
            continue
        row = searched(case, ast, chosen.device, chosen.width, chosen.anew)
        if chosen.confirm:
            confirm(row, ast, chosen.device, chosen.width, chosen.confirm)
        rows.append(row)
        loads.append(os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0)
        said = "" if row["again"] is None else f" (the search: {row['again']:.2f})"
        print(
            f"{case}: {row['kernel']}: {ratio(row):.2f}{said}  {row['plan']}",
            file=sys.stderr,
            flush=True,
        )
        for because in row["failed"]:
            print(f"    failed: {because}", file=sys.stderr, flush=True)
    return {"rows": rows, "loads": loads, "speed": registry.capabilities(chosen.device).speed}


def _bound(rounds: int, plans: int) -> None:
    """Have searches end sooner; 0: as they are."""
    from weft.engine import search as engine

    engine.MOST_ROUNDS = rounds or engine.MOST_ROUNDS
    engine.MOST_IN_A_ROUND = plans or engine.MOST_IN_A_ROUND


def measured_by(threads: int, given: list[str]) -> dict[str, Any]:
    """The same in a process of its own, by so many threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        command = [sys.executable, str(Path(__file__).resolve()), "--rows", str(path)]
        command += ["--shared"] if threads > 1 else []
        environment = {**os.environ, "WEFT_CPU_THREADS": str(threads)}
        subprocess.run([*command, *given], env=environment, check=True)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def report(tables: list[dict[str, Any]], chosen: argparse.Namespace) -> str:
    """All of search.md that is not written by hand."""
    how = "Times are the shortest of several runs in turn."
    if chosen.confirm:
        how += (
            f" A plan that was found to be {DOUBTED} times as fast and more was timed once more in "
            f"turn with the heuristic's choice for {chosen.confirm:g} s: the ratio that the search "
            "told is beside that one in parentheses."
        )
    if chosen.rounds or chosen.plans:
        how += f" Rounds of a search: {chosen.rounds or 'all'}, plans of each: "
        how += f"{chosen.plans or 'all'} at most, unless it was searched for before."
    lines = ["# What a search finds", "", f"`python benchmarks/search.py` on {machine()}, "
             f"{datetime.now(UTC):%Y-%m-%d}, with a width of {chosen.width}. {how}"]  # fmt: skip
    for table in tables:
        lines += ["", *_table(table, chosen.device)]
    return "\n".join(lines) + "\n"


def _table(table: dict[str, Any], device: str) -> list[str]:
    rows = table["rows"]
    known = [row for row in rows if row["best"]]
    over = [row for row in known if ratio(row) > GOAL]
    mean = math.exp(sum(math.log(ratio(row)) for row in known) / max(1, len(known)))
    lines = [
        f"## {device}: {table['speed']}",
        "",
        f"{len(known)} kernels: the heuristic's choice takes {mean:.2f} times as long as the best "
        f"that was found in the geometric mean, and more than {GOAL} times as long in {len(over)} "
        f"of them. {_load(table['loads'])}",
        "",
        "| program | kernel | heuristic | best | ratio | tried | found | instead of |",
        "|" + "---|" * 8,
    ]
    for row in sorted(known, key=ratio, reverse=True):
        mark = " **>**" if ratio(row) > GOAL else ""
        mark += "" if row["again"] is None else f" ({row['again']:.2f})"
        other = row["chosen"] if row["plan"] else ""
        lines.append(
            f"| {row['case']} | `{row['kernel']}` | {_shown(row['heuristic'])} | "
            f"{_shown(row['best'])} | {ratio(row):.2f}{mark} | {row['tries']} | {row['plan']} | "
            f"{other} |"
        )
    told = [row for row in rows if not row["best"]]
    lines += [""] if told else []
    return lines + [
        f"- {row['case']}, `{row['kernel']}`: {'; '.join(row['notes'])}" for row in told
    ]


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
    parser.add_argument("--confirm", type=float, default=0.0, help="seconds to time plans again")
    parser.add_argument("--rounds", type=int, default=0, help="of a search, at most")
    parser.add_argument("--plans", type=int, default=0, help="that a round tries, at most")
    parser.add_argument("--threads", type=int, nargs="+", default=[], help="a table for each")
    parser.add_argument("--shared", action="store_true", help="only what threads share")
    parser.add_argument("--rows", help="only write the rows to this file")
    parser.add_argument("--no-write", action="store_true", help="only print the tables")
    chosen = parser.parse_args()
    if chosen.threads:
        tables = [measured_by(count, _without_threads(chosen)) for count in chosen.threads]
    else:
        tables = [measured(chosen)]
    if chosen.rows:
        Path(chosen.rows).write_text(json.dumps(tables[0]), encoding="utf-8")
        return
    text = report(tables, chosen)
    print(text)
    if not (chosen.no_write or chosen.names):
        path = HERE / "search.md"
        notes = path.read_text(encoding="utf-8").partition(BY_HAND)[2] if path.exists() else ""
        path.write_text(f"{text}\n{BY_HAND}{notes}" if notes else text, encoding="utf-8")


def _without_threads(chosen: argparse.Namespace) -> list[str]:
    """The command line again, for a process that makes one table."""
    given = ["--width", str(chosen.width), "--device", chosen.device]
    given += ["--confirm", str(chosen.confirm)]
    given += ["--rounds", str(chosen.rounds), "--plans", str(chosen.plans)]
    flags = ("programs", "known", "anew", "shared")
    return [*given, *(f"--{flag}" for flag in flags if getattr(chosen, flag)), "--", *chosen.names]


if __name__ == "__main__":
    main()
