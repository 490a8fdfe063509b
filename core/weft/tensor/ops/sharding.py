"""One tensor on several devices: laid out, taken apart, asked about.

A sharded tensor has the shape of the whole and is used as any other; the scheduler makes one graph
per device of it. Parts may differ in size: an axis of 5 on two devices is 3 and 2. Beside a sharded
operand a replicated one is cut where it is needed, without a copy; one that is cut along another
axis is laid out anew, with copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.errors import ArgumentError, ShapeError
from weft.base.sequences import prod
from weft.device import Mesh, MeshCut, P, registry
from weft.schedule import layout_of
from weft.tensor.alias import break_alias
from weft.tensor.interop import moved, padded_to_largest
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.uop import Cut, Ops, Shard, UOp, even_bounds, shard_of_cuts, stacked


def shard(
    self: TensorT,
    devices: Sequence[str] | Mesh,
    axis: int | P | None = None,
    **mesh_axes: int,
) -> TensorT:
    """The same value on several devices: split along `axis`; None: whole on each device.

    A sharded value gets the new layout with as few copies as possible. Gradients flow back to the
    devices of self. On a `Mesh`, name the axis that each mesh axis splits: `data=0`, or
    `P("data", None)`. In a program of several processes every process has the same value on a
    device of its own, and takes its part of it.

    :raises ArgumentError: if `devices` are no sequence of distinct devices, or no mesh with these
        axes.
    :raises IndexingError: if there is no such axis.
    :raises UnknownDevice: if no installed plugin serves one of them.

    >>> x = Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0)
    >>> x.device
    ('REF:1', 'REF:2')
    >>> (x * 2).tolist()
    [2, 4, 6, 8]
    """
    return self._wrap(_laid_out(self, *_flat_layout(devices, axis, mesh_axes)))


def shard_(
    self: TensorT,
    devices: Sequence[str] | Mesh,
    axis: int | P | None = None,
    **mesh_axes: int,
) -> TensorT:
    """`shard` in place; a leaf that requires gradients stays one. Returns self.

    >>> x = Tensor([1, 2, 3, 4])
    >>> x.shard_(("REF:1", "REF:2")).device
    ('REF:1', 'REF:2')
    """
    node = _laid_out(self, *_flat_layout(devices, axis, mesh_axes))
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
    if any(c.axis >= self.ndim or self.shape[c.axis] != c.bounds[-1] for c in layout.cuts):
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
            part = self.shrink(layout.windows(self.shape, place))
        parts.append(part.to(name))
    return parts


def local(self: TensorT) -> TensorT:
    """The part of the first device that this process computes on; all of it on one device.

    :raises ArgumentError: if it is on devices of other processes only.

    >>> Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0).local().tolist()
    [1, 2]
    """
    return self.shards()[_own_place(self)] if isinstance(self.device, tuple) else self


def full_tensor(self: TensorT) -> TensorT:
    """The whole value, on the first of its devices that this process computes on.

    In a program of several processes every process calls it, and each gets the value.

    :raises ArgumentError: if it is on devices of other processes only.

    >>> Tensor([1, 2, 3, 4]).shard(("REF:1", "REF:2"), axis=0).full_tensor().device
    'REF:1'
    """
    return self._readable() if isinstance(self.device, tuple) else self


def from_local(
    cls: type[TensorT], part: TensorT, mesh: Sequence[str] | Mesh, axis: int | P | None = None
) -> TensorT:
    """The tensor whose part on this process is `part`; those of the other processes have its shape.

    Every process calls it with its own part. With devices of one process only, `part` is the part
    of each device. axis: along which the parts follow each other, or `P(...)`; None: the parts are
    equal.

    :raises ArgumentError: if the mesh has no device of this process.

    >>> Tensor.from_local(Tensor([1, 2]), ("REF:1", "REF:2"), axis=0).tolist()
    [1, 2, 1, 2]
    """
    devices, at = _flat_layout(mesh, axis, {})
    target = registry.placement(tuple(devices))
    if isinstance(target, str):
        return part.to(target)
    shape = list(part.shape)
    cuts: list[Cut] = []
    for number, parts, stride in [MeshCut(at, len(target), 1)] if isinstance(at, int) else at or ():
        cuts.append(Cut(number, tuple(shape[number] * n for n in range(parts + 1)), stride))
        shape[number] *= parts
    layout = shard_of_cuts(cuts, len(target))
    own = {
        place: part.detach()
        for place, device in enumerate(target)
        if registry.capabilities(device).memory.addressable
    }
    return _from_parts(cls, own, target, layout, part, tuple(shape))


def _from_parts(
    cls: type[TensorT],
    parts: Mapping[int, TensorT],
    devices: tuple[str, ...],
    layout: Shard,
    like: TensorBase,
    shape: tuple[int, ...] | None = None,
) -> TensorT:
    """The tensor of these parts by place, computed now; the others are memory of other processes.

    like: has its dtype, and its shape if none is given.
    """
    whole = like.shape if shape is None else shape
    nodes: list[UOp] = []
    for place, device in enumerate(devices):
        part = parts.get(place)
        if part is not None:
            nodes.append(part.to(device).contiguous().realize()._uop)
        else:
            extents = layout.local_shape(whole, place)
            memory = UOp.new_buffer(device, prod(extents), like._uop.dtype)
            nodes.append(memory.reshape(extents))
    return cls._from_node(stacked(nodes, layout))


def _own_place(self: TensorBase) -> int:
    devices = self.device
    able = [registry.capabilities(name).memory.addressable for name in devices]
    if True not in able:
        raise ArgumentError(
            "this process has no part of this tensor",
            asked=f"the part of a tensor on {devices}",
            because="these are devices of other processes",
        )
    return able.index(True)


def _readable(self: TensorT) -> TensorT:
    """The whole value on one device of this process. All processes ask for it together."""
    devices = self.device
    own = devices[_own_place(self)]
    if all(registry.capabilities(name).memory.addressable for name in devices):
        return self.to(own)
    return self.shard(devices).realize().to(own)


def _flat_layout(
    devices: Sequence[str] | Mesh, axis: int | P | None, named: dict[str, int]
) -> tuple[Sequence[str], int | Sequence[MeshCut] | None]:
    """The devices, and the axis that is cut over all of them, or the cuts along axes of a mesh."""
    if isinstance(devices, Mesh):
        if named:
            layout = ", ".join(f"{name}={value}" for name, value in named.items())
            return devices.devices, devices.cuts(named, f"shard(mesh, {layout})")
        if isinstance(axis, tuple):
            return devices.devices, devices.cuts_of_spec(axis)
        devices = devices.devices
    if named or isinstance(axis, tuple):
        raise ArgumentError(
            "names of mesh axes need a mesh",
            asked=f"shard({shown(devices)}, ...)",
            try_='Device.mesh(("data", 2)), or axis=0 for devices in a row',
        )
    if not isinstance(devices, (tuple, list)):
        raise ArgumentError(
            "a tensor is sharded over several devices",
            asked=f"shard({shown(devices)})",
            because="that is no sequence of them",
            try_="a tuple of device strings, or x.to(device) for one",
        )
    return devices, axis


def _laid_out(
    self: TensorBase, devices: Sequence[str], axis: int | Sequence[MeshCut] | None
) -> UOp:
    target = registry.placement(tuple(devices))
    cut_by = axis if isinstance(axis, list) else [MeshCut(axis, len(target), 1)]  # type: ignore[arg-type]
    named = [(cut, self._resolve_dim(cut.axis)) for cut in cut_by if cut.axis is not None]
    if isinstance(target, str):
        return moved(self._uop, target)
    cuts: list[Cut] = []
    for cut, at in named:
        if any(at == other.axis for other in cuts):
            raise ArgumentError(
                "an axis of a value is named once",
                asked=f"axis {cut.axis} of {self.shape} cut twice",
                try_='P(("data", "model")) cuts one axis by two axes of a mesh',
            )
        extent = self._uop.shape[at]
        if not isinstance(extent, int):
            raise ShapeError(
                "only an axis of definite size can be cut",
                asked=f"shard of {self.shape} along axis {cut.axis}",
                because=f"its size {extent.render()} depends on variables",
                try_="another axis, or axis=None for the whole on each device",
            )
        cuts.append(Cut(at, even_bounds(extent, cut.parts), cut.stride))
    return _copied(self._uop, target, shard_of_cuts(cuts, len(target)))


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
