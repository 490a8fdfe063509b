"""Random numbers: uniform, normal, Bernoulli, multinomial.

Without a seed the numbers come from weft's generator. With a seed, which is the same in each call,
they are those of NumPy's `RandomState`, as in ONNX's reference evaluator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.base.dtype import DType, dtypes, to_dtype
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.registry import operator
from weft.tensor import Tensor


def _dtype(number: int | None, default: DType = dtypes.float32) -> DType:
    """The dtype by its number in ONNX."""
    return default if number is None else to_dtype(ELEMENT_TYPES[number])


def _generator(seed: float) -> np.random.RandomState:
    """NumPy's generator, seeded."""
    return np.random.RandomState(int(seed) & 0xFFFFFFFF)


def _uniform(node: Node, shape: Any, device: Any, seed: float | None) -> Tensor:
    """Uniform on [0, 1), in float32, or in float64 with a seed."""
    if seed is None:
        return Tensor.rand(shape, device=device)
    return node.tensor(_generator(seed).uniform(0.0, 1.0, shape))


def _normal(node: Node, shape: Any, device: Any, seed: float | None) -> Tensor:
    """Standard normal, in float32, or in float64 with a seed."""
    if seed is None:
        return Tensor.randn(shape, device=device)
    return node.tensor(np.asarray(_generator(seed).normal(0.0, 1.0, shape)))


@operator("RandomUniform")
def random_uniform(
    node: Node,
    *,
    shape: list[int],
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
    dtype: int | None = None,
) -> Tensor:
    """Uniform on [low, high) in a shape."""
    drawn = _uniform(node, tuple(shape), node.context.device, seed)
    return (drawn * (high - low) + low).cast(_dtype(dtype))


@operator("RandomUniformLike")
def random_uniform_like(
    node: Node,
    x: Tensor,
    *,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
    dtype: int | None = None,
) -> Tensor:
    """Uniform on [low, high) in the shape of x, and in its dtype unless another is given."""
    drawn = _uniform(node, x.shape, x.device, seed)
    return (drawn * (high - low) + low).cast(_dtype(dtype, x.dtype))


@operator("RandomNormal")
def random_normal(
    node: Node,
    *,
    shape: list[int],
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    dtype: int | None = None,
) -> Tensor:
    """Normal with a mean and a standard deviation, in a shape."""
    drawn = _normal(node, tuple(shape), node.context.device, seed)
    return (drawn * scale + mean).cast(_dtype(dtype))


@operator("RandomNormalLike")
def random_normal_like(
    node: Node,
    x: Tensor,
    *,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    dtype: int | None = None,
) -> Tensor:
    """Normal in the shape of x, and in its dtype unless another is given."""
    drawn = _normal(node, x.shape, x.device, seed)
    return (drawn * scale + mean).cast(_dtype(dtype, x.dtype))


@operator("Bernoulli", since=15)
def bernoulli(
    node: Node, x: Tensor, *, seed: float | None = None, dtype: int | None = None
) -> Tensor:
    """1 with the probability that x gives, else 0."""
    return (_uniform(node, x.shape, x.device, seed) < x).cast(_dtype(dtype, x.dtype))


@operator("Multinomial", since=7)
def multinomial(
    node: Node, x: Tensor, *, sample_size: int = 1, seed: float | None = None, dtype: int = 6
) -> Tensor:
    """Classes that are drawn, with replacement, by their unnormalized log probabilities."""
    ends = x.cast(dtypes.float32).softmax(-1).cumsum(-1)
    drawn = _uniform(node, (x.shape[0], sample_size, 1), x.device, seed).cast(dtypes.float32)
    found = (ends.unsqueeze(1) <= drawn * ends[:, -1:].unsqueeze(1)).sum(-1)
    return found.minimum(x.shape[1] - 1).cast(_dtype(dtype))
