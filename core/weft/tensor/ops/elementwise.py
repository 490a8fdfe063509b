"""Arithmetic, comparison and rounding: element by element, with broadcasting and promotion.

Shapes broadcast as in NumPy. Dtypes promote by `weft.base.promotion`; Python numbers are weak, and
a Python integer that the dtype cannot hold wraps. Wherever a number is allowed, so is an array.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DeviceError, DTypeError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar
from weft.shape.movement import broadcast_shapes
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops, UOp
from weft.uop.node import memo_slot

if TYPE_CHECKING:
    pass

_SCALAR = frozenset({Ops.CONST, Ops.DEFINE_VAR, Ops.BIND})
_PYTHON_NUMBERS = frozenset({bool, int, float})

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
    return UOp.const(dtype, value)


def number_node(dtype: DType, value: Any) -> UOp:
    """A constant without a place. The last few are kept: rounding takes longer than finding."""
    if value == value:
        # equal numbers share an entry, but for zeros of different sign
        return _rounded(dtype, value, 0.0 if value else math.copysign(1.0, value))
    return UOp.const(dtype, value)


def broadcast_node(node: UOp, shape: tuple[Any, ...]) -> UOp:
    """`node` in `shape`; a rank-0 constant is left as it is, since it stands for its broadcast."""
    own = node.shape
    if own == shape or node.op in _SCALAR:
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


def _placeless(node: UOp) -> UOp:
    return UOp(Ops.CONST, node.dtype, (), node.arg) if node.op is Ops.CONST and node.src else node


def is_boolean(dtype: DType) -> bool:
    """Whether this is bool, for which arithmetic is mostly undefined."""
    return dtype is dtypes.bool


class ElementwiseMixin(TensorBase):
    """Methods that compute each element from the elements at the same place."""

    __slots__ = ()

    # ---- operands -----------------------------------------------------------------------------

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
        if getattr(other, "shape", None) == () and hasattr(other, "item"):
            return other.item()  # a NumPy scalar is as weak as a Python one
        try:
            return self.__class__(other, device=self.device)
        except DTypeError as error:
            raise DTypeError(
                f"a tensor does not compute with a {type(other).__name__}",
                asked=f"{self._uop.dtype!r} {self.shape} with {other!r}"[:200],
                because=error.summary,
                try_="a number, a list of numbers, an array or a tensor",
            ) from None

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
            return a, _placeless(b)
        return _placeless(a), b

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
        if other.__class__ is self.__class__ and dtype is None:
            # the common case by itself: nothing to convert, nothing to broadcast
            a, b = self._uop, other._uop
            kind, shape = a.dtype, a.shape
            if kind is b.dtype and shape == b.shape and a.op is not Ops.CONST:
                device = a.device
                if device == b.device and b.op is not Ops.CONST:
                    node = record(op, kind, (b, a) if reverse else (a, b))
                    return self._wrap_with(known_facts(node, shape, device), other)
        a, b, second = self._pair(other, dtype)
        like = b if a.op is Ops.CONST else a
        if reverse:
            a, b = b, a
        node = record(op, b.dtype, (a, b))
        if like.op not in _SCALAR:
            known_facts(node, like.shape, like.device)
        return self._wrap_with(node, second)

    def _compare(self, op: Ops, other: Any, reverse: bool = False) -> Any:
        if other.__class__ is int and dtypes.is_int(self._uop.dtype):
            decided = _outside(op, self._uop.dtype, other, reverse)
            if decided is not None:
                return self.full_like(decided, dtype=dtypes.bool)
        a, b, _ = self._pair(other)
        like = b if a.op is Ops.CONST else a
        if reverse:
            a, b = b, a
        node = record(op, dtypes.bool, (a, b))
        if like.op not in _SCALAR:
            known_facts(node, like.shape, like.device)
        return self._from_node(node)

    def _unary(self, op: Ops) -> Any:
        """A function of real numbers: integers are converted to the default float first."""
        u = self._uop
        dtype = least_upper_float(u.dtype)
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

    # ---- arithmetic ---------------------------------------------------------------------------

    def add(self, x: Any, reverse: bool = False) -> Self:
        """Sum; logical or for bool."""
        return self._binary(Ops.ADD, x, reverse)

    def sub(self, x: Any, reverse: bool = False) -> Self:
        """Difference. :raises DTypeError: for bool."""
        self._no_bool("subtraction", x)
        return self._binary(Ops.SUB, x, reverse)

    def mul(self, x: Any, reverse: bool = False) -> Self:
        """Product; logical and for bool."""
        return self._binary(Ops.MUL, x, reverse)

    def div(self, x: Any, reverse: bool = False, rounding_mode: str | None = None) -> Self:
        """True division, in floats; `rounding_mode` "trunc" or "floor" rounds the quotient.

        Integers with a rounding mode stay integers; dividing them by zero gives 0 then.
        """
        if rounding_mode is None:
            x = self._operand(x)
            mixed = (
                least_upper_dtype(self._uop.dtype, x._uop.dtype)
                if isinstance(x, TensorBase)
                else promote_with_scalar(self._uop.dtype, x)
            )
            return self._binary(Ops.FDIV, x, reverse, least_upper_float(mixed))
        if rounding_mode not in ("trunc", "floor"):
            raise ArgumentError(
                f"there is no rounding mode {rounding_mode!r}",
                asked=f"div(rounding_mode={rounding_mode!r})",
                try_='None, "trunc" or "floor"',
            )
        if rounding_mode == "floor":
            return self._floor_divide(x, reverse)
        if dtypes.is_float(self._pair(x)[0].dtype):
            return self.div(x, reverse).trunc()
        return self.idiv(x, reverse)

    def idiv(self, x: Any, reverse: bool = False) -> Self:
        """Quotient of integers, toward zero; 0 where the divisor is 0.

        :raises DTypeError: for floats.
        """
        self._whole("integer division", x)
        if is_boolean(self._uop.dtype):
            return self.cast(dtypes.default_int).idiv(x, reverse)
        return self._binary(Ops.IDIV, x, reverse)

    def _floor_divide(self, x: Any, reverse: bool = False) -> Any:
        a, b, second = self._pair(x)
        if is_boolean(a.dtype):
            return self.cast(dtypes.default_int)._floor_divide(x, reverse)
        if dtypes.is_float(a.dtype):
            return self.div(x, reverse).floor()
        if reverse:
            a, b = b, a
        quotient = self._wrap_with(record(Ops.IDIV, a.dtype, (a, b)), second)
        if dtypes.is_unsigned(a.dtype):
            return quotient
        # toward zero becomes down where something was left and the signs differ
        return quotient - self._remainder_is_off(a, b)[1].cast(a.dtype)

    def _remainder_is_off(self, a: UOp, b: UOp) -> tuple[Any, Any]:
        """The remainder with the dividend's sign, and where its sign is not the divisor's."""
        rest = self._from_node(record(Ops.MOD, a.dtype, (a, b)))
        if b.op is Ops.CONST:
            return rest, (rest < 0 if b.arg > 0 else rest > 0)
        return rest, (rest != 0) & ((rest < 0) != (self._from_node(b) < 0))

    def mod(self, x: Any, reverse: bool = False) -> Self:
        """Remainder with the sign of the divisor; 0 for integers where the divisor is 0.

        For floats it is a - b * floor(a / b), as exact as that is.
        """
        a, b, second = self._pair(x)
        if is_boolean(a.dtype):
            return self.cast(dtypes.default_int).mod(x, reverse)
        if reverse:
            a, b = b, a
        if dtypes.is_float(a.dtype):
            left, right = self._wrap_with(a, second), self._wrap_with(b, second)
            return left - right * (left / right).floor()
        if dtypes.is_unsigned(a.dtype):
            return self._wrap_with(record(Ops.MOD, a.dtype, (a, b)), second)
        rest, off = self._remainder_is_off(a, b)
        return rest + off.where(self._from_node(b), 0)

    def neg(self) -> Self:
        """Negative. :raises DTypeError: for bool."""
        self._no_bool("negation")
        u = self._uop
        return self._wrap(record(Ops.NEG, u.dtype, (u,)))

    def reciprocal(self) -> Self:
        """1 / x, in floats."""
        return self._unary(Ops.RECIP)

    def square(self) -> Self:
        """x * x."""
        return self * self

    def pow(self, x: Any, reverse: bool = False) -> Self:
        """self to the power x.

        Whole-number exponents up to 64 are multiplied out; others follow C's pow. Integers to a
        negative power are 0 but for the base 1 and -1, and ArgumentError for a negative number.
        """
        x = self._operand(x)
        if not isinstance(x, TensorBase) and not reverse:
            return self._power_of_number(x)
        a, b, second = self._pair(x)
        if reverse:
            a, b = b, a
        left, right = self._wrap_with(a, second), self._wrap_with(b, second)
        if not dtypes.is_float(a.dtype):
            return left._integer_power(right)
        return self._wrap_with(record(Ops.POW, a.dtype, (a, b)), second)

    def _power_of_number(self, x: int | float) -> Any:
        dtype = promote_with_scalar(self._uop.dtype, x)
        base = self.cast(dtype)
        if float(x).is_integer() and abs(x) <= 64:
            if x < 0 and not dtypes.is_float(dtype):
                raise ArgumentError(
                    "an integer to a negative power is no integer",
                    asked=f"{dtype!r} ** {x}",
                    try_=f"x.float() ** {x}",
                )
            power = base._multiplied_out(abs(int(x)))
            return power if x >= 0 else power.reciprocal()
        if not dtypes.is_float(dtype):
            return base._integer_power(self.full_like(x, dtype=dtype))
        if x == 0.5:
            return base.sqrt()
        if x == -0.5:
            return base.rsqrt()
        return base._wrap(record(Ops.POW, dtype, (base._uop, UOp.const(dtype, x))))

    def _multiplied_out(self, exponent: int) -> Any:
        if exponent == 0:
            return self.ones_like()
        result = None
        square = self
        while exponent:
            if exponent & 1:
                result = square if result is None else result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def _integer_power(self, exponent: Any) -> Any:
        """By squaring, over every bit the exponent can have; wraps like the product."""
        if is_boolean(self._uop.dtype):
            return self | ~exponent
        dtype = self._uop.dtype
        bits = dtype.bitsize - (0 if dtypes.is_unsigned(dtype) else 1)
        result, square = self.ones_like(), self
        for bit in range(bits):
            result = ((exponent >> bit) & 1 != 0).where(result * square, result)
            square = square * square if bit + 1 < bits else square
        if dtypes.is_unsigned(dtype):
            return result
        minus = (exponent & 1 != 0).where(-1, self.ones_like())
        inverse = (self == 1).where(1, (self == -1).where(minus, self.zeros_like()))
        return (exponent < 0).where(inverse, result)

    def maximum(self, x: Any) -> Self:
        """The larger of two; NaN where either is. Gradient: half to each at a tie."""
        return self._binary(Ops.MAX, x)

    def minimum(self, x: Any) -> Self:
        """The smaller of two; NaN where either is. Gradient: half to each at a tie."""
        a, b, second = self._pair(x)
        if dtypes.is_float(a.dtype):
            turned = record(Ops.MAX, a.dtype, (_minus(a), _minus(b)))
            return self._wrap_with(_minus(turned), second)
        turned = record(Ops.MAX, a.dtype, (_complement(a), _complement(b)))
        return self._wrap_with(_complement(turned), second)

    # ---- bits ---------------------------------------------------------------------------------

    def bitwise_and(self, x: Any, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise and", x)
        return self._binary(Ops.AND, x, reverse)

    def bitwise_or(self, x: Any, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise or", x)
        return self._binary(Ops.OR, x, reverse)

    def bitwise_xor(self, x: Any, reverse: bool = False) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise xor", x)
        return self._binary(Ops.XOR, x, reverse)

    def bitwise_not(self) -> Self:
        """Of integers and bool. :raises DTypeError: for floats."""
        self._whole("bitwise not")
        return self._wrap(_complement(self._uop))

    def lshift(self, x: Any, reverse: bool = False) -> Self:
        """Bits to the left; 0 from the width of the dtype on. :raises DTypeError: for floats."""
        self._whole("a shift", x)
        return self._binary(Ops.SHL, x, reverse)

    def rshift(self, x: Any, reverse: bool = False) -> Self:
        """Bits to the right, keeping the sign. :raises DTypeError: for floats."""
        self._whole("a shift", x)
        return self._binary(Ops.SHR, x, reverse)

    # ---- comparison and choice ----------------------------------------------------------------

    def eq(self, x: Any) -> Self:
        """Equal, as bool."""
        return self._compare(Ops.CMPEQ, x)

    def ne(self, x: Any) -> Self:
        """Not equal, as bool."""
        return self._compare(Ops.CMPNE, x)

    def lt(self, x: Any) -> Self:
        """Less, as bool."""
        return self._compare(Ops.CMPLT, x)

    def gt(self, x: Any) -> Self:
        """Greater, as bool."""
        return self._compare(Ops.CMPLT, x, True)

    def le(self, x: Any) -> Self:
        """Less or equal, as bool; false for NaN."""
        return (self < x) | (self == x) if self._may_be_nan(x) else ~(self > x)

    def ge(self, x: Any) -> Self:
        """Greater or equal, as bool; false for NaN."""
        return (self > x) | (self == x) if self._may_be_nan(x) else ~(self < x)

    def _may_be_nan(self, x: Any) -> bool:
        other = getattr(x, "dtype", None)
        floating = isinstance(x, float) or (isinstance(other, DType) and dtypes.is_float(other))
        return floating or dtypes.is_float(self._uop.dtype) or not isinstance(x, (int, TensorBase))

    def logical_not(self) -> Self:
        """True where zero."""
        return ~self.cast(dtypes.bool)

    def where(self, x: Any, y: Any) -> Self:
        """`x` where self is not zero, else `y`; shapes broadcast, dtypes of x and y promote."""
        choices = [self._operand(x), self._operand(y)]
        known = [c._uop.dtype for c in choices if isinstance(c, TensorBase)]
        if known:
            dtype = least_upper_dtype(*known)
            for c in choices:
                if not isinstance(c, TensorBase):
                    dtype = promote_with_scalar(dtype, c)
        else:
            dtype = least_upper_dtype(*(dtypes.from_py(c) for c in choices))
        nodes = [
            cast_node(c._uop, dtype) if isinstance(c, TensorBase) else UOp.const(dtype, c)
            for c in choices
        ]
        nodes.insert(0, cast_node(self._uop, dtypes.bool))
        tensors = [c for c in choices if isinstance(c, TensorBase)]
        for tensor in tensors:
            if tensor.device != self.device and tensor._uop.op is not Ops.CONST:
                if self._uop.op is not Ops.CONST:
                    raise self._other_device(tensor)
        if any(n.op is not Ops.CONST for n in nodes):
            nodes = [_placeless(n) for n in nodes]
        shape = broadcast_shapes(*(n.shape for n in nodes))
        nodes = [broadcast_node(n, shape) for n in nodes]
        return self._wrap_chosen(record(Ops.WHERE, dtype, tuple(nodes)), tensors)

    def _wrap_chosen(self, node: UOp, tensors: list[TensorBase]) -> Any:
        """The condition passes no gradient on; what it chooses from does."""
        for tensor in tensors:
            if tensor._requires_grad:
                return tensor._wrap(node)
        return self._from_node(node)

    def clamp(self, min_: Any = None, max_: Any = None) -> Self:
        """Bounded below and above; NaN stays. Gradient: 1 inside and at the bounds, else 0.

        :raises ArgumentError: if neither bound is given.
        """
        if min_ is None and max_ is None:
            raise ArgumentError(
                "clamp needs a bound", asked="clamp()", try_="clamp(min_=0), clamp(0, 1)"
            )
        bounded = self if min_ is None else (self < min_).where(min_, self)
        return bounded if max_ is None else (bounded > max_).where(max_, bounded)

    def clip(self, min_: Any = None, max_: Any = None) -> Self:
        """Alias of clamp."""
        return self.clamp(min_, max_)

    def masked_fill(self, mask: Any, value: Any) -> Self:
        """`value` where `mask` is true, self elsewhere."""
        return self.__class__._as_tensor(mask, self).where(value, self)

    def lerp(self, end: Any, weight: Any) -> Self:
        """self + (end - self) * weight."""
        return self + (self._operand(end) - self) * weight

    def copysign(self, other: Any) -> Self:
        """The size of self with the sign of `other`, that of -0.0 included; in floats."""
        size = self.cast(least_upper_float(self._uop.dtype)).abs()
        other = self._operand(other)
        if not isinstance(other, TensorBase):
            return -size if math.copysign(1.0, other) < 0 else size
        sign = other.cast(least_upper_float(other._uop.dtype))
        bits = _UNSIGNED[sign._uop.dtype.itemsize]
        negative = sign.detach().bitcast(bits) >> (bits.bitsize - 1) != 0
        return negative.where(-size, size)

    def isclose(
        self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """|self - other| <= atol + rtol * |other|, as bool; equal infinities are close."""
        other = self.__class__._as_tensor(other, self)
        near = (self - other).abs() <= atol + other.abs() * rtol
        near = (near & self.isfinite() & other.isfinite()) | (self == other)
        return near | (self.isnan() & other.isnan()) if equal_nan else near

    def isnan(self) -> Self:
        """True where NaN."""
        return self != self

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """True where infinite, of the signs asked for."""
        if not dtypes.is_float(self._uop.dtype):
            return self.full_like(False, dtype=dtypes.bool)
        above = (self == math.inf) & detect_positive
        return above | ((self == -math.inf) & detect_negative)

    def isfinite(self) -> Self:
        """True where neither infinite nor NaN."""
        if not dtypes.is_float(self._uop.dtype):
            return self.full_like(True, dtype=dtypes.bool)
        return self.detach().abs() < math.inf

    # ---- sign and rounding --------------------------------------------------------------------

    def abs(self) -> Self:
        """Size without sign; of the least integer, itself. Gradient at 0: 0."""
        dtype = self._uop.dtype
        if is_boolean(dtype) or dtypes.is_unsigned(dtype):
            return self
        # 0 - x first: of two zeros MAX takes its first operand, and this one is positive
        return (0 - self).maximum(self)

    def sign(self) -> Self:
        """-1, 0 or 1; NaN stays."""
        dtype = self._uop.dtype
        if is_boolean(dtype):
            return self
        signed = (self > 0).cast(dtype) - (self < 0).cast(dtype)
        if not dtypes.is_float(dtype):
            return signed
        return self.isnan().where(self.detach(), signed)

    def trunc(self) -> Self:
        """Toward zero; integers stay as they are."""
        if not dtypes.is_float(self._uop.dtype):
            return self
        return self._unary(Ops.TRUNC)

    def floor(self) -> Self:
        """Down to a whole number."""
        if not dtypes.is_float(self._uop.dtype):
            return self
        whole = self.trunc()
        return (self < whole).where(whole - 1, whole)

    def ceil(self) -> Self:
        """Up to a whole number."""
        if not dtypes.is_float(self._uop.dtype):
            return self
        whole = self.trunc()
        return (self > whole).where(whole + 1, whole)

    def round(self) -> Self:
        """To the nearest whole number, halves to the even one."""
        dtype = self._uop.dtype
        if not dtypes.is_float(dtype):
            return self
        # Adding 2**m to a number below it leaves no room for a fraction: the hardware rounds.
        x = self.detach()
        size = x.abs()
        big = 2.0 ** dtypes.finfo(dtype).mantissa_bits
        rounded = (size + big) - big
        return (size < big).where((x < 0).where(-rounded, rounded), x)

    # ---- operators ----------------------------------------------------------------------------

    def __add__(self, x: Any) -> Self:
        return self._binary(Ops.ADD, x)

    def __radd__(self, x: Any) -> Self:
        return self._binary(Ops.ADD, x, True)

    def __sub__(self, x: Any) -> Self:
        return self.sub(x)

    def __rsub__(self, x: Any) -> Self:
        return self.sub(x, True)

    def __mul__(self, x: Any) -> Self:
        return self._binary(Ops.MUL, x)

    def __rmul__(self, x: Any) -> Self:
        return self._binary(Ops.MUL, x, True)

    def __truediv__(self, x: Any) -> Self:
        return self.div(x)

    def __rtruediv__(self, x: Any) -> Self:
        return self.div(x, True)

    def __floordiv__(self, x: Any) -> Self:
        return self._floor_divide(x)

    def __rfloordiv__(self, x: Any) -> Self:
        return self._floor_divide(x, True)

    def __mod__(self, x: Any) -> Self:
        return self.mod(x)

    def __rmod__(self, x: Any) -> Self:
        return self.mod(x, True)

    def __pow__(self, x: Any) -> Self:
        return self.pow(x)

    def __rpow__(self, x: Any) -> Self:
        return self.pow(x, True)

    def __and__(self, x: Any) -> Self:
        return self.bitwise_and(x)

    def __rand__(self, x: Any) -> Self:
        return self.bitwise_and(x, True)

    def __or__(self, x: Any) -> Self:
        return self.bitwise_or(x)

    def __ror__(self, x: Any) -> Self:
        return self.bitwise_or(x, True)

    def __xor__(self, x: Any) -> Self:
        return self.bitwise_xor(x)

    def __rxor__(self, x: Any) -> Self:
        return self.bitwise_xor(x, True)

    def __lshift__(self, x: Any) -> Self:
        return self.lshift(x)

    def __rlshift__(self, x: Any) -> Self:
        return self.lshift(x, True)

    def __rshift__(self, x: Any) -> Self:
        return self.rshift(x)

    def __rrshift__(self, x: Any) -> Self:
        return self.rshift(x, True)

    def __neg__(self) -> Self:
        return self.neg()

    def __invert__(self) -> Self:
        return self.bitwise_not()

    def __abs__(self) -> Self:
        return self.abs()

    def __lt__(self, x: Any) -> Self:
        return self._compare(Ops.CMPLT, x)

    def __gt__(self, x: Any) -> Self:
        return self._compare(Ops.CMPLT, x, True)

    def __le__(self, x: Any) -> Self:
        return self.le(x)

    def __ge__(self, x: Any) -> Self:
        return self.ge(x)

    def __eq__(self, x: Any) -> Self:  # type: ignore[override]
        return self._compare(Ops.CMPEQ, x)

    def __ne__(self, x: Any) -> Self:  # type: ignore[override]
        return self._compare(Ops.CMPNE, x)

    __hash__ = TensorBase.__hash__


_UNSIGNED = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def _outside(op: Ops, dtype: DType, number: int, reverse: bool) -> bool | None:
    """How a comparison with a number that the dtype cannot hold comes out; None if it can."""
    if dtype.min <= number <= dtype.max:
        return None
    if op is Ops.CMPLT:
        return (number > dtype.max) is not reverse
    return op is Ops.CMPNE


def _minus(node: UOp) -> UOp:
    if node.op is Ops.CONST:
        return UOp.const(node.dtype, -node.arg)
    return record(Ops.NEG, node.dtype, (node,))


def _complement(node: UOp) -> UOp:
    """Every bit turned: of integers -x - 1, which reverses their order without overflow."""
    ones = UOp.const(node.dtype, True if node.dtype is dtypes.bool else -1)
    return record(Ops.XOR, node.dtype, (node, ones))
