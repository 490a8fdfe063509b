"""Tensors of a module that are computed whenever they are read.

The module gets a class of its own, derived from its class, in which the name is a property. So the
layer's code reads the tensor as before, and the tensors that it is computed from are what belongs
to the module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.nn.module import Module
from weft.tensor import Tensor

_COMPUTED = "_computed_attributes"


def compute_attribute(
    module: Module, name: str, get: Callable[[Any], Tensor],
    put: Callable[[Any, Tensor], None] | None = None,
) -> None:  # fmt: skip
    """Let `module.name` be `get(module)`; an assignment calls `put`."""
    kind = type(module)
    if _COMPUTED not in vars(kind):
        names = {_COMPUTED: set(), "__module__": kind.__module__, "__doc__": kind.__doc__}
        kind = type(f"Parametrized{kind.__name__}", (kind,), names)
        module.__class__ = kind
    setattr(kind, name, property(get, put))
    vars(kind)[_COMPUTED].add(name)


def restore_attribute(module: Module, name: str) -> None:
    """Let the name be an attribute again; the last one restores the class."""
    kind = type(module)
    delattr(kind, name)
    vars(kind)[_COMPUTED].discard(name)
    if not vars(kind)[_COMPUTED]:
        module.__class__ = kind.__bases__[0]


def is_computed(module: Any, name: str | None = None) -> bool:
    """Whether an attribute of the module, or any, is computed."""
    names: set[str] = vars(type(module)).get(_COMPUTED, set())
    return bool(names) if name is None else name in names


def original_class(module: Module) -> type[Module]:
    """The class of a module without computed attributes."""
    kind = type(module)
    return kind.__bases__[0] if _COMPUTED in vars(kind) else kind
