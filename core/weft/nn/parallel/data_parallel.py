"""Data parallelism: every device has all parameters and computes on a part of each batch.

A gradient is a sum over the batch, whose axis is cut: the scheduler reduces it among the devices.
Gradients that `backward` adds up before anything reads them are added on each device first, and
reduced once (gradient accumulation).

Source: Dean et al., "Large Scale Distributed Deep Networks", NeurIPS 2012; Li et al., "PyTorch
Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.device import Mesh
from weft.nn.module import Module
from weft.nn.state import get_state_dict
from weft.tensor import Tensor


def replicate(model: Any, mesh: Mesh | Sequence[str]) -> Any:
    """Put all tensors of a model on every device, in place; returns the model.

    >>> layer = nn.parallel.replicate(nn.Linear(2, 1), ("REF:1", "REF:2"))
    >>> layer.weight.device
    ('REF:1', 'REF:2')
    """
    for tensor in get_state_dict(model).values():
        tensor.shard_(mesh)
    return model


def split_batch(value: Any, mesh: Mesh | Sequence[str]) -> Any:
    """A tensor of one device cut along its first axis; anything else as it is."""
    if isinstance(value, Tensor) and isinstance(value.device, str) and value.ndim:
        return value.shard(mesh, 0)
    return value


class DataParallel(Module):
    """A model on every device of a mesh, which computes on a part of each batch on each of them.

    Tensors among the arguments are cut along their first axis. In a program of several processes
    every process gives the whole batch, and uses its part; `Tensor.from_local` makes a batch of
    parts that the processes have.

    >>> model = nn.parallel.DataParallel(nn.Linear(2, 1), ("REF:1", "REF:2"))
    >>> model(Tensor.zeros(4, 2)).layout.bounds
    (0, 2, 4)
    """

    def __init__(self, module: Any, mesh: Mesh | Sequence[str]) -> None:
        self.module = replicate(module, mesh)
        self._mesh = mesh

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The module's result, cut along the batch."""
        parts = [split_batch(value, self._mesh) for value in inputs]
        keywords = {name: split_batch(value, self._mesh) for name, value in named.items()}
        return self.module(*parts, **keywords)
