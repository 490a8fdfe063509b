"""Conversions between dtypes, and what a dtype says of a tensor."""

from __future__ import annotations

from typing import Any, Self

from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ShapeError
from weft.tensor.ops.operands import cast_node
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops


class DtypeMixin(TensorBase):
    """Methods about what one element is."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """What one element is."""
        return self._uop.dtype

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._uop.dtype.itemsize

    def is_floating_point(self) -> bool:
        """Whether the elements are floats."""
        return dtypes.is_float(self._uop.dtype)

    def cast(self, dtype: Any) -> Self:
        """Converted to `dtype`: floats toward zero to integers, integers modulo their width.

        Gradients flow between floats. :raises DTypeError: for what names no dtype.
        """
        target = dtype if dtype.__class__ is DType else to_dtype(dtype)
        u = self._uop
        if u.dtype is target:
            return self._wrap(u)
        node = cast_node(u, target)
        return self._wrap(node) if dtypes.is_float(target) else self._from_node(node)

    def bitcast(self, dtype: Any) -> Self:
        """The same bytes read as `dtype`; the last axis grows or shrinks with the item size.

        A bool is a byte that is 0 or 1. No gradient flows.

        :raises ShapeError: if the last axis is no whole number of new elements.
        """
        target = to_dtype(dtype)
        u = self._uop
        if u.dtype is target:
            return self._wrap(u)
        if u.dtype.itemsize != target.itemsize:
            self._check_ratio(target)
            if not _is_storage(u):
                u = record(Ops.CONTIGUOUS, u.dtype, (u,))
        return self._from_node(record(Ops.BITCAST, target, (u,)))

    def _check_ratio(self, target: DType) -> None:
        own, shape = self._uop.dtype.itemsize, self.shape
        if not shape or (isinstance(shape[-1], int) and shape[-1] * own % target.itemsize):
            raise ShapeError(
                "the last axis is no whole number of new elements",
                asked=f"bitcast of {self._uop.dtype!r} {shape} to {target!r}",
                because=f"elements have {own} bytes, and {target.itemsize} are wanted",
            )

    def float(self) -> Self:
        """As float32."""
        return self.cast(dtypes.float32)

    def half(self) -> Self:
        """As float16."""
        return self.cast(dtypes.float16)

    def double(self) -> Self:
        """As float64."""
        return self.cast(dtypes.float64)

    def int(self) -> Self:
        """As int32."""
        return self.cast(dtypes.int32)

    def long(self) -> Self:
        """As int64."""
        return self.cast(dtypes.int64)

    def bool(self) -> Self:
        """As bool: whether not zero."""
        return self.cast(dtypes.bool)


def _is_storage(node: Any) -> bool:
    """Whether the value is a stretch of a buffer, so that other elements can be seen in it."""
    while node.op in (Ops.RESHAPE, Ops.SHRINK, Ops.BITCAST):
        node = node.src[0]
    return node.op in (Ops.BUFFER, Ops.BUFFER_VIEW, Ops.CONTIGUOUS, Ops.COPY)
