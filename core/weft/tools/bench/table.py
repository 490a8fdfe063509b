"""Table of `weft bench`: kernels by cost, with the limits of their device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.base.text import cut, human_size, human_time, pad, plural
from weft.tools.bench.meter import Measured
from weft.tools.bench.peaks import Peaks

Roofs = Mapping[str, Sequence[Peaks]]  # by device: one thread, then all of them
_HEAD = (
    "#", "kernel", "runs", "each", "total", "share", "GFLOP/s", "GB/s", "limit", "of it",
    "bound by", "from",
)  # fmt: skip
_LEFT = (1, 10, 11)
_LAUNCH = 2e-6  # seconds: what takes no longer than that waits for being started
_NAME, _FROM = 28, 48  # characters of a kernel's name, and of its line in the program


def of_limit(kernel: Measured, roofs: Roofs) -> tuple[float, str] | None:
    """Which part of what is possible a kernel reaches, and what it waits for; None where either is
    not known. More than 1 where its memory lies in a cache."""
    known = roofs.get(kernel.device)
    if not known or kernel.ops is None or kernel.bytes is None or not kernel.each:
        return None
    whole = known[-1]
    if not (kernel.ops or kernel.bytes):
        return None
    if kernel.each < _LAUNCH:
        return whole.least(kernel.ops, kernel.bytes) / kernel.each, "launch"
    word = "memory" if whole.is_bound_by_memory(kernel.ops, kernel.bytes) else "arithmetic"
    return whole.least(kernel.ops, kernel.bytes) / kernel.each, word


def row(number: int, kernel: Measured, whole: float, roofs: Roofs) -> list[str]:
    """The cells of one kernel. whole: seconds of all kernels."""
    each = kernel.each
    computed = moved = limit = part = word = "-"
    if kernel.ops is not None and each:
        computed = f"{kernel.ops / each / 1e9:.1f}"
    if kernel.bytes is not None and each:
        moved = f"{kernel.bytes / each / 1e9:.1f}"
    reached = of_limit(kernel, roofs)
    if reached is not None:
        limit, part, word = human_time(reached[0] * each), f"{reached[0]:.0%}", reached[1]
    share = f"{kernel.total / whole:.1%}" if whole else "-"
    runs = f"{kernel.launches}{'*' if kernel.alone else ''}"
    times = [human_time(each), human_time(kernel.total)]
    name = cut(kernel.name, _NAME)
    facts = [share, computed, moved, limit, part, word, origin(kernel)]
    return [str(number), name, runs, *times, *facts]


def origin(kernel: Measured, most: int = _FROM) -> str:
    """The operations that were fused in a kernel (the last ones if there are too many), and the
    line of the program that called the last of them."""
    names, place = kernel.operations, kernel.place
    width = most - len(place) - 2
    shown = " ".join(names)
    while len(names) > 1 and len(shown) > width:
        names = names[1:]
        shown = "... " + " ".join(names)
    return ", ".join(filter(None, (shown, place)))


def text(kernels: Iterable[Measured], others: float, roofs: Roofs, most: int = 0) -> str:
    """All of it, the costliest kernels first. most: how many are shown; 0: all."""
    numbered = list(enumerate(kernels))
    ranked = sorted(numbered, key=lambda pair: -pair[1].total)
    whole = sum(kernel.total for _, kernel in numbered)
    shown = ranked[: most or None]
    rows = [list(_HEAD), *(row(number, kernel, whole, roofs) for number, kernel in shown)]
    widths = [max(len(line[column]) for line in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(pad(c, w, right=i not in _LEFT) for i, (c, w) in enumerate(zip(line, widths)))
        for line in rows
    ]
    lines = [line.rstrip() for line in lines]
    launches = sum(kernel.launches for _, kernel in numbered)
    if len(shown) < len(ranked):
        rest = sum(kernel.total for _, kernel in ranked[len(shown) :])
        lines.append(f"... and {len(ranked) - len(shown)} more, {human_time(rest)}")
    lines.append("")
    lines.append(
        f"{plural(len(ranked), 'kernel')}, {plural(launches, 'launch', 'launches')}, "
        f"{human_time(whole)}" + (f"; copies and the like {human_time(others)}" if others else "")
    )
    lines += [line for device in roofs for line in _about(device, roofs[device])]
    if any(kernel.alone for _, kernel in numbered):
        lines.append("* ran seldom: timed by itself, on memory of its own")
    return "\n".join(lines)


def _about(device: str, peaks: Sequence[Peaks]) -> list[str]:
    if not peaks:
        return [f"{device}: what it can do at most could not be measured"]
    return [
        f"{device}{', all threads' if one.threads else ', one thread' if len(peaks) > 1 else ''}: "
        f"at most {one.flops / 1e9:.0f} GFLOP/s and {human_size(round(one.bandwidth))}/s, measured"
        for one in peaks
    ]
