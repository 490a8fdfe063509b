"""Random numbers, from weft's counter-based stream.

The numbers differ from PyTorch's for the same seed. Their distributions are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.tensor import Tensor
from weft.torch.registry import converter

RANDOM = frozenset(
    "aten::" + name
    for name in (
        "rand", "randn", "randperm", "native_dropout", "rand_like", "randn_like", "bernoulli",
        "bernoulli.p", "randint", "randint.low", "uniform", "normal_functional", "randint_like",
        "randint_like.low_dtype", "rrelu_with_noise_functional",
    )
)  # fmt: skip
"""Operators that draw random numbers."""


@converter("aten::rand")
def rand(size: Sequence[int], *, dtype: DType | None = None) -> Tensor:
    """Return numbers uniform in [0, 1)."""
    return Tensor.rand(*size, dtype=dtype)


@converter("aten::randn")
def randn(size: Sequence[int], *, dtype: DType | None = None) -> Tensor:
    """Return numbers with a standard normal distribution."""
    return Tensor.randn(*size, dtype=dtype)


@converter("aten::rand_like")
def rand_like(x: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return numbers uniform in [0, 1) in the shape of x."""
    return Tensor.rand(*x.shape, dtype=dtype or x.dtype, device=x.device)


@converter("aten::randn_like")
def randn_like(x: Tensor, *, dtype: DType | None = None) -> Tensor:
    """Return numbers with a standard normal distribution in the shape of x."""
    return Tensor.randn(*x.shape, dtype=dtype or x.dtype, device=x.device)


@converter("aten::randint")
def randint(high: int, size: Sequence[int], *, dtype: DType | None = None) -> Tensor:
    """Return integers from zero to before a limit."""
    return Tensor.randint(*size, low=0, high=high, dtype=dtype or dtypes.int64)


@converter("aten::randint.low")
def randint_low(low: int, high: int, size: Sequence[int], *, dtype: DType | None = None) -> Tensor:
    """Return integers from one number to before another one."""
    return Tensor.randint(*size, low=low, high=high, dtype=dtype or dtypes.int64)


@converter("aten::randint_like")
def randint_like(x: Tensor, high: int, *, dtype: DType | None = None) -> Tensor:
    """Return integers from zero to before a limit in the shape of x."""
    return randint(high, x.shape, dtype=dtype or x.dtype)


@converter("aten::randint_like.low_dtype")
def randint_like_low(x: Tensor, low: int, high: int, *, dtype: DType | None = None) -> Tensor:
    """Return integers from one number to before another one in the shape of x."""
    return randint_low(low, high, x.shape, dtype=dtype or x.dtype)


@converter("aten::randperm")
def randperm(n: int, *, dtype: DType | None = None) -> Tensor:
    """Return the numbers from zero to before n in random order."""
    return Tensor.randperm(n, dtype=dtype or dtypes.int64)


@converter("aten::bernoulli", "aten::bernoulli.p")
def bernoulli(x: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """Return ones with the probabilities of x, or with one probability."""
    draw = Tensor.rand(*x.shape, dtype=dtypes.float32, device=x.device)
    return (draw < (x if p is None else p)).cast(x.dtype)


@converter("aten::uniform")
def uniform(x: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Tensor:
    """Return uniform numbers in the shape of x."""
    return rand_like(x) * (to - from_) + from_


@converter("aten::normal_functional")
def normal(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Return numbers with a normal distribution in the shape of x."""
    return randn_like(x) * std + mean


@converter("aten::native_dropout")
def dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Return x with random elements replaced by zero and the others scaled, and who was kept."""
    if train is False or not p:
        return x, Tensor.ones(*x.shape, dtype=dtypes.bool, device=x.device)
    kept = Tensor.rand(*x.shape, dtype=dtypes.float32, device=x.device) >= p
    return kept.where(x * (1 / (1 - p) if p < 1 else 0.0), 0), kept
