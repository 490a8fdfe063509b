"""Attribute suggestions: the error for an attribute that tensors do not have.

The hooks run only after every other lookup has failed. Their existence costs about 30 ns for each
attribute of a tensor (Python 3.11), and 55 ns for each attribute of the class itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.base.errors import MissingName
from weft.base.suggestions import missing_name
from weft.device import catalogue
from weft.tensor.alias import derive_node
from weft.tensor.ops.suggested_names import EQUIVALENTS


def find_attribute(self: Any, name: str) -> Any:
    """`Tensor.__getattr__`: also derives the node of a view after a write to its base (`alias`)."""
    if name == "_uop" and self._alias is not None:
        return derive_node(self)
    if name.startswith("_"):  # optional attributes that protocols look for on any object
        raise AttributeError(name)
    if name.upper() in catalogue:
        return device_mover(self, name.upper())
    raise missing(type(self), name, "x")


class TensorNames(type):
    """The metaclass of `Tensor`: suggests names for attributes that the class does not have.

    A class that derives from Tensor and from an `abc.ABC` needs a metaclass that derives from both,
    as in PyTorch: `class Meta(type(Tensor), ABCMeta)`. Python refuses it otherwise, before any code
    of ours runs; and a metaclass that derives from ABCMeta makes every `isinstance` slower.
    """

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            raise missing(cls, name, "Tensor")


def device_mover(value: Any, family: str) -> Callable[..., Any]:
    """What `x.NAME()` is for the name of a device family in lower case: `x.to(NAME)`."""

    def move(index: int | None = None, *, non_blocking: bool = False) -> Any:
        return value.to(family if index is None else f"{family}:{index}")

    return move


def missing(kind: type, name: str, owner: str) -> MissingName:
    """The error for an attribute of a tensor, called `owner`, that it does not have."""
    known = [each for each in dir(kind) if not each.startswith("_")]
    summary = f"a tensor has no {name!r}" if owner == "x" else None
    return missing_name(owner, name, known, EQUIVALENTS, summary=summary)
