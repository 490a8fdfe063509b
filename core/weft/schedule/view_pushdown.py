"""View pushdown: move movement ops between a reduce and its reader below the reduce.

A reduce must be stored if its reader reads it in another order. A reduce that is computed in that
order from the start can be fused with its reader. Reduces of reduces are merged into one.
Elementwise operations are applied before an expand, on fewer elements.

in:  spec.tensor
out: spec.tensor, every value equal

Source: XLA, passes ReshapeMover and AlgebraicSimplifier.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.arange import one_hot_selections
from weft.schedule.batched_edits import Change, Edit
from weft.schedule.clean_reduce import replacement_reduce
from weft.schedule.expand_hoisting import hoisted_expands
from weft.schedule.movement_lists import (
    REARRANGES,
    apply_moves,
    invert_moves,
    is_reshape,
    is_static,
    moves_between,
    transfer_moves,
)
from weft.schedule.padding_elimination import pad_one_factor
from weft.schedule.use_def import LEAVES, MEMORY, SCALARS, Use, Uses, is_stored
from weft.shape import ShapeTracker
from weft.uop import GroupOp, Ops, Reduce, UOp

# nodes of a region that may be computed in another order
_MOST_NODES = 64
# elements that fit in the caches, so that the order of accesses does not matter
_SMALL = 1 << 15
# terms that a merged reduce may add, relative to the two reduces: in any case, and if each element
# is reused for at least a vector of results, as in a convolution
_LITTLE_ADDED, _MOST_ADDED = 1.2, 1.9
# the same where the terms are padding of strided windows, which loops on a processor skip
_MOST_FILLED = 2.5
_MANY = 16
# consecutive elements from which on the position of the next row does not matter
_LONG = 512


def pushdown_edits(uses: Uses) -> dict[UOp, Edit]:
    """The edits to a graph; usually none. They may enable more edits: call this again after
    them."""
    edits: dict[UOp, Edit] = {}
    touched: set[UOp] = set()
    for rule in (merged_reduces, shared_copies, rearranged_reduces, hoisted_expands):
        for changes, region in rule(uses):
            if touched.isdisjoint(region):
                edits.update(changes)
                touched.update(region)
    return edits


# ---- reduces of reduces -------------------------------------------------------------------------


def merged_reduces(uses: Uses) -> list[Change]:
    """reduce(moves(reduce(x))) -> reduce(moves(x))   of one kind, the inner one with one reader"""
    found: list[Change] = []
    # through padding, the backward pass of a convolution is one reduce that adds zeros at borders
    pads = settings.FUSE_CONV_BW
    passable = REARRANGES | {Ops.SHRINK, *((Ops.PAD,) if pads else ())}
    picks = one_hot_selections(uses).picked
    for node in uses.order:
        if node.op is not Ops.REDUCE_AXIS:
            continue
        inner = node.src[0].base
        if inner.op is not Ops.REDUCE_AXIS or inner.arg.op is not node.arg.op:
            continue
        if inner in uses.sinks or len(uses.of[inner]) != 1 or not is_static(inner.src[0]):
            continue
        moves = moves_between(node.src[0], inner)
        padded = any(move.op is Ops.PAD for move in moves)
        # zeros of padding are the identity of sums alone
        if any(move.op not in passable for move in moves) or (
            padded and node.arg.op is not Ops.ADD
        ):
            continue
        if padded:
            fits = pads > 1 or (
                _adds_few_zeros(node, inner, moves) and _is_product_of_reused(inner)
            )
        else:
            fits = _reduces_adjacent_axes(node, inner) or _becomes_indexed_load(inner, picks)
        if fits:
            found.append(({node: _merge_edit(node, inner, moves)}, {node, inner}))
    return found


def _becomes_indexed_load(reduce: UOp, picks: Mapping[tuple[UOp, UOp], Any]) -> bool:
    """Whether a one-hot reduce becomes an indexed load of whole rows, as in an embedding, so that
    its order of addition is free."""
    where = reduce.src[0]
    if where.op is not Ops.WHERE or (where, where.src[1]) not in picks:
        return False
    kept = [a for a, n in enumerate(where.shape) if a not in reduce.arg.axes and n != 1]
    return bool(kept) and where.src[0].st.real_strides()[kept[-1]] == 0


def _adds_few_zeros(node: UOp, inner: UOp, moves: list[UOp]) -> bool:
    """Whether the merged reduce adds about as many terms as the two do: few zeros of padding.

    Where windows are two elements apart, a third of their places are zeros: still less than what
    it takes to write all products to memory, and read them again.
    """
    before, terms = prod(inner.src[0].shape), prod(inner.src[0].shape[a] for a in inner.arg.axes)
    after = prod(node.src[0].shape) * terms
    if after <= _LITTLE_ADDED * before:
        return True
    most = max(_MOST_ADDED, min(_MOST_FILLED, _LITTLE_ADDED * _padding_factor(moves)))
    return after <= most * before and _is_reused_along_kept_axis(node, inner, terms)


def _padding_factor(moves: list[UOp]) -> float:
    """The factor by which padding enlarges windows to a whole number of strides before they are
    cut."""
    for move, then in itertools.pairwise(moves):
        if move.op is Ops.PAD and then.op is Ops.RESHAPE and len(then.shape) > len(move.shape):
            return float(prod(move.shape)) / prod(move.src[0].shape)
    return 1.0


def _is_reused_along_kept_axis(node: UOp, reduce: UOp, terms: int) -> bool:
    """Whether the moved operand of a sum of products is used again along a long axis that stays, as
    an image by its output channels."""
    source = reduce.src[0]
    if terms < _MANY or source.base.op is not Ops.MUL:
        return terms < _MANY
    after = node.src[0].st.real_strides(ignore_valid=True)
    whole = ShapeTracker.from_shape(reduce.shape).views[0].strides
    there = {pair for a, pair in enumerate(zip(node.src[0].shape, after)) if a not in node.arg.axes}
    kept = [a for a, n in enumerate(source.shape) if a not in reduce.arg.axes and n != 1]
    moved = [a for a in kept if (source.shape[a], whole[a]) not in there]
    if not moved:
        return False
    longest = max(moved, key=lambda a: source.shape[a])
    for factor in source.base.src:
        steps = transfer_moves(source, source.base, factor).st.real_strides(ignore_valid=True)
        still = [a for a in kept if a not in moved and source.shape[a] >= _MANY and steps[a] == 0]
        if still and steps[longest] != 0:
            return True
    return False


def _is_product_of_reused(reduce: UOp) -> bool:
    """Whether a reduce adds products of operands that are each used several times."""
    product = reduce.src[0].base
    return product.op is Ops.MUL and all(
        prod(source.base.shape) < prod(product.shape) for source in product.src
    )


def _reduces_adjacent_axes(node: UOp, inner: UOp) -> bool:
    """Whether both reduces are over the innermost axes of memory, or both over the outermost.

    Axes in between would be traversed with a stride, which is slower than two kernels.
    """
    whole = inner.src[0].shape
    if prod(whole) <= _SMALL or prod(node.shape) == 1:
        return True
    view = _single_view(node.src[0], inner)
    if view is None:
        return False
    axes = [(n, s) for n, s in enumerate(view.views[0].strides) if view.shape[n] != 1]
    reduced = [stride for axis, stride in axes if axis in node.arg.axes]
    kept = [stride for axis, stride in axes if axis not in node.arg.axes]
    long = [axis for axis, extent in enumerate(whole) if extent != 1]
    first = [axis for axis in long if axis in inner.arg.axes]
    if min(kept) > max(reduced, default=0):
        return first == long[len(long) - len(first) :]
    return bool(min(reduced, default=0) > max(kept)) and first == long[: len(first)]


def _merge_edit(node: UOp, inner: UOp, moves: list[UOp]) -> Edit:
    """The edit that replaces two reduces by one."""

    def edit(done: Mapping[UOp, UOp]) -> UOp:
        source = done[inner.src[0]]
        if prod(node.shape) == 1 and all(move.op in REARRANGES for move in moves):
            every = Reduce(node.arg.op, tuple(range(len(source.shape))))
            return replacement_reduce(node, source, every).reshape(node.shape)
        moved, first = _with_reduced_axes_last(inner, source, moves)
        axes = (*node.arg.axes, *range(first, len(moved.shape)))
        if any(move.op is Ops.PAD for move in moves):
            moved = pad_one_factor(moved)
        reduced = replacement_reduce(node, moved, Reduce(node.arg.op, axes))
        return reduced.reshape(node.shape)

    return edit


def _with_reduced_axes_last(reduce: UOp, source: UOp, moves: list[UOp]) -> tuple[UOp, int]:
    """`source` with its reduced axes last and the other axes moved by `moves`, and the number of
    the first reduced axis."""
    axes, shape = reduce.arg.axes, source.shape
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    extents = tuple(shape[axis] for axis in axes)
    moved = source
    if (order := (*kept, *axes)) != tuple(range(len(shape))):
        moved = moved.permute(order)
    moved = moved.reshape((*reduce.shape, *extents))
    for move in moves:
        moved = _moved_leading_axes(moved, move, extents)
    return moved, len(moved.shape) - len(extents)


def _moved_leading_axes(node: UOp, move: UOp, extents: tuple[Any, ...]) -> UOp:
    """A movement of the leading axes; `extents` are those of the trailing axes."""
    rank = len(node.shape) - len(extents)
    arg = move.arg
    if move.op is Ops.RESHAPE:
        arg = (*arg, *extents)
    elif move.op is Ops.PERMUTE:
        arg = (*arg, *range(rank, rank + len(extents)))
    elif move.op is Ops.FLIP:
        arg = (*arg, *(False,) * len(extents))
    elif move.op is Ops.PAD:
        arg = (*arg, *((0, 0),) * len(extents))
    else:  # SHRINK
        arg = (*arg, *((0, extent) for extent in extents))
    return UOp(move.op, node.dtype, (node,), arg)


# ---- reduces in the order of their readers ------------------------------------------------------


def rearranged_reduces(uses: Uses) -> list[Change]:
    """permute(f(reduce(x))) -> f'(reduce(permute'(x)))   when all readers read that order"""
    found: list[Change] = []
    for node in uses.order:
        if node.op is not Ops.REDUCE_AXIS and node.op not in GroupOp.Elementwise:
            continue
        readers = uses.of[node]
        if node in uses.sinks or not readers or not is_static(node):
            continue
        if not _has_one_other_order(node, readers):
            continue
        region = _private_region(node, uses)
        if any(u.op is Ops.REDUCE_AXIS for u in region) and _keeps_locality(node, readers, region):
            tops = {use.source for use in readers}
            changes = {top: _rearranging_edit(top, node, region) for top in tops}
            found.append((changes, region | tops))
    return found


def _has_one_other_order(node: UOp, readers: list[Use]) -> bool:
    """Whether all readers, one of them elementwise, read the elements in one other order."""
    seen = _single_view(readers[0].source, node)
    if seen is None or seen.contiguous:
        return False
    for use in readers:
        moves = moves_between(use.source, node)
        if any(move.op not in REARRANGES for move in moves):
            return False
        if _flattened(_single_view(use.source, node)) is not _flattened(seen):
            return False
    return any(
        not is_stored(use.user)
        and (use.user.op in GroupOp.Elementwise or use.user.op in (Ops.CONTIGUOUS, Ops.ASSIGN))
        for use in readers
    )


def _single_view(source: UOp, base: UOp) -> ShapeTracker | None:
    """The view of `base` that `source` is; None where it is more than one view."""
    st = ShapeTracker.from_shape(base.shape) if source is base else source.st.simplify()
    return st if len(st.views) == 1 else None


def _flattened(st: ShapeTracker | None) -> ShapeTracker | None:
    """A view with one axis; None of None."""
    return None if st is None else st.reshape((prod(st.shape),))


def _private_region(node: UOp, uses: Uses) -> set[UOp]:
    """`node` and the elementwise values and reduces below it that nothing else reads."""
    region = {node}
    waiting = [node]
    while waiting and len(region) <= _MOST_NODES:
        current = waiting.pop()
        if current.op is Ops.REDUCE_AXIS:
            continue
        for source in current.src:
            base = source.base
            if base in region or base in uses.sinks or is_stored(base):
                continue
            if base.op is not Ops.REDUCE_AXIS and base.op not in GroupOp.Elementwise:
                continue
            if all(use.user in region and is_reshape(use.source, base) for use in uses.of[base]):
                region.add(base)
                waiting.append(base)
    return region


def _keeps_locality(node: UOp, readers: list[Use], region: set[UOp]) -> bool:
    """Whether memory is traversed as well in the other order.

    Long runs stay runs; or all of it is in the caches anyway; or, where the innermost axis stays
    innermost, the same memory is read so often that its order does not matter, as in a product of
    matrices.
    """
    reduces = [u for u in region if u.op is Ops.REDUCE_AXIS]
    if all(prod(u.src[0].shape) <= _SMALL for u in reduces):
        return True
    view = _single_view(readers[0].source, node)
    run = 1
    for extent, stride in (
        () if view is None else zip(view.shape[::-1], view.views[0].strides[::-1])
    ):
        if extent != 1 and stride != run:
            break
        run *= extent
    return bool(run >= _LONG) or (bool(run > 1) and all(_reuses_memory(u) for u in reduces))


def _reuses_memory(reduce: UOp) -> bool:
    """Whether memory that is reduced is read again along other axes."""
    stack, seen = [reduce.src[0]], {reduce.src[0]}
    while stack and len(seen) <= _MOST_NODES:
        node = stack.pop()
        if node.op in GroupOp.Elementwise and node.op is not Ops.BITCAST:
            stack.extend(s for s in node.src if s not in seen)
            seen.update(node.src)
        elif node.op not in SCALARS:
            strides = node.st.real_strides(ignore_valid=True)
            still = [a for a, stride in enumerate(strides) if stride == 0 and node.shape[a] != 1]
            if any(strides[axis] != 0 for axis in reduce.arg.axes) and still:
                return True
    return False


def _rearranging_edit(top: UOp, node: UOp, region: set[UOp]) -> Edit:
    """The edit that computes a region in the order of its readers."""
    moves = moves_between(top, node)

    def edit(done: Mapping[UOp, UOp]) -> UOp:
        return _in_order(node, moves, region, done, {})

    return edit


def _in_order(
    node: UOp,
    moves: list[UOp],
    region: set[UOp],
    done: Mapping[UOp, UOp],
    made: dict[tuple[UOp, ...], UOp],
) -> UOp:
    """`node` read through `moves`, which are applied below its region."""
    key = (node, *moves)
    if key in made:
        return made[key]
    shape = moves[-1].shape
    if node.op is Ops.REDUCE_AXIS:
        moved, first = _with_reduced_axes_last(node, done[node.src[0]], moves)
        axes = tuple(range(first, len(moved.shape)))
        reduced = replacement_reduce(node, moved, Reduce(node.arg.op, axes))
        made[key] = reduced.reshape(shape)
        return made[key]
    src: list[UOp] = []
    for source in node.src:
        if source.op in SCALARS:
            src.append(done.get(source, source))
        elif source.base in region and source.base is not node:
            below = moves_between(source, source.base)
            src.append(_in_order(source.base, [*below, *moves], region, done, made))
        else:
            src.append(apply_moves(done.get(source, source), moves))
    made[key] = node.over(tuple(src))
    return made[key]


# ---- copies in another order --------------------------------------------------------------------


def shared_copies(uses: Uses) -> list[Change]:
    """f(x), contiguous(permute(x)) -> f(inverse permute(contiguous)), ...   when x holds a
    reduce"""
    found: list[Change] = []
    for copy in uses.order:
        if copy.op is not Ops.CONTIGUOUS:
            continue
        source = copy.src[0]
        base = source.base
        if base.op in MEMORY or base.op in LEAVES or base in uses.sinks or not is_static(base):
            continue
        others = [use for use in uses.of[base] if use.user is not copy]
        if not others or source is base or any(is_stored(use.user) for use in others):
            continue
        back = source.st.invert(base.shape)
        moves = moves_between(source, base)
        if back is None or any(move.op not in REARRANGES for move in moves):
            continue
        region = _private_region(base, uses)
        if not any(u.op is Ops.REDUCE_AXIS for u in region):
            continue
        if not _keeps_locality(base, [Use(copy, source)], region):
            continue
        users = {use.user for use in others}
        changes = {user: _reads_of_copy(user, base, copy, moves) for user in users}
        found.append((changes, users | {base, copy}))
    return found


def _reads_of_copy(user: UOp, base: UOp, copy: UOp, moves: list[UOp]) -> Edit:
    """The edits that make readers of a value read its contiguous copy."""

    def edit(done: Mapping[UOp, UOp]) -> UOp:
        stored = UOp(copy.op, copy.dtype, (apply_moves(done[base], moves),), copy.arg)
        instead = invert_moves(stored, moves)
        src = tuple(
            transfer_moves(source, base, instead)
            if source.base is base
            else done.get(source, source)
            for source in user.src
        )
        return user.over(src)

    return edit
