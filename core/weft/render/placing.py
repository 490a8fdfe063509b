"""Which values are written where they are used, and which get a statement and a name.

in: spec.linear            out: for each node that may be inlined, how long its text may be for that

A value that is used once may move down to its use, as long as that is in the same block and, if it
reads memory, nothing is written on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.uop import GroupOp, Ops, UOp

CONTROL = frozenset({Ops.RANGE, Ops.ENDRANGE, Ops.IF, Ops.ENDIF})
EFFECTS = CONTROL | {Ops.STORE, Ops.BARRIER, Ops.CUSTOM}
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
    control, effects, position = [], [], {}
    controls = writes = 0
    for number, u in enumerate(uops):
        # What a node does counts from the next one on: its own sources are read before it.
        control.append(controls)
        effects.append(writes)
        controls += u.op in CONTROL
        writes += u.op in EFFECTS
        position[u] = number
        for source in u.src:
            users.setdefault(source, []).append(u)
    place: dict[UOp, int] = {}
    found: dict[UOp, int] = {}
    for u in reversed(uops):
        here = place[u] = position[u]
        if is_free(u):
            found[u] = ANY
            uses = users.get(u, ())
            place[u] = max((place[v] for v in uses), default=here)
            continue
        uses = users.get(u, ())
        if u.op not in MOVABLE or len(uses) != 1 or uses[0].op is Ops.GEP:
            continue  # lanes are picked from a name: picking is free and may be written many times
        target = place[uses[0]]
        count = effects if u.op is Ops.LOAD else control
        if count[here] == count[target]:
            found[u] = WHOLE if uses[0].op is Ops.STORE else SHORT
            place[u] = target
    return found
