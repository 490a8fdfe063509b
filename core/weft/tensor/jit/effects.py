"""Side effects of a captured function: find them in a run, and apply them in a replay.

An effect stores an item in a container of the state, sets a gradient, or gives a tensor another
node. Writes to memory are no effects: the kernels repeat them.

in:  tensors and state before and after a run      out: effects
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from types import MappingProxyType
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.engine.recorded_steps import Unreplayable
from weft.schedule.structural_key import traversal
from weft.tensor.alias import break_alias, invalidate_views, is_view
from weft.tensor.jit.pytree import NewLeaf, TensorSpec, flatten, instantiate, spec_of, unflatten
from weft.tensor.jit.signature import memory_layout
from weft.tensor.jit.snapshot import Snapshot
from weft.tensor.jit.state import LIST, State
from weft.tensor.live_tensors import set_node
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp


@dataclass(frozen=True, slots=True)
class StoreItem:
    """Effect: store `tree` under `key` in the container of that number."""

    container: int
    key: Any
    tree: Any


@dataclass(frozen=True, slots=True)
class RebindTensor:
    """Effect: give the existing tensor `number` the node and flags of the spec `how`."""

    number: int
    how: TensorSpec


@dataclass(frozen=True, slots=True)
class StoreGrad:
    """Effect: set the gradient of the existing tensor `number` to `tree`."""

    number: int
    tree: Any


def item_stores(state: State, before: Snapshot, new: dict[int, TensorBase]) -> list[StoreItem]:
    """Items that the run stored in containers of the state."""
    found = []
    for number, container in enumerate(state.containers):
        keys, values = container.read()
        if len(keys) == len(container.keys) and all(map(is_, values, container.values)):
            continue
        old = dict(zip(container.keys, container.values))
        if container.keys != keys[: len(container.keys)]:
            found.append(
                StoreItem(number, None, _Unsupported(f"it takes something out of {container.path}"))
            )
            continue
        for key, value in zip(keys, values):
            if key in old and old[key] is value:
                continue
            if _cannot_store(container, key, value, len(old)):
                why = f"it changes {container.path}, at {key!r}"
                found.append(StoreItem(number, None, _Unsupported(why)))
            else:
                path = f"{container.path}, at {key!r}"
                found.append(StoreItem(number, key, flatten(value, before.number, new, path)))
    return found


def _cannot_store(container: Any, key: Any, value: Any, length: int) -> bool:
    if container.kind is LIST:
        return not isinstance(container.of, list) or key > length
    return isinstance(container.of, MappingProxyType)


@dataclass(frozen=True)
class _Unsupported:
    why: str


def grad_stores(before: Snapshot, new: dict[int, TensorBase]) -> list[StoreGrad]:
    """Gradients that the run set."""
    found = []
    for number, tensor in enumerate(before.tensors):
        if tensor.grad is not before.fields[number][1]:
            tree = flatten(tensor.grad, before.number, new, "a gradient")
            found.append(StoreGrad(number, tree))
    return found


def rebound_tensors(before: Snapshot, number_of: Callable[[UOp], int]) -> list[RebindTensor]:
    """Tensors that have another node or other flags after the run."""
    found = []
    for number, tensor in enumerate(before.tensors):
        uop, _, flag, leaf = before.fields[number]
        if is_view(tensor):
            continue  # a view is derived from its base
        if tensor._uop is not uop or (tensor._requires_grad, tensor.is_leaf) != (flag, leaf):
            found.append(RebindTensor(number, spec_of(tensor, number_of)))
    return found


def check_effects(effects: Iterable[Any]) -> None:
    """:raises Unreplayable: for an effect that a replay cannot apply."""
    for effect in effects:
        if isinstance(effect.tree, _Unsupported):
            raise Unreplayable(effect.tree.why)


def replaced_tensors(
    effects: list[Any],
    before: Snapshot,
    state: State,
    new: list[TensorBase],
    given: Iterable[UOp],
) -> list[tuple[int, int]] | None:
    """(number in the state, number of the new tensor) of each replaced tensor of the state; None if
    the effects on the state are not all replacements by tensors of the same layout."""
    if state.signature.values:
        return None  # the new tensors may have other values of variables
    place = {id(t): number for number, t in enumerate(state.tensors)}
    counts = Counter(id(value) for c in state.containers for value in c.values)
    counts.update(id(before.fields[before.number[id(t)]][1]) for t in state.tensors)
    over = Counter(
        node for t in state.tensors for node in _nodes_of(before.fields[before.number[id(t)]][0])
    )
    taken = set(given)
    found: list[tuple[int, int]] = []
    for effect in effects:
        target = None if isinstance(effect, StoreItem) else before.tensors[effect.number]
        if target is not None and id(target) not in place:
            continue
        if isinstance(effect, RebindTensor) or not isinstance(effect.tree, NewLeaf):
            return None
        if isinstance(effect, StoreItem):
            container = state.containers[effect.container]
            old = dict(zip(container.keys, container.values)).get(effect.key)
        else:
            old = before.fields[effect.number][1]
        if not isinstance(old, TensorBase) or counts[id(old)] != 1 or id(old) not in place:
            return None
        uop, grad, flag, leaf = before.fields[before.number[id(old)]]
        made = new[effect.tree.number]
        nodes = _nodes_of(uop)
        if len(nodes) != 1 or over[nodes[0]] != 1 or grad is not None:
            return None
        if uop.base is not nodes[0]:
            return None  # it is detached from the memory
        if (flag, leaf) != (made._requires_grad, made.is_leaf):
            return None
        if memory_layout(uop, {}, {}) != memory_layout(made._uop, {}, {}):
            return None
        (memory,) = _nodes_of(made._uop)
        if memory in taken:
            return None
        taken.add(memory)
        found.append((place[id(old)], effect.tree.number))
    return found


def _nodes_of(uop: UOp) -> list[UOp]:
    return [u for u in traversal(uop) if u.op is Ops.BUFFER]


def apply_effects(
    effects: Sequence[Any],
    state: State,
    known: Sequence[TensorBase],
    new: Sequence[TensorBase],
    memory: Sequence[UOp],
    values: Mapping[UOp, int],
) -> None:
    """Apply the side effects of a trace."""
    for effect in effects:
        if effect.__class__ is RebindTensor:
            tensor, how = known[effect.number], effect.how
            if is_view(tensor):
                break_alias(tensor)
            set_node(tensor, instantiate(how, memory, values))
            invalidate_views(tensor)
            tensor._requires_grad, tensor.is_leaf = how.requires_grad, how.is_leaf
        elif effect.__class__ is StoreGrad:
            known[effect.number].grad = unflatten(effect.tree, known, new)
        elif effect.__class__ is StoreItem:
            state.containers[effect.container].write(effect.key, unflatten(effect.tree, known, new))
