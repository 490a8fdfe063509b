"""Legality: check whether a loop transformation may be applied to the axes of a kernel.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), legality of loop
transformations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from weft.base.dtype import PtrDType
from weft.codegen.analysis.axes import Axis
from weft.codegen.analysis.ranges import loops_of, ranges_of
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.thresholds import MOST_INSTANCES, MOST_LANES, local_array_bytes
from weft.codegen.vectorization.instances import INSTANTIATED, UNROLLED
from weft.device import Feature
from weft.uop import AxisKind, Ops, UOp

if TYPE_CHECKING:
    from weft.codegen.loops.strip_mining import AxisSplits
    from weft.codegen.opt.kernel import Kernel

_PARALLEL = frozenset({AxisKind.GLOBAL, AxisKind.LOCAL, AxisKind.GROUP_REDUCE})


def illegal(opt: Opt, because: str) -> OptError:
    """Return the error of an Opt that cannot be applied."""
    return OptError("this optimisation is not legal here", asked=repr(opt), because=because)


def require(opt: Opt, holds: object, because: str) -> None:
    """Raise OptError with `because` if a condition of an Opt does not hold."""
    if not holds:
        raise illegal(opt, because)


def check(kernel: Kernel, opt: Opt) -> None:
    """Raise OptError if a kernel cannot be lowered with its Opts, of which `opt` is the last."""
    for fill in kernel.fills:
        _check_fill(kernel, opt, fill)
    for nest in kernel.nests.values():
        inside = _axes_of(kernel, nest)
        if sum(axis.kind is AxisKind.VECTOR for axis in inside) > 1:
            raise illegal(opt, "a value would have the lanes of two vectors")
        if sum(axis.kind is AxisKind.GROUP_REDUCE for axis in inside) > 1:
            raise illegal(opt, "work items would share two loops, one inside the other")
        lanes = _iterations(inside, INSTANTIATED)
        # where arithmetic is scalar lanes are instances like others
        instances = _iterations(inside, UNROLLED) if kernel.target.compute.vector_bytes else lanes
        if instances > MOST_INSTANCES or lanes > MOST_LANES:
            raise illegal(opt, f"a value would have more than {MOST_INSTANCES} instances")
    if opt.kind in (OptKind.SWAP, OptKind.SPLIT):
        _check_nesting(kernel, opt)
    _check_groups(kernel, opt)


def _axes_of(kernel: Kernel, loops: Collection[UOp]) -> list[Axis]:
    """The axes that loops of the lowered kernel were split into."""
    return [axis for axis in kernel.axes if axis.loop in loops]


def _iterations(axes: Iterable[Axis], kinds: Collection[AxisKind]) -> int:
    """The number of iterations of the axes of these kinds together."""
    return math.prod(int(axis.extent) for axis in axes if axis.kind in kinds)


def _check_fill(kernel: Kernel, opt: Opt, fill: UOp) -> None:
    """Raise OptError if the copies of a local array are too large, or each lane would have one.

    Each combination of the unrolled loops around a FILL has a copy of its array.
    """
    array = fill.src[0].src[0].src[0].dtype
    assert isinstance(array, PtrDType)
    around = _axes_of(kernel, ranges_of(fill))
    if any(axis.kind is AxisKind.VECTOR for axis in around):
        raise illegal(opt, "the lanes of a vector would each have an array of their own")
    count = _iterations(around, {AxisKind.UPCAST})
    most = local_array_bytes(kernel.target.compute.machine)
    if count > 1 and count * array.nbytes > most:
        raise illegal(opt, f"its arrays would be larger than {most} bytes")


def _check_nesting(kernel: Kernel, opt: Opt) -> None:
    """Raise OptError if a store would be nested in a loop on which its address does not depend."""
    loops = [axis.loop for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    for store in kernel.stores:
        mine = kernel.nests[store]
        for other in kernel.stores:
            theirs = [loop for loop in loops if loop in kernel.nests[other]]
            shared = [place for place, loop in enumerate(theirs) if loop in mine]
            if shared and any(loop not in mine for loop in theirs[: shared[-1]]):
                raise illegal(opt, "a store would be repeated by a loop it does not depend on")


def _check_groups(kernel: Kernel, opt: Opt) -> None:
    limits = kernel.target.compute.limits
    shared = {axis.extent for axis in kernel.axes if axis.kind is AxisKind.GROUP_REDUCE}
    if len(shared) > 1:
        raise illegal(opt, f"the loops that work items share have {sorted(shared)} parts")
    threads = _iterations(kernel.axes, {AxisKind.LOCAL})
    if shared:
        (parts,) = shared
        assert isinstance(parts, int)
        sizes = limits.local_size
        if sizes is not None and parts > sizes[0]:
            raise illegal(opt, f"a workgroup is at most {sizes[0]} wide")
        # `launch_dims` may put them last, behind the others of the group
        others = sum(axis.kind is AxisKind.LOCAL for axis in kernel.axes)
        if sizes is not None and parts > min(sizes[: min(others, 2) + 1]):
            raise illegal(opt, f"a workgroup is at most {sizes} in its dimensions")
        _check_shared_memory(kernel, opt, threads, parts)
        threads *= parts
    if limits.local_threads is not None and threads > limits.local_threads:
        raise illegal(opt, f"a workgroup has at most {limits.local_threads} work items")


def _check_shared_memory(kernel: Kernel, opt: Opt, rows: int, parts: int) -> None:
    """Raise OptError if the arrays and partial results of a workgroup exceed its shared memory."""
    total = 0
    for node in (*kernel.reduces, *kernel.fills):
        own = _axes_of(kernel, loops_of(node))
        if not any(axis.kind is AxisKind.GROUP_REDUCE for axis in own):
            continue
        size = 2 * parts * node.dtype.itemsize
        if node.op is Ops.FILL:
            array = node.src[0].src[0].src[0].dtype
            assert isinstance(array, PtrDType)
            size = array.nbytes
        total += size * _iterations(_axes_of(kernel, ranges_of(node)), INSTANTIATED)
    limit = kernel.target.compute.limits.shared_bytes
    if total * rows > limit:
        raise illegal(opt, f"it would need more than {limit} bytes of shared memory")


# ---- single transformations ----------------------------------------------------------------------


def check_remainder(kernel: Kernel, opt: Opt, axis: Axis, amount: int) -> None:
    """Raise OptError unless the last part of a reduction may be shorter: in sequential loops."""
    if kernel.target.compute.limits.global_size is not None or kernel.units:
        raise illegal(opt, f"{amount} does not divide its extent {axis.extent}")


def check_overlap(kernel: Kernel, opt: Opt, axis: Axis, amount: int) -> None:
    """Raise OptError unless the last part of an output axis may overlap the part before it.

    Both store the same values, so this is legal unless the kernel reads what it stores.
    """
    if axis.kind not in (AxisKind.LOOP, AxisKind.GLOBAL):
        raise illegal(opt, f"{amount} does not divide its extent {axis.extent}")
    if axis.loop in kernel.changing or axis.loop in kernel.once:
        raise illegal(opt, "parts would overlap, and the kernel reads what it writes")


def check_group(kernel: Kernel, opt: Opt, splits: AxisSplits) -> None:
    """Raise OptError unless the work items of a group may share an axis."""
    compute = kernel.target.compute
    require(opt, compute.limits.local_size is not None, "the target has no workgroups")
    if not (compute.has(Feature.BARRIER) and compute.has(Feature.SHARED)):
        raise illegal(opt, "its work items can neither wait for each other nor share memory")
    if kernel.in_place:
        raise illegal(opt, "the kernel reads what it writes, and groups are not synchronized")
    if kernel.units:
        raise illegal(opt, "the lanes of a matrix unit are the first work items of a group")
    extent, loop = kernel.axes[opt.axis].extent, kernel.axes[opt.axis].loop
    if any(splits.splits[one].last is not None for one in splits.split_axes(loop)):
        raise illegal(opt, "work items would fill one place twice where parts overlap")
    if isinstance(extent, int) and opt.amount and extent % opt.amount:
        raise illegal(opt, f"its extent is {extent}: PADTO makes it a multiple")


def check_interchange(kernel: Kernel, opt: Opt, inside: Sequence[Axis]) -> None:
    """Raise OptError unless the loop of a reduction may be moved outside the loops `inside`."""
    if opt.amount < 0 or not inside or len(kernel.reduces) != 1:
        raise illegal(opt, "it needs one sum, nested in an output loop")
    if any(one.loop not in kernel.nests[kernel.reduces[0]] for one in inside):
        raise illegal(opt, "the sum does not depend on all of the loops")
    if not all(isinstance(one.extent, int) for one in inside):
        raise illegal(opt, "the extent of an output loop is a variable")
    if kernel.sums_in_place or kernel.fills or kernel.units:
        raise illegal(opt, "the sum reads a stored buffer, or operands are staged already")
    if any(one.kind in _PARALLEL for one in kernel.axes):
        raise illegal(opt, "work items can keep sums in registers only")


def check_swap(kernel: Kernel, opt: Opt, splits: AxisSplits) -> None:
    """Raise OptError unless two axes may be interchanged."""
    if not 0 <= opt.amount < len(kernel.axes) or opt.amount == opt.axis:
        raise illegal(opt, "it needs two different axes")
    a, b = kernel.axes[opt.axis], kernel.axes[opt.amount]
    if not splits.remainder_axes().isdisjoint((a.number, b.number)):
        raise illegal(opt, "the last part of an axis is shorter than the others")
    if a.kind is not b.kind or a.kind not in (AxisKind.LOOP, AxisKind.REDUCE, AxisKind.GLOBAL):
        raise illegal(opt, "only loops of one kind can be interchanged")
