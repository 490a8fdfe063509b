"""Call signature: flatten the arguments of a call into a cache key.

Containers of any depth are flattened. A tensor contributes the layout over its memory, a Python
value contributes itself. The memory and the values of variables are no part of the key: they may
differ from one replay to the next.

Source: JAX, tracing cache (abstract values of a flattened pytree).
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
from weft.schedule import is_counter
from weft.tensor.jit.static_attributes import attributes, field, has_member, slots
from weft.tensor.live_tensors import is_recomputed, memory_of, shares_bytes
from weft.tensor.protocol import TensorBase
from weft.uop import GroupOp, Ops, UOp, parts_of
from weft.uop.symbolic.sint import variable_and_value

_SAME_MEMORY = GroupOp.Movement | {Ops.DETACH, Ops.BITCAST}
_LIBRARIES = frozenset({*sys.stdlib_module_names, "numpy", "torch", "jax", "ml_dtypes", "tqdm"})
PLAIN = frozenset({int, bool, str, bytes, type(None), EllipsisType})
_BY_VALUE = (DType, range, frozenset)
_BY_IDENTITY = (enum.Enum, Member, type, BuiltinFunctionType, ModuleType)
_without_variables: set[Any] = set()
_MAX_WITHOUT_VARIABLES = 1 << 14


def is_user_code(module: Any) -> bool:
    """Whether the code of this module is the user's, not a library's."""
    name = module if isinstance(module, str) else ""
    top = name.partition(".")[0]
    if name.startswith(("weft.nn", "weft.amp", "weft.torch.exported")):  # modules with state
        return True
    return top not in _LIBRARIES and top != "weft"


class ByIdentity:
    """A key that compares its object by identity."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)


class Pending(Exception):
    """A tensor is not realized, so it has no memory yet."""


class UnsupportedArgument(Exception):
    """An argument has a type that no signature can describe."""

    def __init__(self, value: Any, why: str) -> None:
        super().__init__(why)
        self.value = value


def memory_layout(node: UOp, nodes: dict[UOp, int], values: dict[UOp, int]) -> Any:
    """The layout of a realized value over its memory, as a key; buffers appear by number.

    nodes: the number of each BUFFER; new ones are added. values: of bound variables; new ones are
    added.
    :raises Pending: if the value has to be computed first.
    """
    moves: list[Any] = []
    while node.op in _SAME_MEMORY:
        arg = node.arg
        if node.op is Ops.BITCAST:
            if not shares_bytes(node):
                raise Pending
            arg = node.dtype
        elif arg not in _without_variables:
            arg = unbound_arg(arg, values)
        moves.append((node.op, arg))
        node = node.src[0]
    if node.op is Ops.BUFFER:
        number = nodes.setdefault(node, len(nodes))
        return (number, node.dtype, node.arg, node.src[0].arg, *moves)
    if node.op is Ops.MULTI:
        parts = tuple([memory_layout(part, nodes, values) for part in parts_of(node)])
        return ("parts", node.arg, parts, *moves)
    if node.op is Ops.CONST or is_counter(node):
        return (node, *moves)
    if node.op is Ops.BIND:
        return (unbound(node, values), *moves)
    if is_recomputed(node):
        memory = [memory_layout(leaf, nodes, values) for leaf in memory_of(node)]
        return (node.arg, node.shape, tuple(memory), *moves)
    raise Pending


def unbound_arg(arg: Any, values: dict[UOp, int]) -> Any:
    """The argument of a movement op with its variables unbound; `values` receives their values."""
    if isinstance(arg, tuple):
        found = tuple([unbound_arg(item, values) for item in arg])
        if all(new is old for new, old in zip(found, arg)):
            if not any(isinstance(item, (UOp, tuple)) for item in arg):
                if len(_without_variables) >= _MAX_WITHOUT_VARIABLES:
                    _without_variables.clear()
                _without_variables.add(arg)
            return arg
        return found
    return unbound(arg, values) if isinstance(arg, UOp) else arg


def unbound(node: UOp, values: dict[UOp, int]) -> UOp:
    """A symbolic integer with its variables unbound; `values` receives their values.

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


class Signature:
    """The flattened arguments of one call.

    key: the cache key. tensors: each tensor once, in order. nodes: the number of each BUFFER below
    them. values: of the variables in them. call: the arguments themselves. roots: objects with
    attributes, which are traversed as state. pending: whether a tensor has to be computed first.
    """

    __slots__ = ("call", "grads", "key", "nodes", "pending", "roots", "seen", "tensors", "values")

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.call = args, kwargs
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
        """Add a value and its items. :raises UnsupportedArgument: for a type without a key."""
        kind = type(value)
        if kind in PLAIN:
            self.key.append((kind, value))
        elif isinstance(value, TensorBase):
            if value._interleaved is None:
                self.add_tensor(value)
            else:  # a container of one tensor
                self.key.append(kind)
                self.add_tensor(value._interleaved)
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
        """Add a tensor and its gradient."""
        number = self.seen.setdefault(id(tensor), len(self.seen))
        if number < len(self.tensors):
            self.key.append(number)
            return
        self.tensors.append(tensor)
        self.grads.append(tensor.grad)
        try:
            how = memory_layout(tensor._uop, self.nodes, self.values)
        except Pending:
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
                raise UnsupportedArgument(value, "a set of such items has no fixed order")
            self.key.append((kind, frozenset((item.__class__, item) for item in value)))
        elif isinstance(value, slice):
            self.key.append(slice)
            for item in (value.start, value.stop, value.step):
                self.add(item)
        elif isinstance(value, UOp):
            self.key.append(unbound(value, self.values))
        elif isinstance(value, _BY_VALUE):
            self.key.append((kind, value))
        elif isinstance(value, _BY_IDENTITY):
            self.key.append(ByIdentity(value))
            if isinstance(value, type):
                self.roots.append(value)  # it may have attributes that change
        elif kind is complex:
            self.key.append((kind, repr(value)))
        elif has_member(kind, "__array__") or has_member(kind, "__dlpack__"):
            if getattr(value, "shape", None) == () and has_member(kind, "item"):
                self.key.append((kind, repr(value.item())))
                return
            raise UnsupportedArgument(value, "the content of an array may change unseen")
        elif has_member(kind, "__next__"):
            raise UnsupportedArgument(value, "an iterator is used up by the first call")
        elif (
            isinstance(value, (FunctionType, MethodType))
            or attributes(value) is not None
            or (is_user_code(kind.__module__) and slots(value))
        ):
            self.key.append(ByIdentity(value))
            self.roots.append(value)
        else:
            self._add_foreign(value, kind)

    def _add_foreign(self, value: Any, kind: type) -> None:
        try:
            hash(value)
        except TypeError:
            raise UnsupportedArgument(
                value, "it has no hash, so a change of it cannot be detected"
            ) from None
        self.key.append((kind, value))


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """(path, item) of each item of a container; the path is written as in Python."""
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
    """The path from `name` to `wanted`, as in Python; None if it is not inside `value`."""
    if value is wanted:
        return name
    if isinstance(value, TensorBase):
        return None
    for written, item in children(value):
        found = path_of(wanted, item, name + written)
        if found is not None:
            return found
    return None
