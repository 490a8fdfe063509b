"""Dtype conversions, and the methods of a tensor that depend on its dtype alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from weft.base.dtype import DType, dtypes, element_dtype, to_dtype
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.tensor.alias import is_storage
from weft.tensor.ops import complex_parts
from weft.tensor.ops.operators import cast_node
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.tensor.types import DTypeLike
from weft.uop import Ops


def _conversion(name: str, dtype: DType, before: str, after: str) -> Callable[[TensorT], TensorT]:
    """The method `name` that casts to a dtype, with an example."""

    def convert(self: TensorT) -> TensorT:
        return self.cast(dtype)

    convert.__name__, convert.__qualname__ = name, f"DtypeMixin.{name}"
    convert.__code__ = convert.__code__.replace(co_name=name)
    convert.__doc__ = f"""Converted to {dtype.name}: see `cast`.

    >>> Tensor({before}).{name}().tolist()
    {after}
    """
    return convert


class DtypeMixin(TensorBase):
    """Methods about what one element is."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """What one element is.

        >>> Tensor([1, 2]).dtype
        dtypes.int
        >>> Tensor([1.0, 2.0]).dtype
        dtypes.float
        """
        return self._uop.dtype

    def element_size(self) -> int:
        """Bytes of one element.

        >>> Tensor([1, 2], dtype=dtypes.int16).element_size()
        2
        """
        return self._uop.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element.

        >>> Tensor([1, 2], dtype=dtypes.int16).itemsize
        2
        """
        return self._uop.dtype.itemsize

    def is_floating_point(self) -> bool:
        """Whether the elements are floats.

        >>> Tensor([1.0]).is_floating_point(), Tensor([1]).is_floating_point()
        (True, False)
        """
        return dtypes.is_float(self._uop.dtype)

    def cast(self, dtype: DTypeLike) -> Self:
        """Converted to `dtype`: floats toward zero to integers, integers modulo their width.

        Gradients flow between floats. :raises DTypeError: for what names no dtype.

        >>> Tensor([1.9, -1.9]).cast(dtypes.int).tolist()
        [1, -1]
        >>> Tensor([300]).cast("uint8").tolist()
        [44]
        """
        u = self._uop
        if u.dtype is dtype:
            return self._wrap(u)
        target = to_dtype(dtype)
        if target.is_complex:
            return self._complex_class(self, dtype=target)
        target = element_dtype(target)
        if u.dtype is target:
            return self._wrap(u)
        node = cast_node(u, target)
        return self._wrap(node) if dtypes.is_float(target) else self._from_node(node)

    def bitcast(self, dtype: DTypeLike) -> Self:
        """The same bytes read as `dtype`; the last axis grows or shrinks with the item size.

        A bool is a byte that is 0 or 1. No gradient flows. It is a view, as in NumPy; a copy where
        elements change their size and the last axis is not contiguous.

        :raises ShapeError: if the last axis is no whole number of new elements.

        >>> Tensor([1.0]).bitcast(dtypes.uint32).tolist()
        [1065353216]
        >>> Tensor([1, 256], dtype=dtypes.int16).bitcast(dtypes.uint8).tolist()
        [1, 0, 0, 1]
        """
        target = element_dtype(dtype)
        u = self._uop
        if u.dtype is target:
            return self._viewed(u)
        if u.dtype.itemsize != target.itemsize:
            self._check_ratio(target)
            if not is_storage(u):
                u = record(Ops.CONTIGUOUS, u.dtype, (u,))
            made = self._viewed_resized(record(Ops.BITCAST, target, (u,)))
        else:
            made = self._viewed(record(Ops.BITCAST, target, (u,)))
        made._requires_grad, made.is_leaf = None, True
        return made

    def _check_ratio(self, target: DType) -> None:
        own, shape = self._uop.dtype.itemsize, self.shape
        if target is dtypes.void:
            raise DTypeError("elements of void have no bytes", asked=f"bitcast to {target!r}")
        if not shape or (isinstance(shape[-1], int) and shape[-1] * own % target.itemsize):
            raise ShapeError(
                "the last axis is no whole number of new elements",
                asked=f"bitcast of {self._uop.dtype!r} {shape} to {target!r}",
                because=f"a row has {(shape[-1] if shape else 1) * own} bytes, and one "
                f"{target!r} takes {target.itemsize}",
                try_="pad or shrink the last axis to a whole number of them",
            )

    def type(self, dtype: DTypeLike | None = None) -> Self:
        """`cast`.

        :raises ArgumentError: without a dtype; `x.dtype` is that of x.

        >>> Tensor([1, 2]).type(dtypes.float).tolist()
        [1.0, 2.0]
        """
        if dtype is None:
            raise ArgumentError(
                "type converts, and needs a dtype",
                asked="type()",
                because="tensors of all dtypes are of one class",
                try_="x.dtype for the dtype, x.type(dtype) to convert",
            )
        return self.cast(dtype)

    half = _conversion("half", dtypes.float16, "[1.0, 70000.0]", "[1.0, inf]")
    float = _conversion("float", dtypes.float32, "[1, 2]", "[1.0, 2.0]")
    double = _conversion("double", dtypes.float64, "[1, 2]", "[1.0, 2.0]")
    bfloat16 = _conversion("bfloat16", dtypes.bfloat16, "[1, 2]", "[1.0, 2.0]")
    char = _conversion("char", dtypes.int8, "[1.0, -2.0]", "[1, -2]")
    byte = _conversion("byte", dtypes.uint8, "[1.0, 2.0]", "[1, 2]")
    short = _conversion("short", dtypes.int16, "[1.9, -1.9]", "[1, -1]")
    int = _conversion("int", dtypes.int32, "[1.9, -1.9]", "[1, -1]")
    long = _conversion("long", dtypes.int64, "[1.9, -1.9]", "[1, -1]")
    bool = _conversion("bool", dtypes.bool, "[0.0, 0.5]", "[False, True]")

    is_complex = complex_parts.is_complex
    conj = complex_parts.conj
    angle = complex_parts.angle
    real = property(complex_parts.real)
    imag = property(complex_parts.imag)

    def llvm_bf16_cast(self, dtype: DTypeLike) -> Self:
        """bfloat16 to float32 by its bits, and from there to `dtype`; the same as `cast`.

        For code that had to go this way where no device converts bfloat16.

        >>> Tensor([1.5], dtype="bfloat16").llvm_bf16_cast("float32").tolist()
        [1.5]
        """
        return self.cast(dtypes.float32).cast(dtype)
