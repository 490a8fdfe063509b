"""A write to a view: its base gets another value, in which the part that the view shows is new.

Where the base owns memory the part is written in place. Elsewhere the new part is moved back to its
place in the base, and chosen there.

in:  a view (see `weft.tensor.alias`), a value of its shape      out: its base, changed
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from weft.base.dtype import DType, ImageDType, dtypes
from weft.base.errors import ArgumentError, GradientError
from weft.base.sequences import prod
from weft.shape import ShapeTracker, View, inverse_move
from weft.tensor.alias import RESIZED, apply_steps, is_detached, layout, overlaps, resized
from weft.tensor.protocol import grad_enabled, in_grad_mode, record
from weft.tensor.storage import owned_storage
from weft.uop import Ops, Reduce, UOp, Window

_Sizes: TypeAlias = tuple[int, ...]

_WHOLE = frozenset({Ops.RESHAPE, Ops.DETACH})
_BITS = (Ops.BITCAST, RESIZED)
_ONE_TO_ONE = _WHOLE | {Ops.PERMUTE, Ops.FLIP, Ops.BITCAST}


def write_view(view: Any, value: Any) -> None:
    """`value`, which has the shape, dtype and place of `view`, is written into its base.

    :raises GradientError: for a view of a leaf that requires gradients (outside `no_grad`), and for
        a value that requires gradients where the view is detached from what requires gradients.
    :raises ArgumentError: if elements of the view are one element of the base.
    """
    base, steps = view._alias
    where = _window(base._uop, steps)
    if overlaps(where):
        raise ArgumentError(
            "several elements of this view are one element of its base",
            asked=f"a write to an expanded view of shape {view.shape}",
            because="one place cannot take several values",
            try_="x.contiguous() for a copy that can be written, or a write to the base",
        )
    _check_gradients(view, base, steps, value)
    if value._uop is view._uop or 0 in view._uop.shape:
        return
    differentiable = value._requires_grad and grad_enabled()
    if differentiable and is_detached(steps):  # nothing flows through the base: no need to cut it
        steps = tuple([step for step in steps if step[0] is not Ops.DETACH])
        view._alias = base, steps
    enabled = bool(differentiable or (base._requires_grad and not base.is_leaf))
    in_grad_mode(enabled, _write, base, steps, where, value)


def _check_gradients(view: Any, base: Any, steps: Any, value: Any) -> None:
    if not grad_enabled():
        return
    is_leaf = base._requires_grad and base.is_leaf
    detached = is_detached(steps)
    if is_leaf and not detached:
        raise GradientError(
            "a view of a leaf that requires gradients cannot be overwritten",
            asked=f"a write to a view of shape {view.shape} of a leaf of shape {base.shape}",
            because="the leaf's gradient would no longer be that of the value it had",
            try_="with Tensor.no_grad(): ..., or x.clone()",
        )
    lost = base._requires_grad and detached
    if value._requires_grad and (lost or any(op in _BITS for op, _ in steps)):
        raise GradientError(
            "no gradient would flow to what is written",
            asked=f"a write of a value that requires gradients to a view of shape {view.shape}",
            because="the view is detached from a base that requires gradients",
            try_="write to x.detach().clone(), or write value.detach()",
        )


def _write(base: Any, steps: Any, where: Any, value: Any) -> None:
    kinds = {op for op, _ in steps}
    if RESIZED in kinds:
        _write_resized(base, steps, value)
        return
    storage = owned_storage(base._uop)
    # a window, though it is the whole, may be written with what moves its elements
    target = None if grad_enabled() or not isinstance(base._uop.device, str) else storage
    if kinds <= _WHOLE and (target is None or base._uop.dtype is not target.dtype):
        base._take(value._wrap(_reshaped(value._uop, base._uop.shape)))
        return
    image = base._uop.dtype
    if isinstance(image, ImageDType):  # of which only whole pixels are written
        whole = base.cast(image.base)
        new = value.cast(image.base)
        base._take(_chosen(whole, steps, where, new, kinds).cast(image))
        return
    if target is not None:
        node = value._uop
        if node.dtype is not target.dtype:
            node = record(Ops.BITCAST, target.dtype, (node,))
        window = Window(ShapeTracker((where,)))
        written = record(Ops.ASSIGN, target.dtype, (target, node), window)
        base._become(_reshaped(written, base._uop.shape), value)
        return
    if storage is not None and isinstance(base._uop.device, tuple):
        # a window of several memories is no window, and all of them is written: it may be read at
        # its own places only
        value = value.contiguous()
    base._take(_chosen(base, steps, where, value, kinds))


def _write_resized(base: Any, steps: Any, value: Any) -> None:
    """Elements of another size: what is below the last change of size gets all of its bytes."""
    at = max(place for place, (op, _) in enumerate(steps) if op is RESIZED)
    below, (old, new), above = steps[:at], steps[at][1], steps[at + 1 :]
    part = base._wrap(resized(apply_steps(base._uop, below), new))
    where = _window(part._uop, above)
    made = _chosen(part, above, where, value, {op for op, _ in above})
    bits = value._wrap(resized(made._uop, old))
    _write(base, below, _window(base._uop, below), bits)


def _window(base: UOp, steps: Any) -> View:
    """The layout of a view in `base`: a tensor that shares memory with its base has one."""
    found = layout(tuple(base.shape), steps)
    assert found is not None
    return found


def _reshaped(node: UOp, shape: Any) -> UOp:
    return node if node.shape == shape else record(Ops.RESHAPE, node.dtype, (node,), tuple(shape))


def _chosen(base: Any, steps: Any, where: View, value: Any, kinds: Any) -> Any:
    """The base with a new part."""
    everywhere = kinds <= _ONE_TO_ONE
    back, here = value._uop, value.ones_like(dtype=dtypes.bool)._uop
    node = apply_steps(base._uop, steps)
    if where.static and _is_expanded(node, base._uop):
        node = _strided(_bits_as(base._uop, node.dtype), where)
    while node is not base._uop:
        below = node.src[0]
        if node.op is Ops.BITCAST:
            back = _bits_as(back, below.dtype)
        elif node.op is not Ops.DETACH:
            back = _moved_back(back, node, below)
            here = here if everywhere else _moved_back(here, node, below)
        node = below
    placed = value._wrap(back)
    # in order, so that the base owns its memory, and the next write is in place
    return placed.contiguous() if everywhere else value._from_node(here).where(placed, base)


def _moved_back(value: UOp, move: UOp, below: UOp) -> UOp:
    op, arg = inverse_move(move.op, move.arg, below.shape)
    if op is Ops.REDUCE_AXIS:  # one of the terms is a value, the others are zeros of padding
        arg = Reduce(Ops.MAX if value.dtype is dtypes.bool else Ops.ADD, arg)
    return record(op, value.dtype, (value,), arg)


def _bits_as(node: UOp, dtype: DType) -> UOp:
    return node if node.dtype is dtype else record(Ops.BITCAST, dtype, (node,))


def _is_expanded(node: UOp, base: UOp) -> bool:
    """Whether an axis is expanded between base and view: EXPAND has no inverse that moves."""
    while node is not base:
        if node.op is Ops.EXPAND:
            return True
        node = node.src[0]
    return False


def _strided(node: UOp, where: View) -> UOp:
    """A view without overlaps by moves that can be moved back: no EXPAND.

    The axes are split off one after the other, that of the longest stride first: one of n elements
    and stride s is the first axis of the rest, padded to n * s elements and taken as (n, s).
    """
    shape, strides = cast(_Sizes, where.shape), cast(_Sizes, where.strides)
    axes = [axis for axis, size in enumerate(shape) if size != 1]
    order = sorted(axes, key=lambda axis: -abs(strides[axis]))
    spans = {axis: (shape[axis] - 1) * abs(strides[axis]) for axis in axes}
    backwards = [axis for axis in axes if strides[axis] < 0]
    first = cast(int, where.offset) - sum(spans[axis] for axis in backwards)
    length = 1 + sum(spans.values())
    node = _reshaped(node, (prod(node.shape),)).shrink(((first, first + length),))
    sizes: tuple[int, ...] = ()
    for axis in order:
        size, stride = shape[axis], abs(strides[axis])
        whole = tuple([(0, n) for n in (*sizes, size)])
        node = node.pad((*[(0, 0) for _ in sizes], (0, size * stride - length)))
        sizes, length = (*sizes, size), length - spans[axis]
        node = _reshaped(node, (*sizes, stride)).shrink((*whole, (0, length)))
    node = _reshaped(node, sizes).permute(tuple([order.index(axis) for axis in axes]))
    node = node.flip(tuple([axis in backwards for axis in axes]))
    return _reshaped(node, where.shape)
