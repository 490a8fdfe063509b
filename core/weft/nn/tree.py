"""Iterating over the tensors that an object holds, by their path: what `state_dict` is made of.

Plain objects are traversed: attributes, items of lists, tuples and dicts. An object whose
class defines `_members` says itself what belongs to it (`nn.Module` does).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from weft.tensor import Tensor

PLAIN = (bool, int, float, str, bytes, type(None))


def named_tensors(
    obj: Any, path: str = "", persistent: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """(path, tensor) of every tensor reachable from `obj`, in order.

    A cycle is visited once. persistent: without the tensors of modules that are in no state.
    """
    if isinstance(obj, Tensor):
        yield path, obj
        return
    above = {id(obj)}
    # by a list of what is left instead of recursion: models may be long chains
    levels = [(id(obj), path, _members_of(obj, persistent))]
    while levels:
        own, path, found = levels[-1]
        for name, child in found:
            there = f"{path}.{name}" if path else name
            if isinstance(child, Tensor):
                yield there, child
            elif not isinstance(child, PLAIN) and id(child) not in above:
                above.add(id(child))
                levels.append((id(child), there, _members_of(child, persistent)))
                break
        else:
            levels.pop()
            above.discard(own)


def _members_of(obj: Any, persistent: bool) -> Iterator[tuple[str, Any]]:
    members = getattr(type(obj), "_members", None)
    return iter(children(obj) if members is None else members(obj, persistent))


def children(obj: Any) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a plain object holds: items of containers, else attributes."""
    if isinstance(obj, Mapping):
        yield from ((str(key), value) for key, value in obj.items())
    elif isinstance(obj, tuple) and hasattr(obj, "_fields"):
        named: Any = obj
        yield from zip(named._fields, named, strict=True)
    elif isinstance(obj, list | tuple):
        yield from ((str(index), value) for index, value in enumerate(obj))
    elif not isinstance(obj, type | ModuleType) and not hasattr(obj, "__get__"):
        for kind in type(obj).__mro__:
            slots = getattr(kind, "__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(obj, name):
                    yield name, getattr(obj, name)
        yield from getattr(obj, "__dict__", {}).items()


def is_container(value: Any) -> bool:
    """Whether it is a list, tuple or dict."""
    return isinstance(value, list | tuple | Mapping)


def is_layer(value: Any) -> bool:
    """Whether it is an object that can be called and may hold tensors; functions are none."""
    return (
        callable(value)
        and hasattr(value, "__dict__")
        and not isinstance(value, type | ModuleType)
        and not hasattr(value, "__get__")
    )
