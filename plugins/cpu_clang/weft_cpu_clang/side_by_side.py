"""Kernels in which clang may find numbers side by side that it can make vectors of.

clang's search for those (Larsen and Amarasinghe, "Exploiting superword level parallelism with
multimedia instruction sets", 2000) takes up to a quarter of the time of a long kernel, and in most
kernels it finds nothing: what stands side by side is in vectors before clang sees it. What it may
find starts from several numbers that are stored one by one, each the sum of a row say; from numbers
that are read a few places apart; or from addresses that are computed of the lanes of a vector.
Those kernels are marked, and the compiler reads the mark.
"""

from __future__ import annotations

from itertools import pairwise

from weft.plugin import LinearProgram, Ops, UOp

MARK = "/* numbers side by side */\n"
"""The first line of a source that clang shall search."""
_NEAR = 9
"""Places apart: windows of 3x3 in a row are made of vectors by clang, rows of ten numbers not."""
_TAKEN = frozenset({Ops.CAST, Ops.GEP})
"""A lane that is an address as it stands: there is nothing to compute side by side."""


def has_side_by_side(program: LinearProgram) -> bool:
    """Whether the search may find something: in `row[i] = a / 3; row[i + 1] = b / 3`, say."""
    stored = 0
    for node in program.uops:
        if node.op is Ops.RANGE or node.op is Ops.ENDRANGE:
            stored = 0
        elif node.op is Ops.STORE:
            stored += node.src[1].dtype.count == 1
            if stored > 1:
                return True
        elif node.op is Ops.VECTORIZE and _is_picked_near(node):
            return True
    return False


def _is_picked_near(vector: UOp) -> bool:
    """Lanes that are read one by one, from places near one another or of which none is known."""
    loads = [lane for lane in dict.fromkeys(vector.src) if lane.op is Ops.LOAD]
    if len(loads) < 2:
        return False
    places = [_place(load) for load in loads]
    bases = {base for base, _ in places}
    if len(bases) > 1:
        return any(base is not None and base.op not in _TAKEN for base in bases)
    offsets = sorted(offset for _, offset in places)
    return any(after - before <= _NEAR for before, after in pairwise(offsets))


def _place(load: UOp) -> tuple[UOp | None, int]:
    """The address as something that is computed, None where nothing is, and a number."""
    at = load.src[0].src[1]
    if at.op is Ops.CONST:
        return None, at.arg
    if at.op is Ops.ADD and at.src[1].op is Ops.CONST:
        return at.src[0], at.src[1].arg
    return at, 0
