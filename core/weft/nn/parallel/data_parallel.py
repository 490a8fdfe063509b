"""Data parallelism: every device has all parameters and computes on a part of each batch.

A gradient is a sum over the batch, whose axis is cut: the scheduler reduces it among the devices.
Gradients that `backward` adds up before anything reads them are added on each device first, and
reduced once (gradient accumulation).

Source: Dean et al., "Large Scale Distributed Deep Networks", NeurIPS 2012; Li et al., "PyTorch
Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.device import Mesh, P
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
        if isinstance(tensor.device, str):  # others have a layout, as by `column_parallel`
            tensor.shard_(mesh)
    return model


def cut_along(axis: int | None, name: str | None, mesh: Mesh | Sequence[str]) -> int | P | None:
    """The layout that cuts an axis by one axis of a mesh, or over all of its devices."""
    if name is None or axis is None or not isinstance(mesh, Mesh):
        return axis
    return P(*[None] * axis, name)


def split_batch(value: Any, mesh: Mesh | Sequence[str], name: str | None = None) -> Any:
    """A tensor of one device cut along its first axis; anything else as it is."""
    if isinstance(value, Tensor) and isinstance(value.device, str) and value.ndim:
        return value.shard(mesh, cut_along(0, name, mesh))
    return value


class DataParallel(Module):
    """A model on every device of a mesh, which computes on a part of each batch on each of them.

    Tensors among the arguments are cut along their first axis. In a program of several processes
    every process gives the whole batch, and uses its part; `Tensor.from_local` makes a batch of
    parts that the processes have.

    :param name: the axis of the mesh that cuts batches; all devices by default.

    >>> model = nn.parallel.DataParallel(nn.Linear(2, 1), ("REF:1", "REF:2"))
    >>> model(Tensor.zeros(4, 2)).layout.bounds
    (0, 2, 4)
    """

    def __init__(self, module: Any, mesh: Mesh | Sequence[str], name: str | None = None) -> None:
        self.module = replicate(module, mesh)
        self._mesh, self._name = mesh, name

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The module's result, cut along the batch."""
        parts = [split_batch(value, self._mesh, self._name) for value in inputs]
        keywords = {n: split_batch(value, self._mesh, self._name) for n, value in named.items()}
        return self.module(*parts, **keywords)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate the gradients of the calls of `backward` inside without an exchange.

        A gradient is reduced when something reads it, here as outside of the context: the next
        step of the optimiser reduces the sum of all calls once.
        """
        yield
