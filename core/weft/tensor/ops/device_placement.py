"""Where a value is held: on which device, in memory of its own, apart from gradients."""

from __future__ import annotations

import itertools
from typing import Any, Self

from weft.base.dtype import DType, dtypes, to_dtype
from weft.device import registry
from weft.schedule import layout_of
from weft.tensor import interop
from weft.tensor.alias import break_alias
from weft.tensor.leaf_identities import remember_leaf
from weft.tensor.live_tensors import mark_leaf, set_node
from weft.tensor.ops import sharding
from weft.tensor.protocol import TensorBase, record
from weft.tensor.storage import owned_storage
from weft.tensor.types import DeviceLike, DTypeLike
from weft.uop import Ops, Shard, UOp

_leaf_numbers = itertools.count()
_MEMORY = frozenset({Ops.BUFFER, Ops.ASSIGN, Ops.MULTI})
_SAME: Any = object()  # where it is, unlike None, the default device
_DTYPE_NAMES = frozenset([*dtypes.fields(), *(dtype.name for dtype in dtypes.complexes)])


def is_dtype(given: Any) -> bool:
    """Whether an argument that may be a device is meant as a dtype: a DType, the name of one, a
    Python or NumPy scalar type, or a dtype of another library."""
    if isinstance(given, str):
        return given in _DTYPE_NAMES
    return isinstance(given, DType | type) or hasattr(given, "itemsize")


class DevicePlacementMixin(TensorBase):
    """Methods that move, copy and detach."""

    __slots__ = ()

    def to(
        self, device: DeviceLike | DTypeLike | TensorBase | None = _SAME,
        dtype: DTypeLike | None = None, *, non_blocking: bool = False, copy: bool = False,
    ) -> Self:  # fmt: skip
        """The same value on another device, in another dtype, or both. `to(other)` takes the device
        and the dtype of another tensor.

        device: None is the default device; for several devices, each gets the whole value (see
        `shard`). A sharded value is gathered. If device and dtype do not change, the result shares
        memory with self, unless `copy` is True. Copies are always asynchronous: `non_blocking` has
        no effect.

        :raises UnknownDevice: for an argument that is neither a device nor a dtype.

        >>> Tensor([1, 2]).to("REF").device
        'REF'
        >>> Tensor([1, 2]).to(dtypes.half).tolist()
        [1.0, 2.0]
        >>> Tensor([1, 2]).to("REF", dtypes.half).dtype
        dtypes.half
        """
        node = self._uop
        if device.__class__ is not str or device in _DTYPE_NAMES:
            if isinstance(device, TensorBase):
                device, dtype = device.device, device.dtype
            elif is_dtype(device):
                device, dtype = _SAME, device  # type: ignore[assignment]
        kind = node.dtype if dtype is None else to_dtype(dtype)
        target = node.device if device is _SAME else registry.placement(device)  # type: ignore[arg-type]
        if target == node.device and kind is node.dtype:
            return self.clone() if copy else self._viewed(node)
        moved = self if target == node.device else self._wrap(interop.moved(node, target))
        return moved if kind is node.dtype else moved.cast(kind)

    def to_(self, device: str | tuple[str, ...] | None) -> Self:
        """Move to another device; returns self.

        >>> x = Tensor([1, 2])
        >>> x.to_("REF").device
        'REF'
        """
        target = registry.placement(device)
        if target != self._uop.device:
            break_alias(self)
            self._replace_node(interop.moved(self._uop, target))
        return self

    def contiguous(self) -> Self:
        """The value row-major in memory, not shared: a write to one is not seen by the other.

        Memory that is row-major is copied only when one of both is written. `clone` copies at once.

        >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
        [[1, 3], [2, 4]]
        """
        base = self._uop
        while base.op is Ops.RESHAPE:
            base = base.src[0]
        number = (base.src[0] if base.op is Ops.COPY else self._uop).base.op is Ops.CONST
        if base.op in (Ops.BUFFER, Ops.ASSIGN, Ops.CONTIGUOUS, Ops.COPY) and not number:
            return self._wrap(self._uop)
        if base.op is Ops.MULTI and owned_storage(base) is not None:
            return self._wrap(self._uop)
        # memory of a constant will be written: two tensors must not share it
        arg = ("own", next(_leaf_numbers)) if number else None
        return self._wrap(record(Ops.CONTIGUOUS, self._uop.dtype, (self._uop,), arg))

    def contiguous_backward(self) -> Self:
        """self, whose gradient is made contiguous.

        >>> Tensor([1.0, 2.0]).contiguous_backward().tolist()
        [1.0, 2.0]
        """
        return self._wrap(record(Ops.CONTIGUOUS_BACKWARD, self._uop.dtype, (self._uop,)))

    def fuse(self) -> Self:
        """self, to be computed in one kernel: down to contiguous memory, what several need is
        recomputed for each rather than stored. The limits of the device still hold.

        >>> (Tensor([1.0, 2.0]) + 1).fuse().tolist()
        [2.0, 3.0]
        """
        return self._wrap(record(Ops.FUSE, self._uop.dtype, (self._uop,)))

    def detach(self) -> Self:
        """The same value, through which no gradient flows.

        >>> x = Tensor([1.0], requires_grad=True)
        >>> (x * 2).detach().requires_grad
        False
        """
        made = self._viewed(record(Ops.DETACH, self._uop.dtype, (self._uop,)))
        made._requires_grad, made.is_leaf = False, True
        return made

    def clone(self) -> Self:
        """A copy in memory of its own.

        >>> x = Tensor([1, 2])
        >>> y = x.clone()
        >>> y[0] = 9
        >>> x.tolist(), y.tolist()
        ([1, 2], [9, 2])
        """
        node = record(Ops.CONTIGUOUS, self._uop.dtype, (self._uop,), ("own", next(_leaf_numbers)))
        return self._wrap(node)

    def _replace_node(self, node: UOp) -> None:
        """Replace the node of self. If self is a leaf that requires gradients, operations recorded
        before read the former node, and its gradient is that of self."""
        if not (self._requires_grad and self.is_leaf):
            set_node(self, node)
        elif node is not self._uop:
            former = self._uop
            set_node(self, self._own_identity(node))
            mark_leaf(self._uop)
            remember_leaf(former, self)

    @staticmethod
    def _own_identity(node: UOp) -> UOp:
        """`node`, or a copy of it that no other graph can build, so that it is a leaf by itself."""
        base = node
        while base.op in (Ops.RESHAPE, Ops.COPY):
            base = base.src[0]
        if base.op in _MEMORY or (base.op is Ops.CONTIGUOUS and base.arg):
            return node
        return DevicePlacementMixin._own_copy(node)

    @staticmethod
    def _own_copy(node: UOp) -> UOp:
        """A copy of a value that no other graph can build."""
        return record(Ops.CONTIGUOUS, node.dtype, (node,), ("leaf", next(_leaf_numbers)))

    # ---- several devices ----------------------------------------------------------------------

    @property
    def layout(self) -> Shard | None:
        """How it lies on its devices: the axis and the bounds of the parts; None on one device.

        >>> x = Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0)
        >>> x.layout.axis, x.layout.bounds
        (0, (0, 2, 4))
        """
        return layout_of(self._uop) if isinstance(self._uop.device, tuple) else None

    shard = sharding.shard
    shard_ = sharding.shard_
    shard_like = sharding.shard_like
    _cut_like = sharding._cut_like
    shards = sharding.shards
    local = sharding.local
    full_tensor = sharding.full_tensor
    from_local = classmethod(sharding.from_local)
    _readable = sharding._readable
    _from_parts = classmethod(sharding._from_parts)
