"""In which order the loops of a sum turn: along memory, the largest steps outermost.

The order that a graph gives is that of its axes, which may be that of memory or not: the gradient
of a convolution comes with its channels innermost, each of them an image away from the next.
Exchanged where everything that is read agrees; the same terms are added in another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.codegen.analysis.ranges import loops_of
from weft.codegen.opt.kernel import Access, Kernel
from weft.codegen.opt.opts import OptKind
from weft.uop.args import AxisKind
from weft.uop.node import UOp

_SUM = frozenset({AxisKind.REDUCE})


def along_memory(kernel: Kernel, reduce: UOp, accesses: Sequence[Access]) -> None:
    """Exchange the loops of a REDUCE until none has smaller steps than one inside of it."""
    wanted: list[UOp] = []
    given = in_order(kernel, loops_of(reduce))
    if len(given) < 2 or any(kernel.axis_of(loop, _SUM) is None for loop in given):
        return
    for loop in given:
        place = len(wanted)
        while place and _is_outside(loop, wanted[place - 1], accesses):
            place -= 1
        wanted.insert(place, loop)
    places = sorted(place for loop in given if (place := kernel.axis_of(loop, _SUM)) is not None)
    for place, loop in zip(places, wanted):
        now = kernel.axis_of(loop, _SUM)
        if now is not None and now != place:
            kernel.attempt(OptKind.SWAP, place, now)


def in_order(kernel: Kernel, loops: Iterable[UOp]) -> list[UOp]:
    """Loops of a sum as they turn now, outermost first; those that were written out come last."""

    def place(loop: UOp) -> tuple[int, int]:
        known = kernel.axis_of(loop, _SUM)
        return (len(kernel.axes) if known is None else known, loop.arg.id)

    return sorted(loops, key=place)


def _is_outside(loop: UOp, other: UOp, accesses: Sequence[Access]) -> bool:
    """Whether everything that is read goes further by `loop` than by `other`.

    A step that is not known says nothing; without any that is there is no reason.
    """
    steps = [
        (abs(access.steps[loop]), abs(access.steps[other]))
        for access in accesses
        if loop in access.steps and other in access.steps
    ]
    return bool(steps) and all(mine > its for mine, its in steps)
