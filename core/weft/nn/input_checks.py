"""What layers are called with, checked where a person would look for the mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weft.base import suggestions
from weft.base.arguments import kind_of, shown
from weft.base.errors import MissingName, WrongKind
from weft.nn.suggested_names import OF_MODULES
from weft.tensor import Tensor


def tensor_for(layer: Any, x: Any, what: str = "input") -> Tensor:
    """`x`, which a layer takes as its `what`. :raises WrongKind: if it is no tensor.

    Arrays are not taken either: whether they should be copied to the layer's device, and in which
    dtype, is for the caller to say.
    """
    return x if isinstance(x, Tensor) else tensor_of(x, type(layer).__name__, what)


def tensor_of(x: Any, who: str, what: str = "input") -> Tensor:
    """`x`, which the function `who` takes as its `what`. :raises WrongKind: if it is no tensor."""
    if isinstance(x, Tensor):
        return x
    raise WrongKind(
        f"the {what} of {who} is a tensor",
        asked=f"{who} of {shown(x)}",
        because=f"that is {kind_of(x)}",
        try_="Tensor(x)",
    )


def missing_name(
    module: str, name: str, known: Iterable[str], elsewhere: Mapping[str, str]
) -> AttributeError:
    """The error for a name that a module lacks: the nearest names, or the equivalent in weft. Names
    that begin with an underscore get no suggestion: Python's protocols look up many of them."""
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    summary = f"module {module!r} has no attribute {name!r}"
    return suggestions.missing_name(module, name, known, elsewhere, summary=summary)


def as_tensor(value: Any) -> Any:
    """A tensor of a NumPy array or of another library's tensor; anything else as it is."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__dlpack__") and hasattr(value, "detach"):
        return Tensor.from_dlpack(value.detach().cpu().contiguous()).clone()
    return Tensor(value) if hasattr(value, "__array_interface__") else value


def missing_attribute(module: Any, name: str) -> MissingName:
    """The error for an attribute that a module lacks."""
    known = [each for each in dir(module) if not each.startswith("_")]
    kind = type(module).__name__
    return suggestions.missing_name(
        kind, name, known, OF_MODULES, fallback="dir(module) lists what it has"
    )
