"""What elementwise methods have in common: operands brought to one dtype, shape and place.

Shapes broadcast as in NumPy. Dtypes promote by `weft.base.promotion`; Python numbers are weak, and
one that the dtype cannot represent is an error, but in comparisons, which answer with the truth.
Wherever a number is allowed, so is an array.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from weft.base.arguments import flag, shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import DeviceError, DTypeError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar, read_as
from weft.base.scalars import check_range
from weft.shape.movement import broadcast_shapes
from weft.tensor.autocast import answered_in
from weft.tensor.ops.data_attribute import DataMethod
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.tensor.types import ArrayLike
from weft.uop import Ops, UOp, memo_slot

SCALARS = frozenset({Ops.CONST, Ops.DEFINE_VAR, Ops.BIND})
_KEPT = frozenset({Ops.EXP2, Ops.LOG2, Ops.RECIP})  # in float32 under autocast
_PYTHON_NUMBERS = frozenset({bool, int, float})
# by class of a Python number the dtypes that it does not change
_KEPT_BESIDE = {
    float: frozenset(dtypes.floats),
    int: frozenset(dtypes.floats) | frozenset(dtypes.ints),
    bool: frozenset(dtypes.floats) | frozenset(dtypes.ints) | {dtypes.bool},
}
_NAMES = {
    Ops.ADD: "add", Ops.SUB: "sub", Ops.MUL: "mul", Ops.FDIV: "div", Ops.CMPEQ: "eq",
    Ops.CMPNE: "ne",
}  # fmt: skip
_COMMUTATIVE = frozenset({"add", "mul", "eq", "ne"})
_ORDERED = frozenset({"sub", "div", "pow", "matmul"})

_set_shape = memo_slot("_shape")
_set_device = memo_slot("_device")


def known_facts(node: UOp, shape: tuple[Any, ...], device: Any) -> UOp:
    """`node`, with what the analyses of shape and place would find: it is known here already, and
    putting it down takes a tenth of the time of finding it."""
    _set_shape(node, shape)
    _set_device(node, device)
    return node


@lru_cache(1024)
def _rounded(dtype: DType, value: Any, sign: float) -> UOp:
    return UOp.const(dtype, check_range(value, dtype))


def number_node(dtype: DType, value: Any) -> UOp:
    """A constant without a place. The last few are kept: rounding takes longer than finding.

    :raises OutOfRange: if the dtype cannot represent the number.
    """
    if value == value:
        # equal numbers share an entry, but for zeros of different sign
        return _rounded(dtype, value, 0.0 if value else math.copysign(1.0, value))
    return UOp.const(dtype, check_range(value, dtype))


def broadcast_node(node: UOp, shape: tuple[Any, ...]) -> UOp:
    """`node` in `shape`; a rank-0 constant is unchanged, since it represents its broadcast."""
    own = node.shape
    if own == shape or node.op in SCALARS:
        return node
    if len(own) < len(shape):
        own = (1,) * (len(shape) - len(own)) + own
        node = record(Ops.RESHAPE, node.dtype, (node,), own)
    if own == shape:
        return node
    return record(Ops.EXPAND, node.dtype, (node,), shape)


def cast_node(node: UOp, dtype: DType) -> UOp:
    """`node` as `dtype`; constants are converted at once."""
    if node.dtype is dtype:
        return node
    if node.op is Ops.CONST:
        device = node.src[0].arg if node.src else None
        return UOp.const(dtype, node.arg, device)
    return record(Ops.CAST, dtype, (node,))


def placeless(node: UOp) -> UOp:
    return UOp(Ops.CONST, node.dtype, (), node.arg) if node.op is Ops.CONST and node.src else node


def is_boolean(dtype: DType) -> bool:
    """Whether this is bool, for which arithmetic is mostly undefined."""
    return dtype is dtypes.bool


def minus(node: UOp) -> UOp:
    if node.op is Ops.CONST:
        return UOp.const(node.dtype, -node.arg, node.device)
    return record(Ops.NEG, node.dtype, (node,))


def complement(node: UOp) -> UOp:
    """Every bit inverted: of integers -x - 1, which reverses their order without overflow."""
    if node.op is Ops.CONST:
        flipped = not node.arg if node.dtype is dtypes.bool else ~node.arg
        return UOp.const(node.dtype, flipped, node.device)
    ones = UOp.const(node.dtype, True if node.dtype is dtypes.bool else -1)
    return record(Ops.XOR, node.dtype, (node, ones))


def _outside(op: Ops, dtype: DType, number: int, reverse: bool) -> bool | None:
    """The result of comparing any value of `dtype` with an integer that it cannot represent; None
    for one that it can."""
    if dtypes.is_int(dtype):
        if dtype.min <= number <= dtype.max:
            return None
    elif abs(number) <= sys.float_info.max:
        return None
    if op is Ops.CMPLT:
        return (number > 0) is not reverse
    return op is Ops.CMPNE


def _operator(
    name: str, method: str, reverse: bool = False
) -> Callable[[TensorT, ArrayLike], TensorT]:
    """The operator `name`, in terms of a method that takes the operands in either order."""
    if reverse:

        def operator(self: TensorT, x: ArrayLike) -> TensorT:
            return getattr(self, method)(x, True)  # type: ignore[no-any-return]
    else:

        def operator(self: TensorT, x: ArrayLike) -> TensorT:
            return getattr(self, method)(x)  # type: ignore[no-any-return]

    operator.__name__, operator.__qualname__ = name, f"OperatorsMixin.{name}"
    operator.__code__ = operator.__code__.replace(co_name=name)
    return operator


class OperatorsMixin(TensorBase):
    """How one and two operands become a node."""

    __slots__ = ()

    def _constant(self, value: Any, dtype: DType) -> UOp:
        return UOp.const(dtype, value)

    def _operand(self, other: Any) -> Any:
        """`other` as a Python number, or as a tensor beside self.

        :raises DTypeError: if it is neither a number nor something a tensor is made of.
        """
        if other.__class__ in _PYTHON_NUMBERS or isinstance(other, TensorBase):
            return other
        if isinstance(other, (int, float)):  # NumPy's float64 and enums among them
            return int(other) if isinstance(other, int) else float(other)
        if isinstance(other, UOp):
            return self._from_node(other)
        if isinstance(other, complex):
            return self._complex_class(complex(other), device=self.device)
        if getattr(other, "shape", None) == () and hasattr(other, "item"):
            return self._operand(other.item())  # a NumPy scalar is as weak as a Python one
        try:
            if other is None:
                raise DTypeError("None is nothing")
            return self.__class__(other, device=self.device)
        except DTypeError as error:
            raise DTypeError(
                f"a tensor does not compute with a {type(other).__name__}",
                asked=f"{self._uop.dtype!r} {self.shape} with {shown(other)}",
                because=error.summary,
                try_="x.detach()"
                if isinstance(other, DataMethod)
                else "a number, a list of numbers, an array or a tensor",
            ) from None

    def _complex_result(self, method: str, other: Any, reverse: bool = False) -> Any:
        """`method` of self and a complex operand; None if the operand is real.

        :raises DTypeError: if complex tensors do not have the method.
        """
        if other.__class__ is complex:
            weak: Any = self._complex_class._of_parts(self.cast(least_upper_float(self.dtype)), 0.0)
            return (
                getattr(weak, method)(other, reverse) if reverse else getattr(weak, method)(other)
            )
        if not isinstance(other, TensorBase):
            if other.__class__ in _PYTHON_NUMBERS:
                return None
            other = self._operand(other)
        operand: Any = other
        if getattr(operand, "_interleaved", None) is None:
            return None
        if method in _COMMUTATIVE:
            return getattr(other, method)(self)
        if method in _ORDERED:
            return getattr(other, method)(self, not reverse)
        raise operand._refused(method)

    def _pair(self, other: Any, dtype: DType | None = None) -> tuple[UOp, UOp, TensorBase]:
        """Both operands in one dtype and as ALU nodes take them, and `other` as given or as tensor.

        :raises ShapeError: if the shapes do not broadcast.
        :raises DeviceError: if they are on different devices.
        """
        a = self._uop
        if other.__class__ in _PYTHON_NUMBERS:
            common = dtype or promote_with_scalar(a.dtype, other)
            return cast_node(a, common), number_node(common, other), self
        other = self._operand(other)
        if not isinstance(other, TensorBase):
            return self._pair(other, dtype)
        b = other._uop
        if dtype is not None or a.dtype is not b.dtype:
            common = dtype or least_upper_dtype(a.dtype, b.dtype)
            a, b = cast_node(a, common), cast_node(b, common)
        if a.op is Ops.CONST or b.op is Ops.CONST:
            return (*self._with_constant(a, b), other)
        if a.device != b.device and a.device is not None and b.device is not None:
            raise self._other_device(other)
        shape = a.shape
        if shape != b.shape:
            shape = broadcast_shapes(shape, b.shape)
            a, b = broadcast_node(a, shape), broadcast_node(b, shape)
        return a, b, other

    @staticmethod
    def _with_constant(a: UOp, b: UOp) -> tuple[UOp, UOp]:
        """A constant goes wherever the other operand is."""
        if b.op is Ops.CONST and (a.op is not Ops.CONST or a.src):
            return a, placeless(b)
        return placeless(a), b

    def _other_device(self, other: TensorBase) -> DeviceError:
        return DeviceError(
            "the operands are on different devices",
            asked=f"{self.shape} on {self.device} with {other.shape} on {other.device}",
            because="a kernel reads the memory of one device",
            try_=f"move one of them: x.to({self.device!r})",
        )

    def _binary(
        self, op: Ops, other: Any, reverse: bool = False, dtype: DType | None = None
    ) -> Any:
        if reverse is not False and reverse is not True:
            reverse = flag(reverse, "reverse")
        if other.__class__ is self.__class__ and dtype is None:
            # the common case by itself: nothing to convert, nothing to broadcast
            a, b = self._uop, other._uop
            kind, shape = a.dtype, a.shape
            if kind is b.dtype and shape == b.shape and a.op is not Ops.CONST:
                device = a.device
                if device == b.device and b.op is not Ops.CONST:
                    node = record(op, kind, (b, a) if reverse else (a, b))
                    return self._wrap_with(known_facts(node, shape, device), other)
        if other.__class__ not in _PYTHON_NUMBERS:
            lifted = self._complex_result(_NAMES.get(op, op.name), other, reverse)
            if lifted is not None:
                return lifted
        elif other.__class__ in _PYTHON_NUMBERS and dtype is None:
            a = self._uop
            kind = a.dtype
            if kind in _KEPT_BESIDE[other.__class__] and a.op not in SCALARS:
                b = number_node(kind, other)
                node = record(op, kind, (b, a) if reverse else (a, b))
                return self._wrap(known_facts(node, a.shape, a.device))
        a, b, second = self._pair(other, dtype)
        like = b if a.op is Ops.CONST or a.device is None else a
        if reverse:
            a, b = b, a
        node = record(op, b.dtype, (a, b))
        if like.op not in SCALARS:
            known_facts(node, like.shape, like.device)
        return self._wrap_with(node, second)

    def _compare(self, op: Ops, other: Any, reverse: bool = False) -> Any:
        if other.__class__ is not self.__class__:
            other = self._operand(other)
            if other.__class__ is int:
                decided = self._compare_out_of_range(op, other, reverse)
                if decided is not None:
                    return decided
            lifted = self._complex_result(_NAMES.get(op, op.name), other, reverse)
            if lifted is not None:
                return lifted
        a, b, _ = self._pair(other)
        like = b if a.op is Ops.CONST or a.device is None else a
        if reverse:
            a, b = b, a
        node = record(op, dtypes.bool, (a, b))
        if like.op not in SCALARS:
            known_facts(node, like.shape, like.device)
        return self._from_node(node)

    def _compare_out_of_range(self, op: Ops, number: int, reverse: bool) -> Any:
        """The exact result of a comparison with an integer that the dtype of self cannot represent;
        None where it can."""
        own = self._uop.dtype
        dtype = dtypes.default_int if is_boolean(own) else read_as(own)
        decided = _outside(op, dtype, number, reverse)
        if decided is None:
            return None
        if dtypes.is_float(dtype) and op is Ops.CMPLT:  # infinities and NaN are different cases
            infinity = math.inf if number > 0 else -math.inf
            return self._compare(Ops.CMPLT if decided else Ops.CMPEQ, infinity, reverse)
        return self.full_like(decided, dtype=dtypes.bool)

    def _unary(self, op: Ops) -> Any:
        """A function of real numbers: integers are converted to the default float first."""
        u = self._uop
        dtype = least_upper_float(u.dtype)
        if op in _KEPT and dtype.itemsize == 2:
            dtype = answered_in(dtype)
        node = record(op, dtype, (cast_node(u, dtype),))
        return self._wrap(known_facts(node, u.shape, u.device))

    def _no_bool(self, what: str, *others: Any) -> None:
        if is_boolean(self._uop.dtype) and all(
            isinstance(o, bool) or (isinstance(o, TensorBase) and is_boolean(o._uop.dtype))
            for o in others
        ):
            raise DTypeError(
                f"{what} is not defined for bool",
                asked=f"{what} of {self._uop.dtype!r} {self.shape}",
                because="truth has no order of size to compute with",
                try_="~x for not, ^ for exclusive or, or x.cast(...) to a number first",
            )

    def _whole(self, what: str, *others: Any) -> None:
        for value in (self, *others):
            floating = isinstance(value, float) or (
                isinstance(value, TensorBase) and dtypes.is_float(value._uop.dtype)
            )
            if floating:
                raise DTypeError(
                    f"{what} is for integers and bool",
                    asked=f"{what} of {getattr(value, 'dtype', type(value).__name__)}",
                    because="the bits of a float are no number",
                    try_="x.cast(...) to an integer, or x.bitcast(...) for the bits themselves",
                )

    # ---- Python's operators -------------------------------------------------------------------

    def __add__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.ADD, x)

    def __radd__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.ADD, x, True)

    def __mul__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.MUL, x)

    def __rmul__(self, x: ArrayLike) -> Self:
        return self._binary(Ops.MUL, x, True)

    __sub__ = _operator("__sub__", "sub")
    __rsub__ = _operator("__rsub__", "sub", True)
    __truediv__ = _operator("__truediv__", "div")
    __rtruediv__ = _operator("__rtruediv__", "div", True)
    __floordiv__ = _operator("__floordiv__", "_floor_divide")
    __rfloordiv__ = _operator("__rfloordiv__", "_floor_divide", True)
    __mod__ = _operator("__mod__", "mod")
    __rmod__ = _operator("__rmod__", "mod", True)
    __pow__ = _operator("__pow__", "pow")
    __rpow__ = _operator("__rpow__", "pow", True)
    __and__ = _operator("__and__", "bitwise_and")
    __rand__ = _operator("__rand__", "bitwise_and", True)
    __or__ = _operator("__or__", "bitwise_or")
    __ror__ = _operator("__ror__", "bitwise_or", True)
    __xor__ = _operator("__xor__", "bitwise_xor")
    __rxor__ = _operator("__rxor__", "bitwise_xor", True)
    __lshift__ = _operator("__lshift__", "lshift")
    __rlshift__ = _operator("__rlshift__", "lshift", True)
    __rshift__ = _operator("__rshift__", "rshift")
    __rrshift__ = _operator("__rrshift__", "rshift", True)
    __le__ = _operator("__le__", "le")
    __ge__ = _operator("__ge__", "ge")

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

    def __divmod__(self, x: ArrayLike) -> tuple[Self, Self]:
        return self // x, self % x

    def __rdivmod__(self, x: ArrayLike) -> tuple[Self, Self]:
        left: Any = x
        return left // self, left % self

    def __contains__(self, value: Any) -> bool:
        """Whether an element equals `value`: `3 in x`, computed now."""
        return bool(self.eq(value).any().item())
