"""PatternMatcher: a named set of rewrite rules, dispatched by op.
Also: term rewriting, peephole rules, pattern matching, tree pattern matching.

Identities are rows of a table, `[(x + 0, lambda x: x)]`. A rule with a condition is a named
function, added with `@matcher.rule(pattern)`, whose docstring is its law. Its parameters are the
captures of the pattern, and `ctx` if the rule uses the context.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from weft.base import trace
from weft.base.errors import SpecError
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.pattern import UPat, compile_rule

Rule = tuple[UPat, Callable[..., Any]]


def _parameters(function: Callable[..., Any]) -> list[str] | None:
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        code = function.__code__  # faster than inspect.signature
        if not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return None
    return list(signature.parameters)


class PatternMatcher:
    """An ordered set of rules; the first one that returns a node applies.

    `name` is what traces show; a rule that fires is published as a point "rule". `hits` counts
    how often each named rule fired, for the test that no rule is dead.
    """

    def __init__(self, rules: Iterable[Rule] | str = (), name: str = "") -> None:
        if isinstance(rules, str):
            rules, name = (), rules
        self.name = name
        self.patterns: list[Rule] = list(rules)
        self.hits: dict[str, int] = {}
        self._table: dict[Ops, list[Callable[[UOp, Any], UOp | None]]] | None = None
        self._rules: dict[Callable[[UOp, Any], UOp | None], Rule] = {}

    def rule(self, pattern: UPat) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add the decorated function as a rule for `pattern`."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.patterns.append((pattern, function))
            self._table = None
            return function

        return add

    def __add__(self, other: PatternMatcher) -> PatternMatcher:
        name = " + ".join(filter(None, (self.name, other.name)))
        return PatternMatcher([*self.patterns, *other.patterns], name)

    def _compile(self) -> dict[Ops, list[Callable[[UOp, Any], UOp | None]]]:
        table: dict[Ops, list[Callable[[UOp, Any], UOp | None]]] = {op: [] for op in Ops}
        for pattern, function in self.patterns:
            wanted = _parameters(function)
            if wanted is not None:
                missing = set(wanted) - set(pattern.captures()) - {"ctx"}
                if missing:
                    raise SpecError(
                        f"rule {function.__name__} has the parameters {sorted(missing)}, "
                        "which its pattern does not capture",
                        asked=f"PatternMatcher({self.name!r})",
                        because=f"the pattern captures {pattern.captures()}",
                    )
            hits = None
            if function.__name__ != "<lambda>":
                self.hits.setdefault(function.__name__, 0)
                hits = self.hits
            matcher = compile_rule(pattern, function, wanted is not None and "ctx" in wanted, hits)
            self._rules[matcher] = (pattern, function)
            for op in _possible_ops(pattern):
                table[op].append(matcher)
        self._table = table
        return table

    def rewrite(self, node: UOp, ctx: Any = None) -> Any:
        """The result of the first rule that matches `node` and returns a node; None otherwise."""
        table = self._table or self._compile()
        for matcher in table[node.op]:
            result = matcher(node, ctx)
            if result is not None and result is not node:
                if trace.enabled("rule"):
                    pattern, function = self._rules[matcher]
                    trace.point(
                        "rule", set=self.name, rule=function, pattern=pattern, before=node,
                        after=result,
                    )  # fmt: skip
                return result
        return None


def _possible_ops(pattern: UPat) -> Iterable[Ops]:
    if pattern.op is not None:
        return pattern.op
    if pattern.alternatives:
        return {op for alternative in pattern.alternatives for op in _possible_ops(alternative)}
    return tuple(Ops)
