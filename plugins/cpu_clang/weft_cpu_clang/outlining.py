"""Outlining: make one function of repeated arithmetic that follows a loop.

A tile of reductions may apply the same dozens of operations to each result after its loop. This is
the longest part of the kernel's text and of its compilation, and the shortest part of its run
time. Chains that differ in their inputs alone become calls of one function. Chains that follow no
long loop stay inline, because there a call is expensive. A short loop after a long one, for
example over the rows of a tile, counts as part of it.

in:  spec.linear
out: the same with CUSTOMI nodes that call functions, and what those compute

Source: LLVM, pass IROutliner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.plugin import Function, GroupOp, Ops, UOp, dtypes

LEAST_COPIES = 6
LEAST_STEPS = 16
"""Of operations in a chain."""
LEAST_TURNS = 256
"""Of the loop before the chains: what a call costs then is lost beside it."""
SHORT = 16
"""Turns of a loop behind such a one, all of which are done as often as it is."""
MOST_GIVEN = 6
"""Values that a call is given: they are to fit into registers."""
_OPENS = frozenset({Ops.RANGE, Ops.IF, Ops.SPECIAL})
_CONTROL = _OPENS | {Ops.ENDRANGE, Ops.ENDIF}
_STEPS = GroupOp.Elementwise
_MADE = _STEPS | {Ops.VECTORIZE}
_FREE = frozenset({Ops.CONST, Ops.VCONST})
_LANES = frozenset({dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64})


class _Chain(NamedTuple):
    shape: tuple[object, ...]
    given: tuple[UOp, ...]
    steps: tuple[UOp, ...]


def outline(uops: Sequence[UOp]) -> tuple[Sequence[UOp], list[Function]]:
    """The program with calls in place of chains, and the functions that are called."""
    late = _behind_loops(uops)
    if len(late) < LEAST_COPIES * LEAST_STEPS:
        return uops, []
    constant = _constants(late)
    alike: dict[tuple[object, ...], list[_Chain]] = {}
    for steps in _owned(uops, late, constant):
        if len(steps) >= LEAST_STEPS and steps[-1].dtype.scalar() in _LANES:
            chain = _chain(steps[-1], constant.union(steps))
            if len(chain.given) <= MOST_GIVEN and not any(map(_is_mask, chain.given)):
                alike.setdefault(chain.shape, []).append(chain)
    chosen = [chains for chains in alike.values() if len(chains) >= LEAST_COPIES]
    return _called(uops, chosen) if chosen else (uops, [])


def _is_mask(u: UOp) -> bool:
    return u.dtype.count > 1 and dtypes.is_bool(u.dtype)


def _behind_loops(uops: Sequence[UOp]) -> dict[UOp, int]:
    """The block of every operation on vectors that has a long loop before it, in the loop that
    holds both, or in a short one within that."""
    late: dict[UOp, int] = {}
    block = 0
    turns = [1]  # by open block: of the longest loop that was closed in it
    follows = [False]  # likewise: whether it is a short loop behind a long one
    is_late = False
    for u in uops:
        if u.op in _CONTROL:
            block += 1
            if u.op in _OPENS:
                turns.append(1)
                follows.append(is_late and u.op is Ops.RANGE and 1 < _turns(u) <= SHORT)
            else:
                follows.pop()
                within = turns.pop() * _turns(u.src[0])
                turns[-1] = max(turns[-1], within)
            is_late = turns[-1] >= LEAST_TURNS or follows[-1]
        elif is_late and u.op in _STEPS and u.dtype.count > 1:
            late[u] = block
    return late


def _turns(opened: UOp) -> int:
    end = opened.src[0]
    return int(end.arg) if opened.op is Ops.RANGE and end.op is Ops.CONST else 1


def _constants(late: Iterable[UOp]) -> frozenset[UOp]:
    """What is made of constants alone, among these nodes and what they are made of."""
    found: dict[UOp, bool] = {}

    def is_constant(u: UOp) -> bool:
        if (known := found.get(u)) is None:
            # each source is looked at, whatever the others are
            sources = [is_constant(s) for s in u.src] if u.op in _MADE else [u.op in _FREE]
            known = found[u] = all(sources)
        return known

    for u in late:
        is_constant(u)
    return frozenset(u for u, known in found.items() if known)


def _owned(
    uops: Sequence[UOp], late: dict[UOp, int], constant: frozenset[UOp]
) -> Iterable[list[UOp]]:
    """The nodes of each chain, of which the last is the result: all users of the others are of the
    same chain, and stand in the same block."""
    owner: dict[UOp, UOp] = {}
    asked: dict[UOp, UOp | None] = {}  # by whose nodes; None: by several chains, or something else
    for u in reversed(uops):
        mine = None
        if u in late and u not in constant:
            mine = asked.get(u)
            if mine is None or late[mine] != late[u]:
                mine = u
            owner[u] = mine
        for source in u.src:
            asked[source] = mine if asked.get(source, mine) is mine else None
    found: dict[UOp, list[UOp]] = {}
    for u in uops:
        if u in owner:
            found.setdefault(owner[u], []).append(u)
    return found.values()


def _chain(result: UOp, inside: frozenset[UOp]) -> _Chain:
    """Nodes in an order that depends on nothing but their sources, each told by places in it."""
    places: dict[UOp, int] = {}
    rows: list[object] = []
    given: list[UOp] = []
    steps: list[UOp] = []
    stack = [(result, False)]
    while stack:
        u, is_ready = stack.pop()
        if u in places:
            continue
        if u in inside and u.src and not is_ready:
            stack.append((u, True))
            stack += [(source, False) for source in reversed(u.src)]
            continue
        places[u] = len(rows)
        if u in inside:
            steps.append(u)
            rows.append((u.op, u.dtype, u.arg, *(places[source] for source in u.src)))
        else:
            given.append(u)
            rows.append(u.dtype)
    return _Chain(tuple(rows), tuple(given), tuple(steps))


def _called(
    uops: Sequence[UOp], chosen: Sequence[Sequence[_Chain]]
) -> tuple[Sequence[UOp], list[Function]]:
    functions: list[Function] = []
    calls: dict[UOp, tuple[str, tuple[UOp, ...]]] = {}
    for number, chains in enumerate(chosen):
        name, first = f"steps{number}", chains[0]
        functions.append(Function(name, first.given, first.steps))
        text = f"{name}({', '.join(f'{{{place}}}' for place in range(len(first.given)))})"
        calls |= {chain.steps[-1]: (text, chain.given) for chain in chains}
    became: dict[UOp, UOp] = {}
    for u in uops:
        text, sources = calls.get(u, ("", u.src))
        sources = tuple(became[source] for source in sources)
        if text:
            became[u] = UOp(Ops.CUSTOMI, u.dtype, sources, text)
        else:
            became[u] = u if sources == u.src else u.replace(src=sources)
    return _needed([became[u] for u in uops]), functions


def _needed(uops: Sequence[UOp]) -> list[UOp]:
    """Without arithmetic that nobody uses any more."""
    kept: list[UOp] = []
    used: set[UOp] = set()
    for u in reversed(uops):
        if u in used or u.op not in _MADE | _FREE:
            used.update(u.src)
            kept.append(u)
    kept.reverse()
    return kept
