"""Grouped-query attention over cached keys and values, with sliding windows.

Source: J. Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from
Multi-Head Checkpoints" (2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from weft import Tensor


@dataclass(frozen=True)
class AttentionPattern:
    """What differs between attention layers: scale, sliding window, soft cap of the scores."""

    scale: float
    window: int | None = None
    softcap: float | None = None
    causal: bool = True


class Context(Protocol):
    """The sequences that a model continues: their positions, and the keys and values before.

    positions: integers (batch, length) of the tokens that are computed now.
    """

    positions: Tensor

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, pattern: AttentionPattern
    ) -> Tensor:
        """Store key and value (batch, kv_heads, length, head_dim), and attend to all so far.

        query (batch, heads, length, head_dim); the result has its shape.
        """
        ...


def allowed(queries: Tensor, keys: Tensor, pattern: AttentionPattern) -> Tensor:
    """Whether a query attends to a key, bool (batch, 1, 1, length, keys).

    queries: positions (batch, length). keys: positions (keys,).
    """
    rows, columns = queries.reshape(queries.shape[0], 1, 1, -1, 1), keys.reshape(1, 1, 1, 1, -1)
    seen = columns <= rows
    if pattern.window is not None:
        seen = seen & (columns > rows - pattern.window)
    return seen


def grouped_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, pattern: AttentionPattern
) -> Tensor:
    """softmax(q k^T * scale) v, where each head of keys serves a group of query heads.

    query (batch, heads, length, head_dim), key and value (batch, kv_heads, keys, head_dim), mask
    as from `allowed` or None.
    """
    batch, heads, length, size = query.shape
    shared = key.shape[1]
    grouped = query.reshape(batch, shared, heads // shared, length, size)
    scores = grouped @ key.unsqueeze(2).transpose(-2, -1) * pattern.scale
    if pattern.softcap is not None:
        scores = (scores / pattern.softcap).tanh() * pattern.softcap
    if mask is not None:
        scores = mask.where(scores, -math.inf)
    return (scores.softmax(-1) @ value.unsqueeze(2)).reshape(batch, heads, length, size)
