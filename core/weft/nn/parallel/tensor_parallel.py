"""Tensor parallelism: cut the weights of a layer, so that each device computes a part of it.

A layer that is cut by columns has a cut result; a layer that is cut by rows takes it and sums over
the devices. Between two such layers nothing is exchanged. Sequence parallelism cuts activations
along the sequence where layers work on each position alone.

Source: Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
Parallelism", 2019; Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
Models", MLSys 2023 (sequence parallelism).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.device import Mesh
from weft.nn.module import Module
from weft.nn.parallel.data_parallel import cut_along, replicate
from weft.tensor import Tensor


def column_parallel(layer: Any, mesh: Mesh | Sequence[str], name: str | None = None) -> Any:
    """Cut the outputs of a `Linear`, or the features of an `Embedding`, in place; returns it.

    The result of the layer is cut along its last axis. name: the axis of the mesh that cuts; all
    devices by default.

    >>> layer = nn.parallel.column_parallel(nn.Linear(2, 4), ("REF:1", "REF:2"))
    >>> layer(Tensor.zeros(3, 2).shard(("REF:1", "REF:2"))).layout.axis
    1
    """
    features_last = type(layer).__name__ == "Embedding"
    layer.weight.shard_(mesh, cut_along(1 if features_last else 0, name, mesh))
    if getattr(layer, "bias", None) is not None:
        layer.bias.shard_(mesh, cut_along(0, name, mesh))
    return layer


def row_parallel(layer: Any, mesh: Mesh | Sequence[str], name: str | None = None) -> Any:
    """Cut the inputs of a `Linear` in place; returns it. Its result is whole on every device.

    name: as of `column_parallel`.

    >>> devices = ("REF:1", "REF:2")
    >>> layer = nn.parallel.row_parallel(nn.Linear(4, 3), devices)
    >>> layer(Tensor.zeros(2, 4).shard(devices, axis=1)).layout.axis is None
    True
    """
    layer.weight.shard_(mesh, cut_along(1, name, mesh))
    if getattr(layer, "bias", None) is not None:
        layer.bias.shard_(mesh)
    return layer


class SequenceParallel(Module):
    """A layer that works on each position alone, on activations that are cut along the sequence.

    :param layer: such as a normalisation or dropout; its tensors are put on every device.
    :param axis: of the sequence.
    """

    def __init__(self, layer: Any, mesh: Mesh | Sequence[str], axis: int = 1) -> None:
        self.layer = replicate(layer, mesh)
        self.axis = axis
        self._mesh = mesh

    def forward(self, x: Tensor) -> Tensor:
        """The result of the layer, cut along the sequence."""
        return self.layer(x.shard(self._mesh, self.axis))
