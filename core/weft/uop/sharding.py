"""Sharding: the layout of a value on several devices, as argument of MULTI and COPY.

A sharded value has the shape of the whole value. MULTI(MSTACK(part, ...), arg=Shard) is a value
that consists of parts in memory. COPY(value, DEVICE(several), arg=Shard) distributes a value.
Other nodes do not mention shards.
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
    """Record that graphs of this process may be on several devices."""
    global _seen
    _seen = True


def sharding_seen() -> bool:
    """Whether any graph of this process may be on several devices.

    If not, graphs are not searched for shards, so programs on one device have no overhead.
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

    def window(self, part: int) -> tuple[int, int]:
        """The range of the axis that a part holds; (0, 0) without an axis."""
        return (0, 0) if self.axis is None else (self.bounds[part], self.bounds[part + 1])

    def local_shape(self, shape: tuple[Any, ...], part: int) -> tuple[Any, ...]:
        """The shape of one part of a value of `shape`."""
        if self.axis is None:
            return shape
        start, stop = self.window(part)
        return (*shape[: self.axis], stop - start, *shape[self.axis + 1 :])


def even_bounds(extent: int, parts: int) -> tuple[int, ...]:
    """The bounds of `parts` parts whose extents differ by at most one, larger ones first."""
    small, larger = divmod(extent, parts)
    return tuple(small * i + min(i, larger) for i in range(parts + 1))


def stacked(parts: Sequence[UOp], shard: Shard) -> UOp:
    """Single-device values, in device order, as one sharded value."""
    note_sharding()
    stack = UOp(Ops.MSTACK, parts[0].dtype, tuple(parts))
    return UOp(Ops.MULTI, stack.dtype, (stack,), shard)


def parts_of(multi: UOp) -> tuple[UOp, ...]:
    """The single-device values of a MULTI."""
    return multi.src[0].src


def laid_out(value: UOp, devices: tuple[str, ...], shard: Shard) -> UOp:
    """`value` distributed over `devices` by `shard`."""
    note_sharding()
    return UOp(Ops.COPY, value.dtype, (value, UOp(Ops.DEVICE, arg=devices)), shard)


def _read(axis: int | None, bounds: tuple[int, ...]) -> Shard:
    """A Shard of a graph that is unpickled or parsed."""
    note_sharding()
    return Shard(axis, bounds)


register_arg(Shard, _read)
