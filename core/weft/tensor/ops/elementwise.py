"""Arithmetic, comparison and choice: element by element, with broadcasting and promotion."""

from __future__ import annotations

import math
from typing import Any, Self

from weft.base.arguments import real
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype, least_upper_float, promote_with_scalar
from weft.shape.movement import broadcast_shapes
from weft.tensor.ops import division, graph_operations, mathematical, power
from weft.tensor.ops.operators import (
    SCALARS,
    broadcast_node,
    cast_node,
    complement,
    known_facts,
    minus,
    number_node,
    placeless,
)
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import ArrayLike
from weft.uop import Ops, UOp

_UNSIGNED = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


class ElementwiseMixin(TensorBase):
    """Methods that compute each element from the elements at the same place."""

    __slots__ = ()

    # ---- arithmetic ---------------------------------------------------------------------------

    def add(self, x: ArrayLike, reverse: bool = False, *, alpha: float = 1) -> Self:
        """Sum, of self and alpha * x; logical or for bool.

        >>> Tensor([1, 2]).add(Tensor([[10], [20]])).tolist()
        [[11, 12], [21, 22]]
        >>> (Tensor([1, 2]) + 0.5).tolist()
        [1.5, 2.5]
        """
        x = x if alpha == 1 else self._as_tensor(x, self) * real(alpha, "alpha")
        return self._binary(Ops.ADD, x, reverse)

    def sub(self, x: ArrayLike, reverse: bool = False, *, alpha: float = 1) -> Self:
        """Difference, of self and alpha * x. :raises DTypeError: for bool.

        >>> Tensor([5, 7]).sub(2).tolist()
        [3, 5]
        >>> (10 - Tensor([1, 2])).tolist()
        [9, 8]
        """
        x = x if alpha == 1 else self._as_tensor(x, self) * real(alpha, "alpha")
        x = self._operand(x)
        if x.__class__ is not self.__class__ and getattr(x, "_interleaved", None) is not None:
            return self._complex_result("sub", x, reverse)
        self._no_bool("subtraction", x)
        return self._binary(Ops.SUB, x, reverse)

    def mul(self, x: ArrayLike, reverse: bool = False) -> Self:
        """Product; logical and for bool.

        >>> Tensor([1, 2]).mul(3).tolist()
        [3, 6]
        >>> (Tensor([1, 2]) * Tensor([0.5, 2.0])).tolist()
        [0.5, 4.0]
        """
        return self._binary(Ops.MUL, x, reverse)

    def neg(self) -> Self:
        """Negative. :raises DTypeError: for bool.

        >>> (-Tensor([1, -2])).tolist()
        [-1, 2]
        """
        self._no_bool("negation")
        u = self._uop
        return self._wrap(record(Ops.NEG, u.dtype, (u,)))

    def reciprocal(self) -> Self:
        """1 / x, in floats.

        >>> Tensor([2, 4]).reciprocal().tolist()
        [0.5, 0.25]
        """
        return self._unary(Ops.RECIP)

    def square(self) -> Self:
        """x * x.

        >>> Tensor([-3, 4]).square().tolist()
        [9, 16]
        """
        return self * self

    def maximum(self, x: ArrayLike) -> Self:
        """The larger of two; NaN where either is. Gradient: half to each at a tie.

        >>> Tensor([1, 5]).maximum(Tensor([3, 2])).tolist()
        [3, 5]
        """
        return self._binary(Ops.MAX, x)

    def minimum(self, x: ArrayLike) -> Self:
        """The smaller of two; NaN where either is. Gradient: half to each at a tie.

        >>> Tensor([1, 5]).minimum(3).tolist()
        [1, 3]
        """
        a, b, second = self._pair(x)
        if dtypes.is_float(a.dtype):
            negated = record(Ops.MAX, a.dtype, (minus(a), minus(b)))
            return self._wrap_with(minus(negated), second)
        negated = record(Ops.MAX, a.dtype, (complement(a), complement(b)))
        return self._wrap_with(complement(negated), second)

    # ---- comparison and choice ----------------------------------------------------------------

    def eq(self, x: ArrayLike) -> Self:
        """Equal, as bool.

        >>> (Tensor([1, 2]) == 2).tolist()
        [False, True]
        """
        return self._compare(Ops.CMPEQ, x)

    def ne(self, x: ArrayLike) -> Self:
        """Not equal, as bool.

        >>> (Tensor([1, 2]) != 2).tolist()
        [True, False]
        """
        return self._compare(Ops.CMPNE, x)

    def lt(self, x: ArrayLike) -> Self:
        """Less, as bool.

        >>> (Tensor([1, 2, 3]) < 2).tolist()
        [True, False, False]
        """
        return self._compare(Ops.CMPLT, x)

    def gt(self, x: ArrayLike) -> Self:
        """Greater, as bool.

        >>> (Tensor([1, 2, 3]) > 2).tolist()
        [False, False, True]
        """
        return self._compare(Ops.CMPLT, x, True)

    def le(self, x: ArrayLike) -> Self:
        """Less or equal, as bool; false for NaN.

        >>> (Tensor([1, 2, 3]) <= 2).tolist()
        [True, True, False]
        """
        return (self < x) | (self == x) if self._may_be_nan(x) else ~(self > x)

    def ge(self, x: ArrayLike) -> Self:
        """Greater or equal, as bool; false for NaN.

        >>> (Tensor([1, 2, 3]) >= 2).tolist()
        [False, True, True]
        """
        return (self > x) | (self == x) if self._may_be_nan(x) else ~(self < x)

    def _may_be_nan(self, x: Any) -> bool:
        other = getattr(x, "dtype", None)
        floating = isinstance(x, float) or (isinstance(other, DType) and dtypes.is_float(other))
        return floating or dtypes.is_float(self._uop.dtype) or not isinstance(x, (int, TensorBase))

    def logical_not(self) -> Self:
        """True where zero.

        >>> Tensor([0, 3]).logical_not().tolist()
        [True, False]
        """
        return ~self.cast(dtypes.bool)

    def where(self, x: ArrayLike, y: ArrayLike) -> Self:
        """`x` where self is not zero, else `y`; shapes broadcast, dtypes of x and y promote.

        >>> (Tensor([1, -2, 3]) > 0).where(1, 0).tolist()
        [1, 0, 1]
        >>> Tensor([True, False]).where(Tensor([1, 2]), Tensor([3, 4])).tolist()
        [1, 4]
        """
        choices = [self._operand(x), self._operand(y)]
        if any(getattr(c, "_interleaved", None) is not None for c in choices):
            return self._complex_class._chosen(self, *choices)
        known = [c._uop.dtype for c in choices if isinstance(c, TensorBase)]
        if known:
            dtype = least_upper_dtype(*known)
            for c in choices:
                if not isinstance(c, TensorBase):
                    dtype = promote_with_scalar(dtype, c)
        else:
            dtype = dtypes.from_py(choices)
        nodes = [
            cast_node(c._uop, dtype) if isinstance(c, TensorBase) else number_node(dtype, c)
            for c in choices
        ]
        nodes.insert(0, cast_node(self._uop, dtypes.bool))
        tensors = [c for c in choices if isinstance(c, TensorBase)]
        bound = [t for t in (self, *tensors) if t._uop.op is not Ops.CONST and t._uop.device]
        for tensor in bound[1:]:
            if tensor._uop.device != bound[0]._uop.device:
                raise bound[0]._other_device(tensor)
        if any(n.op is not Ops.CONST for n in nodes):
            nodes = [placeless(n) for n in nodes]
        shape = broadcast_shapes(*(n.shape for n in nodes))
        nodes = [broadcast_node(n, shape) for n in nodes]
        node = record(Ops.WHERE, dtype, tuple(nodes))
        placed = next((n for n in nodes if n.op not in SCALARS and n.device), None)
        if placed is not None:
            known_facts(node, shape, placed.device)
        return self._wrap_chosen(node, tensors)

    def _wrap_chosen(self, node: UOp, tensors: list[TensorBase]) -> Any:
        """The condition passes no gradient on; what it chooses from does."""
        for tensor in tensors:
            if tensor._requires_grad:
                return tensor._wrap(node)
        return self._from_node(node)

    def clamp(self, min_: ArrayLike | None = None, max_: ArrayLike | None = None) -> Self:
        """Bounded below and above; NaN stays, and comes of a bound that is NaN. Gradient: 1 inside
        and at the bounds, else 0.

        A number below the range of an integer dtype is no lower bound, one above it no upper one.

        :raises ArgumentError: if neither bound is given.
        :raises OutOfRange: if the dtype cannot represent a bound that would be a result.

        >>> Tensor([-3, 0, 9]).clamp(-1, 5).tolist()
        [-1, 0, 5]
        >>> Tensor([-3, 0, 9]).clamp(max_=5).tolist()
        [-3, 0, 5]
        """
        if min_ is None and max_ is None:
            raise ArgumentError(
                "clamp needs a bound", asked="clamp()", try_="clamp(min_=0), clamp(0, 1)"
            )
        bounded, dtype = self, self._uop.dtype
        low, high = (None if x is None else self._operand(x) for x in (min_, max_))
        if low is not None and not _is_beyond(low, dtype, -1):
            bounded = _or_missing(self < low, low).where(low, self)
        if high is not None and not _is_beyond(high, dtype, 1):
            bounded = _or_missing(bounded > high, high).where(high, bounded)
        return self._wrap(self._uop) if bounded is self else bounded

    def masked_fill(self, mask: ArrayLike, value: ArrayLike) -> Self:
        """`value` where `mask` is true, self elsewhere.

        >>> Tensor([1, 2, 3]).masked_fill(Tensor([True, False, True]), 0).tolist()
        [0, 2, 0]
        """
        return self.__class__._as_tensor(mask, self).where(value, self)

    def lerp(self, end: ArrayLike, weight: ArrayLike) -> Self:
        """self + (end - self) * weight, in floats.

        >>> Tensor([0.0, 10.0]).lerp(Tensor([4.0, 20.0]), 0.25).tolist()
        [1.0, 12.5]
        """
        if not dtypes.is_float(self._uop.dtype):  # a difference of integers could wrap
            return self.cast(dtypes.default_float).lerp(end, weight)
        return self + (self._operand(end) - self) * weight

    def copysign(self, other: ArrayLike) -> Self:
        """The size of self with the sign of `other`, that of -0.0 included; in floats.

        >>> Tensor([1.0, -2.0]).copysign(Tensor([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
        """
        kind = least_upper_float(self._uop.dtype)
        given = self._operand(other)
        if not isinstance(given, TensorBase):
            size = self.cast(kind).abs()
            return -size if math.copysign(1.0, given) < 0 else size
        sign = given.cast(least_upper_float(given._uop.dtype))
        # a large integer is rounded once, to what the result is
        size = self.cast(least_upper_dtype(kind, sign._uop.dtype)).abs()
        bits = _UNSIGNED[sign._uop.dtype.itemsize]
        negative = sign.detach().bitcast(bits) >> (bits.bitsize - 1) != 0
        # what the sign is taken from has a gradient of 0, rather than none
        nothing = value_with_derivative(sign.zeros_like(), sign, "flat")
        return negative.where(-size, size + nothing)

    def isclose(
        self, other: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """|self - other| <= atol + rtol * |other|, as bool; equal infinities are close.

        >>> Tensor([1.0, 2.0]).isclose(Tensor([1.000001, 2.1])).tolist()
        [True, False]
        """
        other = self.__class__._as_tensor(other, self)
        rtol, atol = real(rtol, "rtol"), real(atol, "atol")
        a, b, _ = self._pair(other)
        x, y = self._from_node(a, False), self._from_node(b, False)
        near = x._distance(y) <= y._widened().abs() * rtol + atol
        near = (near & x.isfinite() & y.isfinite()) | (x == y)
        return near | (x.isnan() & y.isnan()) if equal_nan else near

    def _widened(self) -> Any:
        """In float32 at least."""
        return self.cast(least_upper_dtype(self._uop.dtype, dtypes.float32))

    def _distance(self, other: Any) -> Any:
        """|self - other| in float32 at least; of integers it is taken before anything is lost."""
        dtype = self._uop.dtype
        if not dtypes.is_int(dtype):
            return (self._widened() - other._widened()).abs()
        gap = self.maximum(other) - self.minimum(other)
        return gap.bitcast(_UNSIGNED[dtype.itemsize])._widened()

    def isnan(self) -> Self:
        """True where NaN.

        >>> Tensor([1.0, math.nan]).isnan().tolist()
        [False, True]
        """
        return self != self

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """True where infinite, of the requested signs.

        >>> Tensor([1.0, -math.inf]).isinf().tolist()
        [False, True]
        >>> Tensor([1.0, -math.inf]).isinf(detect_negative=False).tolist()
        [False, False]
        """
        if not dtypes.is_float(self._uop.dtype):
            return self.full_like(False, dtype=dtypes.bool)
        above = (self == math.inf) & detect_positive
        return above | ((self == -math.inf) & detect_negative)

    def isfinite(self) -> Self:
        """True where neither infinite nor NaN.

        >>> Tensor([1.0, math.inf, math.nan]).isfinite().tolist()
        [True, False, False]
        """
        dtype = self._uop.dtype
        if not dtypes.is_float(dtype):
            return self.full_like(True, dtype=dtypes.bool)
        x = self.detach()
        return x.abs() < math.inf if dtypes.finfo(dtype).has_infinity else x == x

    # ---- mathematical functions ---------------------------------------------------------------

    def divmod(self, x: ArrayLike) -> tuple[Self, Self]:
        """(self // x, self % x), which is what Python's `divmod` gives.

        >>> [part.tolist() for part in divmod(Tensor([7, -7]), 3)]
        [[2, -3], [1, 2]]
        """
        return self // x, self % x

    floor_divide = mathematical.floor_divide
    fmod = mathematical.fmod
    float_power = mathematical.float_power
    hypot = mathematical.hypot
    atan2 = mathematical.atan2
    logaddexp = mathematical.logaddexp
    logaddexp2 = mathematical.logaddexp2
    xlogy = mathematical.xlogy
    heaviside = mathematical.heaviside
    fmax = mathematical.fmax
    fmin = mathematical.fmin
    addcmul = mathematical.addcmul
    addcdiv = mathematical.addcdiv
    logical_and = mathematical.logical_and
    logical_or = mathematical.logical_or
    logical_xor = mathematical.logical_xor
    signbit = mathematical.signbit
    positive = mathematical.positive
    frac = mathematical.frac
    logit = mathematical.logit
    sinc = mathematical.sinc
    deg2rad = mathematical.deg2rad
    rad2deg = mathematical.rad2deg
    nan_to_num = mathematical.nan_to_num
    isposinf = mathematical.isposinf
    isneginf = mathematical.isneginf
    clamp_min = mathematical.clamp_min
    clamp_max = mathematical.clamp_max
    allclose = mathematical.allclose
    equal = mathematical.equal
    arctan2 = mathematical.atan2

    # ---- operations of the graph --------------------------------------------------------------

    alu = graph_operations.alu
    const_like = graph_operations.const_like
    ufix = graph_operations.ufix
    threefry = graph_operations.threefry

    pow = power.pow

    div = division.div
    idiv = division.idiv
    _floor_divide = division._floor_divide
    _float_remainder = division._float_remainder
    mod = division.mod

    # ---- other names --------------------------------------------------------------------------

    subtract = sub
    multiply = mul
    divide = true_divide = div
    negative = neg
    remainder = mod
    not_equal = ne
    greater = gt
    greater_equal = ge
    less = lt
    less_equal = le
    clip = clamp


def _or_missing(beyond: Any, bound: Any) -> Any:
    """Where a bound is exceeded, or is no number."""
    if not isinstance(bound, TensorBase):
        return beyond if bound == bound else beyond | True
    return beyond | (bound != bound) if dtypes.is_float(bound._uop.dtype) else beyond


def _is_beyond(bound: Any, dtype: DType, way: int) -> bool:
    """Whether an integer is below everything that an integer dtype holds (way -1), or above (1)."""
    if bound.__class__ is not int or not dtypes.is_int(dtype):
        return False
    return bound < dtype.min if way < 0 else bound > dtype.max
