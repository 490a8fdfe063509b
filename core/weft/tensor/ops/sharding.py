"""One tensor on several devices: laid out, taken apart, asked about.

A sharded tensor has the shape of the whole and is used as any other; the scheduler makes one graph
per device of it. Parts may differ in size: an axis of 5 on two devices is 3 and 2. Beside a sharded
operand a replicated one is cut where it is needed, without a copy; one that is cut along another
axis is laid out anew, with copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.errors import ArgumentError, ShapeError
from weft.device import registry
from weft.schedule import layout_of
from weft.tensor.alias import break_alias
from weft.tensor.interop import moved, padded_to_largest
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.uop import Ops, Shard, UOp, even_bounds


def shard(self: TensorT, devices: Sequence[str], axis: int | None = None) -> TensorT:
    """The same value on several devices: split along `axis`; None: whole on each device.

    A sharded value gets the new layout with as few copies as possible. Gradients flow back to the
    devices of self.

    :raises ArgumentError: if `devices` are no sequence of distinct devices.
    :raises IndexingError: if there is no such axis.
    :raises UnknownDevice: if no installed plugin serves one of them.

    >>> x = Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0)
    >>> x.device
    ('REF:1', 'REF:2')
    >>> (x * 2).tolist()
    [2, 4, 6, 8]
    """
    return self._wrap(_laid_out(self, devices, axis))


def shard_(self: TensorT, devices: Sequence[str], axis: int | None = None) -> TensorT:
    """`shard` in place; a leaf that requires gradients stays one. Returns self.

    >>> x = Tensor([1, 2, 3, 4])
    >>> x.shard_(("REF:1", "REF:2")).device
    ('REF:1', 'REF:2')
    """
    node = _laid_out(self, devices, axis)
    break_alias(self)
    self._replace_node(node)
    return self


def shard_like(self: TensorT, other: TensorBase) -> TensorT:
    """Where `other` is, and cut as it is if the axis that is cut has the same size.

    Replicated where it has not. For a tensor on one device this is `to(other.device)`.

    >>> x = Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0)
    >>> (x + Tensor([10, 20, 30, 40]).shard_like(x)).tolist()
    [11, 22, 33, 44]
    """
    if not isinstance(other, TensorBase):
        raise ArgumentError(
            "a tensor is laid out like a tensor",
            asked=f"shard_like({shown(other)})",
            because=f"that is {kind_of(other)}",
        )
    device = other.device
    if not isinstance(device, tuple):
        return self.to(device)
    layout = layout_of(other._uop) or Shard()
    axis = layout.axis
    if axis is not None and (axis >= self.ndim or self.shape[axis] != layout.bounds[-1]):
        layout = Shard()
    return self._wrap(_copied(self._uop, device, layout))


def _cut_like(self: TensorBase, made: Any, requires_grad: bool | None) -> Any:
    """`made`, a new value on the devices of self, cut as self is; with that flag.

    Requested memory has the size that each device needs.
    """
    layout = self.layout
    if layout is not None and layout.axis is not None and made.shape == self.shape:
        node = made._uop
        stored = node.op is Ops.CONTIGUOUS
        node = _copied(node.src[0] if stored else node, self._uop.device, layout)
        made = made._from_node(node.contiguous() if stored else node)
    return made._with_flag(requires_grad)


def shards(self: TensorT) -> list[TensorT]:
    """The part of each device, as a tensor on that device; nothing is copied.

    :raises ArgumentError: if it is on one device.

    >>> x = Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0)
    >>> [part.tolist() for part in x.shards()]
    [[1, 2], [3, 4]]
    """
    device, layout = self.device, self.layout
    if layout is None:
        raise ArgumentError(
            "this tensor is on one device",
            asked=f"the shards of {self.shape} on {device}",
            try_="x.shard(devices, axis)",
        )
    parts: list[Any] = []
    for place, name in enumerate(device):
        part: Any = self
        if layout.axis is not None:
            window = [(0, extent) for extent in self.shape]
            window[layout.axis] = layout.bounds[place : place + 2]
            part = self.shrink(tuple(window))
        parts.append(part.to(name))
    return parts


def _laid_out(self: TensorBase, devices: Sequence[str], axis: int | None) -> UOp:
    if not isinstance(devices, (tuple, list)):
        raise ArgumentError(
            "a tensor is sharded over several devices",
            asked=f"shard({shown(devices)})",
            because="that is no sequence of them",
            try_="a tuple of device strings, or x.to(device) for one",
        )
    target = registry.placement(tuple(devices))
    at = None if axis is None else self._resolve_dim(axis)
    if isinstance(target, str):
        return moved(self._uop, target)
    if at is None:
        return _copied(self._uop, target, Shard())
    extent = self._uop.shape[at]
    if not isinstance(extent, int):
        raise ShapeError(
            "only an axis of definite size can be cut",
            asked=f"shard of {self.shape} along axis {axis}",
            because=f"its size {extent.render()} depends on variables",
            try_="another axis, or axis=None for the whole on each device",
        )
    return _copied(self._uop, target, Shard(at, even_bounds(extent, len(target))))


def _copied(node: UOp, devices: tuple[str, ...], layout: Shard) -> UOp:
    """`node` laid out; constants take no memory and need no copy."""
    if node.op is Ops.CONST:
        return UOp.const(node.dtype, node.arg, devices)
    place = UOp(Ops.DEVICE, arg=devices)
    if any(isinstance(size, UOp) for size in node.shape):
        # copies have one length: buffers hold the largest sizes
        there = record(Ops.COPY, node.dtype, (padded_to_largest(node), place), layout)
        return there.shrink(tuple((0, size) for size in node.shape))
    return record(Ops.COPY, node.dtype, (node, place), layout)
