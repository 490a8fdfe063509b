"""Search table: all measured plans of one kernel, best first, with the heuristic's rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.base.errors import ArgumentError
from weft.base.text import human_time, plural
from weft.engine.tuning_database import SearchResult
from weft.tools.bench.meter import Measured


def chosen(kernels: Sequence[Measured], which: str) -> Measured:
    """The kernel of this name, this beginning of a name, or this number.

    :raises ArgumentError: where none or several are meant.
    """
    if which.isdigit() and int(which) < len(kernels):
        return kernels[int(which)]
    found = [kernel for kernel in kernels if kernel.name == which]
    found = found or [kernel for kernel in kernels if kernel.name.startswith(which)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{number} {kernel.name}" for number, kernel in enumerate(kernels))
    raise ArgumentError(
        f"{'several kernels have' if found else 'no kernel has'} this name",
        asked=which,
        because=f"the program has {names or 'no kernels'}",
        try_="the number of one",
    )


def text(name: str, found: SearchResult, most: int = 20) -> str:
    """The table. most: how many rows; 0: all that ran."""
    ranked = found.ranked()
    failed = [one for one in found.tries if one.seconds is None]
    lines = [f"{name}: {plural(len(found.tries), 'plan')} tried, {len(failed)} of them failed"]
    for place, one in enumerate(ranked, 1):
        mark = _mark(one.plan == found.best, one.plan == found.heuristic)
        if place <= (most or len(ranked)) or mark:
            assert one.seconds is not None
            lines.append(f"{place:5}  {human_time(one.seconds):>9}  {mark:11}{one.plan}")
    reasons = Counter(one.because.split(":")[0] for one in failed)
    lines += [f"{count:5}  failed: {why}" for why, count in reasons.most_common()]
    for one in failed[: most or None]:
        lines.append(f"       {one.plan}: {one.because}")
    lines += [f"note: {note}" for note in found.notes]
    return "\n".join(lines)


def _mark(best: bool, heuristic: bool) -> str:
    if best and heuristic:
        return "stays"
    return "best" if best else "heuristic" if heuristic else ""
