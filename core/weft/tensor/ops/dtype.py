"""Conversions between dtypes, and what a dtype says of a tensor."""

from __future__ import annotations

from typing import Self

from weft.base.dtype import DType, dtypes, element_dtype
from weft.base.errors import DTypeError, ShapeError
from weft.tensor.alias import is_storage
from weft.tensor.ops.operands import cast_node
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import DTypeLike
from weft.uop import Ops


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
        target = element_dtype(dtype)
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

    def float(self) -> Self:
        """As float32.

        >>> Tensor([1, 2]).float().tolist()
        [1.0, 2.0]
        """
        return self.cast(dtypes.float32)

    def half(self) -> Self:
        """As float16.

        >>> Tensor([1.0, 70000.0]).half().tolist()
        [1.0, inf]
        """
        return self.cast(dtypes.float16)

    def double(self) -> Self:
        """As float64.

        >>> Tensor([1, 2]).double().dtype
        dtypes.double
        """
        return self.cast(dtypes.float64)

    def int(self) -> Self:
        """As int32.

        >>> Tensor([1.9, -1.9]).int().tolist()
        [1, -1]
        """
        return self.cast(dtypes.int32)

    def bfloat16(self) -> Self:
        """As bfloat16.

        >>> Tensor([1, 2]).bfloat16().dtype
        dtypes.bfloat16
        """
        return self.cast(dtypes.bfloat16)

    def short(self) -> Self:
        """As int16.

        >>> Tensor([1, 2]).short().dtype
        dtypes.short
        """
        return self.cast(dtypes.int16)

    def long(self) -> Self:
        """As int64.

        >>> Tensor([1, 2]).long().dtype
        dtypes.long
        """
        return self.cast(dtypes.int64)

    def bool(self) -> Self:
        """As bool: whether not zero.

        >>> Tensor([0.0, 0.5]).bool().tolist()
        [False, True]
        """
        return self.cast(dtypes.bool)

    def llvm_bf16_cast(self, dtype: DTypeLike) -> Self:
        """bfloat16 to float32 by its bits, and from there to `dtype`; the same as `cast`.

        For code that had to go this way where no device converts bfloat16.

        >>> Tensor([1.5], dtype="bfloat16").llvm_bf16_cast("float32").tolist()
        [1.5]
        """
        return self.cast(dtypes.float32).cast(dtype)
