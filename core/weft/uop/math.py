"""Operators shared by graph nodes and by patterns: each builds a node, nothing is folded."""

from __future__ import annotations

from typing import Any, Self

from weft.uop.ops import Ops


def has_graph(other: Any) -> bool:
    """Whether an object wraps a node, as a Tensor does, and has operators of its own."""
    return not isinstance(other, (int, float, MathMixin)) and hasattr(other, "uop")


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

    def __add__(self, other: Any) -> Self:
        return self._binary(Ops.ADD, other)

    def __radd__(self, other: Any) -> Self:
        return self._binary(Ops.ADD, other, True)

    def __sub__(self, other: Any) -> Self:
        return self._binary(Ops.SUB, other)

    def __rsub__(self, other: Any) -> Self:
        return self._binary(Ops.SUB, other, True)

    def __mul__(self, other: Any) -> Self:
        return self._binary(Ops.MUL, other)

    def __rmul__(self, other: Any) -> Self:
        return self._binary(Ops.MUL, other, True)

    def __truediv__(self, other: Any) -> Self:
        return self._binary(Ops.FDIV, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._binary(Ops.FDIV, other, True)

    def __floordiv__(self, other: Any) -> Self:
        return self._binary(Ops.IDIV, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._binary(Ops.IDIV, other, True)

    def __mod__(self, other: Any) -> Self:
        return self._binary(Ops.MOD, other)

    def __rmod__(self, other: Any) -> Self:
        return self._binary(Ops.MOD, other, True)

    def __and__(self, other: Any) -> Self:
        return self._binary(Ops.AND, other)

    def __rand__(self, other: Any) -> Self:
        return self._binary(Ops.AND, other, True)

    def __or__(self, other: Any) -> Self:
        return self._binary(Ops.OR, other)

    def __ror__(self, other: Any) -> Self:
        return self._binary(Ops.OR, other, True)

    def __xor__(self, other: Any) -> Self:
        return self._binary(Ops.XOR, other)

    def __rxor__(self, other: Any) -> Self:
        return self._binary(Ops.XOR, other, True)

    def __lshift__(self, other: Any) -> Self:
        return self._binary(Ops.SHL, other)

    def __rlshift__(self, other: Any) -> Self:
        return self._binary(Ops.SHL, other, True)

    def __rshift__(self, other: Any) -> Self:
        return self._binary(Ops.SHR, other)

    def __rrshift__(self, other: Any) -> Self:
        return self._binary(Ops.SHR, other, True)

    def __pow__(self, other: Any) -> Self:
        return self._binary(Ops.POW, other)

    def __neg__(self) -> Self:
        return self.alu(Ops.NEG)

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __lt__(self, other: Any) -> Self:
        return self._binary(Ops.CMPLT, other)

    def __gt__(self, other: Any) -> Self:
        return self._binary(Ops.CMPLT, other, True)

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
