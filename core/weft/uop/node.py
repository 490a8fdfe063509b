"""UOp: the node type of every graph.
Also: hash-consing, common subexpression elimination, value numbering, dead code elimination,
hash consing.

A node has an op, dtype, src and arg, and nothing else. Nodes are hash-consed: equal trees are the
same object, so identity is equality. The table holds nodes weakly. Shape, bounds and device are
*analyses* of higher layers, cached in slots of the node and installed as properties by `provide`.

Source: J.-C. Filliâtre, S. Conchon, 'Type-safe modular hash-consing' (ML Workshop 2006).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from operator import methodcaller
from typing import Any, TypeAlias

from weft.base.arguments import shown
from weft.base.dtype import DType, PtrDType, dtypes
from weft.base.errors import ArgumentError, SpecError
from weft.base.scalars import check_range, truncate
from weft.base.weak import entry_type
from weft.uop.analyses import Analysed, provided, report_read, report_values_read
from weft.uop.args import PLAIN, AxisKind, RangeArg, Reduce, Var, key_of
from weft.uop.math import MIXED, MathMixin, has_graph
from weft.uop.ops import GroupOp, Ops

_INTEGERS = frozenset(dtypes.ints)
_COMPARISONS = GroupOp.Comparison
_MOVES = GroupOp.Movement | {Ops.VIEW}


_interned: dict[Any, Any] = {}
_Entry = entry_type(_interned)
_unique_numbers = itertools.count()


class _Open(Analysed, MathMixin):
    """The slots of a node, which can be set as long as it is none yet."""

    __slots__ = (
        "__weakref__",
        "_bounds",
        "_buffer",
        "_device",
        "_history",
        "_launch_key",
        "_ranges",
        "_shape",
        "_simple",
        "_st",
        "_text_key",
        "arg",
        "dtype",
        "meta",
        "op",
        "src",
    )

    op: Ops
    dtype: DType
    src: tuple[UOp, ...]
    arg: Any
    meta: Any  # the Tensor method and source line it is from, or None
    _ranges: frozenset[UOp] | None


class UOp(_Open):
    """One operation: `UOp(op, dtype, src, arg)`.

    Equal arguments give the same object. `a + b` and the like build nodes and fold nothing;
    `==` compares identity, use `eq` and `ne` for nodes that compare.
    """

    __slots__ = ()

    def __new__(
        cls,
        op: Ops,
        dtype: DType = dtypes.void,
        src: tuple[UOp, ...] = (),
        arg: Any = None,
    ) -> UOp:
        kind = arg.__class__
        if kind in PLAIN or (kind is tuple and op is not Ops.VCONST):
            key = (op, dtype, src, arg)
        else:
            key = key_of(op, dtype, src, arg)
        entry = _interned.get(key)
        if entry is not None:
            node = entry()
            if node is not None:
                return node
        # as an open one its slots are set by plain statements, in half the time that setters take
        made: Any = _Open()
        made.op = op
        made.dtype = dtype
        made.src = src
        made.arg = arg
        # read on most nodes before they are computed; an empty slot would raise an exception
        made.meta = None
        made._ranges = None
        made.__class__ = cls
        entry = _Entry(made, methodcaller("drop", key))
        # one step, so that of two threads that make equal nodes one gets the other's
        found = _interned.setdefault(key, entry)
        while found is not entry:
            other = found()
            if other is not None:
                return other
            _Entry.drop(key)
            found = _interned.setdefault(key, entry)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise SpecError(
            f"a node is immutable: {name} cannot be set",
            asked=f"{self.op}.{name} = ...",
            because="equal nodes are one object, shared by every graph that holds it",
            try_=f"u.replace({name}=...) builds another node",
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        pickling = import_module("weft.uop.pickling")  # only what pickles needs it
        return (pickling.graph_of, (pickling.rows_of(self),))

    def __copy__(self) -> UOp:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> UOp:
        return self

    # ---- building -----------------------------------------------------------------------------

    @staticmethod
    def const(dtype: DType, value: Any, device: str | tuple[str, ...] | None = None) -> UOp:
        """A scalar constant of `dtype`, its value rounded or wrapped to what the dtype can hold.

        A tuple of values gives a vector constant. With `device` the constant has a device.
        """
        if value.__class__ is int and dtype in _INTEGERS and device is None:
            if dtype.min <= value <= dtype.max:
                return UOp(Ops.CONST, dtype, (), value)
        if isinstance(value, UOp):
            return value.cast(dtype)
        lanes = value
        if isinstance(value, tuple):
            scalar = dtype.scalar()
            numbers = tuple(truncate(lane, scalar) for lane in lanes)
            return UOp(Ops.VCONST, scalar.vec(len(numbers)), (), numbers)
        if dtype.count > 1:
            one = UOp(Ops.CONST, dtype.scalar(), (), truncate(value, dtype.scalar()))
            return UOp(Ops.VECTORIZE, dtype, (one,) * dtype.count)
        src = () if device is None else (UOp(Ops.DEVICE, arg=device),)
        return UOp(Ops.CONST, dtype, src, truncate(value, dtype))

    @staticmethod
    def sink(*nodes: UOp, arg: Any = None) -> UOp:
        """The root over `nodes`."""
        return UOp(Ops.SINK, dtypes.void, nodes, arg)

    @staticmethod
    def unique() -> UOp:
        """A node that equals no other."""
        return UOp(Ops.UNIQUE, dtypes.void, (), next(_unique_numbers))

    @staticmethod
    def new_buffer(device: str | tuple[str, ...], size: int, dtype: DType) -> UOp:
        """Fresh storage of `size` elements on `device`, not allocated yet."""
        return UOp(Ops.BUFFER, dtype, (UOp(Ops.DEVICE, arg=device), UOp.unique()), size)

    @staticmethod
    def range(
        end: int | UOp, id: int, kind: AxisKind = AxisKind.LOOP, dtype: DType = dtypes.int
    ) -> UOp:
        """The counter of a loop from 0 to `end` (exclusive)."""
        bound = end if isinstance(end, UOp) else UOp.const(dtype, end)
        return UOp(Ops.RANGE, dtype, (bound,), RangeArg(id, kind))

    @staticmethod
    def variable(name: str, low: int, high: int, dtype: DType = dtypes.int) -> UOp:
        """A symbolic integer with inclusive bounds.

        >>> n = Variable("n", 1, 8)
        >>> Tensor.arange(8)[: n.bind(3)].tolist()
        [0, 1, 2]
        >>> (n * 2 + 1).vmax
        17
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError(
                "a variable has a name",
                asked=f"Variable({shown(name)}, {shown(low)}, {shown(high)})",
                because="that is how kernels and errors call it",
                try_='Variable("n", 1, 10)',
            )
        if not (isinstance(low, int) and isinstance(high, int)) or low > high:
            raise ArgumentError(
                f"the bounds of variable {name!r} are not an interval",
                asked=f"Variable({shown(name)}, {shown(low)}, {shown(high)})",
                because="the lower bound must be an int not above the upper one",
                try_=f"Variable({name!r}, 1, 10)",
            )
        for bound in (low, high):
            check_range(bound, dtype)
        return UOp(Ops.DEFINE_VAR, dtype, (), Var(name, low, high))

    def bind(self, value: int) -> UOp:
        """This variable with a value; ArgumentError outside its bounds."""
        if self.op is not Ops.DEFINE_VAR:
            raise ArgumentError(
                "only a variable can be bound",
                asked=f"bind({value}) on {self.op}",
                because="the node is not a DEFINE_VAR",
                try_="Variable(name, low, high).bind(value)",
            )
        var: Var = self.arg
        if not isinstance(value, int) and hasattr(value, "__index__"):
            value = value.__index__()
        if not isinstance(value, int) or not var.low <= value <= var.high:
            raise ArgumentError(
                f"{value!r} is outside the bounds of variable {var.name!r}",
                asked=f"{var.name}.bind({value!r})",
                because=f"it was declared from {var.low} to {var.high}",
                try_="bind a value inside, or declare wider bounds",
            )
        return UOp(Ops.BIND, self.dtype, (self, UOp.const(self.dtype, value)))

    def unbind(self) -> tuple[UOp, int]:
        """The variable and the value of a BIND node."""
        if self.op is not Ops.BIND:
            raise ArgumentError(f"{self.op} is not a bound variable", asked="unbind()")
        report_values_read([self])
        return self.src[0], self.src[1].arg

    @property
    def val(self) -> int:
        """The value of a bound variable, or of an expression of bound variables."""
        return self._evaluate(int)

    def alu(self, op: Ops, *src: UOp) -> UOp:
        """`op` over self and `src`; comparisons give bool of the same lanes."""
        operands = (self, *src)
        dtype = operands[-1].dtype
        if op in _COMPARISONS:
            dtype = dtypes.bool if dtype.count == 1 else dtypes.bool.vec(dtype.count)
        elif op is Ops.SHL or op is Ops.SHR or op is Ops.THREEFRY:
            dtype = self.dtype
        return UOp(op, dtype, operands)

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> UOp:
        if other.__class__ is not UOp:
            if has_graph(other):
                return NotImplemented
            if (other.__class__ is float or op is Ops.FDIV) and self.dtype in dtypes.ints:
                return self._with_fraction(op, other, reverse)
            other = self._fix(other)
        elif op is Ops.FDIV and self.dtype in dtypes.ints and other.dtype in dtypes.ints:
            return self._with_fraction(op, float(other), reverse)
        return other.alu(op, self) if reverse else self.alu(op, other)

    def _with_fraction(self, op: Ops, other: float, reverse: bool) -> Any:
        """An integer node combined with a float: the result is computed from its bound value."""
        one, two = (other, float(self)) if reverse else (float(self), other)
        value = MIXED[op](one, two)
        return UOp.const(dtypes.bool, value) if op in _COMPARISONS else value

    def const_like(self, value: Any) -> UOp:
        """A constant of self's dtype (per lane, for a vector)."""
        if isinstance(value, UOp):
            return value
        return UOp.const(self.dtype, value)

    def cast(self, dtype: DType) -> UOp:
        """The value converted; self where it is of that dtype already."""
        return self if self.dtype is dtype else UOp(Ops.CAST, dtype, (self,))

    def bitcast(self, dtype: DType) -> UOp:
        """The bits reinterpreted; self where it is of that dtype already."""
        return self if self.dtype is dtype else UOp(Ops.BITCAST, dtype, (self,))

    def reshape(self, shape: tuple[Any, ...]) -> UOp:
        """Unchecked: same elements in row-major order, another shape."""
        return UOp(Ops.RESHAPE, self.dtype, (self,), shape)

    def permute(self, order: tuple[int, ...]) -> UOp:
        """Unchecked: axis i of the result is axis order[i] of self."""
        return UOp(Ops.PERMUTE, self.dtype, (self,), order)

    def expand(self, shape: tuple[Any, ...]) -> UOp:
        """Unchecked: axes of size one repeated."""
        return UOp(Ops.EXPAND, self.dtype, (self,), shape)

    def pad(self, padding: tuple[tuple[Any, Any], ...]) -> UOp:
        """Unchecked: zeros before and after each axis."""
        return UOp(Ops.PAD, self.dtype, (self,), padding)

    def shrink(self, window: tuple[tuple[Any, Any], ...]) -> UOp:
        """Unchecked: the window [start, stop) of each axis."""
        return UOp(Ops.SHRINK, self.dtype, (self,), window)

    def flip(self, axes: tuple[bool, ...]) -> UOp:
        """Unchecked: axes marked true run backwards."""
        return UOp(Ops.FLIP, self.dtype, (self,), axes)

    def view(self, st: Any) -> UOp:
        """Any movement, as a ShapeTracker."""
        return UOp(Ops.VIEW, self.dtype, (self,), st)

    def reduce(self, op: Ops, axes: tuple[int, ...]) -> UOp:
        """Unchecked: reduced over `axes`, which stay as size one."""
        return UOp(Ops.REDUCE_AXIS, self.dtype, (self,), Reduce(op, axes))

    def contiguous(self) -> UOp:
        """Materialised here."""
        return UOp(Ops.CONTIGUOUS, self.dtype, (self,))

    def detach(self) -> UOp:
        """The same value, through which no gradient flows."""
        return UOp(Ops.DETACH, self.dtype, (self,))

    def assign(self, value: UOp, arg: Any = None) -> UOp:
        """Self after `value` was written into it."""
        return UOp(Ops.ASSIGN, self.dtype, (self, value), arg)

    def copy_to_device(self, device: str | tuple[str, ...]) -> UOp:
        """The same value on another device."""
        return UOp(Ops.COPY, self.dtype, (self, UOp(Ops.DEVICE, arg=device)))

    def index(self, at: UOp, gate: UOp | None = None) -> UOp:
        """The address of one element of a pointer."""
        return UOp(Ops.INDEX, self.dtype, (self, at) if gate is None else (self, at, gate))

    def load(self, *src: UOp, dtype: DType | None = None) -> UOp:
        """The value at this address (or of this buffer view, in a kernel's AST)."""
        element = self.dtype.base if isinstance(self.dtype, PtrDType) else self.dtype
        return UOp(Ops.LOAD, dtype or element, (self, *src))

    def store(self, value: UOp) -> UOp:
        """`value` written to this address (or buffer view)."""
        return UOp(Ops.STORE, dtypes.void, (self, value))

    def gep(self, lanes: int | tuple[int, ...]) -> UOp:
        """Lanes of a vector; one lane gives a scalar."""
        picked = (lanes,) if isinstance(lanes, int) else lanes
        scalar = self.dtype.scalar()
        dtype = scalar if len(picked) == 1 else scalar.vec(len(picked))
        return UOp(Ops.GEP, dtype, (self,), picked)

    def broadcast(self, lanes: int) -> UOp:
        """A scalar in every lane of a vector."""
        if lanes == 1:
            return self
        return UOp(Ops.VECTORIZE, self.dtype.vec(lanes), (self,) * lanes)

    def replace(self, **changes: Any) -> UOp:
        """Another node with some of op, dtype, src, arg changed; self stays as it was."""
        if unknown := set(changes) - {"op", "dtype", "src", "arg"}:
            raise ArgumentError(
                f"a node has no {sorted(unknown)[0]!r}",
                asked=f"replace({', '.join(changes)})",
                because="a node has an op, dtype, src and arg",
            )
        return UOp(
            changes.get("op", self.op),
            changes.get("dtype", self.dtype),
            tuple(changes.get("src", self.src)),
            changes.get("arg", self.arg),
        )

    def over(self, src: tuple[UOp, ...]) -> UOp:
        """The same node over other sources, with the provenance of this one."""
        if src == self.src:
            return self
        return UOp(self.op, self.dtype, src, self.arg).with_provenance_of(self)

    def with_provenance_of(self, original: UOp) -> UOp:
        """Self, with the provenance of `original` if it has none."""
        if self.meta is None and original.meta is not None:
            _set_meta(self, original.meta)
        return self

    # ---- traversal ----------------------------------------------------------------------------

    def toposort(self, gate: Callable[[UOp], bool] | None = None) -> dict[UOp, None]:
        """Every node below, sources before their users, self last.

        With `gate`, sources of a node are visited only where gate(node) holds.
        """
        order: dict[UOp, None] = {}
        if gate is not None and not gate(self):
            return {self: None}
        above: list[tuple[UOp, Iterator[UOp]]] = []
        node, sources = self, iter(self.src)
        while True:
            for source in sources:
                if source in order:
                    continue
                src = source.src
                if src and (gate is None or gate(source)):
                    above.append((node, sources))
                    node, sources = source, iter(src)
                    break
                order[source] = None
            else:
                order[node] = None
                if not above:
                    return order
                node, sources = above.pop()

    def substitute(self, replacements: Mapping[UOp, UOp]) -> UOp:
        """Every node that is a key replaced by its value, its users rebuilt.

        Nodes inside a replacement are not replaced.
        """
        if not replacements:
            return self
        done: dict[UOp, UOp] = {}
        for node in self.toposort(gate=lambda u: u not in replacements):
            other = replacements.get(node)
            if other is None:
                other = node.over(tuple([done.get(s, s) for s in node.src]))
            done[node] = other
        return done[self]

    @property
    def base(self) -> UOp:
        """The node below all movement."""
        node = self
        while node.op in _MOVES:
            node = node.src[0]
        return node

    def variables(self) -> list[UOp]:
        """The DEFINE_VAR nodes below, by name, including those in args of movement ops."""
        found: dict[UOp, None] = {}
        for node in self.toposort():
            if node.op is Ops.DEFINE_VAR:
                found[node] = None
            elif node.op in GroupOp.Movement:
                for item in _nodes_in(node.arg):
                    found.update((v, None) for v in item.variables())
        return sorted(found, key=lambda v: (v.arg.name, v.arg.low, v.arg.high))

    # ---- constants ----------------------------------------------------------------------------

    def _evaluate(self, kind: type) -> Any:
        node = self.simplify()
        if node.op is not Ops.CONST:
            # the bound values decide, which a recorder must know
            bound = [u for u in node.toposort() if u.op is Ops.BIND]
            report_read(node, bound, kind)
            node = node.substitute({u: u.src[1] for u in bound}).simplify()
        if node.op is not Ops.CONST:
            raise ArgumentError(
                f"{node.render(simplify=False)} has no single value",
                asked=f"{kind.__name__}() of a {self.op} node",
                because=f"it is between {node.vmin} and {node.vmax}",
                try_="bind its variables: variable.bind(value)",
            )
        return kind(node.arg)

    def __int__(self) -> int:
        return self._evaluate(int)

    def __index__(self) -> int:
        return self._evaluate(int)

    def __float__(self) -> float:
        return self._evaluate(float)

    def __bool__(self) -> bool:
        return self._evaluate(bool)

    def __repr__(self) -> str:
        return provided("pretty")(self)


_set_meta = UOp.meta.__set__  # type: ignore[attr-defined]

sint: TypeAlias = int | UOp


def memo_slot(name: str) -> Callable[[UOp, Any], None]:
    """The setter of one of UOp's memo slots, for the analysis that owns it."""
    return getattr(UOp, name).__set__


def _nodes_in(arg: Any) -> Iterable[UOp]:
    items = arg
    if isinstance(arg, UOp):
        yield arg
    elif isinstance(arg, tuple):
        for item in items:
            yield from _nodes_in(item)
