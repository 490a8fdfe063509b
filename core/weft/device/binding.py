"""Buffer binding: the memory of a BUFFER node, the only link between graph and memory.

The binding is kept in a slot of the node, so it lives as long as the node, and the memory with it.
"""

from __future__ import annotations

from itertools import count
from operator import attrgetter

from weft.base.dtype import DType
from weft.base.errors import ArgumentError, CaptureError
from weft.base.weak import WeakKeys, WeakMembers
from weft.device.buffer import Buffer
from weft.uop import Ops, UOp, memo_slot, parts_of, provide

_set_buffer = memo_slot("_buffer")
_buffer_in = attrgetter("_buffer")
# BUFFER nodes that share memory, while they are alive
_sharing: WeakKeys[UOp, WeakMembers[UOp]] = WeakKeys()
_any_windows = False
_ABSTRACT = "abstract"
_abstract_numbers = count()


def bind(node: UOp, buffer: Buffer) -> None:
    """Bind a buffer to a BUFFER node.

    :raises ArgumentError: if node and buffer disagree about device, size or dtype.
    """
    _check_is_buffer(node)
    if (buffer.size, buffer.dtype) != (node.arg, node.dtype) or buffer.device != _device(node):
        raise ArgumentError(
            "this buffer does not fit the node",
            asked=f"{buffer!r} behind {node.arg} elements of {node.dtype} on {_device(node)}",
        )
    _set_buffer(node, buffer)


bind_anew = _set_buffer
"""`bind` without checks: for a node that was just made for this buffer."""


def share(view: UOp, storage: UOp) -> None:
    """Note that the memory of the BUFFER `view` is, or will be, a window of that of `storage`."""
    global _any_windows
    _any_windows = True
    group = _sharing.setdefault(storage, WeakMembers((storage,)))
    group.add(view)
    _sharing[view] = group


def is_shared(node: UOp) -> bool:
    """Whether any other BUFFER node that is alive has memory in common with this one."""
    if not _any_windows:
        return False
    group = _sharing.get(node)
    return group is not None and len(group) > 1


def is_bound(node: UOp) -> bool:
    """Whether this very node has a buffer (allocated or not)."""
    return hasattr(node, "_buffer")


def abstract(device: str, dtype: DType, size: int) -> UOp:
    """A BUFFER node that never has memory: a graph over it is a function, not a value."""
    unique = UOp(Ops.UNIQUE, arg=(_ABSTRACT, next(_abstract_numbers)))
    return UOp(Ops.BUFFER, dtype, (UOp(Ops.DEVICE, arg=device), unique), size)


def is_abstract(node: UOp) -> bool:
    """Whether a BUFFER node was made by `abstract`."""
    arg = node.src[1].arg
    return arg.__class__ is tuple and arg[0] == _ABSTRACT


def buffer_of(node: UOp) -> Buffer:
    """The buffer of a BUFFER node, created (not allocated) at first use.

    :raises ArgumentError: if the node is not a BUFFER on one device.
    :raises CaptureError: if the node is abstract.
    """
    try:
        return node._buffer
    except AttributeError:
        pass
    _check_is_buffer(node)
    if is_abstract(node):
        raise CaptureError(
            "a tensor inside of a mapped function has no values",
            asked=f"the values of a tensor that depends on {node.arg} mapped elements of "
            f"{node.dtype}",
            because="vmap calls the function once for all samples, with tensors that stand for one",
            try_="select with where instead of if, return what is to be printed, and keep no "
            "tensor of the function elsewhere",
        )
    device = _device(node)
    if isinstance(device, tuple):
        raise ArgumentError(
            "a value in shards has one buffer per device",
            asked=f"the buffer of a node on {device}",
            try_="read the buffer of one shard",
        )
    buffer = Buffer(device, node.arg, node.dtype)
    _set_buffer(node, buffer)
    return buffer


def storage(node: UOp) -> UOp | None:
    """The BUFFER node that holds this node's value, through views and assignments; or None."""
    while True:
        node = node.base
        if node.op is Ops.ASSIGN:
            node = node.src[0]
        elif node.op is Ops.BUFFER:
            return node
        else:
            return None


def buffers_of(nodes: list[UOp]) -> list[Buffer]:
    """The buffers of several BUFFER nodes."""
    try:
        return list(map(_buffer_in, nodes))
    except AttributeError:  # some have none yet
        return list(map(buffer_of, nodes))


def buffer_behind(node: UOp) -> Buffer:
    """The buffer of a node, through views and assignments.

    :raises ArgumentError: if its value has not been computed.
    """
    found = storage(node)
    if found is None:
        raise ArgumentError(
            "there is no memory behind this node yet",
            asked=f"the buffer of a {node.base.op} node",
            because="its value has not been computed",
            try_="realize it first",
        )
    return buffer_of(found)


def _parts_realized(multi: UOp) -> tuple[Buffer, ...] | None:
    """The memory of all parts that have elements, if all of it is allocated."""
    found = [realized(part) for part in parts_of(multi) if part.base.op is not Ops.CONST]
    return None if not found or any(each is None for each in found) else tuple(found)  # type: ignore[arg-type]


def realized(node: UOp) -> Buffer | tuple[Buffer, ...] | None:
    """The allocated buffer that a node is a view of, or None; for a sharded value one per part."""
    base = node.base
    if base.op is Ops.MULTI:
        return _parts_realized(base)
    if base.op is not Ops.BUFFER or not is_bound(base):
        return None
    buffer = buffer_of(base)
    return buffer if buffer.is_allocated else None


def _device(node: UOp) -> str | tuple[str, ...]:
    return node.src[0].arg


def _check_is_buffer(node: UOp) -> None:
    if node.op is not Ops.BUFFER:
        raise ArgumentError(
            "only BUFFER nodes have memory",
            asked=f"the buffer of a {node.op} node",
            try_="realize it first",
        )


provide("buffer", buffer_behind)
provide("realized", realized)
