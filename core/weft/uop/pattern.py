"""UPat: the shape of a subgraph, with named captures.

    UPat(Ops.ADD, src=(UPat.var("x"), UPat.const(0)))    or, with operators,    UPat.var("x") + 0

A tuple of sources is matched in order (both orders where the op is commutative and the pattern was
built with an operator), a list in any order, a single pattern by every source.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, cast

from weft.base.dtype import DType
from weft.base.errors import ArgumentError
from weft.uop.math import MathMixin
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_ANY = object()


def _set_of(value: Any) -> frozenset[Any] | None:
    if value is None:
        return None
    if isinstance(value, Iterable) and not isinstance(value, str):
        return frozenset(cast("Iterable[Any]", value))
    return frozenset((value,))


class UPat(MathMixin):
    """A pattern over nodes.

    op: one op or a set of them (None: any). dtype: one dtype or a set. src: tuple (in order), list
    (any order), one UPat (every source) or None. arg: a value that must be equal. name: a capture.
    allow_any_len: further sources may follow those of the tuple.
    """

    __slots__ = (
        "_matcher",
        "allow_any_len",
        "alternatives",
        "arg",
        "dtype",
        "name",
        "op",
        "src",
        "unordered",
    )

    def __init__(
        self,
        op: Ops | Iterable[Ops] | None = None,
        dtype: DType | Iterable[DType] | None = None,
        src: tuple[UPat, ...] | list[UPat] | UPat | None = None,
        arg: Any = _ANY,
        name: str | None = None,
        allow_any_len: bool = False,
        alternatives: tuple[UPat, ...] = (),
    ) -> None:
        if name is not None and not name.isidentifier():
            raise ArgumentError(f"a capture needs an identifier, not {name!r}", asked="UPat(name=)")
        self.op = _set_of(op)
        self.dtype = _set_of(dtype)
        self.unordered = isinstance(src, list)
        self.src = tuple(src) if isinstance(src, list | tuple) else src
        self.arg = arg
        self.name = name
        self.allow_any_len = allow_any_len
        self.alternatives = alternatives
        self._matcher: Any = None  # compiled when first matched alone

    @staticmethod
    def var(name: str | None = None, dtype: DType | Iterable[DType] | None = None) -> UPat:
        """Any node."""
        return UPat(dtype=dtype, name=name)

    @staticmethod
    def cvar(name: str | None = None, dtype: DType | Iterable[DType] | None = None) -> UPat:
        """Any constant."""
        return UPat((Ops.CONST, Ops.VCONST), dtype, name=name)

    @staticmethod
    def const(value: Any, dtype: DType | Iterable[DType] | None = None) -> UPat:
        """A constant of this value."""
        return UPat(Ops.CONST, dtype, arg=value)

    @staticmethod
    def any(*alternatives: UPat, name: str | None = None) -> UPat:
        """A node that one of the alternatives matches."""
        return UPat(name=name, alternatives=alternatives)

    def named(self, name: str) -> UPat:
        """The same pattern with a capture."""
        return UPat(
            self.op, self.dtype, list(self.src) if self.unordered else self.src,  # type: ignore[arg-type]
            self.arg, name, self.allow_any_len, self.alternatives,
        )  # fmt: skip

    def alu(self, op: Ops, *src: UPat) -> UPat:
        """A pattern of `op` over self and `src`; in any order where the op commutes."""
        operands = (self, *src)
        return UPat(op, src=list(operands) if op in GroupOp.Commutative else operands)

    def const_like(self, value: Any) -> UPat:
        """A constant of this value and any dtype."""
        return UPat.const(value)

    def cast(self, dtype: DType | None = None) -> UPat:
        """A CAST of this pattern."""
        return UPat(Ops.CAST, dtype, (self,))

    def captures(self) -> list[str]:
        """The names in this pattern, in order of first appearance."""
        names = [self.name] if self.name else []
        children = self.src if isinstance(self.src, tuple) else (self.src,) if self.src else ()
        for child in (*children, *self.alternatives):
            names += child.captures()
        return list(dict.fromkeys(names))

    def match(self, node: UOp) -> dict[str, UOp] | None:
        """The captures if this pattern matches `node`, else None."""
        if self._matcher is None:
            self._matcher = compile_rule(self, dict, pass_context=False)
        return self._matcher(node, None)

    def __repr__(self) -> str:
        parts: list[str] = []
        if self.op is not None:
            parts.append("|".join(sorted(op.name for op in self.op)))
        if self.name:
            parts.append(f"name={self.name!r}")
        if self.arg is not _ANY:
            parts.append(f"arg={self.arg!r}")
        if self.src is not None:
            parts.append(f"src={self.src!r}")
        return f"UPat({', '.join(parts)})"


class _Writer:
    """Writes the Python of one matcher: nested tests and loops around the call of the rule."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def constant(self, value: Any) -> str:
        name = self.fresh("c")
        self.names[name] = value
        return name

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)


def _write(
    out: _Writer, work: list[tuple[UPat, str]], bound: dict[str, str], depth: int, finish: str
) -> None:
    """Write tests for the pairs of pattern and expression in `work`, then the call."""
    if not work:
        arguments = ", ".join(f"{name}={expression}" for name, expression in bound.items())
        call = finish.replace("@" if arguments else ", @", arguments).replace("@", "")
        out.line(depth, f"result = {call}")
        out.line(depth, "if result is not None:")
        if "hits" in out.names:
            out.line(depth + 1, "hits[rule_name] += 1")
        out.line(depth + 1, "return result")
        return
    (pattern, node), rest = work[0], work[1:]
    tests, bound = _tests_of(out, pattern, node, bound)
    if tests:
        out.line(depth, f"if {' and '.join(tests)}:")
        depth += 1
    src = pattern.src
    if pattern.alternatives:
        for alternative in pattern.alternatives:
            _write(out, [(alternative, node), *rest], bound, depth, finish)
    elif isinstance(src, tuple) and src:
        children = [out.fresh("n") for _ in src]
        if pattern.unordered and len(src) > 1:
            orders = out.constant(list(itertools.permutations(range(len(src)))))
            order = out.fresh("o")
            out.line(depth, f"for {order} in {orders}:")
            depth += 1
            for position, child in enumerate(children):
                out.line(depth, f"{child} = {node}.src[{order}[{position}]]")
        else:
            for position, child in enumerate(children):
                out.line(depth, f"{child} = {node}.src[{position}]")
        # constants are the cheapest tests, so they come first
        pairs = sorted(zip(src, children), key=lambda pair: pair[0].op is None)
        _write(out, [*pairs, *rest], bound, depth, finish)
    elif isinstance(src, UPat):
        every = out.constant(src)
        out.line(depth, f"if all({every}.match(s) is not None for s in {node}.src):")
        _write(out, rest, bound, depth + 1, finish)
    else:
        _write(out, rest, bound, depth, finish)


def _tests_of(
    out: _Writer, pattern: UPat, node: str, bound: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The tests of one node without its sources, and the captures that are bound after them."""
    tests: list[str] = []
    if pattern.op is not None:
        if len(pattern.op) == 1:
            tests.append(f"{node}.op is {out.constant(next(iter(pattern.op)))}")
        else:
            tests.append(f"{node}.op in {out.constant(pattern.op)}")
    if pattern.dtype is not None:
        allowed = out.constant(pattern.dtype)
        tests.append(f"({node}.dtype in {allowed} or {node}.dtype.scalar() in {allowed})")
    if pattern.arg is not _ANY:
        value = out.constant(pattern.arg)
        tests.append(f"{node}.arg == {value}")
    if pattern.name is not None:
        if pattern.name in bound:
            tests.append(f"{node} is {bound[pattern.name]}")
        else:
            bound = {**bound, pattern.name: node}
    src = pattern.src
    if isinstance(src, tuple):
        wanted = "<=" if pattern.allow_any_len else "=="
        tests.append(f"{len(src)} {wanted} len({node}.src)")
    return tests, bound


def compile_rule(
    pattern: UPat, function: Any, pass_context: bool, hits: dict[str, int] | None = None
) -> Any:
    """A function `f(node, ctx)` that matches the pattern and returns the rule's result, or None.

    hits: counts the results, under the name of `function`.
    """
    out = _Writer()
    out.names["rule"] = function
    if hits is not None:
        out.names |= {"hits": hits, "rule_name": function.__name__}
    finish = "rule(ctx=ctx, @)" if pass_context else "rule(@)"
    out.line(0, "def matcher(node, ctx):")
    _write(out, [(pattern, "node")], {}, 1, finish)
    out.line(1, "return None")
    exec("\n".join(out.lines), out.names)
    return out.names["matcher"]
