"""Which elementwise children a reduce takes along: as many as read it once, element by element.

Each reduce follows its only reader, as long as that is elementwise over a reshape of the same
elements; where the chain ends, the value is stored. Reduces whose chains meet share a kernel.

in:  the set of must_realize      out: the same set, and the ends of all chains of reduces
"""

from __future__ import annotations

from weft.base.sequences import prod
from weft.schedule.uses import Uses, is_stored
from weft.uop import GroupOp, Ops, UOp

# what may stand at the end of a chain and store the reduced value itself
_STORES = frozenset({Ops.CONTIGUOUS, Ops.ASSIGN})


def group_reduces(uses: Uses, realized: dict[UOp, None]) -> dict[UOp, None]:
    """`realized` with the end of every reduce's chain added, sources first."""
    ends: dict[UOp, None] = {}
    chosen = dict(realized)
    for node in uses.order:
        if node.op is Ops.REDUCE_AXIS:
            end = _end_of_chain(node, uses, chosen)
            ends[end] = None
            chosen[end] = None
    return {node: None for node in uses.order if node in realized or node in ends}


def _end_of_chain(reduce: UOp, uses: Uses, realized: dict[UOp, None]) -> UOp:
    """The last node that can be computed where `reduce` ends."""
    current = reduce
    while current not in realized:
        users = {use.user for use in uses.of[current]}
        if len(users) != 1:
            break
        user = next(iter(users))
        if not all(_same_elements(use.source, current) for use in uses.of[current]):
            break
        if user.op in _STORES:
            return user if _stores_directly(user, current, reduce) else current
        if user.op not in GroupOp.Elementwise or is_stored(user):
            break
        current = user
    return current


def _stores_directly(user: UOp, current: UOp, reduce: UOp) -> bool:
    """An ASSIGN stores its value, unless the reduce reads the memory that it would overwrite."""
    if user.op is Ops.CONTIGUOUS:
        return True
    version = user.src[0].base
    return version is not current and version not in reduce.toposort(
        gate=lambda u: not is_stored(u) and u.op not in _STORES
    )


def _same_elements(source: UOp, base: UOp) -> bool:
    """Whether `source` is a reshape of `base`: the same elements in the same order."""
    if source is base:
        return True
    return prod(source.shape) == prod(base.shape) and source.st.simplify().contiguous
