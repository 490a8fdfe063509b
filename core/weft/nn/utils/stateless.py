"""Calling a module with other tensors in the places of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from weft.base.errors import ArgumentError
from weft.nn import tree
from weft.nn.module import Module
from weft.tensor import Tensor

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with these tensors, by name, in the places of parameters and
    buffers.

    The tensors may be computed from others: gradients reach those. args: a tuple, or one argument.
    tie_weights: a tensor that the module has under several names is replaced under all of them.
    :raises ArgumentError: for a name that the module lacks, and with strict=True unless all names
    are given.

    >>> layer, w = nn.Linear(2, 1, bias=False), Tensor([[1.0, 2.0]], requires_grad=True)
    >>> nn.utils.stateless.functional_call(layer, {"weight": w * 2.0}, Tensor([3.0, 4.0])).item()
    22.0
    """
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, parameters_and_buffers, tie_weights, strict):
        return module(*given, **(kwargs or {}))


@contextmanager
def _replaced(
    module: Module, tensors: Mapping[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    own = dict(tree.named_tensors(module, persistent=False))
    unknown = [name for name in tensors if name not in own]
    missing = [name for name in own if name not in tensors] if strict else []
    if unknown or missing:
        raise ArgumentError(
            "these are not the tensors of the module",
            asked=f"functional_call of {type(module).__name__}",
            because=f"it has no {unknown}" if unknown else f"{missing} are missing",
        )
    new = dict(tensors)
    if tie_weights:
        by_tensor = {id(own[name]): value for name, value in tensors.items()}
        new = {name: by_tensor[id(t)] for name, t in own.items() if id(t) in by_tensor} | new
    places = []
    for name in new:
        path, _, last = name.rpartition(".")
        places.append((_owner(module, path), last, name))
    before = [(owner, last, _get(owner, last)) for owner, last, _ in places]
    try:
        for owner, last, name in places:
            _put(owner, last, new[name])
        yield
    finally:
        for owner, last, value in before:
            _put(owner, last, value)


def _owner(module: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        module = _get(module, part)
    return module


def _get(owner: Any, name: str) -> Any:
    if isinstance(owner, list | tuple):
        return owner[int(name)]
    return owner[name] if isinstance(owner, Mapping) else vars(owner)[name]


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, list):
        owner[int(name)] = value
    elif isinstance(owner, dict):
        owner[name] = value
    else:
        vars(owner)[name] = value  # not by an assignment, which would make it a parameter
