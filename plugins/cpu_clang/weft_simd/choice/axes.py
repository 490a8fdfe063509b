"""Loop axes: what is left of the loops of a kernel after the transformations so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from weft.plugin import Axis, AxisKind, Kernel, UOp, iteration_count

LOOP, REDUCE = frozenset({AxisKind.LOOP}), frozenset({AxisKind.REDUCE})
_INSTANCES = frozenset({AxisKind.UPCAST, AxisKind.VECTOR})


def loop_axis(
    kernel: Kernel, loop: UOp, kinds: Iterable[AxisKind] = LOOP
) -> tuple[int, int] | None:
    """(place, extent) of the rest of a loop; None if it is unrolled, or its extent is unknown."""
    place = kernel.axis_of(loop, kinds)
    if place is None:
        return None
    extent = kernel.axes[place].extent
    return (place, extent) if isinstance(extent, int) else None


def known_extent(axis: Axis) -> int:
    """The extent of an axis; 1 if it is unknown."""
    return axis.extent if isinstance(axis.extent, int) else 1


def instances_of(kernel: Kernel, loop: UOp) -> int:
    """The unrolled instances and lanes of a loop."""
    mine = (axis for axis in kernel.axes if axis.loop is loop and axis.kind in _INSTANCES)
    return math.prod(map(known_extent, mine))


def output_bytes(kernel: Kernel) -> int:
    """The bytes that the only store of a kernel writes; 0 if they are unknown."""
    (store,) = kernel.stores
    return store.src[1].dtype.itemsize * iteration_count(kernel.nests[store])


def all_or_nothing(kernel: Kernel, transform: Callable[[Kernel], bool]) -> bool:
    """Apply several Opts. The kernel is unchanged if `transform` gives False."""
    trial = kernel.copy()
    if not transform(trial):
        return False
    kernel.become(trial)
    return True
