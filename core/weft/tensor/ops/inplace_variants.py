"""In-place variants of methods: `x.exp_()` is `x.assign(x.exp())`.

Most of them are generated from the table `INPLACE`, with the parameters of the method without the
underscore. Methods with other parameters, and methods that exist in place alone, are defined one by
one. As for `assign`, the result must have the shape and the kind of the dtype: comparisons become 0
and 1 in a float tensor, but floats cannot be written to integers. Methods that would change the
shape (`squeeze_`, `t_`) do not exist: a tensor keeps its shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from weft.base.arguments import real
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor.ops import assignment
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike

_VALUES = "Tensor([0.5, 0.25])"
_OTHER, _INDEX = "Tensor([4.0, 2.0])", "Tensor([1, 0])"
_MASK, _FLAGS = "Tensor([True, False])", "Tensor([True, True])"
_SQUARE, _WORDS = "Tensor([[0.5, 1.0], [2.0, 0.25]])", "Tensor([6, 5])"

INPLACE: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        "abs absolute acos arccos arcsin arcsinh arctan arctanh asin asinh atan atanh ceil cos "
        "cosh deg2rad erf exp exp2 expm1 fix floor frac log log10 log1p log2 logical_not logit "
        "nan_to_num neg negative rad2deg reciprocal relu round rsqrt sgn sigmoid sign sin sinc "
        "sinh sqrt square tan tanh trunc".split(),
        (_VALUES, ""),
    ),
    **dict.fromkeys(("acosh", "arccosh"), (_OTHER, "")),
    **dict.fromkeys(
        "arctan2 atan2 copysign divide eq float_power floor_divide fmod ge greater greater_equal "
        "gt heaviside hypot le less less_equal logical_and logical_or logical_xor lt multiply ne "
        "not_equal pow remainder subtract true_divide xlogy".split(),
        (_VALUES, _OTHER),
    ),
    **dict.fromkeys(
        "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split(),
        (_WORDS, "Tensor([3, 1])"),
    ),
    "bitwise_not": (_WORDS, ""),
    "clamp_max": (_VALUES, "0.3"),
    "clamp_min": (_VALUES, "0.3"),
    "clip": (_VALUES, "0.3, 0.4"),
    "cumprod": (_VALUES, "0"),
    "cumsum": (_VALUES, "0"),
    "lerp": (_VALUES, f"{_OTHER}, 0.5"),
    "addcdiv": (_VALUES, f"{_OTHER}, {_OTHER}"),
    "addcmul": (_VALUES, f"{_OTHER}, {_OTHER}"),
    "addmm": (_SQUARE, f"{_SQUARE}, {_SQUARE}"),
    "addmv": (_VALUES, f"{_SQUARE}, {_OTHER}"),
    "addr": (_SQUARE, f"{_VALUES}, {_OTHER}"),
    "addbmm": (_SQUARE, f"{_SQUARE}.unsqueeze(0), {_SQUARE}.unsqueeze(0)"),
    "baddbmm": (f"{_SQUARE}.unsqueeze(0)", f"{_SQUARE}.unsqueeze(0), {_SQUARE}.unsqueeze(0)"),
    "masked_fill": (_VALUES, f"{_MASK}, 0.0"),
    "masked_scatter": (_VALUES, f"{_FLAGS}, {_OTHER}"),
    "index_add": (_VALUES, f"0, {_INDEX}, {_OTHER}"),
    "index_copy": (_VALUES, f"0, {_INDEX}, {_OTHER}"),
    "index_fill": (_VALUES, f"0, {_INDEX}, 3.0"),
    "index_put": (_VALUES, f"({_INDEX},), {_OTHER}"),
    "put": (_VALUES, f"{_INDEX}, {_OTHER}"),
    "scatter": (_VALUES, f"0, {_INDEX}, {_OTHER}"),
    "scatter_add": (_VALUES, f"0, {_INDEX}, {_OTHER}"),
    "scatter_reduce": (_VALUES, f'0, {_INDEX}, {_OTHER}, "amax"'),
    "tril": (_SQUARE, ""),
    "triu": (_SQUARE, ""),
}
"""method -> (a tensor, arguments): the example of the variant."""


def _inplace_operator(name: str, method: str) -> Callable[[TensorT, ArrayLike], TensorT]:
    """The operator `name`: `assign` of the result of a method."""

    def operator(self: TensorT, x: ArrayLike) -> TensorT:
        return self.assign(getattr(self, method)(x))  # type: ignore[no-any-return]

    operator.__name__, operator.__qualname__ = name, f"InplaceMixin.{name}"
    operator.__code__ = operator.__code__.replace(co_name=name)
    return operator


class InplaceMixin(TensorBase):
    """Methods that write what the method without the underscore computes, and return self."""

    __slots__ = ()

    assign = assignment.assign
    _take = assignment._take
    _persists = assignment._persists
    _value_for = assignment._value_for
    _become = assignment._become
    replace = assignment.replace

    def fill_(self, value: ArrayLike) -> Self:
        """`value` everywhere.

        >>> Tensor([1, 2]).fill_(7).tolist()
        [7, 7]
        """
        return self.assign(value)

    def zero_(self) -> Self:
        """0 everywhere.

        >>> Tensor([1, 2]).zero_().tolist()
        [0, 0]
        """
        return self.assign(0)

    def copy_(self, src: ArrayLike) -> Self:
        """The values of another tensor, converted to the dtype and place of self.

        >>> Tensor([1, 2]).copy_(Tensor([3.5, 4.5])).tolist()
        [3, 4]
        """
        if not isinstance(src, TensorBase):
            return self.assign(src)
        return self.assign(src.cast(self._uop.dtype).to(self.device))

    def add_(self, other: ArrayLike, *, alpha: float = 1) -> Self:
        """self + alpha * other.

        >>> Tensor([1, 2]).add_(Tensor([1, 1]), alpha=3).tolist()
        [4, 5]
        """
        return self.assign(self.add(other, alpha=alpha))

    def sub_(self, other: ArrayLike, *, alpha: float = 1) -> Self:
        """self - alpha * other.

        >>> Tensor([1, 2]).sub_(1).tolist()
        [0, 1]
        """
        return self.assign(self.sub(other, alpha=alpha))

    def mul_(self, other: ArrayLike) -> Self:
        """self * other.

        >>> Tensor([1, 2]).mul_(3).tolist()
        [3, 6]
        """
        return self.assign(self * other)

    def div_(self, other: ArrayLike, *, rounding_mode: str | None = None) -> Self:
        """self / other.

        >>> Tensor([1.0, 2.0]).div_(2).tolist()
        [0.5, 1.0]
        """
        return self.assign(self.div(other, rounding_mode=rounding_mode))

    def clamp_(self, min_: ArrayLike | None = None, max_: ArrayLike | None = None) -> Self:
        """Bounded below and above.

        >>> Tensor([1, 5]).clamp_(2, 4).tolist()
        [2, 4]
        """
        return self.assign(self.clamp(min_, max_))

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Self:
        """Random numbers, uniform on [low, high).

        >>> Tensor.zeros(2).uniform_(3.0, 3.0).tolist()
        [3.0, 3.0]
        """
        kind, device = self._uop.dtype, self.device
        return self.assign(
            self.__class__.uniform(self.shape, low=low, high=high, dtype=kind, device=device)
        )

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Self:
        """Random numbers, normal with the given mean and standard deviation.

        >>> Tensor.zeros(2).normal_(5.0, 0.0).tolist()
        [5.0, 5.0]
        """
        kind, device = self._uop.dtype, self.device
        return self.assign(
            self.__class__.normal(self.shape, mean=mean, std=std, dtype=kind, device=device)
        )

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Self:
        """`fill_value` on the main diagonal of a matrix, or of a cube of any rank.

        :param wrap: of a matrix with more rows than columns also on the diagonals below the main
            one, with an empty row between two of them.
        :raises ShapeError: for less than two axes, or more than two of different sizes.

        >>> Tensor([[1, 2], [3, 4]]).fill_diagonal_(0).tolist()
        [[0, 2], [3, 0]]
        """
        shape = self.shape
        if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
            raise ShapeError(
                "only matrices and cubes have a main diagonal",
                asked=f"fill_diagonal_ of shape {shape}",
                because="it takes one index for all axes",
            )
        width = shape[1]
        place = self.__class__.arange(self.numel(), device=self.device).reshape(shape)
        hit = place % sum(width**axis for axis in range(len(shape))) == 0
        if not wrap and len(shape) == 2:
            hit = hit & (place < width * width)
        return self.assign(self.masked_fill(hit, real(fill_value, "fill_value")))

    def random_(self, low: int = 0, high: int | None = None) -> Self:
        """Random integers from `low` to below `high`; one argument alone is `high`.

        Without arguments all integers from 0 that the dtype represents exactly, below 2**30.

        :raises OutOfRange: for bounds that an integer dtype cannot represent.

        >>> Tensor.zeros(3).random_(5, 6).tolist()
        [5.0, 5.0, 5.0]
        """
        kind = self._uop.dtype
        if high is None and low:
            low, high = 0, low
        elif high is None:
            digits = dtypes.finfo(kind).mantissa_bits + 1 if dtypes.is_float(kind) else kind.bitsize
            high = 1 << min(digits - dtypes.is_int(kind) + dtypes.is_unsigned(kind), 30)
        drawn_in = kind if dtypes.is_int(kind) else dtypes.int64
        shape, device = self.shape, self.device
        drawn = self.__class__.randint(*shape, low=low, high=high, dtype=drawn_in, device=device)
        return self.assign(drawn.cast(kind))

    def bernoulli_(self, p: ArrayLike = 0.5) -> Self:
        """1 with probability p, else 0; p is a number or a tensor that broadcasts.

        >>> Tensor.zeros(2).bernoulli_(Tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
        """
        chance = self._as_tensor(p, self, dtypes.default_float)._expanded(self.shape)
        return self.assign(chance.bernoulli().cast(self._uop.dtype))

    __iadd__ = _inplace_operator("__iadd__", "add")
    __isub__ = _inplace_operator("__isub__", "sub")
    __imul__ = _inplace_operator("__imul__", "mul")
    __itruediv__ = _inplace_operator("__itruediv__", "div")
    __ifloordiv__ = _inplace_operator("__ifloordiv__", "_floor_divide")
    __imod__ = _inplace_operator("__imod__", "mod")
    __ipow__ = _inplace_operator("__ipow__", "pow")
    __imatmul__ = _inplace_operator("__imatmul__", "matmul")
    __iand__ = _inplace_operator("__iand__", "bitwise_and")
    __ior__ = _inplace_operator("__ior__", "bitwise_or")
    __ixor__ = _inplace_operator("__ixor__", "bitwise_xor")
    __ilshift__ = _inplace_operator("__ilshift__", "lshift")
    __irshift__ = _inplace_operator("__irshift__", "rshift")


def _variant(name: str) -> Any:
    """The method `name_`, with the parameters of the method `name`."""

    def variant(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.assign(getattr(self, name)(*args, **kwargs))

    x, arguments = INPLACE[name]
    variant.__name__, variant.__qualname__ = f"{name}_", f"InplaceMixin.{name}_"
    variant.__code__ = variant.__code__.replace(co_name=f"{name}_")
    variant.__doc__ = (
        f"`{name}`, written into self.\n\n"
        f">>> x = {x}\n>>> expected = x.{name}({arguments}).tolist()\n"
        f">>> x.{name}_({arguments}) is x, x.tolist() == expected\n(True, True)\n"
    )
    return variant


for _name in INPLACE:
    setattr(InplaceMixin, f"{_name}_", _variant(_name))
