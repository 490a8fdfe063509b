"""Index arithmetic rematerialization: recompute masks and indices at each use, never store them.
Also: range materialization.

Indexing by a tensor, a gather, a one-hot row and the selection of a label compare an integer with
a counter and sum over the counter. Code generation replaces such a sum by an indexed load (see
`codegen/indexing/one_hot_gather`). The comparison must reach it within one kernel. Therefore:

- masks, which are comparisons with counters, and the integers that they compare are computed again
  by every reader, even where an expand repeats them;
- a value that a one-hot sum reads counts as read once per selected element, not per comparison.

A counter is treated as a constant and is never stored for itself.

in:  the uses of a graph
out: `OneHotSelections`, which `realize_map` asks

Source: Briggs, Cooper and Torczon, "Rematerialization", PLDI 1992.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.use_def import COMPUTED_MEMORY, LEAVES, Uses
from weft.uop import GroupOp, Ops, UOp, conjuncts

# index arithmetic of more steps than this is stored
_MOST_STEPS = 32
# a counter with so many steps upon it is still one
_LONGEST_COUNT = 8
_ELEMENTWISE = GroupOp.Elementwise
_EQUALITY = frozenset({Ops.CMPEQ, Ops.CMPNE})


@dataclass
class OneHotSelections:
    """The values that need not be stored because comparisons with counters select elements.

    inline: masks, and integers that are compared with counters. picked: (reader, source) pairs of
    sums that pick, with the number of elements that are picked.
    """

    inline: set[UOp] = field(default_factory=set[UOp])
    picked: dict[tuple[UOp, UOp], Any] = field(default_factory=dict[tuple[UOp, UOp], Any])


_FREE = LEAVES - {Ops.BUFFER}


def is_counter(node: UOp) -> bool:
    """Whether a node is a counter with a few operations by constants, which takes no memory."""
    for _ in range(_LONGEST_COUNT):
        node = node.base
        op = node.op
        if op is Ops.IOTA:
            return True
        if op not in _ELEMENTWISE or op is Ops.BITCAST:
            return False
        for source in node.src[1:]:
            if source.base.op is not Ops.CONST:
                return False
        node = node.src[0]
    return False


def is_counted(node: UOp) -> bool:
    """Whether a node is computed from counters and constants alone, in few operations."""
    stack, seen = [node.base], set[UOp]()
    while stack:
        current = stack.pop()
        op = current.op
        if op is Ops.IOTA or op in _FREE:
            continue
        if op not in _ELEMENTWISE or len(seen) > _MOST_STEPS:
            return False
        seen.add(current)
        stack.extend([base for source in current.src if (base := source.base) not in seen])
    return True


def is_address(node: UOp) -> bool:
    """Whether a node is a counter or compares one: it becomes an address in a one-hot sum."""
    if node.op in _EQUALITY and dtypes.is_int(node.src[0].dtype):
        return any(is_counted(source) for source in node.src)
    return is_counted(node)


def one_hot_selections(uses: Uses) -> OneHotSelections:
    """The selections by comparisons with counters in a graph; none with FUSE_ARANGE=0."""
    found = OneHotSelections()
    if not settings.FUSE_ARANGE:
        return found
    counters = _counters(uses)
    if not counters:
        return found
    masks = [node for node in uses.order if _is_mask(node, counters)]
    if not masks:
        return found
    found.inline = _inlined_masks(masks) | _combined_masks(uses, masks)
    for node in uses.order:
        if node.op is Ops.REDUCE_AXIS and node.arg.op is Ops.ADD:
            _add_selection(node, counters, found)
    return found


# ---- what counts -------------------------------------------------------------------------------


def _counters(uses: Uses) -> set[UOp]:
    """The expressions of counters and constants alone."""
    found: set[UOp] = set()
    for node in uses.order:
        if node.op is Ops.IOTA:
            found.add(node)
        elif node.op in GroupOp.Elementwise:
            bases = [source.base for source in node.src]
            if not found.isdisjoint(bases) and all(
                base in found or base.op in _FREE for base in bases
            ):
                found.add(node)
    return found


def _is_mask(node: UOp, counters: set[UOp]) -> bool:
    """Whether this compares something with a counter."""
    if node.op not in _EQUALITY or not dtypes.is_int(node.src[0].dtype):
        return False
    counted = [source.base in counters for source in node.src]
    return any(counted) and not all(counted)


def _inlined_masks(masks: list[UOp]) -> set[UOp]:
    """The masks, and the integers that they compare if these are short to compute."""
    found = set(masks)
    for mask in masks:
        found.update(_operations_above_memory(mask) or ())
    return found


def _operations_above_memory(root: UOp) -> set[UOp] | None:
    """The operations of an expression down to memory; None if it has a reduce or too many."""
    found: set[UOp] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node in found or node.op in LEAVES or node.op in COMPUTED_MEMORY or node.op is Ops.IOTA:
            continue
        if node.op not in GroupOp.Elementwise or node.op is Ops.THREEFRY:
            return None
        found.add(node)
        if len(found) > _MOST_STEPS:
            return None
        stack.extend(source.base for source in node.src)
    return found


def _combined_masks(uses: Uses, masks: list[UOp]) -> set[UOp]:
    """The nodes computed from masks, booleans and constants alone: conjunctions, one-hot rows."""
    found = set(masks)
    steps = dict.fromkeys(masks, 1)
    truths: set[UOp] = set()
    for node in uses.order:
        if node in found or node.op not in GroupOp.Elementwise:
            continue
        bases = [base for source in node.src if (base := source.base).op not in _FREE]
        if not found.isdisjoint(bases) and all(base in found or base in truths for base in bases):
            taken = 1 + sum(steps.get(base, 1) for base in bases)
            if taken <= _MOST_STEPS:
                found.add(node)
                steps[node] = taken
                continue
        if node.dtype is dtypes.bool:
            truths.add(node)
    return found


# ---- sums that pick ----------------------------------------------------------------------------


def _add_selection(reduce: UOp, counters: set[UOp], found: OneHotSelections) -> None:
    """Enter the value that a reduce selects from: x of where(mask, x, 0), read at one index per
    element."""
    where = reduce.src[0]
    if where.op is not Ops.WHERE or where.src[2].base.op is not Ops.CONST:
        return
    if where.src[2].base.arg != 0 or where.shape != reduce.src[0].shape:
        return
    masks = conjuncts(where.src[0], (Ops.AND, Ops.MUL))
    if any(_selects_along(c, reduce.arg.axes, counters) for c in masks):
        found.picked[where, where.src[1]] = prod(reduce.shape)


def _selects_along(mask: UOp, axes: tuple[int, ...], counters: set[UOp]) -> bool:
    """Whether a counter along all of `axes` is compared with a value that is constant there."""
    node = mask.base
    moved = mask is not node
    if node.op is not Ops.CMPEQ or not mask.shape or not _is_mask(node, counters):
        return False  # a scalar has no index
    left, right = node.src
    counter, other = (left, right) if left.base in counters else (right, left)
    shape = mask.shape
    if moved:
        through = mask.st
        counted, still = counter.st + through, other.st + through if other.shape else None
    else:
        counted, still = counter.st, other.st if other.shape else None
    ours = counted.real_strides(ignore_valid=True)
    # a scalar is constant along all axes
    theirs = still.real_strides(ignore_valid=True) if still is not None else (0,) * len(shape)
    return all(
        (isinstance(ours[a], int) and ours[a] != 0 and theirs[a] == 0) or shape[a] == 1
        for a in axes
    )
