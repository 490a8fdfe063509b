"""Python's operators, in terms of the methods of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from weft.tensor.ops.operands import OperandsMixin
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike
from weft.uop import Ops


class OperatorsMixin(OperandsMixin):
    """`+ - * / // % ** & | ^ << >> ~ < <= > >= == !=`, reversed ones too."""

    __slots__ = ()

    def __add__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.ADD, x)

    def __radd__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.ADD, x, True)

    def __sub__(self, x: ArrayLike) -> Self:
        return self.sub(x)

    def __rsub__(self, x: ArrayLike) -> Self:
        return self.sub(x, True)

    def __mul__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.MUL, x)

    def __rmul__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.MUL, x, True)

    def __truediv__(self, x: ArrayLike) -> Self:
        return self.div(x)

    def __rtruediv__(self, x: ArrayLike) -> Self:
        return self.div(x, True)

    def __floordiv__(self, x: ArrayLike) -> Self:
        return self._floor_divide(x)

    def __rfloordiv__(self, x: ArrayLike) -> Self:
        return self._floor_divide(x, True)

    def __mod__(self, x: ArrayLike) -> Self:
        return self.mod(x)

    def __rmod__(self, x: ArrayLike) -> Self:
        return self.mod(x, True)

    def __pow__(self, x: ArrayLike) -> Self:
        return self.pow(x)

    def __rpow__(self, x: ArrayLike) -> Self:
        return self.pow(x, True)

    def __and__(self, x: ArrayLike) -> Self:
        return self.bitwise_and(x)

    def __rand__(self, x: ArrayLike) -> Self:
        return self.bitwise_and(x, True)

    def __or__(self, x: ArrayLike) -> Self:
        return self.bitwise_or(x)

    def __ror__(self, x: ArrayLike) -> Self:
        return self.bitwise_or(x, True)

    def __xor__(self, x: ArrayLike) -> Self:
        return self.bitwise_xor(x)

    def __rxor__(self, x: ArrayLike) -> Self:
        return self.bitwise_xor(x, True)

    def __lshift__(self, x: ArrayLike) -> Self:
        return self.lshift(x)

    def __rlshift__(self, x: ArrayLike) -> Self:
        return self.lshift(x, True)

    def __rshift__(self, x: ArrayLike) -> Self:
        return self.rshift(x)

    def __rrshift__(self, x: ArrayLike) -> Self:
        return self.rshift(x, True)

    def __neg__(self) -> Self:
        return self.neg()

    def __pos__(self) -> Self:
        return self._wrap(self._uop)

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __abs__(self) -> Self:
        return self.abs()

    def __lt__(self, x: ArrayLike) -> Self:
        return self._compare(Ops.CMPLT, x)

    def __gt__(self, x: ArrayLike) -> Self:
        return self._compare(Ops.CMPLT, x, True)

    def __le__(self, x: ArrayLike) -> Self:
        return self.le(x)

    def __ge__(self, x: ArrayLike) -> Self:
        return self.ge(x)

    # what cannot be in a tensor is equal to none: Python answers by identity then
    def __eq__(self, x: Any) -> Self:  # type: ignore[override]
        if x is None or x.__class__ is str:
            return NotImplemented
        return self._compare(Ops.CMPEQ, x)

    def __ne__(self, x: Any) -> Self:  # type: ignore[override]
        if x is None or x.__class__ is str:
            return NotImplemented
        return self._compare(Ops.CMPNE, x)

    if TYPE_CHECKING:

        def __hash__(self) -> int: ...
    else:
        __hash__ = TensorBase.__hash__
