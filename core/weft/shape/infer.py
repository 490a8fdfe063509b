"""Shape inference: the shape and ShapeTracker of a node, in tensor graphs and kernel ASTs.

`shape_of` gives the extents of the axes of a value. `st_of` gives its layout over `node.base`: all
movement between the two as one tracker, row-major for computed values. Both are memoised on the
node and computed without recursion. Importing this module installs them as `UOp.shape`, `UOp.st`
and `UOp.size`.

Source: ONNX specification, shape inference.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.dtype import PtrDType
from weft.base.errors import ShapeError, SpecError
from weft.shape.movement import moved_shape
from weft.shape.tracker import ShapeTracker
from weft.shape.view import Shape
from weft.uop import GroupOp, Ops, UOp, provide, sint
from weft.uop.analysis import analysis
from weft.uop.symbolic.sint import fold

# scalars: they broadcast to the shapes of other operands
_SCALARS = frozenset(
    {Ops.CONST, Ops.VCONST, Ops.DEFINE_VAR, Ops.BIND, Ops.RANGE, Ops.SPECIAL, Ops.INDEX}
)
# structure, which has no value, and storage, which has no shape of its own
_SHAPELESS = frozenset(
    {
        Ops.SINK, Ops.UNIQUE, Ops.DEVICE, Ops.KERNEL, Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL,
        Ops.DEFINE_REG, Ops.BARRIER, Ops.IF, Ops.ENDIF, Ops.ENDRANGE, Ops.CUSTOM, Ops.CUSTOMI,
        Ops.NOOP,
    }
)  # fmt: skip
_ELEMENTWISE, _MOVEMENT = GroupOp.Elementwise, GroupOp.Movement
_MOVING = _MOVEMENT | {Ops.VIEW}
_ALONE = _SCALARS | _SHAPELESS | {Ops.BUFFER, Ops.IOTA, Ops.VALID}


def _sources(node: UOp) -> Iterable[UOp]:
    """The sources that determine the shape of a node."""
    op = node.op
    if op in _ELEMENTWISE:
        return node.src
    if op in _ALONE:
        return ()
    if op is Ops.VIEW:
        return node.src[:1] if node.src and node.src[0].op in _MOVING else ()
    return node.src[:1]


def _elementwise_shape(node: UOp) -> Shape | None:
    shape: Shape = ()
    for source in node.src:
        other = source._shape  # computed before: an analysis visits sources first
        if other is None:
            return None
        if other != () and other != shape:
            if shape != ():
                raise ShapeError(
                    f"the operands of {node.op.name} have shapes {shape} and {other}",
                    asked=f"{node.op.name} of {' and '.join(str(_shape(s)) for s in node.src)}",
                    because="operands of one operation have one shape, scalars apart",
                    try_="broadcast them first",
                )
            shape = other
    return shape


def _bitcast_shape(node: UOp, shape: Shape | None) -> Shape | None:
    old, new = node.src[0].dtype, node.dtype
    if not shape or isinstance(new, PtrDType) or old.itemsize == new.itemsize:
        return shape
    last: sint = shape[-1]
    total = fold(last * old.itemsize)
    if fold(total % new.itemsize) != 0:
        raise ShapeError(
            f"{last} elements of {old.itemsize} bytes are no whole number of {new.itemsize} bytes",
            asked=f"bitcast {shape} from {old!r} to {new!r}",
            because="the last axis takes the ratio of the item sizes",
        )
    return (*shape[:-1], fold(total // new.itemsize))


def _sharded_shape(node: UOp, part: Shape | None) -> Shape | None:
    """The shape of the first part, with the whole extent of the axes that are cut."""
    if part is None or not node.arg.cuts:
        return part
    whole = list(part)
    for cut in node.arg.cuts:
        whole[cut.axis] = cut.bounds[-1]
    return tuple(whole)


def _part_shape(node: UOp, whole: Shape | None) -> Shape | None:
    """The shape of one part of a MULTI; other values are the same on every device."""
    source = node.src[0]
    if whole is None or source.op is not Ops.MULTI:
        return whole
    return source.arg.local_shape(whole, node.arg)


@analysis("_shape", needs=_sources)
def _shape(node: UOp) -> Shape | None:
    op = node.op
    if op in _MOVEMENT:
        below = _shape(node.src[0])
        return None if below is None else moved_shape(op, node.arg, below)
    if op in _SHAPELESS:
        return None
    if op in _SCALARS:
        return ()
    if op is Ops.BUFFER or op is Ops.IOTA:
        return (node.arg,)
    if op is Ops.BUFFER_VIEW:
        return (node.arg.size,)
    if op is Ops.COLLECTIVE:
        return (node.arg.output_size(node.arg.place),)
    if op is Ops.HOST_CALL:
        return (node.arg.size,)
    if op is Ops.VIEW or op is Ops.VALID:
        return node.arg.shape
    if op is Ops.BITCAST:
        return _bitcast_shape(node, _shape(node.src[0]))
    if op in _ELEMENTWISE:
        return _elementwise_shape(node)
    if op is Ops.REDUCE_AXIS:
        below = _shape(node.src[0])
        if below is None:
            return None
        axes = node.arg.axes
        return tuple([1 if axis in axes else extent for axis, extent in enumerate(below)])
    if op is Ops.MULTI:
        return _sharded_shape(node, _shape(node.src[0]))
    if op is Ops.MSELECT:
        return _part_shape(node, _shape(node.src[0]))
    return _shape(node.src[0]) if node.src else None


def shape_of(node: UOp) -> Shape:
    """The shape of a value; SpecError for a node that has none (a device, a sink, a pointer).

    ShapeError where the operands of an operation do not have one shape.
    """
    shape = _shape(node)
    if shape is None:
        raise SpecError(
            f"{node.op.name} has no shape",
            asked=f"shape of a {node.op.name} node",
            because="it is structure or storage, not a value with axes",
        )
    return shape


def has_shape(node: UOp) -> bool:
    """Whether the node is a value with a shape."""
    return _shape(node) is not None


@analysis("_st", needs=lambda node: node.src[:1] if node.op in _MOVING else ())
def st_of(node: UOp) -> ShapeTracker | None:
    """The layout of a value over `node.base`; None for a node without shape."""
    op = node.op
    if op is Ops.VIEW:
        below = st_of(node.src[0]) if node.src and node.src[0].op in _MOVING else None
        return node.arg if below is None else below + node.arg
    if op in GroupOp.Movement:
        below = st_of(node.src[0])
        return None if below is None else below.move(op, node.arg)
    shape = _shape(node)
    return None if shape is None else ShapeTracker.from_shape(shape)


provide("shape", shape_of)
provide("st", st_of)
