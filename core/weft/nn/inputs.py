"""What layers are called with, checked where a person would look for the mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.errors import MissingName, WrongKind
from weft.tensor import Tensor


def tensor_for(layer: Any, x: Any, what: str = "input") -> Tensor:
    """`x`, which a layer takes as its `what`. :raises WrongKind: if it is no tensor.

    Arrays are not taken either: whether they should be copied to the layer's device, and in which
    dtype, is for the caller to say.
    """
    if isinstance(x, Tensor):
        return x
    name = type(layer).__name__
    raise WrongKind(
        f"the {what} of {name} is a tensor",
        asked=f"{name} of {shown(x)}",
        because=f"that is {kind_of(x)}",
        try_="Tensor(x)",
    )


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
    """What a module says of a name that it does not have: the nearest ones, or what it is called
    here. For names that begin with an underscore, which protocols ask for, no search."""
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    import difflib

    named = list(known)
    close = difflib.get_close_matches(name, named, 3, 0.6)
    lowered = {each.lower(): each for each in named}
    if not close and name.lower() in lowered:
        close = [lowered[name.lower()]]
    near = " or ".join(f"{module}.{each}" for each in close)
    return MissingName(
        f"module {module!r} has no attribute {name!r}"
        + (f"; did you mean {close[0]!r}?" if close and name not in elsewhere else ""),
        asked=f"{module}.{name}",
        try_=elsewhere.get(name) or near or f"dir({module}) lists what it has",
    )


def as_tensor(value: Any) -> Any:
    """A tensor of a NumPy array or of another library's tensor; anything else as it is."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__dlpack__") and hasattr(value, "detach"):
        return Tensor.from_dlpack(value.detach().cpu().contiguous()).clone()
    return Tensor(value) if hasattr(value, "__array_interface__") else value


_OF_MODULES = {
    **dict.fromkeys(("cuda", "cpu"), "module.to(device)"),
    "type": "module.to(dtype)",
    "compile": "weft.jit(module)",
    "register_full_backward_hook": "gradients with respect to an input: y.gradient(x)",
}


def missing_attribute(module: Any, name: str) -> MissingName:
    """What a module says of an attribute that it does not have."""
    import difflib

    known = [each for each in dir(module) if not each.startswith("_")]
    close = difflib.get_close_matches(name, known, 3, 0.6)
    kind = type(module).__name__
    return MissingName(
        f"{kind} has no attribute {name!r}",
        asked=f"{kind}.{name}",
        try_=_OF_MODULES.get(name)
        or (
            " or ".join(f".{each}" for each in close) if close else "dir(module) lists what it has"
        ),
    )
