"""Unrolled instances: the values of one node, one for each combination of its unrolled ranges.

The instances are in row-major order of the unrolled ranges that the node depends on.

Source: none known; this is the data structure of `expander`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from weft.base.errors import SpecError
from weft.codegen.analysis.ranges import extent_of, loop_order, ranges_of
from weft.uop import AxisKind, UOp

UNROLLED = frozenset({AxisKind.UPCAST, AxisKind.UNROLL})
INSTANTIATED = UNROLLED | {AxisKind.VECTOR}

Ranges = tuple[UOp, ...]


class Instances(NamedTuple):
    """The values of a node, one for each combination of `over`, row-major; lanes are `lane`."""

    over: Ranges
    lane: UOp | None
    values: list[UOp]


def is_instantiated(node: UOp) -> bool:
    """Whether the value of a node depends on a range that is instantiated."""
    for loop in ranges_of(node):
        if loop.arg.kind in INSTANTIATED:
            return True
    return False


def width_of(loop: UOp) -> int:
    extent = extent_of(loop)
    if not isinstance(extent, int):
        raise SpecError(
            "a range of unknown extent cannot be unrolled", asked=f"expanding {loop.arg}"
        )
    return extent


def count_of(over: Ranges) -> int:
    total = 1
    for loop in over:
        total *= width_of(loop)
    return total


def strides_of(over: Ranges) -> dict[UOp, int]:
    strides: dict[UOp, int] = {}
    step = 1
    for loop in reversed(over):
        strides[loop] = step
        step *= width_of(loop)
    return strides


def offsets(over: Ranges, factors: list[int], first: int) -> list[int]:
    """`first` and what each combination of `over` adds to it, row-major."""
    result = [first]
    for loop, factor in zip(over, factors):
        steps = [index * factor for index in range(width_of(loop))]
        result = [offset + step for offset in result for step in steps]
    return result


def merged(many: Iterable[Ranges]) -> Ranges:
    found: dict[UOp, None] = {}
    for ranges in many:
        for loop in ranges:
            found[loop] = None
    return tuple(sorted(found, key=loop_order)) if len(found) > 1 else tuple(found)
