"""Modules, optimisers and state: what people build networks from."""

from weft.nn import init, optim, state
from weft.nn.conv import Conv1d, Conv2d
from weft.nn.embedding import Embedding
from weft.nn.linear import Linear
from weft.nn.norm import (
    BatchNorm,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LayerNorm2d,
    RMSNorm,
)

__all__ = [
    "BatchNorm",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Embedding",
    "GroupNorm",
    "InstanceNorm",
    "LayerNorm",
    "LayerNorm2d",
    "Linear",
    "RMSNorm",
    "init",
    "optim",
    "state",
]
