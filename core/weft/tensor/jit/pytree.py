"""Pytrees: flatten the result of a call into a tree of leaves, and unflatten it over new memory.

A new tensor becomes a `NewLeaf` and a `TensorSpec` of its layout. A tensor that was passed in, or
is state, becomes an `ExistingLeaf`: the same object is returned. Other values are leaves.

in:  the result of a function      out: a tree; `unflatten` makes a result of it

Source: JAX, pytrees (`jax.tree_util`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.errors import CaptureError
from weft.schedule import placeholder
from weft.tensor.jit.signature import PLAIN, ByIdentity
from weft.tensor.jit.static_attributes import attributes, field, has_member
from weft.tensor.protocol import TensorBase
from weft.uop import GroupOp, Ops, UOp


@dataclass(frozen=True, slots=True)
class ExistingLeaf:
    """A leaf: the tensor of this number among those that existed before the call."""

    number: int


@dataclass(frozen=True, slots=True)
class NewLeaf:
    """A leaf: the tensor of this number among the new ones."""

    number: int


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A container: its type (list, tuple, dict, dataclass or a subclass), keys and items."""

    kind: type
    names: tuple[Any, ...] | None
    items: tuple[Any, ...]


Rebuild = list[tuple[UOp, "int | None", tuple[int, ...], bool]]
"""Steps: a node, the number of its memory or None, the places of its sources if any of them
changes, and whether it depends on variables."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """The layout of a tensor over memory.

    value: its graph over placeholders. memory: the number of each buffer. moves: the movement ops
    from the buffer up, if it is a view of one buffer; else None. kind: its class. rebuild: the
    nodes of any other value, sources first.
    """

    value: UOp
    memory: tuple[int, ...]
    moves: tuple[UOp, ...] | None
    requires_grad: bool | None
    is_leaf: bool
    kind: type[TensorBase]
    rebuild: Rebuild


def flatten(value: Any, known: Mapping[int, int], new: dict[int, TensorBase], name: str) -> Any:
    """The tree of a result.

    known: numbers of existing tensors by id. new: the other tensors by id; new ones are added.
    :raises CaptureError: for an object that cannot be constructed again.
    """

    def part(item: Any, written: str) -> Any:
        return flatten(item, known, new, written)

    kind = type(value)
    if isinstance(value, TensorBase) and value._interleaved is not None:
        return TreeNode(kind, None, (part(value._interleaved, name),))
    if isinstance(value, TensorBase):
        number = known.get(id(value))
        if number is not None:
            return ExistingLeaf(number)
        new.setdefault(id(value), value)
        return NewLeaf(list(new).index(id(value)))
    if kind in PLAIN or isinstance(value, (float, complex)):
        return value
    if isinstance(value, (list, tuple)):
        return TreeNode(kind, None, tuple(part(v, f"{name}[{i}]") for i, v in enumerate(value)))
    if isinstance(value, dict):
        items = tuple(part(v, f"{name}[{k!r}]") for k, v in value.items())
        return TreeNode(kind, tuple(value), items)
    if is_dataclass(value) and not isinstance(value, type) and attributes(value) is not None:
        found = {f.name: field(value, f.name) for f in fields(value) if f.init}
        items = tuple(part(v, f"{name}.{k}") for k, v in found.items())
        return TreeNode(kind, tuple(found), items)
    if any(has_member(kind, name) for name in ("__next__", "__anext__", "__await__")):
        raise CaptureError(
            f"a captured function cannot return a {kind.__name__}",
            asked=name,
            because="its code would run after the call, outside of the trace",
            try_="return a list or a tuple of tensors",
        )
    if _may_hold_tensors(value):
        raise CaptureError(
            f"a captured function cannot return a {kind.__name__}",
            asked=f"{name}, which holds tensors",
            because="a replay creates new tensors, and cannot construct this object around them",
            try_="return tensors in lists, tuples, dicts or dataclasses",
        )
    return ByIdentity(value)


def _may_hold_tensors(value: Any) -> bool:
    there = attributes(value)
    if there is None or isinstance(value, type):
        return False
    return any(isinstance(item, TensorBase) for item in there.values())


def unflatten(tree: Any, known: Sequence[TensorBase], new: Sequence[TensorBase]) -> Any:
    """The result of a tree with these tensors as leaves."""
    kind = tree.__class__
    if kind is NewLeaf:
        return new[tree.number]
    if kind is ExistingLeaf:
        return known[tree.number]
    if kind is ByIdentity:
        return tree.of
    if kind is not TreeNode:
        return tree
    items = [unflatten(item, known, new) for item in tree.items]
    of = make = tree.kind
    if issubclass(of, TensorBase):
        complex_class: Any = of
        return complex_class._over(items[0])
    if of is tuple or of is list:
        return of(items)
    if issubclass(of, (list, tuple)):
        return of(*items) if hasattr(of, "_fields") else of(items)
    if of is dict:
        return dict(zip(tree.names, items))
    if is_dataclass(of):
        return make(**dict(zip(tree.names, items)))
    made = of.__new__(of)
    made.update(zip(tree.names, items))
    return made


def has_existing(tree: Any) -> bool:
    """Whether a tree has a tensor that existed before the call."""
    return isinstance(tree, ExistingLeaf) or (
        isinstance(tree, TreeNode) and any(map(has_existing, tree.items))
    )


def spec_of(tensor: TensorBase, number_of: Callable[[UOp], int]) -> TensorSpec:
    """The spec of a realized tensor. number_of: the number of a BUFFER."""
    node = tensor._uop
    found = [u for u in node.toposort() if u.op is Ops.BUFFER]
    placeholders = {u: placeholder(number_of(u), u) for u in found}
    value = node.substitute(placeholders) if placeholders else node
    moves: list[UOp] | None = []
    below = value
    while below.op in GroupOp.Movement:
        moves.append(below)
        below = below.src[0]
    if below.op is not Ops.BUFFER or any(_has_variables(move) for move in moves):
        moves = None
    return TensorSpec(
        value, tuple(number_of(u) for u in found),
        None if moves is None else tuple(reversed(moves)),
        tensor._requires_grad, tensor.is_leaf, tensor.__class__,
        _rebuild_of(value) if moves is None else [],
    )  # fmt: skip


def _has_variables(move: UOp) -> bool:
    return any(u.op is Ops.BIND or u.op is Ops.DEFINE_VAR for u in _nodes_in(move.arg))


def _nodes_in(arg: Any) -> list[UOp]:
    if isinstance(arg, UOp):
        return list(arg.toposort())
    if isinstance(arg, tuple):
        return [u for item in arg for u in _nodes_in(item)]
    return []


def instantiate(spec: TensorSpec, memory: Sequence[UOp], values: Mapping[UOp, int]) -> UOp:
    """The node of a spec over the memory of one replay, with its values of variables."""
    if spec.moves is not None:
        node = memory[spec.memory[0]]
        for move in spec.moves:
            node = move.over((node,))
        return node
    done: list[UOp] = []
    for node, number, sources, varies in spec.rebuild:
        if number is not None:
            done.append(memory[number])
            continue
        changed = node.over(tuple([done[source] for source in sources])) if sources else node
        if varies and node.op is Ops.BIND:
            changed = _bound(node, values)
        elif varies:
            changed = changed.replace(arg=bind_values(node.arg, values))
        done.append(changed)
    return done[-1]


def _rebuild_of(value: UOp) -> Rebuild:
    """What `instantiate` does for a value over placeholders."""
    places: dict[UOp, int] = {}
    steps: Rebuild = []
    for node in value.toposort(gate=lambda node: node.op is not Ops.BUFFER):
        number = node.src[1].arg[1] if node.op is Ops.BUFFER else None
        moves = node.op in GroupOp.Movement
        varies = node.op is Ops.BIND or (moves and bool(_nodes_in(node.arg)))
        sources = () if number is not None else tuple(places[source] for source in node.src)
        below = (steps[place] for place in sources)
        if not any(step[1] is not None or step[2] or step[3] for step in below):
            sources = ()
        places[node] = len(steps)
        steps.append((node, number, sources, varies))
    return steps


def bind_values(arg: Any, values: Mapping[UOp, int]) -> Any:
    if isinstance(arg, UOp):
        bound = [u for u in arg.toposort() if u.op is Ops.BIND]
        return arg.substitute({u: _bound(u, values) for u in bound}) if bound else arg
    if isinstance(arg, tuple):
        items = tuple(bind_values(item, values) for item in arg)
        return arg if all(new is old for new, old in zip(items, arg)) else items
    return arg


def _bound(node: UOp, values: Mapping[UOp, int]) -> UOp:
    variable = node.src[0]
    return variable.bind(values[variable]) if variable in values else node
