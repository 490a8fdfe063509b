"""Which values are written where they are used, and which get a statement and a name.

in: spec.linear            out: for each node that may be inlined, how long its text may be for that

A value that is used once may move down to its use, as long as that is in the same block and, if it
reads memory, that is not written on the way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from weft.uop import GroupOp, Ops, UOp

CONTROL = frozenset({Ops.RANGE, Ops.ENDRANGE, Ops.IF, Ops.ENDIF})
FENCES = frozenset({Ops.BARRIER, Ops.CUSTOM})
ALWAYS = frozenset(
    {Ops.CONST, Ops.VCONST, Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.INDEX, Ops.NOOP, Ops.SINK}
)
SHORT, WHOLE, ANY = 64, 96, 1 << 30
"""Characters: of a part of a statement, of all of it, of what costs nothing to say again."""
MOVABLE = GroupOp.Elementwise | {Ops.VECTORIZE, Ops.GEP, Ops.CAT, Ops.LOAD, Ops.CUSTOMI}


def is_free(u: UOp) -> bool:
    """Whether writing it again costs nothing: constants, addresses, one lane of a vector."""
    if u.op in ALWAYS:
        return True
    if u.op is Ops.GEP:
        return len(u.arg) == 1 and u.src[0].op is not Ops.GEP
    return u.op is Ops.VECTORIZE and u.src[0].op is Ops.CONST and len(set(u.src)) == 1


def inlinable(uops: Sequence[UOp]) -> dict[UOp, int]:
    """The nodes that may be written where they are used, if their text is no longer than this."""
    users: dict[UOp, list[UOp]] = {}
    position: dict[UOp, int] = {}
    writes: dict[UOp | None, list[int]] = {}
    blocks: list[int] = []
    entered = 0
    for number, u in enumerate(uops):
        # What a node does counts from the next one on: its own sources are read before it.
        blocks.append(entered)
        entered += u.op in CONTROL
        if u.op is Ops.STORE or u.op in FENCES:
            writes.setdefault(_storage(u), []).append(number)
        position[u] = number
        for source in u.src:
            users.setdefault(source, []).append(u)
    place: dict[UOp, int] = {}
    found: dict[UOp, int] = {}
    for u in reversed(uops):
        here = place[u] = position[u]
        uses = users.get(u, ())
        if is_free(u):
            found[u] = ANY
            place[u] = max((place[v] for v in uses), default=here)
            continue
        if u.op not in MOVABLE or len(uses) != 1 or uses[0].op is Ops.GEP:
            continue  # lanes are picked from a name: picking is free and may be written many times
        target = place[uses[0]]
        if blocks[here] != blocks[target]:
            continue
        if u.op is Ops.LOAD and _written(writes.get(_storage(u), ()), here, target):
            continue
        found[u] = WHOLE if uses[0].op is Ops.STORE else SHORT
        place[u] = target
    return found


def _storage(access: UOp) -> UOp | None:
    """The register an access touches; None for memory, where slots might be one buffer."""
    if access.op in FENCES:
        return None
    root = access.src[0].src[0]
    return root if root.op is Ops.DEFINE_REG else None


def _written(places: Sequence[int], first: int, last: int) -> bool:
    """Whether one of these ascending places lies from first on and before last."""
    return bisect_left(places, last) > bisect_left(places, first)
