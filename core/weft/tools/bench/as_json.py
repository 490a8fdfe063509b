"""JSON output of `weft bench`: seconds, operations and bytes as numbers, unrounded; unknown values
are null."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weft.base.errors import FileError
from weft.base.interrupts import let_through
from weft.codegen.opt.search_space import Plan
from weft.engine.tuning_database import SearchResult
from weft.tools.bench.meter import Measured
from weft.tools.bench.table import Roofs, of_limit


def measured(
    program: str, kernels: Iterable[Measured], others: float, roofs: Roofs
) -> dict[str, Any]:
    """A program's kernels in the order of their first launch, and what their devices can do."""
    kernels = list(kernels)
    whole = sum(kernel.total for kernel in kernels)
    return {
        "program": program,
        "seconds": whole,
        "seconds_of_copies": others,
        "kernels": [_kernel(kernel, whole, roofs) for kernel in kernels],
        "devices": {name: [asdict(one) for one in peaks] for name, peaks in roofs.items()},
    }


def _kernel(kernel: Measured, whole: float, roofs: Roofs) -> dict[str, Any]:
    reached = of_limit(kernel, roofs)
    return {
        "name": kernel.name,
        "device": kernel.device,
        "launches": kernel.launches,
        "seconds_each": kernel.each,
        "seconds": kernel.total,
        "share": kernel.total / whole if whole else None,
        "timed_alone": kernel.alone,
        "operations": kernel.ops,
        "bytes": kernel.bytes,
        "of_limit": None if reached is None else reached[0],
        "bound_by": None if reached is None else reached[1],
        "from": kernel.operations,
        "place": kernel.place or None,
        "optimisations": _opts(kernel.program.applied),
    }


def searched(name: str, found: SearchResult) -> dict[str, Any]:
    """All that a search tried for a kernel, in that order; `failed` says why one has no time."""
    return {
        "kernel": name,
        "best": _plan(found.best),
        "heuristic": _plan(found.heuristic),
        "complete": found.complete,
        "notes": list(found.notes),
        "tries": [
            {**_plan(one.plan), "seconds": _number(one.seconds), "failed": one.because or None}
            for one in found.tries
        ],
    }


def _plan(plan: Plan) -> dict[str, Any]:
    return {"optimisations": _opts(plan.opts), "prepared": plan.prepared}


def _opts(opts: Iterable[Any]) -> list[list[Any]]:
    return [[opt.kind.name, opt.axis, opt.amount] for opt in opts]


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def write(data: dict[str, Any], path: str) -> Path | None:
    """Write it to a file, or for "-" to stdout. :raises FileError: where it cannot be written."""
    text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return None
    target = Path(path).expanduser()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        let_through(error)
        raise FileError.of(error, "it cannot be written", path=target, asked=str(target)) from error
    return target
