"""How a value lies on several devices: the argument of MULTI, and of a COPY to several devices.

A sharded value has the shape of the whole; where its parts are is a matter of placement, as the
device of an ordinary value is. MULTI(MSTACK(part, ...), arg=Shard) says of parts that stand in
memory that together they are one value; COPY(value, DEVICE(several), arg=Shard) asks for a value to
be laid out so. Nothing else in a graph mentions shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.text import register_arg

_seen = False


def note_sharding() -> None:
    """From now on graphs of this process may be on several devices."""
    global _seen
    _seen = True


def sharding_seen() -> bool:
    """Whether any graph of this process may be on several devices.

    Where none can, graphs are not searched for it: programs on one device pay nothing.
    """
    return _seen


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of each device.

    axis: the axis that is cut; None: every device has the whole value.
    bounds: part i is bounds[i] to bounds[i + 1] of that axis. Parts may differ in size and may be
    empty: nothing is ever padded.
    """

    axis: int | None = None
    bounds: tuple[int, ...] = ()

    def __reduce__(self) -> tuple[Any, tuple[int | None, tuple[int, ...]]]:
        return _read, (self.axis, self.bounds)

    @property
    def largest(self) -> int:
        """The extent of the largest part along the axis."""
        return max((stop - start for start, stop in pairwise(self.bounds)), default=0)

    def extent(self, part: int) -> int:
        """How much of the axis a part has."""
        return self.bounds[part + 1] - self.bounds[part]

    def local_shape(self, shape: tuple[Any, ...], part: int) -> tuple[Any, ...]:
        """The shape of one part of a value of `shape`."""
        if self.axis is None:
            return shape
        return (*shape[: self.axis], self.extent(part), *shape[self.axis + 1 :])


def even_bounds(extent: int, parts: int) -> tuple[int, ...]:
    """An axis cut so that no part is more than one larger than another, the larger ones first."""
    small, larger = divmod(extent, parts)
    return tuple(small * i + min(i, larger) for i in range(parts + 1))


def stacked(parts: Sequence[UOp], shard: Shard) -> UOp:
    """Single-device values, in the order of the devices, as one value."""
    note_sharding()
    stack = UOp(Ops.MSTACK, parts[0].dtype, tuple(parts))
    return UOp(Ops.MULTI, stack.dtype, (stack,), shard)


def parts_of(multi: UOp) -> tuple[UOp, ...]:
    """The single-device values of a MULTI."""
    return multi.src[0].src


def laid_out(value: UOp, devices: tuple[str, ...], shard: Shard) -> UOp:
    """`value` on `devices` as `shard` says."""
    note_sharding()
    return UOp(Ops.COPY, value.dtype, (value, UOp(Ops.DEVICE, arg=devices)), shard)


def _read(axis: int | None, bounds: tuple[int, ...]) -> Shard:
    """A Shard that comes from outside, in a graph."""
    note_sharding()
    return Shard(axis, bounds)


register_arg(Shard, _read)
