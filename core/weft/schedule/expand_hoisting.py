"""Expand hoisting: apply elementwise operations before an EXPAND instead of after it.

Fewer elements are computed. A value that is stored in between may also take fewer bytes.

in:  spec.tensor
out: spec.tensor, every value equal

Source: XLA, pass AlgebraicSimplifier (sinking a broadcast after an elementwise operation).
"""

from __future__ import annotations

from collections.abc import Mapping

from weft.base.sequences import prod
from weft.schedule.batched_edits import Change, Edit
from weft.schedule.movement_lists import REARRANGES, apply_moves, is_static, moves_between
from weft.schedule.use_def import LEAVES, MEMORY, SCALARS, Uses
from weft.uop import GroupOp, Ops, UOp

# movement that repeats elements and keeps all
_SPREADS = REARRANGES | {Ops.EXPAND}
# how long a chain of steps is followed
_MOST_STEPS = 64


def hoisted_expands(uses: Uses) -> list[Change]:
    """f(expand(x)) -> expand(f(x))   when f has no other source and does not widen"""
    found: list[Change] = []
    seen: set[UOp] = set()
    for node in uses.order:
        if node in seen or (source := _only_source(node)) is None:
            continue
        base = source.base
        if base.op in MEMORY or base.op in LEAVES or base in uses.sinks or base.op is Ops.IOTA:
            continue
        if source is base or len(uses.of[base]) != 1 or not is_static(source):
            continue
        moves = moves_between(source, base)
        grows = prod(source.shape) > prod(base.shape)
        if not grows or any(move.op not in _SPREADS for move in moves):
            continue
        steps = _chain_from(node, uses)
        seen.update(steps)
        if any(use.user.op in GroupOp.Meta for use in uses.of[steps[-1]]):
            continue  # a copy reads memory as it is
        found.append(({steps[-1]: _hoisting_edit(steps, source, moves)}, {*steps, base}))
    return found


def _only_source(node: UOp) -> UOp | None:
    """The single expanded source of an elementwise node that is profitable to compute before its
    expand; None otherwise."""
    if node.op not in GroupOp.Elementwise:
        return None
    sources = [source for source in node.src if source.op not in SCALARS]
    if len(sources) != 1 or node.dtype.itemsize > sources[0].dtype.itemsize:
        return None
    resizes = node.op is Ops.BITCAST and node.dtype.itemsize != sources[0].dtype.itemsize
    return None if resizes else sources[0]


def _chain_from(node: UOp, uses: Uses) -> list[UOp]:
    """`node` and the elementwise nodes of the same kind that follow it and have one reader each."""
    steps = [node]
    while len(steps) < _MOST_STEPS and node not in uses.sinks and len(uses.of[node]) == 1:
        (use,) = uses.of[node]
        if use.source is not node or _only_source(use.user) is not node:
            break
        node = use.user
        steps.append(node)
    return steps


def _hoisting_edit(steps: list[UOp], source: UOp, moves: list[UOp]) -> Edit:
    """The edit that computes a chain before the expand."""

    def edit(done: Mapping[UOp, UOp]) -> UOp:
        below, value = source, done[source.base]
        for step in steps:
            src = tuple(value if s is below else done.get(s, s) for s in step.src)
            below, value = step, step.over(src)
        return apply_moves(value, moves)

    return edit
