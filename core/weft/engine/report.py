"""Debug output: what WEFT_DEBUG prints. 2: a line per kernel, 3: schedules, 4: sources and applied
Opts, 5: linear programs and kernel ASTs.

(1 is the registry's: opened devices. 6 is the pass runner's: every pass.)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft.base.settings import settings
from weft.base.text import human_size, human_time, plural
from weft.engine.stats import stats
from weft.uop import UOp, to_text

if TYPE_CHECKING:
    from weft.engine.lower_items import ExecItem
    from weft.schedule import Layout, ScheduleItem

_shown: set[int] = set()


def report(item: ExecItem, seconds: float | None) -> None:
    """Device, running number, name, argument count, memory, time, GFLOPS, GB/s, Tensor methods."""
    number = stats.kernels if item.prg.is_kernel else stats.copies + stats.host_calls
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


def report_schedule(items: Sequence[ScheduleItem]) -> None:
    """Print the items of a schedule (DEBUG=3), and the AST of each kernel (DEBUG=5)."""
    print(f"schedule of {plural(len(items), 'item')}", file=sys.stderr)
    for number, item in enumerate(items):
        memory = ", ".join(f"{b.size} {b.dtype.name}" for b in item.bufs)
        names = ", ".join(dict.fromkeys(str(m) for m in item.metadata))
        print(f"  {number:4} {item.ast.op.name:12} {memory}  [{names}]", file=sys.stderr)
        if settings.DEBUG >= 5:
            print(to_text(item.ast), file=sys.stderr)


def report_intermediates(layout: Layout) -> None:
    """Print the memory of the intermediates of a schedule (DEBUG=2)."""
    print(
        f"*** memory for intermediates: {human_size(layout.planned)}; without reuse "
        f"{human_size(layout.unplanned)}",
        file=sys.stderr,
    )


def _rates(item: ExecItem, seconds: float | None) -> str:
    if not seconds or item.prg.p is None:
        moved = item.bufs[0].nbytes / seconds / 1e9 if seconds else 0.0
        return f" ({'':>8}        {moved:7.1f} GB/s)" if moved else ""
    estimates = item.prg.p.estimates
    if not isinstance(estimates.ops, int) or not isinstance(estimates.bytes, int):
        return ""
    computed, moved = estimates.ops / seconds / 1e9, estimates.bytes / seconds / 1e9
    return f" ({computed:8.1f} GFLOPS {moved:7.1f} GB/s)"


def _names(item: ExecItem) -> str:
    names = list(dict.fromkeys(str(m) for m in item.metadata))
    return f"[{', '.join(names)}]" if names else ""


def _show_source(p: Any) -> None:
    print("opts: " + (", ".join(map(str, p.program.applied)) or "none"), file=sys.stderr)
    print(p.src, file=sys.stderr)
    if settings.DEBUG >= 5:
        print("\n".join(program_lines(p.uops)), file=sys.stderr)


def program_lines(uops: Sequence[UOp]) -> list[str]:
    """A linear program, one numbered node a line, sources by number."""
    number = {node: place for place, node in enumerate(uops)}
    return [
        f"{place:5} {node.op.name:14} {node.dtype!r:24} "
        f"{[number.get(source, source.op.name) for source in node.src]!s:20} "
        f"{'' if node.arg is None else node.arg!r}"
        for node, place in number.items()
    ]
