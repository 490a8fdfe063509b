"""Operators shared by graph nodes and by patterns: each builds a node, nothing is folded."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self, TypeVar

from weft.uop.ops import Ops

M = TypeVar("M", bound="MathMixin")


MIXED: dict[Ops, Callable[[float, float], Any]] = {
    Ops.ADD: operator.add, Ops.SUB: operator.sub, Ops.MUL: operator.mul,
    Ops.FDIV: lambda a, b: a / b, Ops.IDIV: lambda a, b: a // b, Ops.MOD: operator.mod,
    Ops.POW: lambda a, b: a**b, Ops.MAX: max, Ops.CMPLT: operator.lt, Ops.CMPNE: operator.ne,
    Ops.CMPEQ: operator.eq,
}  # fmt: skip
"""Python's result for an integer and a float."""


def has_graph(other: Any) -> bool:
    """Whether an object wraps a node, as a Tensor does, and has operators of its own."""
    return not isinstance(other, (int, float, MathMixin)) and hasattr(other, "uop")


def _operator(op: Ops, reverse: bool = False) -> Callable[[M, Any], M]:
    """The method of a binary operator; reverse: self is its right operand."""

    def method(self: M, other: Any) -> M:
        return self._binary(op, other, reverse)

    return method


class MathMixin:
    """Operators in terms of `alu` and `const_like`."""

    __slots__ = ()

    def alu(self, op: Ops, *src: Any) -> Self:
        """A node of `op` over self and `src`."""
        raise TypeError(f"{type(self).__name__} does not build nodes")

    def const_like(self, value: Any) -> Self:
        """A constant of the dtype of self."""
        raise TypeError(f"{type(self).__name__} does not build constants")

    def _fix(self, other: Any) -> Any:
        return other if isinstance(other, MathMixin) else self.const_like(other)

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> Self:
        if has_graph(other):
            return NotImplemented
        other = self._fix(other)
        return other.alu(op, self) if reverse else self.alu(op, other)

    __add__, __radd__ = _operator(Ops.ADD), _operator(Ops.ADD, reverse=True)
    __sub__, __rsub__ = _operator(Ops.SUB), _operator(Ops.SUB, reverse=True)
    __mul__, __rmul__ = _operator(Ops.MUL), _operator(Ops.MUL, reverse=True)
    __truediv__, __rtruediv__ = _operator(Ops.FDIV), _operator(Ops.FDIV, reverse=True)
    __floordiv__, __rfloordiv__ = _operator(Ops.IDIV), _operator(Ops.IDIV, reverse=True)
    __mod__, __rmod__ = _operator(Ops.MOD), _operator(Ops.MOD, reverse=True)
    __and__, __rand__ = _operator(Ops.AND), _operator(Ops.AND, reverse=True)
    __or__, __ror__ = _operator(Ops.OR), _operator(Ops.OR, reverse=True)
    __xor__, __rxor__ = _operator(Ops.XOR), _operator(Ops.XOR, reverse=True)
    __lshift__, __rlshift__ = _operator(Ops.SHL), _operator(Ops.SHL, reverse=True)
    __rshift__, __rrshift__ = _operator(Ops.SHR), _operator(Ops.SHR, reverse=True)
    __lt__, __gt__ = _operator(Ops.CMPLT), _operator(Ops.CMPLT, reverse=True)
    __pow__ = _operator(Ops.POW)

    def __neg__(self) -> Self:
        return self.alu(Ops.NEG)

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __le__(self, other: Any) -> Self:
        if has_graph(other):
            return NotImplemented
        return (self > other).logical_not()

    def __ge__(self, other: Any) -> Self:
        if has_graph(other):
            return NotImplemented
        return (self < other).logical_not()

    def ne(self, other: Any) -> Self:
        """Not equal, as a node."""
        return self._binary(Ops.CMPNE, other)

    def eq(self, other: Any) -> Self:
        """Equal, as a node (`==` compares identity)."""
        return self._binary(Ops.CMPEQ, other)

    def logical_not(self) -> Self:
        """The negation of a boolean."""
        return self.ne(True)

    def bitwise_not(self) -> Self:
        """Every bit inverted."""
        return self ^ -1

    def maximum(self, other: Any) -> Self:
        """The larger; NaN wins."""
        return self._binary(Ops.MAX, other)

    def minimum(self, other: Any) -> Self:
        """The smaller; NaN wins. Exact for signed integers above the least one, and floats."""
        return -((-self).maximum(-self._fix(other)))

    def where(self, yes: Any, no: Any) -> Self:
        """`yes` where self holds, else `no`; at least one of them is a node."""
        if isinstance(yes, MathMixin):
            return self.alu(Ops.WHERE, yes, yes._fix(no))
        return self.alu(Ops.WHERE, no._fix(yes), no)

    def sqrt(self) -> Self:
        """Square root."""
        return self.alu(Ops.SQRT)

    def exp2(self) -> Self:
        """Two to the power of self."""
        return self.alu(Ops.EXP2)

    def log2(self) -> Self:
        """Binary logarithm."""
        return self.alu(Ops.LOG2)

    def sin(self) -> Self:
        """Sine."""
        return self.alu(Ops.SIN)

    def reciprocal(self) -> Self:
        """One over self."""
        return self.alu(Ops.RECIP)

    def trunc(self) -> Self:
        """Toward zero."""
        return self.alu(Ops.TRUNC)
