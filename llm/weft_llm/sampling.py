"""Sampling of tokens on the device: temperature, top-k, top-p, min-p, penalties.

Thresholds are found by bisection over the bits of probabilities instead of by sorting the
vocabulary: the bits of floats from 0 to 1 are ordered as the floats are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError

_BITS, _BITS_PER_PASS = 30, 3
RECENT = 64  # tokens that penalties look back to
_RANGES = {
    "temperature": (0.0, 100.0), "top_k": (0, 1 << 24), "top_p": (0.0, 1.0), "min_p": (0.0, 1.0),
    "repetition_penalty": (0.01, 100.0), "frequency_penalty": (-100.0, 100.0),
    "presence_penalty": (-100.0, 100.0),
}  # fmt: skip


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen.

    temperature 0 takes the likeliest token. top_k 0, top_p 1 and min_p 0 keep all tokens. The
    repetition penalty divides logits of recent tokens, the other two are subtracted: once, and for
    each occurrence. Raises ArgumentError for values out of range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not least <= value <= most:
                raise ArgumentError(
                    f"{name} is out of range",
                    asked=f"{name}={value!r}",
                    because=f"it is a number from {least} to {most}",
                )

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is taken."""
        return self.temperature == 0 or self.top_k == 1

    @property
    def penalized(self) -> bool:
        """Whether recent tokens matter."""
        return (self.repetition_penalty, self.frequency_penalty, self.presence_penalty) != (1, 0, 0)

    def random(self) -> random.Random:
        """The source of random numbers of one answer."""
        return random.Random(self.seed)

    def row(self) -> list[float]:
        """The parameters as a row of the tensor that `sample` takes."""
        temperature, top_k = (1.0, 1) if self.greedy else (self.temperature, self.top_k)
        return [temperature, top_k, self.top_p, self.min_p, self.repetition_penalty,
                self.frequency_penalty, self.presence_penalty]  # fmt: skip


def parameter_rows(samplings: Sequence[Sampling]) -> Tensor:
    """The parameters of several sequences, float32 (sequences, 7)."""
    return Tensor(np.array([each.row() for each in samplings], dtype=np.float32))


def recent_rows(tokens: Sequence[Sequence[int]], vocabulary: int) -> Tensor:
    """The last tokens of several sequences, int32 (sequences, 64); padding is `vocabulary`."""
    rows = np.full((len(tokens), RECENT), vocabulary, dtype=np.int32)
    for row, listed in zip(rows, tokens, strict=True):
        last = listed[-RECENT:]
        row[: len(last)] = last
    return Tensor(rows)


def penalized(logits: Tensor, parameters: Tensor, recent: Tensor) -> Tensor:
    """Logits (sequences, vocabulary) with penalties for recent tokens. See `Sampling`."""
    rows, vocabulary = logits.shape
    ones = Tensor.ones(*recent.shape, device=logits.device)
    zeros = Tensor.zeros(rows, vocabulary + 1, device=logits.device)
    counts = zeros.scatter_add(1, recent.cast(dtypes.int64), ones)[:, :vocabulary]
    repetition, frequency, presence = (parameters[:, n : n + 1] for n in (4, 5, 6))
    divided = (logits > 0).where(logits / repetition, logits * repetition)
    repeated = counts > 0
    return repeated.where(divided, logits) - counts * frequency - repeated * presence


def sample(logits: Tensor, parameters: Tensor, uniforms: Tensor) -> Tensor:
    """Draw a token for each sequence: int32 (sequences,).

    logits (sequences, vocabulary), parameters as from `parameter_rows`, uniforms: random numbers
    in [0, 1), shape (sequences,). Order: temperature, top-k, top-p of what is left, min-p.
    """
    temperature, top_k, top_p, min_p = (parameters[:, n : n + 1] for n in range(4))
    shares = (logits / temperature).softmax(-1)
    shares = _top_k(shares, top_k)
    shares = _top_p(shares, top_p)
    shares = (shares >= shares.max(-1, keepdim=True) * min_p).where(shares, 0.0)
    ends = shares.cumsum(-1)
    drawn = uniforms.reshape(-1, 1) * ends[:, -1:]
    found = (ends <= drawn).sum(-1, dtype=dtypes.int32)
    last = (ends < ends[:, -1:]).sum(-1, dtype=dtypes.int32)  # rounding may give the total
    return found.minimum(last)


def _top_k(shares: Tensor, count: Tensor) -> Tensor:
    """Keep the `count` largest of each row, all where count is 0, and those that equal the last."""
    least = _largest_threshold(
        shares, lambda kept: kept.sum(-1, dtype=dtypes.int32) >= count.cast(dtypes.int32)
    )
    return ((shares >= least) | (count <= 0)).where(shares, 0.0)


def _top_p(shares: Tensor, share: Tensor) -> Tensor:
    """Keep the largest of each row whose sum reaches a share of the row's (nucleus sampling)."""
    total = shares.sum(-1, keepdim=True) * share
    least = _largest_threshold(
        shares, lambda kept: kept.where(shares.unsqueeze(1), 0.0).sum(-1) >= total
    )
    least = least.minimum(shares.max(-1, keepdim=True))  # one token is left at least
    return ((shares >= least) | (share >= 1)).where(shares, 0.0)


def _largest_threshold(shares: Tensor, enough: Callable[[Tensor], Tensor]) -> Tensor:
    """The largest float t (rows, 1) for which `enough` holds of what is at least t.

    enough: bool (rows, candidates, vocabulary), what each candidate keeps, to bool (rows,
    candidates). Each pass decides some bits of t, from the highest on.
    """
    bits = shares.bitcast(dtypes.int32).unsqueeze(1)
    found = Tensor.zeros(shares.shape[0], 1, dtype=dtypes.int32, device=shares.device)
    for low in range(_BITS - _BITS_PER_PASS, -1, -_BITS_PER_PASS):
        steps = Tensor.arange(1, 1 << _BITS_PER_PASS, dtype=dtypes.int32, device=shares.device)
        candidates = found + steps.reshape(1, -1) * (1 << low)
        passed = enough(bits >= candidates.unsqueeze(-1)).sum(-1, keepdim=True, dtype=dtypes.int32)
        found = (found + passed * (1 << low)).contiguous()
    return found.bitcast(dtypes.float32)
