"""Term rewriting: apply a rule set to a graph until no rule matches, without recursion.
Also: graph rewriting, fixed-point iteration, tree rewriting.

A node is rewritten after its sources, and the result of a rule is
rewritten again. A rule set that does not terminate raises an error with its name.

Source: F. Baader, T. Nipkow, 'Term Rewriting and All That' (1998): normal forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.base import trace
from weft.base.errors import SpecError
from weft.uop.matcher import PatternMatcher
from weft.uop.node import UOp

_VISIT, _BUILD, _LINK = 0, 1, 2


def rewrite_map(
    sink: UOp,
    matcher: PatternMatcher,
    ctx: Any = None,
    nodes: Iterable[UOp] | None = None,
) -> dict[UOp, UOp]:
    """The replacement of every node below `sink`, and of `sink` itself.

    nodes: all of them in topological order, if the caller has them.
    """
    done: dict[UOp, UOp] = {}
    table = matcher._table or matcher._compile()
    # most nodes do not change: one traversal visits all nodes, and only the result of a rule needs
    # a stack
    for original in sink.toposort() if nodes is None else nodes:
        if original in done:
            continue
        node = original
        for source in original.src:
            if done[source] is not source:
                src = tuple([done[s] for s in original.src])
                node = UOp(original.op, original.dtype, src, original.arg)
                break
        if node is not original and node in done:
            done[original] = done[node].with_provenance_of(original)
            continue
        replacement = matcher.rewrite(node, ctx) if table[node.op] else None
        if replacement is None:
            done[node] = node
            if node is not original:
                done[original] = node.with_provenance_of(original)
            continue
        stack: list[tuple[UOp, UOp, int]] = []
        waiting: set[UOp] = set()
        if node is not original:
            waiting.add(original)
            stack.append((original, node, _LINK))
        _wait_for(node, replacement, stack, waiting, done, matcher)
        _settle(stack, waiting, done, matcher, ctx)
    return done


def _settle(
    stack: list[tuple[UOp, UOp, int]],
    waiting: set[UOp],
    done: dict[UOp, UOp],
    matcher: PatternMatcher,
    ctx: Any,
) -> None:
    """Rewrite the nodes on the stack, and the results of rules, until the stack is empty."""
    table = matcher._table or matcher._compile()
    while stack:
        original, node, stage = stack.pop()
        if stage == _LINK:
            waiting.discard(original)
            done[original] = done[node].with_provenance_of(original)
            continue
        if original in done:
            continue
        if stage == _VISIT:
            missing = [source for source in node.src if source not in done]
            if missing:
                stack.append((original, node, _BUILD))
                stack.extend((source, source, _VISIT) for source in reversed(missing))
                continue
        src = tuple([done[source] for source in node.src])
        if src != node.src:
            rebuilt = UOp(node.op, node.dtype, src, node.arg)
            _wait_for(original, rebuilt, stack, waiting, done, matcher)
            continue
        replacement = matcher.rewrite(node, ctx) if table[node.op] else None
        if replacement is None:
            done[original] = node
        else:
            _wait_for(original, replacement, stack, waiting, done, matcher)


def _wait_for(
    original: UOp,
    replacement: UOp,
    stack: list[tuple[UOp, UOp, int]],
    waiting: set[UOp],
    done: dict[UOp, UOp],
    matcher: PatternMatcher,
) -> None:
    """Replace `original` by the replacement of `replacement`."""
    if replacement in done:
        done[original] = done[replacement].with_provenance_of(original)
        return
    if replacement in waiting or replacement is original:
        raise SpecError(
            f"the rules {matcher.name or 'of an unnamed set'} do not terminate",
            asked=f"graph_rewrite of a {original.op} node",
            because=f"it became a {replacement.op} node that is being rewritten already",
            try_="let one of the two rules reject the result of the other",
        )
    waiting.add(original)
    stack.append((original, replacement, _LINK))
    stack.append((replacement, replacement, _VISIT))


def graph_rewrite(
    sink: UOp,
    matcher: PatternMatcher,
    ctx: Any = None,
    nodes: Iterable[UOp] | None = None,
) -> UOp:
    """`sink` after the rules of `matcher` are applied until none matches.

    ctx: the context of rules with a parameter `ctx`. nodes: see `rewrite_map`. Raises SpecError if
    rules undo each other.
    """
    result = rewrite_map(sink, matcher, ctx, nodes)[sink]
    if trace.enabled("rewrite") and result is not sink:
        trace.point("rewrite", name=matcher.name, before=sink, after=result)
    return result
