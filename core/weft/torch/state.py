"""State of PyTorch's modules as weft Tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError
from weft.tensor import Tensor
from weft.torch.errors import TorchError
from weft.torch.exchange import from_torch_tensor


def from_torch(source: Any) -> Any:
    """Return the state of a module, a state dictionary, or a tensor, as weft Tensors.

    The memory is shared where it is row-major. weft writes to copies, so that the source keeps its
    values; what the source writes is seen. Tied weights are one Tensor.

    :param source: `torch.nn.Module`, a dict of tensors, or a tensor.
    :raises TorchError: for TorchScript. :raises ArgumentError: for other objects.

    >>> import torch, weft
    >>> weft.from_torch(torch.nn.Linear(2, 3))["weight"].shape
    (3, 2)
    """
    refuse_script(source)
    if isinstance(source, torch.Tensor):
        return from_torch_tensor(source)
    if isinstance(source, torch.nn.Module):
        source = source.state_dict(keep_vars=True)
    if not isinstance(source, Mapping):
        raise ArgumentError(
            "this has no state of PyTorch",
            asked=f"from_torch of {kind_of(source)}",
            try_="a torch.nn.Module, its state_dict(), or a tensor",
        )
    made: dict[int, Tensor] = {}
    state: dict[str, Any] = {}
    for name, value in source.items():
        if isinstance(value, torch.Tensor):
            if id(value) not in made:
                made[id(value)] = from_torch_tensor(value)
            value = made[id(value)]
        state[name] = value
    return state


def refuse_script(source: Any) -> None:
    """Check that an object is not of TorchScript.

    :raises TorchError: if it is, with what to use instead.
    """
    if isinstance(source, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise TorchError(
            "TorchScript cannot be converted",
            asked=f"convert {kind_of(source)}",
            because="PyTorch has replaced it by torch.export",
            try_="weft.torch.from_exported(torch.export.export(model, inputs)) of the original "
            "model; torch.jit.load(path).state_dict() for its weights",
        )
