"""Reduction loop order: order the loops of a reduction by stride, largest outermost.

The graph gives the loops in the order of its axes, which may differ from the order in memory. Two
loops are interchanged only if all accesses with known strides agree. The same terms are then added
in another order.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), loop interchange.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.plugin import Access, Kernel, OptKind, UOp, loops_of
from weft_simd.choice.axes import REDUCE


def order_by_stride(kernel: Kernel, reduce: UOp, accesses: Sequence[Access]) -> None:
    """Exchange the loops of a REDUCE until none has smaller steps than one inside of it."""
    wanted: list[UOp] = []
    given = in_order(kernel, loops_of(reduce))
    if len(given) < 2 or any(kernel.axis_of(loop, REDUCE) is None for loop in given):
        return
    for loop in given:
        place = len(wanted)
        while place and _is_outside(loop, wanted[place - 1], accesses):
            place -= 1
        wanted.insert(place, loop)
    places = sorted(place for loop in given if (place := kernel.axis_of(loop, REDUCE)) is not None)
    for place, loop in zip(places, wanted):
        now = kernel.axis_of(loop, REDUCE)
        if now is not None and now != place:
            kernel.attempt(OptKind.SWAP, place, now)


def in_order(kernel: Kernel, loops: Iterable[UOp]) -> list[UOp]:
    """The loops of a reduction in their present order, outermost first; unrolled ones come last."""

    def place(loop: UOp) -> tuple[int, int]:
        known = kernel.axis_of(loop, REDUCE)
        return (len(kernel.axes) if known is None else known, loop.arg.id)

    return sorted(loops, key=place)


def _is_outside(loop: UOp, other: UOp, accesses: Sequence[Access]) -> bool:
    """Whether every access has a larger stride along `loop` than along `other`.

    Unknown strides do not count; at least one is known.
    """
    steps = [
        (abs(access.steps[loop]), abs(access.steps[other]))
        for access in accesses
        if loop in access.steps and other in access.steps
    ]
    return bool(steps) and all(mine > its for mine, its in steps)
