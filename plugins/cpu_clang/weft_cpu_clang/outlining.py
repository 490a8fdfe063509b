"""Outlining: make one function of repeated arithmetic that follows a loop.
Also: function outlining.

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
"""Operations in a chain."""
LEAST_ITERATIONS = 256
"""Of the loop before the chains, next to which the cost of calls is negligible."""
SHORT_LOOP = 16
"""Iterations of a short loop after a long one, which counts as part of it."""
MOST_PARAMETERS = 6
"""Parameters of a function, which must fit into registers."""
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
    """The program with calls in place of repeated chains, and the functions that are called."""
    late = _after_long_loops(uops)
    if len(late) < LEAST_COPIES * LEAST_STEPS:
        return uops, []
    constant = _constants(late)
    chains_of: dict[tuple[object, ...], list[_Chain]] = {}
    for steps in _chains(uops, late, constant):
        if len(steps) >= LEAST_STEPS and steps[-1].dtype.scalar() in _LANES:
            chain = _canonical_chain(steps[-1], constant.union(steps))
            if len(chain.given) <= MOST_PARAMETERS and not any(map(_is_mask, chain.given)):
                chains_of.setdefault(chain.shape, []).append(chain)
    chosen = [chains for chains in chains_of.values() if len(chains) >= LEAST_COPIES]
    return _with_calls(uops, chosen) if chosen else (uops, [])


def _is_mask(u: UOp) -> bool:
    return u.dtype.count > 1 and dtypes.is_bool(u.dtype)


def _after_long_loops(uops: Sequence[UOp]) -> dict[UOp, int]:
    """The block of every vector operation that follows a long loop in the same loop, or in a short
    one within that."""
    late: dict[UOp, int] = {}
    block = 0
    trip_counts = [1]  # by open block: of its longest loop that was closed
    follows = [False]  # by open block: whether it is a short loop after a long one
    is_late = False
    for u in uops:
        if u.op in _CONTROL:
            block += 1
            if u.op in _OPENS:
                trip_counts.append(1)
                follows.append(is_late and u.op is Ops.RANGE and 1 < _trip_count(u) <= SHORT_LOOP)
            else:
                follows.pop()
                within = trip_counts.pop() * _trip_count(u.src[0])
                trip_counts[-1] = max(trip_counts[-1], within)
            is_late = trip_counts[-1] >= LEAST_ITERATIONS or follows[-1]
        elif is_late and u.op in _STEPS and u.dtype.count > 1:
            late[u] = block
    return late


def _trip_count(opened: UOp) -> int:
    """The number of iterations of a loop; 1 where it is unknown."""
    end = opened.src[0]
    return int(end.arg) if opened.op is Ops.RANGE and end.op is Ops.CONST else 1


def _constants(late: Iterable[UOp]) -> frozenset[UOp]:
    """The nodes computed from constants alone, among these and their sources."""
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


def _chains(
    uops: Sequence[UOp], late: dict[UOp, int], constant: frozenset[UOp]
) -> Iterable[list[UOp]]:
    """The nodes of each chain, the result last: all users of the other nodes are in the same chain
    and block."""
    owner: dict[UOp, UOp] = {}
    # the chain of a node's users; None: several chains, or another node
    user_chain: dict[UOp, UOp | None] = {}
    for u in reversed(uops):
        mine = None
        if u in late and u not in constant:
            mine = user_chain.get(u)
            if mine is None or late[mine] != late[u]:
                mine = u
            owner[u] = mine
        for source in u.src:
            user_chain[source] = mine if user_chain.get(source, mine) is mine else None
    found: dict[UOp, list[UOp]] = {}
    for u in uops:
        if u in owner:
            found.setdefault(owner[u], []).append(u)
    return found.values()


def _canonical_chain(result: UOp, inside: frozenset[UOp]) -> _Chain:
    """A chain in an order that depends on its sources alone, each given by its position."""
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


def _with_calls(
    uops: Sequence[UOp], chosen: Sequence[Sequence[_Chain]]
) -> tuple[Sequence[UOp], list[Function]]:
    """The program with calls in place of the chosen chains, and the functions."""
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
    return _without_dead_code([became[u] for u in uops]), functions


def _without_dead_code(uops: Sequence[UOp]) -> list[UOp]:
    """The nodes without unused arithmetic."""
    kept: list[UOp] = []
    used: set[UOp] = set()
    for u in reversed(uops):
        if u in used or u.op not in _MADE | _FREE:
            used.update(u.src)
            kept.append(u)
    kept.reverse()
    return kept
