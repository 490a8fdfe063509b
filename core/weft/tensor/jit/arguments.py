"""What a call is given, as a value that can be looked up: the signature of its arguments.

Containers of any depth are taken apart. Of a tensor the signature says how it stands over its
memory, of a Python value what it is; memory itself and the values of variables are left out, they
may differ from one replay to the next.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any

from weft.base.dtype import DType
from weft.base.errors import CaptureError
from weft.base.members import Member
from weft.schedule.arange import is_counter
from weft.tensor.jit.lookup import attributes, field, has_member, slots
from weft.tensor.live_tensors import shares_bytes
from weft.tensor.protocol import TensorBase
from weft.uop import GroupOp, Ops, UOp
from weft.uop.sharding import parts_of
from weft.uop.symbolic.sint import variable_and_value

_MOVES = GroupOp.Movement
_SHOWS = GroupOp.Movement | {Ops.DETACH, Ops.BITCAST}
_BUFFER = Ops.BUFFER
_NOT_WALKED = frozenset({*sys.stdlib_module_names, "numpy", "torch", "jax", "ml_dtypes", "tqdm"})
PLAIN = frozenset({int, bool, str, bytes, type(None), EllipsisType})
_BY_VALUE = (DType, range, frozenset)
_BY_IDENTITY = (enum.Enum, Member, type, BuiltinFunctionType, ModuleType)
_definite: set[Any] = set()
_MOST_DEFINITE = 1 << 14


def is_walked(module: Any) -> bool:
    """Whether code of this module is the user's."""
    name = module if isinstance(module, str) else ""
    top = name.partition(".")[0]
    return name.startswith(("weft.nn", "weft.amp")) or (top not in _NOT_WALKED and top != "weft")


class Same:
    """An object that equals itself alone."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)


class Unready(Exception):
    """A tensor that has work pending, or no memory of its own yet."""


class Refused(Exception):
    """An argument that cannot be part of a signature."""

    def __init__(self, value: Any, why: str) -> None:
        super().__init__(why)
        self.value = value


def outline(node: UOp, nodes: dict[UOp, int], values: dict[UOp, int]) -> Any:
    """How a value stands over its memory, the memory by number: whatever is settled has memory
    here, a value that is detached from what stands in it too.

    nodes: the BUFFERs met so far and their numbers, which grows. values: of bound variables, grows.
    :raises Unready: where it has to be computed first.
    """
    moves: list[Any] = []
    while node.op in _SHOWS:
        arg = node.arg
        if node.op is Ops.BITCAST:
            if not shares_bytes(node):
                raise Unready
            arg = node.dtype
        elif arg not in _definite:
            arg = variables_free(arg, values)
        moves.append((node.op, arg))
        node = node.src[0]
    if node.op is Ops.BUFFER:
        number = nodes.setdefault(node, len(nodes))
        return (number, node.dtype, node.arg, node.src[0].arg, *moves)
    if node.op is Ops.MULTI:
        parts = tuple([outline(part, nodes, values) for part in parts_of(node)])
        return ("parts", node.arg, parts, *moves)
    if node.op is Ops.CONST or is_counter(node):
        return (node, *moves)
    if node.op is Ops.BIND:
        return (free(node, values), *moves)
    raise Unready


def variables_free(arg: Any, values: dict[UOp, int]) -> Any:
    """The argument of a movement with its variables free; their values are noted."""
    if isinstance(arg, tuple):
        found = tuple([variables_free(item, values) for item in arg])
        if all(new is old for new, old in zip(found, arg)):
            if not any(isinstance(item, (UOp, tuple)) for item in arg):
                if len(_definite) >= _MOST_DEFINITE:
                    _definite.clear()
                _definite.add(arg)
            return arg
        return found
    return free(arg, values) if isinstance(arg, UOp) else arg


def free(node: UOp, values: dict[UOp, int]) -> UOp:
    """A symbolic integer with its variables free; their values are noted.

    :raises CaptureError: if one variable has two values.
    """
    bound = [u for u in node.toposort() if u.op is Ops.BIND]
    for u in bound:
        variable, value = variable_and_value(u)
        if values.setdefault(variable, value) != value:
            raise CaptureError(
                f"variable {variable.arg.name!r} has two values in one call",
                asked=f"{variable.arg.name} = {values[variable]} and {value}",
                because="kernels are given one value for each variable",
                try_="two variables of different names",
            )
    return node.substitute({u: u.src[0] for u in bound}) if bound else node


class Arguments:
    """One call's arguments, taken apart.

    key: the signature. tensors: each once, in order. nodes: their BUFFERs, numbered. values: of the
    variables in them. given: the arguments themselves. roots: objects with attributes, which are
    looked into as state is. pending: whether a tensor is to be computed first.
    """

    __slots__ = ("given", "grads", "key", "nodes", "pending", "roots", "seen", "tensors", "values")

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.given = args, kwargs
        self.key: list[Any] = []
        self.tensors: list[TensorBase] = []
        self.grads: list[Any] = []
        self.nodes: dict[UOp, int] = {}
        self.values: dict[UOp, int] = {}
        self.roots: list[Any] = []
        self.seen: dict[int, int] = {}
        self.pending = False
        for value in args:
            self.add(value)
        if kwargs:
            for name in sorted(kwargs):
                self.key.append(name)
                self.add(kwargs[name])

    def add(self, value: Any) -> None:
        """One value, and what is in it. :raises Refused: for what no signature can tell."""
        kind = type(value)
        if kind in PLAIN:
            self.key.append((kind, value))
        elif isinstance(value, TensorBase):
            self.add_tensor(value)
        elif kind is float:
            self.key.append(value.hex())
        elif kind is tuple or kind is list:
            self.key.append((kind, len(value)))
            for item in value:
                self.add(item)
        elif kind is dict:
            self.key.append((kind, tuple(value)))
            for item in value.values():
                self.add(item)
        else:
            self._add_other(value, kind)

    def add_tensor(self, tensor: TensorBase) -> None:
        """A tensor, and its gradient."""
        number = self.seen.setdefault(id(tensor), len(self.seen))
        if number < len(self.tensors):
            self.key.append(number)
            return
        self.tensors.append(tensor)
        self.grads.append(tensor.grad)
        try:
            how = outline(tensor._uop, self.nodes, self.values)
        except Unready:
            self.pending = True
            how = None
        if how is not None and 0 not in tensor._uop.shape and how[0].__class__ is UOp:
            self.pending = self.pending or how[0].op is Ops.CONST
        self.key.append((how, tensor._requires_grad, tensor.is_leaf, tensor.__class__))
        if tensor.grad is not None:
            self.key.append("grad")
            self.add_tensor(tensor.grad)

    def _add_other(self, value: Any, kind: type) -> None:
        if isinstance(value, (tuple, list)):
            self.key.append((kind, len(value)))
            for item in value:
                self.add(item)
        elif isinstance(value, dict):
            self.key.append((kind, tuple(value)))
            for item in value.values():
                self.add(item)
        elif is_dataclass(value) and not isinstance(value, type) and not isinstance(value, DType):
            self.key.append(kind)
            for each in fields(value):
                self.add(field(value, each.name))
        elif isinstance(value, (set, frozenset)):
            if not all(item.__class__ in PLAIN or item.__class__ is float for item in value):
                raise Refused(value, "the order of a set is not that of its making")
            self.key.append((kind, frozenset((item.__class__, item) for item in value)))
        elif isinstance(value, slice):
            self.key.append(slice)
            for item in (value.start, value.stop, value.step):
                self.add(item)
        elif isinstance(value, UOp):
            self.key.append(free(value, self.values))
        elif isinstance(value, _BY_VALUE):
            self.key.append((kind, value))
        elif isinstance(value, _BY_IDENTITY):
            self.key.append(Same(value))
            if isinstance(value, type):
                self.roots.append(value)  # it may have attributes that change
        elif kind is complex:
            self.key.append((kind, repr(value)))
        elif has_member(kind, "__array__") or has_member(kind, "__dlpack__"):
            if getattr(value, "shape", None) == () and has_member(kind, "item"):
                self.key.append((kind, repr(value.item())))
                return
            raise Refused(value, "what is in an array may change without a trace")
        elif has_member(kind, "__next__"):
            raise Refused(value, "what it gives is gone once it was taken")
        elif (
            isinstance(value, (FunctionType, MethodType))
            or attributes(value) is not None
            or (is_walked(kind.__module__) and slots(value))
        ):
            self.key.append(Same(value))
            self.roots.append(value)
        else:
            self._add_foreign(value, kind)

    def _add_foreign(self, value: Any, kind: type) -> None:
        try:
            hash(value)
        except TypeError:
            raise Refused(value, "nothing tells whether it has changed") from None
        self.key.append((kind, value))


class Stands:
    """How a tensor among some arguments stands over its memory, for others that may do the same."""

    __slots__ = ("device", "dtype", "flag", "leaf", "moves", "size")

    def __init__(self, tensor: TensorBase) -> None:
        self.flag, self.leaf = tensor._requires_grad, tensor.is_leaf
        moves: list[tuple[Ops, Any]] = []
        node = tensor._uop
        while node.op in _MOVES:
            moves.append((node.op, node.arg))
            node = node.src[0]
        self.moves = tuple(moves)
        self.dtype, self.size, self.device = node.dtype, node.arg, node.src[0]


class Met:
    """The signature of arguments that were taken apart, for later ones that stand alike: tensors
    without gradients, each over memory of its own, and Python values. No tensor is held on to."""

    __slots__ = ("_names", "_parts", "key")

    def __init__(self, key: list[Any], parts: list[Any], names: tuple[str, ...]) -> None:
        self.key, self._parts, self._names = key, parts, names

    @classmethod
    def of(
        cls, args: tuple[Any, ...], kwargs: Mapping[str, Any], arguments: Arguments
    ) -> Met | None:
        """None where these are not so simple."""
        parts: list[Any] = []
        tensors = 0
        for value in _in_order(args, kwargs, tuple(sorted(kwargs))):
            kind = value.__class__
            if isinstance(value, TensorBase):
                if value._uop.base.op is not Ops.BUFFER or value.grad is not None:
                    return None
                parts.append((kind, Stands(value)))
                tensors += 1
            elif kind in PLAIN:
                parts.append((kind, value))
            elif kind is float:
                parts.append((kind, value.hex()))
            else:
                return None
        if arguments.pending or arguments.values or arguments.roots:
            return None
        if tensors != len(arguments.tensors) or tensors != len(arguments.nodes):
            return None
        return cls(arguments.key, parts, tuple(sorted(kwargs)))

    def only_tensors(self) -> list[tuple[type, Stands]] | None:
        """How they stand, where all are tensors and none has a name; else None."""
        is_simple = not self._names and all(type(what) is Stands for _, what in self._parts)
        return self._parts if is_simple else None

    def again(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[list[TensorBase], list[UOp]] | None:
        """The tensors and their BUFFERs, each in order; None where the signature is another."""
        parts = self._parts
        if kwargs or self._names:
            if len(kwargs) != len(self._names) or not all(map(kwargs.__contains__, self._names)):
                return None
            args = _in_order(args, kwargs, self._names)
        if len(args) != len(parts):
            return None
        tensors: list[TensorBase] = []
        nodes: list[UOp] = []
        for value, (kind, what) in zip(args, parts):
            if type(value) is not kind:
                return None
            if type(what) is not Stands:
                if what != (value.hex() if kind is float else value):
                    return None
                continue
            node = value._uop
            if what.moves:
                for op, arg in what.moves:
                    if node.op is not op or node.arg != arg:
                        return None
                    node = node.src[0]
            if node.op is not _BUFFER or node.src[0] is not what.device:
                return None
            if node.arg != what.size or node.dtype != what.dtype or value.grad is not None:
                return None
            if value._requires_grad is not what.flag or value.is_leaf is not what.leaf:
                return None
            tensors.append(value)
            nodes.append(node)
        if len(nodes) > 1 and len(set(nodes)) != len(nodes):
            return None
        return tensors, nodes


def _in_order(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[Any, ...]:
    """Arguments as they stand in a signature."""
    return (*args, *[kwargs[name] for name in names]) if kwargs else args


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """(how it is written, item) of what is in a container."""
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, tuple) and has_member(type(value), "_fields"):
        names: Any = value
        yield from ((f".{name}", item) for name, item in zip(names._fields, value))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{place}]", item) for place, item in enumerate(value))
    elif is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{each.name}", field(value, each.name)) for each in fields(value))


def path_of(wanted: Any, value: Any, name: str) -> str | None:
    """How `wanted` is written, seen from `name`; None where it is not in there."""
    if value is wanted:
        return name
    if isinstance(value, TensorBase):
        return None
    for written, item in children(value):
        found = path_of(wanted, item, name + written)
        if found is not None:
            return found
    return None
