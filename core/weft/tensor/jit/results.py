"""What a call gives, taken apart and put together again: containers of any kind, tensors in them.

Of a tensor that is new a `Template` is kept: movement, and which memory it stands over. Of one that
was passed in, or is state, it is kept which one it is: the same object is given back.

in:  what a function gave      out: a tree of `Same...`, `New...` and plain values; `built` puts one
together
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from weft.base.errors import CaptureError
from weft.schedule.schedule_template import placeholder
from weft.tensor.jit.arguments import PLAIN, Same
from weft.tensor.jit.lookup import attributes, field, has_member
from weft.tensor.protocol import TensorBase
from weft.uop import GroupOp, Ops, UOp


@dataclass(frozen=True, slots=True)
class Known:
    """The tensor of this number among those that were there before."""

    number: int


@dataclass(frozen=True, slots=True)
class New:
    """The tensor of this number among the new ones."""

    number: int


@dataclass(frozen=True, slots=True)
class Parts:
    """A container: kind (list, tuple, dict, dataclass, their kin), names or keys, items."""

    kind: type
    names: tuple[Any, ...] | None
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """How a tensor stands over memory. memory: numbers of it. moves: from the memory up, where it
    is movement of one memory; else None. kind: its class."""

    value: UOp
    memory: tuple[int, ...]
    moves: tuple[UOp, ...] | None
    requires_grad: bool | None
    is_leaf: bool
    kind: type[TensorBase]


def taken_apart(value: Any, known: Mapping[int, int], new: dict[int, TensorBase], name: str) -> Any:
    """The tree of a result. known: numbers of tensors by id. new: the others by id, which grows.

    :raises CaptureError: for what cannot be made again.
    """

    def part(item: Any, written: str) -> Any:
        return taken_apart(item, known, new, written)

    kind = type(value)
    if isinstance(value, TensorBase):
        number = known.get(id(value))
        if number is not None:
            return Known(number)
        new.setdefault(id(value), value)
        return New(list(new).index(id(value)))
    if kind in PLAIN or isinstance(value, (float, complex)):
        return value
    if isinstance(value, (list, tuple)):
        return Parts(kind, None, tuple(part(v, f"{name}[{i}]") for i, v in enumerate(value)))
    if isinstance(value, dict):
        items = tuple(part(v, f"{name}[{k!r}]") for k, v in value.items())
        return Parts(kind, tuple(value), items)
    if is_dataclass(value) and not isinstance(value, type) and attributes(value) is not None:
        found = {f.name: field(value, f.name) for f in fields(value) if f.init}
        items = tuple(part(v, f"{name}.{k}") for k, v in found.items())
        return Parts(kind, tuple(found), items)
    if any(has_member(kind, name) for name in ("__next__", "__anext__", "__await__")):
        raise CaptureError(
            f"a captured function cannot give a {kind.__name__}",
            asked=name,
            because="what runs when it is asked for its items is not part of the replay",
            try_="return a list or a tuple of tensors",
        )
    if _may_hold_tensors(value):
        raise CaptureError(
            f"a captured function cannot give a {kind.__name__}",
            asked=f"{name}, which holds tensors",
            because="a replay makes new tensors, and does not know how to make one of these",
            try_="return tensors in lists, tuples, dicts or dataclasses",
        )
    return Same(value)


def _may_hold_tensors(value: Any) -> bool:
    there = attributes(value)
    if there is None or isinstance(value, type):
        return False
    return any(isinstance(item, TensorBase) for item in there.values())


def built(tree: Any, known: Sequence[TensorBase], new: Sequence[TensorBase]) -> Any:
    """A result from its tree and the tensors in it."""
    kind = tree.__class__
    if kind is New:
        return new[tree.number]
    if kind is Known:
        return known[tree.number]
    if kind is Same:
        return tree.of
    if kind is not Parts:
        return tree
    items = [built(item, known, new) for item in tree.items]
    of = make = tree.kind
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


def has_known(tree: Any) -> bool:
    """Whether tensors that were there before are in a result."""
    return isinstance(tree, Known) or (isinstance(tree, Parts) and any(map(has_known, tree.items)))


def template(tensor: TensorBase, number_of: Callable[[UOp], int]) -> Template:
    """How a settled tensor stands over memory, whose numbers `number_of` a BUFFER tells."""
    node = tensor._uop
    found = [u for u in node.toposort() if u.op is Ops.BUFFER]
    stands = {u: placeholder(number_of(u), u) for u in found}
    value = node.substitute(stands) if stands else node
    moves: list[UOp] | None = []
    below = value
    while below.op in GroupOp.Movement:
        moves.append(below)
        below = below.src[0]
    if below.op is not Ops.BUFFER or any(_has_variables(move) for move in moves):
        moves = None
    return Template(
        value, tuple(number_of(u) for u in found),
        None if moves is None else tuple(reversed(moves)),
        tensor._requires_grad, tensor.is_leaf, tensor.__class__,
    )  # fmt: skip


def _has_variables(move: UOp) -> bool:
    return any(u.op is Ops.BIND or u.op is Ops.DEFINE_VAR for u in _nodes_in(move.arg))


def _nodes_in(arg: Any) -> list[UOp]:
    if isinstance(arg, UOp):
        return list(arg.toposort())
    if isinstance(arg, tuple):
        return [u for item in arg for u in _nodes_in(item)]
    return []


def placed(template: Template, memory: Sequence[UOp], values: Mapping[UOp, int]) -> UOp:
    """The node of a template over the memory, and with the variables, of one replay."""
    if template.moves is not None:
        node = memory[template.memory[0]]
        for move in template.moves:
            node = move.over((node,))
        return node
    there = {}
    done: dict[UOp, UOp] = {}
    for node in template.value.toposort():
        if node.op is Ops.BUFFER:
            number = node.src[1].arg
            there[node] = done[node] = memory[number[1]]
            continue
        changed = node.over(tuple(done[source] for source in node.src))
        if node.op is Ops.BIND:
            changed = _bound(node, values)
        elif node.op in GroupOp.Movement:
            arg = with_values(node.arg, values)
            changed = changed if arg is node.arg else changed.replace(arg=arg)
        done[node] = changed
    return done[template.value]


def with_values(arg: Any, values: Mapping[UOp, int]) -> Any:
    if isinstance(arg, UOp):
        bound = [u for u in arg.toposort() if u.op is Ops.BIND]
        return arg.substitute({u: _bound(u, values) for u in bound}) if bound else arg
    if isinstance(arg, tuple):
        items = tuple(with_values(item, values) for item in arg)
        return arg if all(new is old for new, old in zip(items, arg)) else items
    return arg


def _bound(node: UOp, values: Mapping[UOp, int]) -> UOp:
    variable = node.src[0]
    return variable.bind(values[variable]) if variable in values else node
