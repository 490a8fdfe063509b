"""Making tensors of constants and ranges. All are lazy and take no memory until they are realised.

Shapes are given as one tuple or as several arguments; `device` None is the default device, and
`dtype` None the default of the value's kind.
"""

from __future__ import annotations

import math
from typing import Any, Self, Unpack, cast

from weft.base.arguments import index_of, real, shown, whole
from weft.base.dtype import DType, dtypes, element_dtype, to_dtype
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import read_as
from weft.base.scalars import check_range
from weft.base.sequences import prod
from weft.device import registry
from weft.shape.movement import say_shape
from weft.tensor.ops import creation_like
from weft.tensor.ops.argument_lists import as_tuple
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import (
    ArrayLike,
    DeviceLike,
    DTypeLike,
    KindOptions,
    Number,
    ShapeLike,
    TensorOptions,
)
from weft.uop import Ops, Shard, UOp, stacked
from weft.uop.symbolic.sint import as_node, fold, smax


def shape_of_arguments(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape that the arguments give. :raises ShapeError: for a negative or fractional size."""
    given = as_tuple(shape[0], shape[1:]) if shape else ()
    extents = tuple(s if isinstance(s, UOp) else index_of(s) for s in given)
    for extent, number in zip(given, extents):
        if number is None or (not isinstance(number, UOp) and number < 0):
            raise ShapeError(
                "the extents of a shape are whole numbers from 0 on",
                asked=f"a shape of {shown(given)}",
                because=f"{shown(extent)} is none",
                try_=f"int({extent!r})"
                if isinstance(extent, float) and extent.is_integer()
                else "0 or more for each axis; reshape works out a -1, nothing else does",
            )
    return extents


def is_complex(dtype: DTypeLike | None) -> bool:
    """Whether a dtype is given, and complex."""
    return dtype is not None and to_dtype(dtype).is_complex


class CreationMixin(TensorBase):
    """Class methods that make tensors, and the `..._like` methods."""

    __slots__ = ()

    @classmethod
    def empty(
        cls, *shape: ShapeLike, device: DeviceLike | None = None, dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """Storage of its own with uninitialized values.

        >>> Tensor.empty(2, 3, dtype=dtypes.half).shape
        (2, 3)
        """
        extents = shape_of_arguments(shape)
        if is_complex(dtype):
            kind = dtypes.real_dtype(to_dtype(dtype))
            parts = cls.empty(*extents, 2, device=device, dtype=kind)
            return cls._complex_class._over(parts._with_flag(requires_grad))
        kind = dtypes.default_float if dtype is None else element_dtype(dtype)
        size = prod(extents)
        if not isinstance(size, int):
            raise ShapeError(
                "storage has a definite size",
                asked=f"empty{say_shape(extents)}",
                try_="the largest size, and a window of it: Tensor.empty(10).shrink(((0, n),))",
            )
        node = _memory(registry.placement(device), size, kind)
        if extents != (size,):
            node = record(Ops.RESHAPE, kind, (node,), extents)
        return cls._from_node(node)._with_flag(requires_grad)

    @classmethod
    def full(
        cls, shape: ShapeLike, fill_value: ArrayLike, *, device: DeviceLike | None = None,
        dtype: DTypeLike | None = None, requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """`fill_value` everywhere: a constant, which takes no memory.

        :raises OutOfRange: if `dtype` cannot represent it.

        >>> Tensor.full((2, 2), 7).tolist()
        [[7, 7], [7, 7]]
        >>> Tensor.full((), 0.5).item()
        0.5
        """
        extents = shape_of_arguments((shape,))
        if isinstance(fill_value, UOp):
            fill_value = cls(fill_value, device=device)
        if isinstance(fill_value, TensorBase):
            value = fill_value if dtype is None else fill_value.cast(dtype)
            return value.reshape((1,) * len(extents))._expanded(extents)  # type: ignore[return-value]
        if isinstance(fill_value, complex) or is_complex(dtype):
            number: Any = fill_value
            made = cls._complex_class(complex(number), device=device, dtype=dtype)
            made = made.reshape((1,) * len(extents)).expand(extents)
            return made if requires_grad is None else made.contiguous().requires_grad_()
        if not isinstance(fill_value, (bool, int, float)):
            fill_value = real(fill_value, "fill_value")
        kind = dtypes.from_py(fill_value) if dtype is None else element_dtype(dtype)
        plain = read_as(kind)
        check_range(fill_value, plain)
        made = cls._from_node(_filled(extents, fill_value, plain, registry.placement(device)))
        return (made if plain is kind else made.cast(kind))._with_flag(requires_grad)

    @classmethod
    def zeros(cls, *shape: ShapeLike, **kwargs: Unpack[TensorOptions]) -> Self:
        """Zeros, of the default float unless `dtype` is given.

        >>> Tensor.zeros(2, 2).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
        >>> Tensor.zeros((3,), dtype=dtypes.bool).tolist()
        [False, False, False]
        """
        return cls.full(shape_of_arguments(shape), 0.0, **kwargs)

    @classmethod
    def ones(cls, *shape: ShapeLike, **kwargs: Unpack[TensorOptions]) -> Self:
        """Ones, of the default float unless `dtype` is given.

        >>> Tensor.ones(2, 2).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        >>> Tensor.ones(3, dtype=dtypes.int).tolist()
        [1, 1, 1]
        """
        return cls.full(shape_of_arguments(shape), 1.0, **kwargs)

    @classmethod
    def logspace(
        cls,
        start: float,
        stop: float,
        steps: int,
        base: float = 10.0,
        **kwargs: Unpack[TensorOptions],
    ) -> Self:
        """`steps` powers of `base`, with exponents from start to stop; see `linspace`.

        :raises OutOfRange: for an end that an integer `dtype` cannot represent.

        >>> Tensor.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
        """
        kind = element_dtype(kwargs.pop("dtype", None) or dtypes.default_float)
        wide = _float_for(kind, kwargs.get("device"))
        for end in (start, stop) if dtypes.is_int(kind) else ():
            check_range(_power(real(base, "base"), real(end, "an end")), kind)
        kwargs["dtype"] = wide
        powers = cls.linspace(start, stop, steps, **kwargs).pow(float(base), True)
        if dtypes.is_int(kind):
            # a whole power may come out a little below itself, and is not to lose all of 1 for it
            nearest = powers.round()
            far = (powers - nearest).abs() > nearest.abs() * (8 * dtypes.finfo(wide).eps)
            powers = far.where(powers, nearest)
        return powers if wide is kind else powers.cast(kind)

    @classmethod
    def tri(cls, n: int, m: int | None = None, k: int = 0, **kwargs: Unpack[TensorOptions]) -> Self:
        """Ones on and below a diagonal of an (n, m) matrix of zeros; m None is n.

        >>> Tensor.tri(2, 3).tolist()
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
        """
        return cls.ones(n, n if m is None else m, **kwargs).tril(k)

    @classmethod
    def arange(
        cls, start: Number | UOp, stop: Number | UOp | None = None, step: Number | UOp = 1, *,
        device: DeviceLike | None = None, dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """start, start + step, ... before stop; from 0 with one argument.

        Of the default int where all arguments are ints (of int64 or uint64 for numbers beyond it),
        else of the default float.

        Start and stop may be symbolic ints: the result is as long as their values say.

        :raises ArgumentError: for a step of 0, or a symbolic range whose step is no int.
        :raises OutOfRange: for numbers that `dtype` cannot represent.

        >>> Tensor.arange(4).tolist()
        [0, 1, 2, 3]
        >>> Tensor.arange(5, 0, -2).tolist()
        [5, 3, 1]
        >>> Tensor.arange(0, 1, 0.25).tolist()
        [0.0, 0.25, 0.5, 0.75]
        """
        if stop is None:
            start, stop = 0, start
        if is_complex(dtype):
            kind = dtypes.real_dtype(to_dtype(dtype))
            return cls.arange(start, stop, step, device=device, dtype=kind).cast(dtype)
        start, stop, step = (
            x if isinstance(x, UOp) else real(x, name)
            for x, name in ((start, "start"), (stop, "stop"), (step, "step"))
        )
        if not isinstance(step, UOp) and step == 0:
            raise ArgumentError("a range needs a step", asked=f"arange({start}, {stop}, 0)")
        if any(isinstance(x, UOp) for x in (start, stop, step)):
            kind = dtypes.default_int if dtype is None else element_dtype(dtype)
            made = cls._symbolic_range(start, stop, step, kind, device)
            return made._with_flag(requires_grad)
        ints = all(isinstance(x, int) for x in (start, stop, step))
        if not all(map(math.isfinite, (start, stop, step))):
            raise ArgumentError(
                "a range has finite ends and a finite step",
                asked=f"arange({start}, {stop}, {step})",
            )
        length = (stop - start) / step if not ints else -((start - stop) // step)
        if length == math.inf:
            raise ArgumentError(
                "a range has as many elements as can be counted",
                asked=f"arange({start}, {stop}, {step})",
                because="the quotient of its length and its step is beyond all floats",
            )
        count = math.ceil(max(length, 0))
        ends = [start, start + (count - 1) * step][:count]
        if dtype is not None:
            kind = element_dtype(dtype)
        else:
            kind = dtypes.from_py(ends or 0) if ints else dtypes.default_float
        for end in cast("list[Number]", ends):
            check_range(end, read_as(kind))
        made = cls._counted(count, start, step, kind, ints, device)
        return made._with_flag(requires_grad)

    @classmethod
    def _symbolic_range(
        cls, start: Any, stop: Any, step: Any, kind: DType, device: DeviceLike | None
    ) -> Any:
        """The front of a counter that goes as far as the bounds of the variables allow."""
        step = step.val if isinstance(step, UOp) else step
        if not all(isinstance(x, (int, UOp)) for x in (start, stop)) or not isinstance(step, int):
            raise ArgumentError(
                "a symbolic range has ints for its ends, and for its step",
                asked=f"arange({say_shape(start)}, {say_shape(stop)}, {say_shape(step)})",
            )
        if step == 0:
            raise ArgumentError("a range needs a step", asked=f"arange(..., step={step})")
        way = stop - start if step > 0 else start - stop
        count = smax(fold((as_node(way) + (abs(step) - 1)) // abs(step)), 0)
        if isinstance(count, int):
            i = cls._counted(count, 0, step, dtypes.default_int, True, device)
        else:
            i = cls._counted(count.vmax, 0, step, dtypes.default_int, True, device)
            i = i.shrink(((0, count),))
        return (i + start).cast(kind)

    @classmethod
    def _counted(
        cls, count: int, start: Any, step: Any, kind: DType, whole: bool, device: DeviceLike | None
    ) -> Any:
        """start + i * step over the counter i, which takes no memory."""
        if count == 0:
            return cls.full((0,), 0, dtype=kind, device=device)
        far = max(abs(start), abs(start + count * step), count) if whole else count
        index = dtypes.int64 if far > dtypes.int32.max else dtypes.int32
        place = UOp(Ops.DEVICE, arg=registry.placement(device))
        i = cls._from_node(record(Ops.IOTA, index, (place,), count))
        if whole and far > dtypes.int64.max:
            modulus = 1 << 64  # in which uint64 counts, downwards too
            return i.cast(dtypes.uint64) * (step % modulus) + start % modulus
        if whole:
            scaled = i if step == 1 else i * step
            return (scaled if start == 0 else scaled + start).cast(kind)
        wide = kind if dtypes.is_float(kind) and kind.itemsize > 2 else dtypes.float32
        return (i.cast(wide) * float(step) + float(start)).cast(kind)

    @classmethod
    def linspace(
        cls, start: float, stop: float, steps: int, *, device: DeviceLike | None = None,
        dtype: DTypeLike | None = None, requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """`steps` numbers from start to stop, both included; integers are cut off toward zero.

        :raises ArgumentError: for fewer than no steps.
        :raises OutOfRange: for an end that an integer `dtype` cannot represent.

        >>> Tensor.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        steps = whole(steps, "steps", least=0)
        if is_complex(dtype) or isinstance(start, complex) or isinstance(stop, complex):
            return cls._complex_class._between(complex(start), complex(stop), steps, dtype, device)
        kind = dtypes.default_float if dtype is None else element_dtype(dtype)
        start, stop = real(start, "start"), real(stop, "stop")
        if kind is dtypes.bool:
            raise ArgumentError("bool has no steps between two numbers", asked="linspace of bool")
        for end in (start, stop):
            check_range(end, read_as(kind))
        if steps == 1:
            return cls.full((1,), start, dtype=kind, device=device)
        if dtypes.is_int(kind) and (counted := _counted_through(start, stop, steps)):
            first, last, whole_kind = counted
            i = cls.arange(steps, device=device).cast(whole_kind)
            made = (i * (last - first) + first * (steps - 1)).idiv(steps - 1).cast(kind)
            return made._with_flag(requires_grad)
        wide = _float_for(kind, device)
        i = cls.arange(steps, device=device).cast(wide)
        # the nearer end is counted from, so that both ends are exact
        step = (stop - start) / max(steps - 1, 1)
        up, down = i * step + start, (i - (steps - 1)) * step + stop
        made = (i < steps / 2).where(up, down).cast(kind)
        return made._with_flag(requires_grad)

    @classmethod
    def eye(
        cls, n: int, m: int | None = None, *, device: DeviceLike | None = None,
        dtype: DTypeLike | None = None, requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """Ones on the main diagonal of an (n, m) matrix of zeros; m None is n.

        >>> Tensor.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        >>> Tensor.eye(2, 3, dtype=dtypes.int).tolist()
        [[1, 0, 0], [0, 1, 0]]
        """
        if is_complex(dtype):
            made = cls.eye(n, m, device=device, dtype=dtypes.real_dtype(to_dtype(dtype)))
            return made.cast(cast("DTypeLike", dtype))._with_flag(requires_grad)
        rows, columns = shape_of_arguments((n, n if m is None else m))
        kind = dtypes.default_float if dtype is None else element_dtype(dtype)
        least = min(rows, columns)
        if least == 0:
            return cls.zeros(rows, columns, dtype=kind, device=device)
        diagonal = cls.ones(least, dtype=kind, device=device).diag()
        made = diagonal.pad(((0, rows - least), (0, columns - least)))
        return made._with_flag(requires_grad)

    @classmethod
    def from_uop(cls, y: UOp, **kwargs: Unpack[KindOptions]) -> Self:
        """A tensor around a graph node; symbolic integers become 0-d tensors.

        >>> n = Variable("n", 1, 8).bind(3)
        >>> (Tensor.from_uop(n) * 2).item()
        6
        """
        return cls(y, **kwargs)

    @classmethod
    def triu_indices(
        cls, row: int, col: int, offset: int = 0, **kwargs: Unpack[TensorOptions]
    ) -> Self:
        """Rows and columns of the upper triangle of a (row, col) matrix: (2, n), int32.

        >>> Tensor.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
        """
        first = whole(offset, "offset")
        return cls._corner(row, col, lambda i, j: j >= i + first, kwargs)

    @classmethod
    def tril_indices(
        cls, row: int, col: int, offset: int = 0, **kwargs: Unpack[TensorOptions]
    ) -> Self:
        """Rows and columns of the lower triangle of a (row, col) matrix: (2, n), int32.

        >>> Tensor.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
        """
        last = whole(offset, "offset")
        return cls._corner(row, col, lambda i, j: j <= i + last, kwargs)

    @classmethod
    def _corner(cls, row: int, col: int, inside: Any, kwargs: Any) -> Self:
        row, col = whole(row, "row", least=0), whole(col, "col", least=0)
        if row * col > 1 << 32:
            raise ArgumentError(
                "these are more places than can be listed",
                asked=f"a matrix of {row} rows and {col} columns",
                because="every place is listed on the host",
                try_="x.triu() or x.tril(), which pick without a list",
            )
        found = [(i, j) for i in range(row) for j in range(col) if inside(i, j)]
        kwargs.setdefault("dtype", dtypes.int32)
        if not found:
            return cls.zeros(2, 0, **kwargs)
        return cls([[i for i, _ in found], [j for _, j in found]], **kwargs)

    # ---- like another tensor ------------------------------------------------------------------

    full_like = creation_like.full_like
    zeros_like = creation_like.zeros_like
    ones_like = creation_like.ones_like
    empty_like = creation_like.empty_like
    new_tensor = creation_like.new_tensor
    new_empty = creation_like.new_empty
    new_zeros = creation_like.new_zeros
    new_ones = creation_like.new_ones
    new_full = creation_like.new_full


def _memory(device: str | tuple[str, ...], size: int, kind: DType) -> UOp:
    """Storage, on each device where they are several."""
    if isinstance(device, str):
        return UOp.new_buffer(device, size, kind)
    return stacked([UOp.new_buffer(each, size, kind) for each in device], Shard())


def _filled(
    extents: tuple[Any, ...], value: Any, kind: DType, device: str | tuple[str, ...]
) -> UOp:
    node = UOp.const(kind, value, device)
    if extents:
        node = record(Ops.RESHAPE, kind, (node,), (1,) * len(extents))
        if any(not isinstance(s, int) or s != 1 for s in extents):
            node = record(Ops.EXPAND, kind, (node,), extents)
    return node


def _float_for(kind: DType, device: Any) -> DType:
    """The float in which numbers of a dtype are computed: of integers as wide as there is one."""
    if dtypes.is_float(kind):
        return kind if kind.itemsize > 2 else dtypes.float32
    if dtypes.is_int(kind):
        devices = device if isinstance(device, tuple) else (device,)
        computes = [registry.capabilities(one).compute for one in devices]
        if all(compute is not None and dtypes.float64 in compute.dtypes for compute in computes):
            return dtypes.float64
    return dtypes.float32


def _power(base: float, exponent: float) -> float:
    try:
        power = float(base) ** exponent
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return math.nan if isinstance(power, complex) else power


def _counted_through(start: float, stop: float, steps: int) -> tuple[int, int, DType] | None:
    """Both ends as integers, and the integer dtype that can represent `steps` times either; None if
    an end is not whole, or no dtype can."""
    if steps < 2 or not all(isinstance(end, int) or end.is_integer() for end in (start, stop)):
        return None
    largest = 2 * max(abs(int(start)), abs(int(stop))) * (steps - 1)
    kind = next((k for k in (dtypes.int32, dtypes.int64) if largest <= k.max), None)
    return None if kind is None else (int(start), int(stop), kind)
