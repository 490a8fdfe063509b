"""Writing: into memory of one's own where there is some, into a new value elsewhere.

A write is seen by all that share the value (see `weft.tensor.alias`), and by no others: what was
computed before it stays what it was (the scheduler orders or copies).
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, CapabilityError, DTypeError, GradientError, ShapeError
from weft.device import registry
from weft.shape import ShapeTracker, View
from weft.shape.movement import broadcast_shapes
from weft.tensor.alias import (
    base_of,
    break_alias,
    invalidate_views,
    is_view,
    propagate_requires_grad,
)
from weft.tensor.interop import moved
from weft.tensor.ops.aliased_writes import write_view
from weft.tensor.ops.operators import cast_node
from weft.tensor.protocol import TensorBase, TensorT, grad_enabled, record
from weft.tensor.storage import is_window, moves_over_memory, owned_storage, window_start
from weft.tensor.types import ArrayLike
from weft.uop import Ops, UOp, Window


def same_kind(source: DType, target: DType) -> bool:
    """Whether a write may convert silently: to a wider kind (bool, int, float), or within one."""
    return _kind(source) <= _kind(target)


def _kind(dtype: DType) -> int:
    return 2 if dtypes.is_float(dtype) else int(dtype is not dtypes.bool)


def _goes_into(shape: tuple[Any, ...], target: tuple[Any, ...]) -> bool:
    try:
        return broadcast_shapes(shape, target) == target
    except ShapeError:
        return False


def assign(self: TensorT, x: ArrayLike) -> TensorT:
    """Take on the value of x, which broadcasts to the shape of self; returns self.

    A tensor of the same or a lower kind is converted; numbers, lists and arrays always are.

    :raises ShapeError: if x does not broadcast to the shape of self.
    :raises DTypeError: if a tensor of a higher kind (float into int) is written.
    :raises GradientError: if self is a leaf that requires gradients, and x does as well.

    >>> t = Tensor([1, 2, 3])
    >>> before = t * 10
    >>> t.assign([7, 8, 9]).tolist()
    [7, 8, 9]
    >>> before.tolist()
    [10, 20, 30]
    """
    if self._persists():
        return _write_through(self, x)
    value = self._value_for(x, self.shape, "assign")
    if is_view(self):
        write_view(self, value)
        return self
    _check_may_write(self, value, "assign")
    return self._take(value)


def _take(self: TensorT, value: Any) -> TensorT:
    """`assign` of a value in the shape, dtype and place of self, which is no view."""
    node = value._uop
    if node is self._uop:
        return self
    # what gradients lead through may be needed as it was: the new value goes elsewhere
    derived = self._requires_grad and not self.is_leaf
    keeps = (derived or value._requires_grad) and grad_enabled()
    storage = None if keeps else owned_storage(self._uop)
    if storage is None:
        if self._requires_grad and self.is_leaf:  # whose node no other tensor may have
            node = self._own_copy(node)
        self._become(node, value)
        return self
    flat = (
        node
        if node.shape == storage.shape
        else record(Ops.RESHAPE, node.dtype, (node,), storage.shape)
    )
    self._become(_over(self, record(Ops.ASSIGN, storage.dtype, (storage, flat))), value)
    return self


def _over(self: TensorBase, storage: UOp) -> UOp:
    shape = self._uop.shape
    if storage.shape == shape:
        return storage
    return record(Ops.RESHAPE, storage.dtype, (storage,), shape)


def _persists(self: TensorBase) -> bool:
    """Whether it lives in memory that outlives the process."""
    device = self._uop.device
    return isinstance(device, str) and registry.capabilities(device).memory.persistent


def _write_through(self: TensorT, x: Any) -> TensorT:
    """Write x at once into the bytes that self is a view of.

    What outlives the process is shared with others by nature: all that reads the same bytes
    sees this write, views or not.

    :raises CapabilityError: if self is not a contiguous window of stored bytes.
    """
    kind, device = self._uop.dtype, self._uop.device
    if not isinstance(x, TensorBase):
        x = self.__class__(x, dtype=kind)
    value = x if x._persists() else x._value_for(x, x.shape, "assign")
    if value._persists() and (value._uop.device == device or not is_window(value._uop)):
        value = value.to(None)  # what only stores neither computes nor copies within itself
    if not same_kind(value._uop.dtype, kind):
        self._value_for(x, self.shape, "assign")  # says what is wrong
    value = value.cast(kind)._expanded(self.shape)
    if 0 in self.shape:
        return self
    base = base_of(self)
    if base._uop.base.op is Ops.COPY:
        base.realize()  # the file is there from now on
    storage, start, value = _stored_region(self, value)
    copied = value.contiguous()._uop.copy_to_device(device)
    if start == 0 and value.numel() == storage.size:
        written = storage.assign(copied)
    else:
        window = View.create(value.shape, None, start)
        written = storage.assign(copied, Window(ShapeTracker((window,))))
    self._from_node(written).realize()
    return self


def _stored_region(self: TensorBase, value: Any) -> tuple[UOp, int, Any]:
    """The BUFFER that self is a contiguous window of, the first element, and what is to be
    written there: `value`, flat, in the dtype of that BUFFER.

    :raises CapabilityError: if self is no contiguous window of stored bytes.
    """
    node, start = self._uop, 0
    value = value.reshape(-1)
    while True:
        node = moves_over_memory(node)
        first, base = window_start(node), node.base
        if first is None:
            raise _no_window(self, "its elements are in another order than those in the file")
        start, value = start + first, value.bitcast(node.dtype)
        if base.op is Ops.BUFFER:
            return base, start, value
        if base.op is not Ops.BITCAST:
            raise _no_window(
                self, f"it is the result of {base.op.name}, which that device cannot compute"
            )
        node = base.src[0]
        size, below = base.dtype.itemsize, node.dtype.itemsize
        if start * size % below or value.numel() * size % below:
            raise _no_window(self, f"it begins or ends within an element of {node.dtype!r}")
        start, value = start * size // below, value.bitcast(node.dtype)


def _no_window(self: TensorBase, because: str) -> CapabilityError:
    return CapabilityError(
        "only a window of stored bytes can be written",
        asked=f"a write to {self._uop.dtype!r} {self.shape} on {self._uop.device}",
        because=because,
        try_="write to a slice of the tensor of the file",
    )


def _value_for(self: TensorBase, x: Any, shape: tuple[Any, ...], what: str) -> Any:
    """x as a tensor in the dtype, shape and place of self. Raises as `assign`."""
    target = self._uop.dtype
    if not isinstance(x, TensorBase):
        x = self.__class__._as_tensor(x, self, dtype=target)
    elif not same_kind(x._uop.dtype, target):
        raise DTypeError(
            f"{x._uop.dtype!r} does not go into {target!r}",
            asked=f"{what} of {x._uop.dtype!r} {x.shape} to {target!r} {self.shape}",
            because="the fraction would be lost without a word"
            if dtypes.is_float(x._uop.dtype)
            else "the value would become a truth without a word",
            try_=f"x.cast({target!r})",
        )
    extra = len(x.shape) - len(shape)
    if what == "a write" and extra > 0 and all(s == 1 for s in x.shape[:extra]):
        x = x.reshape(x.shape[extra:])  # as NumPy does: leading axes of one are no axes here
    if not _goes_into(x.shape, shape):
        raise ShapeError(
            f"shape {x.shape} does not go into {shape}",
            asked=f"{what} of {x.shape} to {shape}",
            because="a write does not change the shape of what it writes to",
            try_="x.reshape(...), or a window of the target of that shape",
        )
    node = cast_node(x._uop, target)
    if node.device is None:  # made of variables alone: it is computed on the device of the target
        nothing = self.__class__.zeros(shape, dtype=target, device=self.device)
        return nothing.contiguous() + x._wrap(node)
    return x._wrap(moved(node, self.device))._expanded(shape)


def _check_may_write(self: TensorBase, value: TensorBase, what: str) -> None:
    if self._requires_grad and self.is_leaf and value._requires_grad and grad_enabled():
        raise GradientError(
            "a leaf that requires gradients cannot become the result of a computation",
            asked=f"{what} to a leaf of shape {self.shape}",
            because="its gradient would no longer be that of the value it had",
            try_="x.detach(), or with Tensor.no_grad(): ...",
        )


def _become(self: TensorBase, node: UOp, value: TensorBase) -> None:
    self._replace_node(node)
    if value._requires_grad and grad_enabled() and not self._requires_grad:
        self._requires_grad, self.is_leaf = True, False
        propagate_requires_grad(self)
    elif self._requires_grad and not self.is_leaf and not value._requires_grad:
        # nothing is left of what it was computed of
        self._requires_grad, self.is_leaf = None, True
        propagate_requires_grad(self)
    if self._alias is not None:
        invalidate_views(self)


def replace(self: TensorT, x: ArrayLike, allow_shape_mismatch: bool = False) -> TensorT:
    """Become another tensor altogether: its graph, and none of the old memory. Views of what
    it was until now share that, and no longer its value. Of a leaf that requires gradients,
    what was computed before still leads to it.

    :raises ShapeError: if the shapes differ, unless that is allowed.
    :raises DTypeError: if the dtypes differ.

    >>> t = Tensor([1, 2, 3])
    >>> t.replace(Tensor([4, 5, 6])).tolist()
    [4, 5, 6]
    """
    if not isinstance(x, TensorBase):
        raise ArgumentError(
            "a tensor is replaced by a tensor",
            asked=f"replace by {type(x).__name__}",
            because="the other one's graph becomes this one's",
            try_="assign(x), which takes numbers and arrays as well",
        )
    if x.shape != self.shape and not allow_shape_mismatch:
        raise ShapeError(
            "the replacement has another shape",
            asked=f"{x.shape} in place of {self.shape}",
            try_="replace(x, allow_shape_mismatch=True)",
        )
    if x._uop.dtype is not self._uop.dtype:
        raise DTypeError(
            "the replacement has another dtype",
            asked=f"{x._uop.dtype!r} in place of {self._uop.dtype!r}",
            try_="replace(x.cast(...))",
        )
    node = x._uop
    break_alias(self)
    self._replace_node(node)
    return self
