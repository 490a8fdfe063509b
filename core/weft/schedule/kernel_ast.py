"""Kernel construction: build the AST of a kernel from the tensor node that it computes.

Movement is pushed down to the loads: every LOAD carries the view through which it reads. A padded
expression becomes `where(valid, x, 0)` only where x is not zero there by itself. A reduced value
keeps its own shape; movement above it stays as a VIEW.

in:  spec.tensor, with fused groups
out: spec.kernel_ast

Source: none known; views compose exactly, so that a load through the composed view reads the same
elements.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import dtypes
from weft.base.errors import DeviceError, ScheduleError
from weft.base.scalars import is_positive_zero
from weft.base.sequences import prod
from weft.schedule.images import pointer_to, read_dtype
from weft.schedule.use_def import SCALARS
from weft.shape import ShapeTracker
from weft.uop import Ops, Row, UOp
from weft.uop.symbolic.sint import variable_and_value

# of sources that are all zero these make zero; NEG makes -0.0 of it, which is another float
_KEEPS_ZERO = frozenset(
    {Ops.ADD, Ops.SUB, Ops.MAX, Ops.SQRT, Ops.SIN, Ops.TRUNC, Ops.CAST, Ops.BITCAST,
     Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.CMPNE, Ops.CMPLT}
)  # fmt: skip


@dataclass
class KernelSources:
    """The inputs and variables of a kernel, collected while its AST is built.

    slots: its outputs, and then the stored nodes it reads, in order of their DEFINE_GLOBAL.
    bound: values of the variables it depends on.
    """

    device: str
    slots: dict[UOp, int] = field(default_factory=dict[UOp, int])
    bound: dict[UOp, int] = field(default_factory=dict[UOp, int])

    def pointer(self, stored: UOp) -> UOp:
        """The kernel argument for the memory behind `stored`."""
        slot = self.slots.setdefault(stored, len(self.slots))
        return UOp(Ops.DEFINE_GLOBAL, pointer_to(stored), (), slot)

    def bind(self, values: Mapping[UOp, int]) -> None:
        """These variables are bound. :raises TwoValues: if one has another value already."""
        for variable, value in values.items():
            bind_value(self.bound, variable, value)


class TwoValues(ScheduleError):
    """One variable is bound to two values in one schedule."""


def bind_value(bound: dict[UOp, int], variable: UOp, value: int) -> None:
    """Enter the value of a variable. :raises TwoValues: if it has another one."""
    if (known := bound.setdefault(variable, value)) != value:
        name = variable.arg.name
        raise TwoValues(
            f"variable {name!r} has two values in one schedule",
            asked=f"{name} = {known} and {value}",
            because="one schedule runs with one value for each variable",
            try_="realize the tensors one after the other, or two Variables",
        )


class AstBuilder:
    """Builds the values of one kernel.

    stored: nodes with a value in memory, and the memory. inside: nodes that this kernel computes,
    although they are or will be stored as well.
    """

    def __init__(
        self, stored: Mapping[UOp, UOp], sources: KernelSources, inside: Collection[UOp] = ()
    ) -> None:
        self.stored = stored
        self.sources = sources
        self.inside = frozenset(inside)
        self.rows: dict[UOp, UOp] = {}
        self.built: dict[tuple[UOp, ShapeTracker], UOp] = {}
        self.zeros: dict[UOp, bool] = {}
        self.nodes: dict[UOp, None] = {}

    def keep_row(self, node: UOp, outer: tuple[int, ...], shape: tuple[Any, ...]) -> None:
        """Compute `node` once for every index of `outer`, the leading axes of `shape`, and store it
        in a local row, which later reads use."""
        value = self._with_axes(self.value(node, shape), shape)
        row = self.rows[node] = UOp(Ops.CONTIGUOUS, node.dtype, (value,), Row(len(outer)))
        self.built[self._key(node, ShapeTracker.from_shape(shape))] = row

    def value(self, node: UOp, shape: tuple[Any, ...] | None = None) -> UOp:
        """The AST of `node` over its own shape, or another one with as many elements."""
        whole = ShapeTracker.from_shape(node.shape if shape is None else shape)
        root = self._key(node, whole)
        stack = [(root, False)]
        while stack:
            key, ready = stack.pop()
            if key in self.built:
                continue
            if not ready:
                needed = [child for child in self._children(key) if child not in self.built]
                if needed:
                    stack.append((key, True))
                    stack.extend((child, False) for child in reversed(needed))
                    continue
            self.built[key] = self._assemble(key)
        return self._masked(node, root)

    def _key(self, node: UOp, st: ShapeTracker) -> tuple[UOp, ShapeTracker]:
        """The node below all movement, and the view through which it is seen."""
        base = node.base
        if base is node:
            return base, st
        through = node.st if st.contiguous and st.shape == node.shape else (node.st + st)
        return base, through.simplify()

    def _is_read(self, node: UOp) -> bool:
        return node in self.stored and node not in self.inside

    def _children(self, key: tuple[UOp, ShapeTracker]) -> list[tuple[UOp, ShapeTracker]]:
        node, st = key
        if node in self.rows or self._is_read(node):
            return []
        if node.op in SCALARS or node.op is Ops.IOTA:
            return []
        return [self._key(source, view) for source, view in self._sources(node, st)]

    def _sources(self, node: UOp, st: ShapeTracker) -> list[tuple[UOp, ShapeTracker]]:
        """The sources of a computed node, each with the view it is read through."""
        if node.op is Ops.REDUCE_AXIS:
            source = node.src[0]
            return [(source, ShapeTracker.from_shape(source.shape))]
        if node.op in (Ops.CONTIGUOUS, Ops.ASSIGN):
            return [(node.src[-1], st)]
        return [(source, st) for source in node.src if source.op not in SCALARS]

    def _assemble(self, key: tuple[UOp, ShapeTracker]) -> UOp:
        node, st = key
        if (row := self.rows.get(node)) is not None:
            return self._viewed(row, st, row.shape)
        if self._is_read(node):
            return self._load(node, st)
        if node.op in SCALARS:
            return self._scalar(node)
        self.nodes[node] = None
        if node.op is Ops.IOTA:
            return self._viewed(UOp(Ops.IOTA, node.dtype, (), node.arg), st, node.shape)
        if node.op is Ops.REDUCE_AXIS:
            source = node.src[0]
            child = self._key(source, ShapeTracker.from_shape(source.shape))
            value = self._with_axes(self._masked(source, child), source.shape)
            reduced = UOp(Ops.REDUCE_AXIS, node.dtype, (value,), node.arg)
            return self._viewed(reduced, st, node.shape)
        if node.op in (Ops.CONTIGUOUS, Ops.ASSIGN):
            source = node.src[-1]
            return self._masked(source, self._key(source, st))
        src = tuple(
            self._scalar(source)
            if source.op in SCALARS
            else self._masked(source, self._key(source, st))
            for source in node.src
        )
        if node.op is Ops.CAST and src[0].dtype is node.dtype:
            return src[0]  # from an image, which is read in the dtype that it holds
        return UOp(node.op, node.dtype, src, node.arg)

    def _viewed(self, value: UOp, st: ShapeTracker, shape: tuple[Any, ...]) -> UOp:
        """A value of `shape` through a view; itself where that is all of it, in its order."""
        plain = st.contiguous and tuple(st.shape) == tuple(shape)
        return value if plain else value.view(self._unbound(st))

    def _with_axes(self, value: UOp, shape: tuple[Any, ...]) -> UOp:
        """A scalar that is to be reduced over axes has to have them."""
        if not shape or value.shape != ():
            return value
        return value.view(self._unbound(ShapeTracker.from_shape(shape, (0,) * len(shape))))

    def _unbound(self, st: ShapeTracker) -> ShapeTracker:
        free, values = st.unbind()
        self.sources.bind(values)
        return free

    def _load(self, node: UOp, st: ShapeTracker) -> UOp:
        storage = self.stored[node]
        if storage.device != self.sources.device:
            raise DeviceError(
                "the buffers of a kernel live on different devices",
                asked=f"a kernel on {self.sources.device} that reads memory on {storage.device}",
                because="a kernel only reaches memory of its own device",
                try_=f"move one of them first, x.to({self.sources.device!r})",
            )
        view = self._unbound(st)
        return self.sources.pointer(storage).view(view).load(dtype=read_dtype(node.dtype))

    def _scalar(self, node: UOp) -> UOp:
        if node.op is Ops.CONST:
            return UOp.const(node.dtype, node.arg) if node.src else node
        if node.op is Ops.BIND:
            bind_value(self.sources.bound, *variable_and_value(node))
            return node.src[0]
        return node

    def _masked(self, source: UOp, key: tuple[UOp, ShapeTracker]) -> UOp:
        """The built value of a source, with zeros in its padding."""
        built = self.built[key]
        base, st = key
        if source is base or not any(view.mask is not None for view in source.st.views):
            return built
        if self._keeps_zero(built):
            return built
        valid = UOp(Ops.VALID, dtypes.bool, (), self._unbound(st))
        return valid.where(built, built.const_like(0))

    def _keeps_zero(self, root: UOp) -> bool:
        """Whether a value is zero where every load below it is (loads through padding are)."""
        for node in root.toposort(gate=lambda u: u not in self.zeros and u.op is not Ops.LOAD):
            if node in self.zeros:
                continue
            below = [self.zeros.get(source, False) for source in node.src]
            if node.op is Ops.LOAD:
                zero = True
            elif node.op is Ops.CONST:
                zero = is_positive_zero(node.arg)
            elif node.op is Ops.VIEW:
                zero = node.src[0].op is Ops.IOTA
            elif node.op is Ops.MUL:
                zero = all(below) or any(
                    a and b.op is Ops.CONST and _keeps_zero_product(b)
                    for a, b in zip(below, reversed(node.src))
                )
            elif node.op is Ops.AND:
                zero = any(below)
            elif node.op is Ops.WHERE:
                gated = node.src[0].op is Ops.VALID and below[2]
                zero = (below[1] and below[2]) or gated
            elif node.op is Ops.NEG:
                zero = below[0] and not dtypes.is_float(node.dtype)
            else:
                zero = node.op in _KEEPS_ZERO and bool(below) and all(below)
            self.zeros[node] = zero
        return self.zeros[root]


def _keeps_zero_product(factor: UOp) -> bool:
    """Whether 0 times a constant is 0: not NaN, nor -0.0."""
    if not dtypes.is_float(factor.dtype):
        return True
    return math.isfinite(factor.arg) and math.copysign(1, factor.arg) > 0


def elements(shape: tuple[Any, ...]) -> Any:
    """The largest number of elements of a shape: symbolic extents are at their upper bound."""
    return prod(e.vmax if isinstance(e, UOp) else e for e in shape)
