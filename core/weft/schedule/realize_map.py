"""Realization: find the values that must be stored before any fusion.

These are requested values, inputs of copies and views, and values that an expand would recompute.

in:  spec.tensor
out: the set of nodes that become kernels, which `reduce_fusion` extends

Source: none known; every other value is recomputed by its readers from the same sources.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.base.dtype import DType, ImageDType
from weft.base.sequences import prod
from weft.schedule.arange import OneHotSelections, is_counter, one_hot_selections
from weft.schedule.fuse_marks import NONE, Marks
from weft.schedule.movement_lists import has_expand
from weft.schedule.use_def import COMPUTED_MEMORY, Uses, is_stored
from weft.uop import GroupOp, Ops, UOp, sint

# operations of a fused chain beyond which its value is stored, since compilation takes too long
_DEEPEST_CHAIN = 256
# operations up to which an expression of one element, or of counters, is recomputed at its readers
_CHEAP = 16
# consecutive elements that use one loop-invariant value, from which on it is recomputed
_STRETCH = 32
# Dequantization: numbers of less than half the size are unpacked again at each reader if they are
# read at most this often, by at most this many operations.
_FEW_TIMES = 8
_FEW_STEPS = 6
_UNPACKING = frozenset(
    {Ops.ADD, Ops.MUL, Ops.SHL, Ops.SHR, Ops.AND, Ops.OR, Ops.XOR, Ops.CAST, Ops.BITCAST}
)


def must_realize(
    uses: Uses,
    marks: Marks = NONE,
    prefers_narrow: Callable[[str, DType, DType], bool] = lambda device, narrow, wide: False,
) -> dict[UOp, None]:
    """The nodes (never movement, constants or memory) that need a kernel of their own, sources
    first.

    marks: a value inside a mark is not stored although it is expanded. prefers_narrow: see
    `ScheduleContext.prefers_narrow`.
    """
    realized: dict[UOp, None] = {}
    depth: dict[UOp, int] = {}
    picks = one_hot_selections(uses)
    for node in uses.order:
        if is_stored(node):
            continue
        depth[node] = 1 + max(
            (depth.get(source.base, 0) for source in node.src if source.base not in realized),
            default=0,
        )
        if (
            (node in uses.sinks and not is_counter(node))
            or node.op in COMPUTED_MEMORY
            or depth[node] > _DEEPEST_CHAIN
            or node in marks.stored
            or _is_read_as_memory(node, uses)
        ):
            realized[node] = None
        elif (
            node not in picks.inline
            and node not in marks.inside
            and _is_expanded(node, uses, picks)
            and not _is_cheap(node, depth[node], uses, realized)
            and not (_is_widening(node, realized) and _stays_narrow(node, prefers_narrow))
            and not _is_dequantization(node, uses, realized)
            and node not in marks.recomputed
            and not (node in marks.dequantized and _has_few_reads(node, uses))
        ):
            held = _stored_base(node)
            if not is_stored(held):
                realized[held] = None
    return realized


def _is_read_as_memory(node: UOp, uses: Uses) -> bool:
    """Whether `user` reads memory and not values: COPY, BUFFER_VIEW, writes to another device."""
    return any(
        use.user.op in GroupOp.Meta
        or (use.user.op is Ops.ASSIGN and node.device != use.user.device)
        for use in uses.of[node]
    )


def _is_expanded(node: UOp, uses: Uses, picks: OneHotSelections) -> bool:
    """Whether a value is read through an expand that makes more elements than it has."""
    moved = [use for use in uses.of[node] if use.source is not node]
    if not moved:
        return False
    size = prod(node.shape)
    if not isinstance(size, int):
        return True
    picked = picks.picked
    expanded = [use for use in moved if has_expand(use.source)]
    counts = [(picked.get((use.user, use.source)), use.source) for use in expanded]
    # a count may be symbolic, which has no truth value
    reads = [_elements_read(source) if count in (None, 0) else count for count, source in counts]
    return any(not isinstance(count, int) or count > size for count in reads)


def _elements_read(source: UOp) -> sint:
    """The number of elements that a movement reads, with repetitions; padding counts as none."""
    view = source.st.views[-1]
    extents = view.shape if view.mask is None else tuple(stop - start for start, stop in view.mask)
    return prod(extents)


def _is_cheap(node: UOp, depth: int, uses: Uses, realized: dict[UOp, None]) -> bool:
    """Whether to recompute a value: a few operations on counters, on one element, or once for
    many."""
    if depth > _CHEAP or node.op is Ops.REDUCE_AXIS:
        return False
    below = node.toposort(
        gate=lambda u: u is node or not (is_stored(u) or u in realized or u.op in COMPUTED_MEMORY)
    )
    if any(u.op is Ops.REDUCE_AXIS or u.op is Ops.THREEFRY for u in below if u not in realized):
        return False
    counts = not any(u.op is Ops.BUFFER or u.op in COMPUTED_MEMORY or u in realized for u in below)
    return counts or prod(node.shape) == 1 or _is_loop_invariant(node, uses)


def _is_widening(node: UOp, realized: dict[UOp, None]) -> bool:
    """Whether a node only casts elements of memory, or of what will be in memory, to a wider
    dtype."""
    source = node.src[0] if node.op is Ops.CAST else node
    in_memory = is_stored(source.base) or source.base in realized
    return node.dtype.itemsize > source.dtype.itemsize and in_memory


def _is_dequantization(node: UOp, uses: Uses, realized: dict[UOp, None]) -> bool:
    """Whether a node is a few operations on much smaller memory and has few readers: it costs more
    to store than to compute."""
    size = prod(node.shape)
    if node.op not in _UNPACKING or not isinstance(size, int) or not _has_few_reads(node, uses):
        return False
    steps = nbytes = 0
    largest = (0, 0)
    leaves = {u for u in realized if u is not node}
    for u in node.toposort(gate=lambda u: not (is_stored(u) or u in leaves)):
        if is_stored(u) or u in leaves:
            elements = prod(u.shape)
            if not isinstance(elements, int):
                return False
            nbytes += elements * u.dtype.itemsize
            largest = max(largest, (elements, u.dtype.itemsize))
        elif u.op in _UNPACKING:
            steps += 1
        elif u.op not in GroupOp.Movement and u.op not in (Ops.CONST, Ops.DEVICE):
            return False
    # a repeated small value is not dequantized
    narrow = largest[1] < node.dtype.itemsize and 2 * largest[0] >= size
    return steps <= _FEW_STEPS and narrow and 2 * nbytes <= size * node.dtype.itemsize


def _has_few_reads(node: UOp, uses: Uses) -> bool:
    """Whether every reader reads each element at most `_FEW_TIMES`."""
    size = prod(node.shape)
    for use in uses.of[node]:
        count = _elements_read(use.source) if use.source is not node else size
        if not isinstance(count, int) or not isinstance(size, int) or count > _FEW_TIMES * size:
            return False
    return True


def _stays_narrow(node: UOp, prefers_narrow: Callable[[str, DType, DType], bool]) -> bool:
    """Whether the readers of a cast are better served by the narrow dtype in memory."""
    source = node.src[0] if node.op is Ops.CAST else node
    return isinstance(node.device, str) and prefers_narrow(node.device, source.dtype, node.dtype)


def _stored_base(node: UOp) -> UOp:
    """The node to store for `node`: itself, or what it masks, pads or widens."""
    if node.op is Ops.CAST and isinstance(node.src[0].dtype, ImageDType):
        return node.src[0].base
    if node.op is Ops.CAST and node.dtype.itemsize > node.src[0].dtype.itemsize:
        source = node.src[0]
        return node if source is not source.base or is_stored(source) else source
    if node.op is not Ops.WHERE:
        return node
    where, *arms = node.src
    bases = [arm.base for arm in arms if arm.base.op is not Ops.CONST]
    if len(bases) != 1 or where.base.op is not Ops.CONST:
        return node
    return bases[0]


def _is_loop_invariant(node: UOp, uses: Uses) -> bool:
    """Whether every reader uses one element for a whole stretch of its innermost axes, so that code
    generation hoists it out of those loops."""
    if node.op not in GroupOp.Elementwise:
        return False
    for use in uses.of[node]:
        stretch = 1
        for extent, stride in zip(
            reversed(use.source.shape), reversed(_strides_of_view(use.source))
        ):
            if (
                not isinstance(extent, int)
                or not isinstance(stride, int)
                or (stride and extent > 1)
            ):
                break
            stretch *= extent
        if stretch < _STRETCH:
            return False
    return True


def _strides_of_view(source: UOp) -> tuple[sint, ...]:
    """The strides of a movement that is one view without a mask; otherwise none."""
    st = source.st.simplify()
    return st.views[0].strides if len(st.views) == 1 and st.views[0].mask is None else ()
