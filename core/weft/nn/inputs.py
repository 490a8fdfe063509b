"""What layers are called with, checked where a person would look for the mistake."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.errors import WrongKind
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
