"""Padding, and elements moved between channels and space."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown, whole
from weft.base.errors import ShapeError
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["channel_shuffle", "pad", "pixel_shuffle", "pixel_unshuffle"]


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Padding from the last axis on: (left, right, top, bottom, ...). mode: "constant", "reflect",
    "replicate" or "circular".

    >>> nn.functional.pad(Tensor([[1, 2]]), (0, 1), value=9).tolist()
    [[1, 2, 9]]
    """
    return tensor_of(input, "pad").pad(tuple(pad), mode, 0.0 if value is None else value)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C r^2, H, W) rearranged to (..., C, H r, W r) (Shi et al., 2016)."""
    return tensor_of(input, "pixel_shuffle").pixel_shuffle(upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`."""
    return tensor_of(input, "pixel_unshuffle").pixel_unshuffle(downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels (axis 1) of all groups interleaved: first those that are first in their group,
    then the second ones (Zhang et al., 2018). :raises ShapeError: if the groups do not divide them.

    >>> nn.functional.channel_shuffle(Tensor([[[1], [2], [3], [4]]]), 2).tolist()
    [[[1], [3], [2], [4]]]
    """
    x = tensor_of(input, "channel_shuffle")
    if x.ndim < 3 or whole(groups, "groups") < 1 or x.shape[1] % groups:
        raise ShapeError(
            "the groups do not divide the channels",
            asked=f"channel_shuffle of {x.shape} in {shown(groups)} groups",
            because="the axes are (batch, channels, *space)",
        )
    return x.unflatten(1, (groups, x.shape[1] // groups)).transpose(1, 2).flatten(1, 2)
