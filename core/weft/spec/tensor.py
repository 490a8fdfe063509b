"""spec.tensor: the legal nodes of a tensor graph: values with shapes, no nodes of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.base.dtype import ImageDType, PtrDType, dtypes
from weft.base.sequences import prod
from weft.uop import (
    BufferView,
    Collective,
    GroupOp,
    HostCall,
    Kernel,
    Ops,
    Reduce,
    Shard,
    UOp,
    Window,
)

_SCALARS = frozenset({Ops.CONST, Ops.BIND, Ops.DEFINE_VAR})
_IDENTITY = GroupOp.Identity | {Ops.CONTIGUOUS}
_WRITABLE = frozenset(
    {Ops.BUFFER, Ops.ASSIGN, Ops.CONTIGUOUS, Ops.COPY, Ops.BUFFER_VIEW, Ops.MULTI}
)
_LEAVES = frozenset(
    {Ops.CONST, Ops.IOTA, Ops.VCONST, Ops.DEVICE, Ops.UNIQUE, Ops.DEFINE_VAR, Ops.BUFFER, Ops.BIND}
)


def complaint(node: UOp) -> str | None:
    """Why a node is illegal in a tensor graph; None if it is legal."""
    if isinstance(node.dtype, PtrDType) and not isinstance(node.dtype, ImageDType):
        return "a tensor graph has no pointers"
    check = _CHECKS.get(node.op)
    if check is not None:
        return check(node)
    if node.op in GroupOp.Elementwise:
        return _elementwise(node)
    if node.op in GroupOp.Movement:
        return None if len(node.src) == 1 else "movement has one source"
    if node.op in _IDENTITY:
        image = node.op is Ops.CONTIGUOUS and isinstance(node.dtype, ImageDType)
        same = node.src[0].dtype is (node.dtype.base if image else node.dtype)
        return None if same else f"it changes the dtype from {node.src[0].dtype} to {node.dtype}"
    if node.op in _LEAVES:
        return None
    return f"{node.op} is illegal in a tensor graph"


def _elementwise(node: UOp) -> str | None:
    shapes = [s.shape for s in node.src if s.op not in _SCALARS]
    if any(shape != shapes[0] for shape in shapes[1:]):
        return f"its sources have the shapes {shapes}"
    if node.op in (Ops.CAST, Ops.BITCAST):
        return None
    kinds = [s.dtype for s in (node.src[1:] if node.op is Ops.WHERE else node.src)]
    if node.op in (Ops.SHL, Ops.SHR):
        kinds = kinds[:1]
    if any(kind is not kinds[0] for kind in kinds):
        return f"its sources have the dtypes {kinds}"
    if node.op is Ops.WHERE and node.src[0].dtype is not dtypes.bool:
        return f"its condition is {node.src[0].dtype}, not bool"
    result = dtypes.bool if node.op in GroupOp.Comparison else kinds[0]
    return None if node.dtype is result else f"its dtype is {node.dtype}, its sources give {result}"


def _reduce(node: UOp) -> str | None:
    if not isinstance(node.arg, Reduce):
        return "its arg is not a Reduce"
    rank = len(node.src[0].shape)
    inside = all(0 <= axis < rank for axis in node.arg.axes)
    return None if inside else f"axes {node.arg.axes} of a value of rank {rank}"


def _assign(node: UOp) -> str | None:
    target, value = node.src
    if value.op is Ops.KERNEL:
        return None
    if target.base.op not in _WRITABLE:
        return f"it writes to {target.base.op}, which is no memory"
    if target.dtype is not value.dtype:
        return f"it writes {value.dtype} into {target.dtype}"
    expected = target.shape if node.arg is None else node.arg.st.shape
    if node.arg is not None and not isinstance(node.arg, Window):
        return "its arg is not a Window"
    if value.op in _SCALARS:
        return None
    return None if value.shape == expected else f"it writes shape {value.shape} into {expected}"


def _copy(node: UOp) -> str | None:
    if len(node.src) != 2 or node.src[1].op is not Ops.DEVICE:
        return "a COPY has a value and a DEVICE"
    if not isinstance(node.arg, Shard) or node.arg.axis is None:
        return None
    devices = parts = node.src[1].arg
    if not isinstance(devices, tuple):
        return "it cuts a value for one device"
    return _cut(node.arg, node.shape, len(parts))


def _cut(shard: Shard, shape: tuple[Any, ...], parts: int) -> str | None:
    """Why a shard of a value of `shape` in `parts` parts is malformed; None if it is not."""
    if shard.mesh:
        return _mesh_cuts(shard, shape, parts)
    axis, bounds = shard.axis, shard.bounds
    if axis is None:
        return None
    if not 0 <= axis < len(shape):
        return f"axis {axis} of a value of rank {len(shape)} is cut"
    rising = list(bounds) == sorted(bounds) and bounds[:1] == (0,)
    if len(bounds) == parts + 1 and rising and bounds[-1] == shape[axis]:
        return None
    return f"bounds {bounds} of {parts} parts of {shape[axis]}"


def _mesh_cuts(shard: Shard, shape: tuple[Any, ...], parts: int) -> str | None:
    """Why the cuts along axes of a mesh are malformed; None if they are not."""
    axes = [cut.axis for cut in shard.mesh]
    if len(set(axes)) < len(axes):
        return f"the axes {axes} are cut"
    for number, cut in enumerate(shard.mesh):
        wrong = _cut(Shard(cut.axis, cut.bounds), shape, cut.parts)
        if wrong is not None:
            return wrong
        if parts % (cut.stride * cut.parts):
            return f"{cut.parts} parts with a stride of {cut.stride} on {parts} devices"
        if not all(cut.is_independent(other) for other in shard.mesh[:number]):
            return "its cuts are along overlapping axes of a mesh"
    return None


def _stack(node: UOp) -> str | None:
    if not node.src:
        return "a stack of nothing"
    devices = [part.device for part in node.src]
    if len(set(devices)) != len(devices) or any(isinstance(d, tuple) for d in devices):
        return f"its parts are on {devices}"
    same = all(part.dtype is node.dtype for part in node.src)
    return None if same else f"its parts are {[part.dtype for part in node.src]}"


def _multi(node: UOp) -> str | None:
    if len(node.src) != 1 or node.src[0].op is not Ops.MSTACK or not isinstance(node.arg, Shard):
        return "a MULTI has a stack of parts and a Shard"
    parts = node.src[0].src
    if (wrong := _cut(node.arg, node.shape, len(parts))) is not None:
        return wrong
    expected = [node.arg.local_shape(node.shape, place) for place in range(len(parts))]
    shapes = [part.shape for part in parts]
    return None if shapes == expected else f"its parts have the shapes {shapes}, not {expected}"


def _select(node: UOp) -> str | None:
    devices = parts = node.src[0].device
    if not isinstance(devices, tuple):
        return f"it selects a part of a value on {devices}"
    inside = isinstance(node.arg, int) and 0 <= node.arg < len(parts)
    return None if inside else f"part {node.arg} of {len(parts)}"


def _collective(node: UOp) -> str | None:
    if not isinstance(node.arg, Collective) or not isinstance(node.arg.place, int):
        return "its arg is not a Collective with a place"
    *parts, device = node.src
    if device.op is not Ops.DEVICE or len(parts) != node.arg.devices:
        return f"it has {len(parts)} parts for {node.arg.devices} devices and a DEVICE"
    shapes = [part.shape for part in parts]
    expected = [(node.arg.input_size(place),) for place in range(len(parts))]
    return None if shapes == expected else f"its parts have the shapes {shapes}, not {expected}"


def _host_call(node: UOp) -> str | None:
    if not isinstance(node.arg, HostCall):
        return "its arg is not a HostCall"
    shapes = [source.shape for source in node.src]
    expected = [(prod(shape),) for shape in node.arg.inputs]
    if shapes != expected:
        return f"its sources have the shapes {shapes}, not {expected}"
    same = all(source.dtype is node.dtype for source in node.src)
    return None if same else f"its sources have the dtypes {[s.dtype for s in node.src]}"


_CHECKS: dict[Ops, Callable[[UOp], str | None]] = {
    Ops.REDUCE_AXIS: _reduce,
    Ops.ASSIGN: _assign,
    Ops.COPY: _copy,
    Ops.KERNEL: lambda u: None if isinstance(u.arg, Kernel) else "its arg is not a Kernel",
    Ops.BUFFER_VIEW: lambda u: (
        None if isinstance(u.arg, BufferView) else "its arg is not a BufferView"
    ),
    Ops.COLLECTIVE: _collective,
    Ops.HOST_CALL: _host_call,
    Ops.MSTACK: _stack,
    Ops.MULTI: _multi,
    Ops.MSELECT: _select,
    Ops.SINK: lambda node: None,
}
