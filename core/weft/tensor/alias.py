"""Aliases (functionalization): a view, its base, and the steps between them.
Also: view replay, alias analysis.

A write is functional: it gives the base another node. A view keeps its base and the steps from the
base to its value, and derives its node again after a write.

    tensor._alias    None: it has no views. `Views`: it is a base. (base, steps): it is a view.
    steps            (operation, argument) of each, that next to the base first

A base is never a view: the steps of a view of a view start at the same base. A view keeps its
base alive, as in NumPy. The derived node is cached in `tensor._uop`. A write to the base deletes it
from all views that have one, and the next read derives it (`__getattr__` in
`ops/attribute_suggestions.py`). So a write costs time for each view that was read since the last.

Strides decide whether a reshape is a view or a copy, as in NumPy. The first write computes them:
until then both have the same value.

in:  tensors and movement nodes      out: the nodes of views, and the bases that they write to

Source: PyTorch, functionalization (view replay).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import ref

from weft.shape import View
from weft.tensor.live_tensors import is_settled, live_tensors, set_node
from weft.uop import GroupOp, Ops, UOp
from weft.uop.symbolic.sint import fold

if TYPE_CHECKING:
    from weft.base.dtype import DType
    from weft.tensor.protocol import TensorBase

Steps: TypeAlias = tuple[tuple[Any, Any], ...]

COMBINED = "combined"
"""A step of several movement ops with known strides: its argument is a `Combined`."""

RESIZED = "resized"
"""A step that views the bytes as elements of another size: its argument is both dtypes."""

_NO_GRADIENT = frozenset({Ops.DETACH, Ops.BITCAST, RESIZED})
_STORAGE = frozenset({Ops.BUFFER, Ops.BUFFER_VIEW, Ops.CONTIGUOUS, Ops.COPY})
_STEPS = GroupOp.Movement | _NO_GRADIENT
first_view = threading.Lock()
"""The lock for adding `Views` to a tensor: two threads may take views of one tensor."""


class Views(list["ref[TensorBase]"]):
    """The views of a base that have a node, by weak reference.

    rest: whether there may be views without a node. resized: whether some have elements of another
    size. any_resized: whether that is so for any base.
    """

    rest = resized = any_resized = False
    limit = 64

    def has_resized(self) -> None:
        """Note that a view has elements of another size."""
        self.resized = Views.any_resized = True

    def note(self, tensor: TensorBase) -> None:
        """Add a view that has a node."""
        self.append(ref(tensor))
        if len(self) > self.limit:
            self.prune()

    def prune(self) -> None:
        """Remove dead references: most views are short-lived."""
        count = len(self)
        # other threads may append meanwhile, after these
        self[:count] = [each for each in self[:count] if each() is not None]
        self.limit = max(64, 2 * len(self))

    def take(self) -> list[ref[TensorBase]]:
        """Remove and return all of them."""
        count = len(self)
        found = self[:count]
        del self[:count]
        return found


class Combined(tuple[Any, ...]):
    """(moves, shape, rows): movement ops (operation, argument) that together make `shape`. The
    stride of its axis i is the sum of rows[i][j] times the stride of axis j before."""


def step_of(node: UOp) -> tuple[Any, Any]:
    """A node as a step: its operation and argument."""
    return node.op, node.dtype if node.op is Ops.BITCAST else node.arg


def steps_between(low: UOp, high: UOp) -> Steps | None:
    """The steps from one node to another, from `low` upwards; None if other ops are between."""
    found = []
    while high is not low:
        if high.op not in _STEPS:
            return None
        found.append(step_of(high))
        high = high.src[0]
    return tuple(found[::-1])


def apply_steps(node: UOp, steps: Steps) -> UOp:
    """Apply these steps to `node`."""
    for op, arg in steps:
        for each, what in arg[0] if op is COMBINED else ((op, arg),):
            if each is RESIZED:
                node = resized(node, what[1])
            elif each is Ops.BITCAST:
                node = UOp(each, what, (node,))
            else:
                node = UOp(each, node.dtype, (node,), what)
    return node


def resized(node: UOp, dtype: DType) -> UOp:
    """View the bytes of a value as elements of another size; the last axis changes with it."""
    if not is_storage(node):
        node = UOp(Ops.CONTIGUOUS, node.dtype, (node,))
    return UOp(Ops.BITCAST, dtype, (node,))


def is_storage(node: UOp) -> bool:
    """Whether a value is a contiguous range of a buffer, so that a bitcast can be a view."""
    while node.op in (Ops.RESHAPE, Ops.SHRINK, Ops.BITCAST):
        node = node.src[0]
    return node.op in _STORAGE


def derive_node(tensor: TensorBase) -> UOp:
    """Derive the node of a view from that of its base."""
    base, steps = tensor._alias
    node = apply_steps(base._uop, steps)
    tensor._uop = node
    base._alias.note(tensor)
    return node


def base_of(tensor: TensorBase) -> TensorBase:
    """The base of a view; a tensor that is no view itself."""
    return tensor._alias[0] if is_view(tensor) else tensor


def is_view(tensor: TensorBase) -> bool:
    """Whether a tensor is a view of another one. A copy, by its strides, loses its alias."""
    alias = tensor._alias
    if alias.__class__ is not tuple:
        return False
    base, steps = alias
    if layout(tuple(base._uop.shape), steps) is not None:
        return True
    set_node(tensor, tensor._uop)  # derived, if it was not
    tensor._alias = None
    return False


def is_detached(steps: Steps) -> bool:
    """Whether no gradient flows from the view to its base."""
    return any(op in _NO_GRADIENT for op, _ in steps)


@lru_cache(maxsize=4096)
def layout(shape: tuple[Any, ...], steps: Steps) -> View | None:
    """Strides and offset of a view in its row-major base of this shape; None if one of the steps is
    a copy (a reshape without strides). In elements of the base, or in bytes if a step changes the
    element size."""
    view: View | None = View.create(shape)
    in_bytes = False
    for op, arg in steps:
        if view is None:
            return None
        if op is Ops.RESHAPE:
            view = view.reshape(arg)
        elif op is Ops.PERMUTE:
            view = view.permute(arg)
        elif op is Ops.EXPAND:
            view = view.expand(arg)
        elif op is Ops.SHRINK:
            view = view.shrink(arg)
        elif op is Ops.FLIP:
            view = view.flip(arg)
        elif op is COMBINED:
            view = _combined(view, arg)
        elif op is RESIZED:
            old, new = arg
            view, in_bytes = _resized(view, old, new, in_bytes), True
        elif op not in _NO_GRADIENT:
            return None
    return view


def _combined(view: View, step: Combined) -> View:
    _, shape, rows = step
    strides = tuple([sum(n * s for n, s in zip(row, view.strides)) for row in rows])
    return View.create(shape, strides, view.offset)


def _resized(view: View, old: DType, new: DType, in_bytes: bool) -> View | None:
    unit, size = 1 if in_bytes else old.itemsize, view.shape[-1]
    strides = [stride * unit for stride in view.strides[:-1]]
    if not _is(size, 1) and view.strides[-1] * unit != old.itemsize:
        return None
    last = fold(size * old.itemsize // new.itemsize)
    shape = (*view.shape[:-1], last)
    return View.create(shape, (*strides, new.itemsize), view.offset * unit)


def overlaps(view: View) -> bool:
    """Whether two elements of a view may be the same element of its base."""
    axes = [(s, n) for s, n in zip(view.strides, view.shape) if not _is(n, 1)]
    if any(_is(n, 0) for _, n in axes):
        return False
    if any(_is(s, 0) for s, _ in axes):
        return True
    known = [(abs(s), n) for s, n in axes if isinstance(s, int) and isinstance(n, int)]
    if len(known) < len(axes):
        return False  # without a repeated axis, symbolic sizes only shorten axes
    reach = 0
    for stride, size in sorted(known):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def repeats_elements(tensor: TensorBase) -> bool:
    """Whether two elements of a view may be the same element of its base (internal overlap)."""
    base, steps = tensor._alias
    view = layout(tuple(base._uop.shape), steps)
    return view is not None and overlaps(view)


def _is(size: Any, number: int) -> bool:
    return isinstance(size, int) and size == number


def invalidate_views(base: TensorBase) -> None:
    """Delete the nodes of all views after a change of the base; the next read derives them."""
    views = base._alias
    if views.__class__ is not Views:
        return
    shape = None
    for reference in views.take():
        view = reference()
        if view is None:
            continue
        alias = view._alias
        if alias.__class__ is not tuple or alias[0] is not base:
            continue
        if shape is None:
            shape = tuple(base._uop.shape)
        if layout(shape, alias[1]) is None:
            view._alias = None  # a copy, of what was there
            continue
        views.rest = True
        try:
            del view._uop
        except AttributeError:  # another thread was quicker
            pass


def rederive_views(base: TensorBase) -> None:
    """Derive views again after the base was realized, if they have other memory (a bitcast may be
    realized by itself). Otherwise they would not see a write to the memory of the base."""
    if is_settled(base._uop):
        memory = _memory_under(base._uop)
        for reference in list(base._alias):
            view = reference()
            if view is None or view._alias.__class__ is not tuple:
                continue
            if any(op is RESIZED for op, _ in view._alias[1]):
                continue
            if _memory_under(view._uop) is not memory:
                invalidate_views(base)
                return


def invalidate_resized_views(tensors: Iterable[TensorBase]) -> None:
    """Derive views with elements of another size again after a replay has written the memory of
    tensors: such views have memory of their own."""
    if not Views.any_resized:
        return
    for tensor in tensors:
        base = tensor._alias[0] if tensor._alias.__class__ is tuple else tensor
        if base._alias.__class__ is Views and base._alias.resized:
            invalidate_views(base)


def _memory_under(node: UOp) -> UOp:
    while (below := node.base).op in _NO_GRADIENT:
        node = below.src[0]
    return below


def views_of(base: TensorBase) -> list[TensorBase]:
    """All live views of a base."""
    views = base._alias
    if views.__class__ is not Views:
        return []
    if not views.rest and all(reference() is None for reference in list(views)):
        return []
    return [t for t in live_tensors() if t._alias.__class__ is tuple and t._alias[0] is base]


def break_alias(tensor: TensorBase) -> None:
    """Make a tensor neither view nor base. Its views get a new base with the old value."""
    if tensor._alias.__class__ is tuple:
        tensor._uop = tensor._uop
    elif views := [view for view in views_of(tensor) if is_view(view)]:
        heir = tensor._from_node(tensor._uop, tensor._requires_grad, not tensor.is_leaf)
        heir._alias = tensor._alias
        for view in views:
            view._alias = (heir, view._alias[1])
    tensor._alias = None


def detach_views(base: TensorBase) -> None:
    """Detach all views from their base, which becomes a leaf."""
    for view in views_of(base):
        if is_view(view):
            view._alias = (base, (*view._alias[1], (Ops.DETACH, None)))
    invalidate_views(base)


def propagate_requires_grad(base: TensorBase) -> None:
    """Copy `requires_grad` and `is_leaf` of a base to its views."""
    for view in views_of(base):
        if not is_detached(view._alias[1]):
            view._requires_grad, view.is_leaf = base._requires_grad, base.is_leaf
