"""Values read by Python: computed now, and given as numbers, lists, bytes or arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from weft.base.arguments import shown
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import ArgumentError, OutOfMemory, ShapeError, WeftError
from weft.base.scalars import pack, unpack
from weft.base.sequences import prod
from weft.device import Buffer, binding, numpy_dtype, registry
from weft.engine.capture import recording
from weft.shape.movement import say_shape
from weft.tensor import interop
from weft.tensor.ops.data_attribute import DataMethod, refused
from weft.tensor.protocol import TensorBase
from weft.tensor.realize import schedule_lock
from weft.tensor.storage import is_window, owned_storage
from weft.tensor.types import Number
from weft.uop import GroupOp, Ops, UOp
from weft.uop.symbolic.sint import evaluate_sint

if TYPE_CHECKING:
    import numpy


_COMPUTATIONS = GroupOp.ALU | {Ops.CAST, Ops.REDUCE_AXIS}


class ArrayConversionMixin(TensorBase):
    """Methods that compute and hand out."""

    __slots__ = ()

    def _settled(self) -> Any:
        """This value, computed now: a constant, or a buffer from its start in row-major order.

        Of a shape with bound variables it is what they are bound to: its sizes are ints.
        """
        if self._is_at_hand():
            return self
        with (
            schedule_lock
        ):  # else another thread might compute it while a tensor for it is being made
            return self._found()

    def _is_at_hand(self) -> bool:
        """Whether this is the whole of a buffer, which nothing records."""
        node = self._uop
        while node.op is Ops.RESHAPE:
            node = node.src[0]
        if node.op is not Ops.BUFFER or node.src[0].arg.__class__ is not str:
            return False
        if isinstance(node.dtype, ImageDType) or recording() is not None:
            return False
        return node.arg > 0 and all(size.__class__ is int for size in self._uop.shape)

    def _found(self) -> Any:
        if any(isinstance(s, UOp) for s in self.shape):
            return self._at_its_values()
        if isinstance(self._uop.dtype, ImageDType):  # its memory is no row of bytes
            return self.detach().cast(self._uop.dtype.base)._settled()
        if 0 in self.shape or self._constant_value() is not None:
            return self
        if (recorder := recording()) is not None:
            recorder.refuse_reading(self.shape)
        if isinstance(self._uop.device, tuple):
            return self.detach()._readable()._settled()
        if _is_read_elsewhere(self._uop):
            return self.detach().to(registry.canonical(None))._settled()
        if (self._requires_grad and not self.is_leaf) or _is_computed(self._uop):
            self.realize()  # and not a copy: it may be read again, by backward as well
            if self._is_at_hand():
                return self
            if self._constant_value() is not None:
                return self
        return self._stored()

    def _stored(self) -> Any:
        """This value in memory of its own, computed now."""
        if owned_storage(self._uop) is not None:
            self.realize()
            if owned_storage(self._uop) is not None:  # else it is a view, and its base was computed
                return self
        return self.detach().contiguous().realize()

    def _at_its_values(self) -> Any:
        """Of a symbolic shape: computed by the kernels of that shape, seen in its present sizes."""
        extents = _bound_shape(self.shape)
        value = 0 if 0 in extents else self._constant_value()
        if value is not None:
            return self.full(extents, value, dtype=self._uop.dtype, device=self.device)
        if (recorder := recording()) is not None:
            recorder.refuse_reading(self.shape)
        if isinstance(self._uop.device, tuple):
            return self.detach()._readable()._at_its_values()
        storage = self._stored()._uop.base
        # its buffer holds the largest sizes; the elements are at the front
        count = prod(extents)
        front = UOp(Ops.SHRINK, storage.dtype, (storage,), ((0, count),))
        return self._from_node(front.reshape(extents))

    def _buffer(self) -> Buffer:
        """The memory of a settled value that is no constant."""
        node = self._uop
        if self._is_at_hand():
            return binding.buffer_of(node.base)
        if node.base.op is Ops.DETACH:  # a detached value of what its memory holds
            node = node.substitute({node.base: node.base.src[0]})
        storage, tracked = node.base, node.st
        if storage.op is not Ops.BUFFER or not tracked.contiguous:
            raise WeftError("this tensor was not computed", asked=f"the memory of {self._uop.op}")
        memory, count = binding.buffer_of(storage), self.numel()
        return memory if count == storage.size else memory.view(count, memory.dtype, 0)

    def _constant_value(self) -> Any:
        """The Python number that every element is, where that needs no computing; else None."""
        node = self._uop
        while node.op in (Ops.RESHAPE, Ops.EXPAND, Ops.DETACH, Ops.PERMUTE, Ops.SHRINK):
            node = node.src[0]
        if node.op is not Ops.CONST and node.device is None:
            # symbolic ints beside no tensor: their variables are bound
            bound = {u: u.src[1] for u in node.toposort() if u.op is Ops.BIND}
            node = node.substitute(bound).simplify()
        return node.arg if node.op is Ops.CONST else None

    def numpy(self) -> numpy.ndarray[Any, numpy.dtype[Any]]:
        """The values as a NumPy array of its own memory.

        :raises DTypeError: for dtypes that NumPy lacks, unless ml_dtypes is installed.

        >>> Tensor([[1, 2], [3, 4]]).numpy().sum().item()
        10
        """
        import numpy

        held = self._settled()
        shape = held.shape
        value = 0 if 0 in shape else held._constant_value()
        if value is not None:
            try:
                return numpy.full(shape, value, dtype=numpy_dtype(held._uop.dtype))
            except MemoryError as error:
                raise OutOfMemory.during(f"an array of shape {shape}", error) from None
        return held._buffer().numpy(window=False).reshape(shape)

    @property
    def data(self) -> Callable[[], memoryview]:
        """`x.data()` gives the values as a memoryview in the shape of self, in the format of its
        dtype.

        dtypes without a format of memoryview (half, bfloat16, fp8) come as flat bytes, empty
        tensors as a view of no elements in one dimension.

        >>> view = Tensor([[1, 2], [3, 4]]).data()
        >>> view.shape, view.format, view[1, 0]
        ((2, 2), 'i', 3)
        """
        return DataMethod(self._data)

    @data.setter
    def data(self, value: Any) -> NoReturn:
        raise refused(f"x.data = {shown(value)}", "with weft.no_grad(): x.assign(value)")

    def _data(self) -> memoryview:
        held = self._settled()
        dtype = held._uop.dtype
        shape = held.shape
        value = None if 0 in shape else held._constant_value()
        if 0 in shape:
            raw, shape = memoryview(bytearray()), None
        elif value is None:
            raw = held._buffer().copy_out()
        else:
            try:
                raw = memoryview(bytearray(pack((value,), dtype) * held.numel()))
            except (MemoryError, OverflowError) as error:
                asked = f"the bytes of shape {shape}"
                raise OutOfMemory.during(asked, MemoryError(str(error))) from None
        if dtype.fmt is None or dtype is dtypes.float16:
            return raw
        return raw.cast(dtype.fmt) if shape is None else raw.cast(dtype.fmt, shape)

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers; a number for a 0-d tensor.

        >>> Tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        >>> Tensor(5).tolist()
        5
        """
        held = self._settled()
        shape = held.shape
        if 0 in shape:
            return interop.nested([], shape)
        value = held._constant_value()
        if value is not None:
            return interop.nested([value] * held.numel(), shape)
        buffer = held._buffer()
        return interop.nested(unpack(buffer.copy_out(), buffer.dtype), shape)

    def item(self) -> Number:
        """The only element, as a Python number.

        :raises ShapeError: if there is not exactly one.

        >>> Tensor([[7]]).item()
        7
        >>> Tensor([1.0, 2.0]).sum().item()
        3.0
        """
        shape = self._uop.shape
        if shape and any(size.__class__ is not int for size in shape):
            return self._settled().item()
        if shape and self.numel() != 1:
            raise ShapeError(
                "item is of one element",
                asked=f"item() of shape {self.shape}",
                because=f"it has {self.numel()} elements",
                try_="x.tolist(), or x[...] for one of them",
            )
        if _is_computed(self._uop) and recording() is None:
            device = self._uop.device
            if device.__class__ is str and registry.capabilities(device).compute is not None:
                self.realize()
        found = self._element_at_hand()
        if found:
            return found[0]
        held = self._settled()
        value: Number | None = held._constant_value()
        if value is None:
            buffer = held._buffer()
            value = unpack(buffer.copy_out(), buffer.dtype)[0]
        return value

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())


def _is_computed(node: UOp) -> bool:
    """Whether this is the whole of what one computation gives, and no part or view of it."""
    while node.op is Ops.RESHAPE:
        node = node.src[0]
    return node.op in _COMPUTATIONS


def _is_read_elsewhere(node: UOp) -> bool:
    """Whether the device stores and does not compute, and this is no window of what it stores: a
    conversion, or a view in another order."""
    device = node.device
    if not isinstance(device, str) or is_window(node):  # which the device may be gone from
        return False
    if registry.capabilities(device).compute is not None:
        return False
    return device != registry.canonical(None)


def _bound_shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes at the values that their variables are bound to."""
    try:
        return tuple(evaluate_sint(size, {}) for size in shape)
    except ArgumentError:
        raise ShapeError(
            "reading a tensor needs a definite shape",
            asked=f"shape {say_shape(shape)}",
            because="it depends on variables that have no value",
            try_="variable.bind(value) where the shape is made",
        ) from None
