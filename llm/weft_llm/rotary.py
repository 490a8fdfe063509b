"""Rotary position embedding: rotate pairs of features by angles that grow with the position.

Source: J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
"""

from __future__ import annotations

import math

import numpy as np

from weft import Tensor, dtypes
from weft_llm.configuration import Rope


def inverse_frequencies(rope: Rope, dim: int) -> np.ndarray:
    """Angle per position of each pair of features, float32 (dim / 2,)."""
    frequencies = rope.theta ** -(np.arange(0, dim, 2, dtype=np.float64) / dim)
    if rope.factors is not None:
        frequencies = frequencies / np.asarray(rope.factors, dtype=np.float64)
    if rope.kind == "linear":
        frequencies = frequencies / rope.factor
    elif rope.kind == "llama3":
        frequencies = _by_wavelength(frequencies, rope)
    return frequencies.astype(np.float32)


def _by_wavelength(frequencies: np.ndarray, rope: Rope) -> np.ndarray:
    """Divide low frequencies by the factor, keep high ones, and interpolate between them."""
    low, high = rope.low_freq_factor, rope.high_freq_factor
    turns = rope.original_length * frequencies / (2 * math.pi)
    share = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return frequencies * ((1 - share) / rope.factor + share)


class Rotation:
    """Cosine and sine for given positions; applied to queries and keys."""

    def __init__(self, positions: Tensor, rope: Rope, dim: int, interleaved: bool) -> None:
        """positions: integers (batch, length). dim: how many features of a head are rotated."""
        self.dim, self.interleaved = dim, interleaved
        table = Tensor(inverse_frequencies(rope, dim), device=positions.device)
        angles = positions.cast(dtypes.float32).unsqueeze(-1) * table
        self.cos = (angles.cos() * rope.attention_factor).unsqueeze(1)
        self.sin = (angles.sin() * rope.attention_factor).unsqueeze(1)

    def __call__(self, x: Tensor) -> Tensor:
        """x (batch, heads, length, head_dim), its first `dim` features rotated."""
        rotated, rest = x[..., : self.dim], x[..., self.dim :]
        if self.interleaved:
            pairs = rotated.reshape(*rotated.shape[:-1], self.dim // 2, 2)
            first, second = pairs[..., 0], pairs[..., 1]
        else:
            first, second = rotated[..., : self.dim // 2], rotated[..., self.dim // 2 :]
        a = first * self.cos - second * self.sin
        b = second * self.cos + first * self.sin
        if self.interleaved:
            turned = a.stack(b, dim=-1).reshape(*rotated.shape)
        else:
            turned = a.cat(b, dim=-1)
        return turned if self.dim == x.shape[-1] else turned.cat(rest, dim=-1)
