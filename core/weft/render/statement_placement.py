"""Forward substitution: choose the values that are inlined and those that get a statement.

A value that is used once may move to its use. The use must be in the same block, and memory that
the value reads must not be written in between.

in:  spec.linear
out: for each node that may be inlined, how long its text may be for that

Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, chapter 4
(forward expression substitution).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from weft.base.dtype import AddrSpace, PtrDType
from weft.uop import GroupOp, Ops, UOp

CONTROL = frozenset({Ops.RANGE, Ops.ENDRANGE, Ops.IF, Ops.ENDIF})
FENCES = frozenset({Ops.BARRIER, Ops.CUSTOM})
ALWAYS = frozenset(
    {Ops.CONST, Ops.VCONST, Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.INDEX, Ops.NOOP, Ops.SINK}
)
SHORT, WHOLE, ANY = 64, 96, 1 << 30
"""Characters: of a part of a statement, of all of it, of what costs nothing to repeat."""
_COUNT = CONTROL | FENCES | {Ops.LOAD, Ops.STORE}
MOVABLE = GroupOp.Elementwise | {Ops.VECTORIZE, Ops.GEP, Ops.CAT, Ops.LOAD, Ops.CUSTOMI}


def is_free_to_repeat(u: UOp) -> bool:
    """Whether repeating the text costs nothing: constants, addresses, one lane of a vector."""
    if u.op in ALWAYS:
        return True
    if u.op is Ops.GEP:
        return len(u.arg) == 1 and u.src[0].op is not Ops.GEP
    return u.op is Ops.VECTORIZE and u.src[0].op is Ops.CONST and len(set(u.src)) == 1


def is_pair(u: UOp) -> bool:
    """Whether a vector is two of one length, one after the other."""
    return u.op is Ops.CAT and len(u.src) == 2 and u.src[0].dtype.count == u.src[1].dtype.count > 1


def inlinable(uops: Sequence[UOp], shuffles: bool = False) -> dict[UOp, int]:
    """The nodes that may be written where they are used, if their text is no longer than this.

    :param shuffles: lanes of two vectors are picked at once: what only these are taken from is
        never written by itself.
    """
    writes: dict[UOp | None, list[int]] = {}
    blocks: list[int] = []
    reads: list[int] = []
    entered = 0
    for number, u in enumerate(uops):
        # What a node does counts from the next one on: its own sources are read before it.
        blocks.append(entered)
        op = u.op
        if op not in _COUNT:
            continue
        if op is Ops.LOAD:
            if _storage(u) is None:
                reads.append(number)
        elif op in CONTROL:
            entered += 1
        else:
            writes.setdefault(_storage(u), []).append(number)
    only_user: dict[UOp, UOp | None] = {}  # None: there are several
    last_use: dict[UOp, int] = {}
    found: dict[UOp, int] = {}
    whole: set[UOp] = set()  # vectors of which more is wanted than some of their lanes
    for here in range(len(uops) - 1, -1, -1):
        u = uops[here]
        place = here
        if is_free_to_repeat(u) or (shuffles and is_pair(u) and u not in whole):
            found[u] = ANY
            place = last_use.get(u, here)
        # lanes are picked from a name: picking is free and may be written many times
        elif (
            u.op in MOVABLE
            and (user := only_user.get(u)) is not None
            and user.op is not Ops.GEP
            and not (user.op is Ops.CAT and user in found)
            and blocks[here] == blocks[target := last_use[u]]
            and not (
                u.op is Ops.LOAD and _has_entry_between(writes.get(_storage(u), ()), here, target)
            )
            and not (
                u.op is Ops.LOAD
                and _is_hoisted_load(user)
                and _has_entry_between(reads, here + 1, target)
            )
        ):
            found[u] = WHOLE if user.op is Ops.STORE else SHORT
            place = target
        if u.op is not Ops.GEP or len(u.arg) == 1:
            whole.update(u.src)
        for source in u.src:
            if source not in only_user:
                only_user[source] = u
                last_use[source] = place
            else:
                only_user[source] = None
                if place > last_use[source]:
                    last_use[source] = place
    return found


def _storage(access: UOp) -> UOp | None:
    """The register an access touches; None for memory, where slots might be one buffer."""
    if access.op in FENCES:
        return None
    root = access.src[0].src[0]
    return root if root.op is Ops.DEFINE_REG else None


def _is_hoisted_load(user: UOp) -> bool:
    """Whether a value is loaded early on purpose: to be on its way while other memory is read."""
    if user.op is not Ops.STORE:
        return False
    memory = user.src[0].src[0].dtype
    return isinstance(memory, PtrDType) and memory.space is AddrSpace.LOCAL


def _has_entry_between(places: Sequence[int], first: int, last: int) -> bool:
    """Whether one of these ascending numbers is at least `first` and below `last`."""
    return bisect_left(places, last) > bisect_left(places, first)
