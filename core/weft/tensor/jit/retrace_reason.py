"""Retrace reason: say in words what differs between two calls of a captured function.

in:  the arguments of a call and the state of its function      out: lists of (name, value)

Source: JAX, `jax_explain_cache_misses`; PyTorch, recompile reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from weft.base.arguments import kind_of, shown
from weft.base.errors import WeftError
from weft.shape.movement import say_shape
from weft.tensor.jit.signature import PLAIN, children, unbound
from weft.tensor.jit.state import DICT, LIST, State
from weft.tensor.protocol import TensorBase
from weft.uop import UOp

# (name, description of the value), in the order of the traversal
Facts: TypeAlias = list[tuple[str, str]]

_MAX_FACTS = 1 << 14
_MAX_DEPTH = 8


def facts_of_arguments(
    names: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Facts:
    """The facts of each argument and of the items of containers."""
    found: Facts = []
    for place, value in enumerate(args):
        name = names[place] if place < len(names) else f"argument {place}"
        found += _facts(name, value, 0)
    for name in sorted(kwargs):
        found += _facts(name, kwargs[name], 0)
    return found[:_MAX_FACTS]


def facts_of_state(state: State) -> Facts:
    """The facts of captured state: containers, and the Python values and tensors in them."""
    found: Facts = []
    for container in state.containers:
        path, kind = container.path, container.kind
        if kind is LIST:
            found.append((path, f"{kind_of(container.of)} of {len(container.values)} items"))
        elif kind is DICT:
            keys = ", ".join(repr(k) if type(k) in PLAIN else "..." for k in container.keys[-4:])
            count = len(container.keys)
            found.append((path, f"{kind_of(container.of)} of {count} items (the last: {keys})"))
        for key, value in zip(container.keys, container.values):
            name = f"{path}[{key!r}]" if kind is DICT or kind is LIST else str(key)
            if kind is not LIST and kind is not DICT and path and path != key:
                name = f"{path}.{key}"
            if _is_shown(value):
                found.append((name, _text(value)))
        if len(found) > _MAX_FACTS:
            break
    return found


def facts_of_values(read: Iterable[tuple[UOp, int]]) -> Facts:
    """The facts of variables and conditions whose values Python takes."""
    return sorted((f"the value of {node.render()}", shown(value)) for node, value in read)


def facts_of_mode(names: Sequence[str], mode: Sequence[Any]) -> Facts:
    """The facts of settings and modes."""
    return [(name, shown(value)) for name, value in zip(names, mode)]


def difference(before: Facts, after: Facts) -> str | None:
    """The first name whose value differs, with both values; None if no fact differs."""
    old, new = dict(before), dict(after)
    for name, value in after:
        was = old.get(name)
        if was is None:
            return f"{name} is new: {value}"
        if was != value:
            return f"{name} was {was}, then {value}"
    for name, value in before:
        if name not in new:
            return f"{name} was {value}, and is not there any more"
    return None


def _is_shown(value: Any) -> bool:
    return type(value) in PLAIN or isinstance(value, (float, TensorBase))


def _facts(name: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    yield name, _text(value)
    if depth < _MAX_DEPTH and not isinstance(value, TensorBase):
        for written, item in children(value):
            yield from _facts(name + written, item, depth + 1)


def _text(value: Any) -> str:
    kind = type(value)
    if isinstance(value, TensorBase):
        try:
            shape = say_shape(value._uop.shape)
            text = f"a tensor of shape {shape}, {value._uop.dtype!r} on {value.device}"
        except WeftError:
            return "a tensor"
        if value.grad is not None:
            text += ", with a gradient"
        return text + (", requires_grad" if value._requires_grad else "")
    if kind in PLAIN or kind is float:
        return shown(value)
    if isinstance(value, UOp):  # its values are no part of a signature
        return unbound(value, {}).render()
    if isinstance(value, (list, tuple, dict)):
        return f"{kind_of(value)} of {len(value)} items"
    return f"{kind_of(value)} at {id(value):#x}"
