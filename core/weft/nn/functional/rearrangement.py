"""Padding, and elements moved between channels and space."""

from __future__ import annotations

from typing import Any

from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["pad", "pixel_shuffle", "pixel_unshuffle"]


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
