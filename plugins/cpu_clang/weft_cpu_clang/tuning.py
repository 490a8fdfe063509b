"""Tuning of this processor: measured facts on disk, and the tables that are shipped.

`weft tune` measures the machine (`measurement`), and the facts are kept for this processor. A table
in the folder ``tables`` has facts and plans of a processor that was measured elsewhere. It is named
by clang's name of the processor, and used only there. Facts of this machine are preferred. Without
either, the machine model keeps its defaults; a table that cannot be read is ignored.

Values are rounded, because kernels depend on them: two measurements give the same kernels.

Source: Whaley & Dongarra, "Automatically tuned linear algebra software" (SC 1998), architectural
defaults.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from weft.plugin import DiskCache, MachineFact, MachineModel, Ops, Tuning, let_through
from weft_cpu_clang.processors import pipes_of, throughputs
from weft_cpu_clang.toolchain import Facts, Toolchain, processor_text

FOLDER = Path(__file__).with_name("tables")
FORMAT = 1
"""Of a table; one of another format is ignored."""
PIPES = "pipes"
"""The name of the measured multiply-adds in a cycle, which give `MachineModel.throughputs`."""
_HALVES = 2
"""Pipes are whole or half: a result of two cycles is half of one."""
_FIGURES = 2
_cache = DiskCache("cpu_measured", 2)


def tuning_of(toolchain: Toolchain, threads: int) -> Tuning:
    """What is known by measurement of the processor that kernels are compiled for."""
    facts = toolchain.facts
    if not facts.flags:  # another processor than this one
        return Tuning()
    level = facts.level or toolchain.arch
    target = f"{level}, {threads} thread{'s'[: threads > 1]}"
    table = table_of(facts.processor)
    shipped = _section(table, "machine", level)
    machine = {**_numbers(shipped), **measured_here(toolchain)}
    return Tuning(facts.processor, level, target, machine, _section(table, "kernels", target))


def machine_model(model: MachineModel, facts: Facts, known: Mapping[str, float]) -> MachineModel:
    """A model with what was measured.

    :param model: with the caches of the processor.
    :param known: fields of `MachineModel`, and `PIPES`.
    """
    pipes = dict(pipes_of(facts.processor, facts.vector_bytes))
    if PIPES in known and pipes:
        pipes |= {Ops.MUL: known[PIPES], Ops.MULACC: known[PIPES]}
    given = {one.name for one in fields(MachineModel) if one.init and one.type == "float"}
    changes: dict[str, Any] = {name: known[name] for name in given & known.keys()}
    changes["throughputs"] = throughputs(pipes, facts.vector_bytes, facts.fused)
    return replace(model, **changes)


def measure(toolchain: Toolchain, machine: MachineModel) -> Iterator[MachineFact]:
    """Measure this machine, and keep the facts once all of them are there."""
    from weft_cpu_clang.measurement import facts_of  # only `weft tune` needs it

    found: list[MachineFact] = []
    for fact in facts_of(toolchain, machine):
        found.append(fact)
        yield fact
    _cache.put(_key(toolchain), json.dumps(rounded(found)).encode())


def measured_here(toolchain: Toolchain) -> dict[str, float]:
    """The facts that were measured on this machine; {} if it was not measured."""
    kept = _cache.get(_key(toolchain))
    try:
        return _numbers(json.loads(kept)) if kept else {}
    except ValueError:
        return {}


def rounded(facts: Iterable[MachineFact]) -> dict[str, float]:
    """The facts that the model takes, rounded: latencies of arithmetic to cycles, pipes to halves,
    the others to two figures."""
    found: dict[str, float] = {}
    for fact in facts:
        if fact.field == PIPES:
            found[PIPES] = max(0.5, round(_HALVES * fact.value) / _HALVES)
        elif fact.field == "multiply_add_latency":
            found[fact.field] = float(max(1, round(fact.value)))
        elif fact.field:
            found[fact.field] = float(f"{fact.value:.{_FIGURES}g}")
    return found


@cache
def table_of(processor: str) -> dict[str, Any]:
    """The table that is shipped for a processor, by clang's name of it; {} if there is none."""
    path = FOLDER / f"{processor}.json"
    try:
        table = json.loads(path.read_text(encoding="utf-8")) if processor else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        let_through(error)
        return {}
    matches = isinstance(table, dict) and table.get("format") == FORMAT
    return table if matches and table.get("processor") == processor else {}


def _section(table: Mapping[str, Any], part: str, name: str) -> dict[str, Any]:
    """One entry of one part of a table; {} if it has none."""
    entries = table.get(part)
    found = entries.get(name) if isinstance(entries, dict) else None
    return found if isinstance(found, dict) else {}


def _numbers(values: Any) -> dict[str, float]:
    """The entries that are numbers above 0."""
    pairs = values.items() if isinstance(values, dict) else ()
    return {name: float(n) for name, n in pairs if isinstance(n, int | float) and n > 0}


def _key(toolchain: Toolchain) -> str:
    return "\0".join((processor_text(), str(toolchain.facts.vector_bytes), str(FORMAT)))
