"""Generic choice of loop transformations: vectors, unrolling, or what suits a launch grid.

For targets without a strategy. A target with a launch grid gets the strategy in `launch_grid/`.
Any other gets a few rules that need no cost model:

1. Where arithmetic has vectors, the innermost loop along which every access is contiguous or
   invariant becomes vector lanes.
2. Outputs that share an operand of a reduction are computed side by side (unroll-and-jam).
3. The innermost loop of a reduction is unrolled.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), unroll-and-jam.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from weft.codegen.analysis.ranges import extent_of, loops_of
from weft.codegen.launch_grid import strategy as launch_grid
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.thresholds import MOST_OPERATIONS, tile_side
from weft.device import Target
from weft.uop import AxisKind, GroupOp, Ops, UOp

Choose: TypeAlias = Callable[[Kernel], Sequence[Opt]]


def choice_for(target: Target) -> Choose:
    """The strategy of a target: its own, or the generic choice."""
    return choose if target.choose is None else target.choose


def choose(kernel: Kernel) -> Sequence[Opt]:
    """The optimisations for a kernel, in the order in which they are to be applied."""
    if kernel.target.compute.limits.global_size is not None:
        launch_grid.choose(kernel)
        return kernel.applied
    lanes = _vectorise(kernel)
    if sum(node.op in GroupOp.ALU for node in kernel.sink.toposort()) <= MOST_OPERATIONS:
        for reduce in kernel.reduces:
            _unroll_and_jam(kernel, reduce, lanes)
        for reduce in kernel.reduces:
            _unroll(kernel, reduce, lanes)
    return kernel.applied


def _vectorise(kernel: Kernel) -> set[UOp]:
    """Make lanes of one loop of each nest; the loops that have them."""
    lanes: set[UOp] = set()
    for root, nest in kernel.nests.items():
        if not lanes.isdisjoint(nest):
            continue
        for loop in sorted(nest, key=lambda one: -one.arg.id):
            width = _width(kernel, root, loop)
            if width and kernel.attempt(OptKind.VECTOR, kernel.axis_of(loop), width):
                lanes.add(loop)
                break
    return lanes


def _width(kernel: Kernel, root: UOp, loop: UOp) -> int:
    """Lanes of a loop: of the widest vectors that divide it and that all its accesses have; 0 where
    an access of any nest has another stride than 0 or 1."""
    compute, extent = kernel.target.compute, extent_of(loop)
    if not compute.vector_bytes or not isinstance(extent, int):
        return 0
    moved = [access for access in kernel.accesses if access.depends(loop)]
    if not moved or any(
        access.steps.get(loop) != 1 or loop in access.irregular for access in moved
    ):
        return 0
    values = [one.node.src[1] if one.node.op is Ops.STORE else one.node for one in moved]
    dtypes = {value.dtype for value in values}
    widths = [set(compute.vector_widths.get(dtype, ())) for dtype in dtypes]
    return max((w for w in widths[0].intersection(*widths) if w > 1 and extent % w == 0), default=0)


def _unroll_and_jam(kernel: Kernel, reduce: UOp, lanes: set[UOp]) -> None:
    """Compute a tile of outputs, along each loop that does not move every operand."""
    own, side = set(loops_of(reduce)), tile_side(kernel.target.compute.machine)
    for loop in sorted(kernel.nests[reduce] - own, key=lambda one: one.arg.id):
        shared = any(not access.depends(loop) for access in kernel.inside(reduce))
        extent = extent_of(loop)
        if shared and loop not in lanes and isinstance(extent, int) and extent % side == 0:
            kernel.attempt(OptKind.UPCAST, kernel.axis_of(loop), side)


def _unroll(kernel: Kernel, reduce: UOp, lanes: set[UOp]) -> None:
    """Unroll the innermost loop of a reduction by the side of a tile, or all of it if it is as
    short."""
    side = tile_side(kernel.target.compute.machine)
    loop = max(loops_of(reduce), key=lambda one: one.arg.id)
    place = kernel.axis_of(loop, (AxisKind.REDUCE,))
    extent = extent_of(loop)
    if place is None or loop in lanes or not isinstance(extent, int):
        return
    if extent <= side:
        kernel.attempt(OptKind.UNROLL, place, 0)
    elif extent % side == 0:
        kernel.attempt(OptKind.UNROLL, place, side)
