"""The lines that WEFT_DEBUG prints: one per kernel from 2 on, sources from 4 on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from weft.base.settings import settings
from weft.base.text import human_size, human_time
from weft.engine.stats import stats

if TYPE_CHECKING:
    from weft.engine.lower_items import ExecItem

_shown: set[int] = set()


def report(item: ExecItem, seconds: float | None) -> None:
    """Device, running number, name, argument count, memory, time, GFLOPS, GB/s, Tensor methods."""
    number = stats.kernels if item.prg.is_kernel else stats.copies
    device = item.bufs[0].device
    took = f"{human_time(seconds):>9}" if seconds is not None else " " * 9
    line = (
        f"*** {device:8} {number:5} {item.prg.name:32} arg {len(item.bufs):3} "
        f"mem {human_size(stats.memory):>9} tm {took}{_rates(item, seconds)} {_names(item)}"
    )
    print(line, file=sys.stderr)
    if settings.DEBUG >= 4 and item.prg.p is not None and id(item.prg.p) not in _shown:
        _shown.add(id(item.prg.p))
        _show_source(item.prg.p)


def _rates(item: ExecItem, seconds: float | None) -> str:
    if not seconds or item.prg.p is None:
        moved = item.bufs[0].nbytes / seconds / 1e9 if seconds else 0.0
        return f" ({'':>8}        {moved:7.1f} GB/s)" if moved else ""
    estimates = item.prg.p.estimates
    if not isinstance(estimates.ops, int) or not isinstance(estimates.bytes, int):
        return ""
    return (
        f" ({estimates.ops / seconds / 1e9:8.1f} GFLOPS {estimates.bytes / seconds / 1e9:7.1f} GB/s)"
    )


def _names(item: ExecItem) -> str:
    names = list(dict.fromkeys(str(m) for m in item.metadata))
    return f"[{', '.join(names)}]" if names else ""


def _show_source(p: Any) -> None:
    ast = p.program.source_ast
    applied = getattr(getattr(ast, "arg", None), "applied", ()) or getattr(
        p.program, "applied", ()
    )
    if applied:
        print(f"opts: {applied}", file=sys.stderr)
    print(p.src, file=sys.stderr)
    if settings.DEBUG >= 5:
        for number, node in enumerate(p.uops):
            print(f"{number:5} {node.op.name:14} {node.dtype!r} {node.arg!r}", file=sys.stderr)
