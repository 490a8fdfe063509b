"""Launch dimensions: map the axes of the launch grid to hardware indices.

in:  spec.lowered with ranges of kind GLOBAL and LOCAL
out: spec.lowered with SPECIAL in their place: gidx0 to gidx2, lidx0 to lidx2, 0 the fastest

If work items share loops (see `group_reduction`), lidx0 is their number and the others begin at
lidx1. If the other axes access contiguous memory, these come first and the number comes last.

If threads of one processor share a kernel, its GLOBAL ranges are one index, gidx0.

If there are more axes than dimensions, or one is too long, the axes of that kind become one flat
index. It is split to fit the limits and delinearized by division. If no split is exact, the surplus
work items repeat the work of the last one.

Source: NVIDIA, "CUDA C++ Programming Guide", thread hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.base.intmath import ceildiv
from weft.base.sequences import prod
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.axes import is_in_place
from weft.codegen.analysis.ranges import (
    extent_of,
    loop_order,
    max_trip_count,
    ranges_of,
)
from weft.codegen.analysis.substitution import substitute_ranges
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.workgroups.group_reduction import is_shared
from weft.device import Feature, Target
from weft.uop import AxisKind, Ops, UOp, sint

_FAR = 1 << 62


def _special(name: str, size: sint) -> UOp:
    end = size if isinstance(size, UOp) else UOp.const(dtypes.int, size)
    return UOp(Ops.SPECIAL, dtypes.int, (end,), name)


def _mapped(
    loops: list[UOp], prefix: str, limits: tuple[int, ...], exact: bool, first: int
) -> dict[UOp, UOp]:
    """The value that replaces each of `loops`, which are sorted outermost first.

    limits: of the dimensions from `first` on; the others are taken.
    """
    extents = [extent_of(loop) for loop in reversed(loops)]
    bounds = [e if isinstance(e, int) else e.vmax for e in extents]
    if len(loops) <= len(limits) and all(bound <= limit for bound, limit in zip(bounds, limits)):
        return {
            loop: _special(f"{prefix}{first + i}", extent).cast(loop.dtype)
            for i, (loop, extent) in enumerate(zip(reversed(loops), extents))
        }
    if not all(isinstance(extent, int) for extent in extents):
        raise CapabilityError(
            "a launch grid of unknown extent does not fit the device",
            asked=f"{len(loops)} axes with at most {bounds} iterations",
            because=f"its dimensions have at most {limits}",
        )
    total = prod(extents)
    dtype = dtypes.int if total <= dtypes.int.max else dtypes.long
    sizes = _cut(total, limits, exact)
    flat = UOp.const(dtype, 0)
    stride = 1
    for i, size in enumerate(sizes):
        flat = flat + _special(f"{prefix}{first + i}", size).cast(dtype) * UOp.const(dtype, stride)
        stride *= size
    if stride != total:
        last = UOp.const(dtype, total - 1)
        flat = UOp(Ops.WHERE, dtype, (flat < last, flat, last))
    result: dict[UOp, UOp] = {}
    for loop, extent in zip(reversed(loops), extents):
        result[loop] = (flat % extent).simplify().cast(loop.dtype)
        flat = flat // extent
    return result


def _cut(total: int, limits: tuple[int, ...], exact: bool) -> list[int]:
    """Sizes that fit the dimensions; their product is `total`, or more where that may be."""
    left = total
    sizes: list[int] = []
    for limit in limits:
        size = next((s for s in range(min(limit, left), 0, -1) if left % s == 0), 1)
        sizes.append(size)
        left //= size
    if left != 1 and not exact:
        left, sizes = total, []
        for limit in limits:
            sizes.append(min(limit, left))
            left = ceildiv(left, sizes[-1])
    if left != 1:
        raise CapabilityError(
            "a launch grid does not fit the device",
            asked=f"{total} work items",
            because=f"its dimensions have at most {limits}",
            try_="sizes with small factors, or smaller parts",
        )
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return sizes


def _grid(target: Target) -> tuple[int, ...] | None:
    """The largest grid. That of threads is one long row, of which each takes a part."""
    if target.compute.limits.global_size is None and target.compute.has(Feature.THREADS):
        return (int(dtypes.int.max), 1, 1)
    return target.compute.limits.global_size


def _read_contiguously(nodes: Sequence[UOp], mine: Sequence[UOp]) -> bool:
    """Whether adjacent work items along `mine` read closer addresses than those that share a loop.

    The buffer that is read most decides.
    """
    largest, found = 0, False
    for node in nodes:
        if node.op is not Ops.INDEX or node.src[0].op is not Ops.DEFINE_GLOBAL:
            continue
        steps = {u: abs(n) for u, n in affine(node.src[1])[0].items() if u.op is Ops.RANGE}
        own = min((steps[loop] for loop in mine if loop in steps), default=_FAR)
        shared = min((step for loop, step in steps.items() if is_shared(loop)), default=_FAR)
        read = prod([max_trip_count(loop) for loop in ranges_of(node)])
        if own != shared and read > largest:
            largest, found = read, own < shared
    return found


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with SPECIAL indices; itself where it has no launch axes."""
    nodes = nodes_of(sink)
    loops = sorted((node for node in nodes if node.op is Ops.RANGE), key=loop_order)
    limits = target.compute.limits
    values: dict[UOp, UOp] = {}
    dimensions: tuple[tuple[AxisKind, str, tuple[int, ...] | None], ...] = (
        (AxisKind.GLOBAL, "gidx", _grid(target)),
        (AxisKind.LOCAL, "lidx", limits.local_size),
    )
    for kind, prefix, sizes in dimensions:
        mine = [loop for loop in loops if loop.arg.kind is kind]
        first = 0
        if kind is AxisKind.LOCAL and sizes is not None and any(map(is_shared, loops)):
            first = 0 if _read_contiguously(nodes, mine) else 1
            sizes = sizes[first : first + 2]
        if mine and sizes is not None:
            values |= _mapped(mine, prefix, sizes, is_in_place(nodes), first)
    return substitute_ranges(nodes, values, {}) if values else sink
