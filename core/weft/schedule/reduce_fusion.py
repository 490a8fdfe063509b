"""Epilogue fusion: compute the elementwise consumers of a reduce in the kernel of the reduce.

From each reduce the readers are followed as long as they are elementwise over a reshape of the
same elements and join again. The last of them is stored, before a cast that would only widen it.
Reduces whose chains join share a kernel. Of long matrix products only the longest continues where
they join, because a kernel blocks and packs the operands of one product alone.

in:  the set of must_realize
out: the same set, and the ends of all chains of reduces

Source: Chen et al., "TVM: An Automated End-to-End Optimizing Compiler for Deep Learning", OSDI
2018, operator fusion.
"""

from __future__ import annotations

from weft.base.sequences import prod
from weft.schedule.fuse_marks import NONE, Marks
from weft.schedule.fusion_analysis import is_matrix_product
from weft.schedule.movement_lists import is_reshape
from weft.schedule.use_def import Uses, is_stored
from weft.uop import GroupOp, Ops, UOp

# operations at the end of a chain that store the value themselves
_STORES = frozenset({Ops.CONTIGUOUS, Ops.ASSIGN})
# readers of a value that are followed until they join
_WIDEST = 64
# terms of all matrix products that share a kernel
_LONG_PRODUCTS = 2048


def group_reduces(uses: Uses, realized: dict[UOp, None], marks: Marks = NONE) -> dict[UOp, None]:
    """`realized` with the end of every reduce's chain added, sources first.

    marks: reduces inside a mark are computed where they are read; what is marked ends their chain.
    """
    place = {node: number for number, node in enumerate(uses.order)}
    chosen = dict(realized)
    chains: dict[UOp, list[list[UOp]]] = {}
    for node in uses.order:
        inside = node in marks.inside
        if node in marks.ends or (node.op is Ops.REDUCE_AXIS and not inside):
            chain = _epilogue(node, uses, chosen, place)
            chosen[chain[-1]] = None
            if node.op is Ops.REDUCE_AXIS and is_matrix_product(node):
                chains.setdefault(chain[-1], []).append(chain)
    for meeting in chains.values():
        chosen.update(dict.fromkeys(_separate_products(meeting)))
    return {node: None for node in uses.order if node in chosen}


def _epilogue(
    reduce: UOp, uses: Uses, realized: dict[UOp, None], place: dict[UOp, int]
) -> list[UOp]:
    """The elementwise nodes that a reduce can compute one after the other; the last one is
    stored."""
    chain = [reduce]
    while (current := chain[-1]) not in realized:
        joined = _next_join(current, uses, realized, place)
        if joined is None:
            return [*chain, _end_before_widening(current)]
        if joined.op in _STORES:
            return [*chain, joined] if _stores_directly(joined, current, reduce) else chain
        chain.append(joined)
    return chain


def _separate_products(meeting: list[list[UOp]]) -> list[UOp]:
    """The ends of epilogues of matrix products that join where they are too long for one kernel."""
    terms = [prod(chain[0].src[0].shape[axis] for axis in chain[0].arg.axes) for chain in meeting]
    if not all(isinstance(n, int) for n in terms) or sum(terms) <= _LONG_PRODUCTS:
        return []
    longest = set(meeting[terms.index(max(terms))])
    alone = ([node for node in chain if node not in longest] for chain in meeting)
    return [_end_before_widening(own[-1]) for own in alone if own]


def _end_before_widening(end: UOp) -> UOp:
    """The end of an epilogue, before a cast to a wider dtype, which readers do."""
    while end.op is Ops.CAST and end.dtype.itemsize > end.src[0].dtype.itemsize:
        if not is_reshape(end.src[0], end.src[0].base):
            break
        end = end.src[0].base
    return end


def _next_join(
    start: UOp, uses: Uses, realized: dict[UOp, None], place: dict[UOp, int]
) -> UOp | None:
    """The nearest node that every value computed from `start` passes through, element by element.

    relu(x), which reads x twice, is one step: the paths may split if they join again.
    """
    group, waiting = [start], dict.fromkeys(_elementwise_readers(start, uses) or ())
    while waiting and len(group) <= _WIDEST:
        if len(waiting) == 1:
            return next(iter(waiting))
        first = min(waiting, key=place.__getitem__)
        if first in realized or first.op in _STORES:
            return None
        readers = _elementwise_readers(first, uses)
        if readers is None:
            return None
        del waiting[first]
        group.append(first)
        waiting.update(dict.fromkeys(readers))
    return None


def _elementwise_readers(node: UOp, uses: Uses) -> list[UOp] | None:
    """The users that read `node` element by element; None if any reads it otherwise."""
    for use in uses.of[node]:
        fits = use.user.op in GroupOp.Elementwise or use.user.op in _STORES
        if not fits or is_stored(use.user) or not is_reshape(use.source, node):
            return None
    return list(dict.fromkeys(use.user for use in uses.of[node]))


def _stores_directly(user: UOp, current: UOp, reduce: UOp) -> bool:
    """Whether an ASSIGN stores its value without a copy: the reduce does not read that memory."""
    if user.op is Ops.CONTIGUOUS:
        return True
    version = user.src[0].base
    return version is not current and version not in reduce.toposort(
        gate=lambda u: not is_stored(u) and u.op not in _STORES
    )
