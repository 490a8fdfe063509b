"""What is measured on a GPU: each case as weft writes it and as PyTorch does, of the same numbers.

Sizes are those of real work, or with `small` of a minute on a test double.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import Tensor
from weft.base.settings import settings

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """One thing to be computed.

    :param inputs: arrays that both start from.
    :param dtype: what they are cast to first, on the device.
    :param weft: from tensors to the tensor that is computed.
    :param peer: the same, from PyTorch's tensors and the module ``torch``.
    :param plain: the same in NumPy, for where PyTorch is not installed.
    :param work: how much: floating-point operations, or bytes that must be moved.
    :param unit: "TFLOP/s" or "GB/s".
    :param tolerance: how far results may be apart, relative to the largest.
    :param exact: whether the peer must not round its factors to fewer bits.
    """

    name: str
    inputs: Callable[[], Sequence[Array]]
    dtype: str
    weft: Callable[..., Tensor]
    peer: Callable[..., Any]
    plain: Callable[..., Array]
    work: float
    unit: str
    tolerance: float
    exact: bool = True

    def precision(self) -> AbstractContextManager[Any] | None:
        """The peer's setting in weft; None if weft lacks it."""
        if self.exact:
            return nullcontext()
        if all(setting.name != "MATMUL_PRECISION" for setting in settings.table()):
            return None
        return settings.override(MATMUL_PRECISION="high")


def draw(*shapes: tuple[int, ...]) -> Callable[[], list[Array]]:
    """Normal numbers, the same in every process."""
    return lambda: [
        np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
        for seed, shape in enumerate(shapes)
    ]


def cases(small: bool) -> list[Case]:
    """All of them, the quick ones first."""
    return [*_moved(small), *_rows(small), *_products(small)]


def _products(small: bool) -> list[Case]:
    found = []
    for n in (32,) if small else (1024, 4096, 8192):
        for name, dtype, tolerance in (
            ("f32", "float32", 1e-5), ("tf32", "float32", 3e-3), ("bf16", "bfloat16", 2e-2),
        ):  # fmt: skip
            found.append(
                Case(
                    f"matmul {name} {n}",
                    draw((n, n), (n, n)),
                    dtype,
                    lambda a, b: a @ b,
                    lambda torch, a, b: a @ b,
                    lambda a, b: a @ b,
                    2.0 * n**3,
                    "TFLOP/s",
                    tolerance,
                    exact=name != "tf32",
                )
            )
    return found


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def _attention(q: Array, k: Array, v: Array) -> Array:
    return _softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


def _rows(small: bool) -> list[Case]:
    n = 64 if small else 4096
    heads, features = (2, 32) if small else (16, 64)
    rows = 4.0 * n * n
    return [
        Case(
            f"softmax {n}", draw((n, n)), "float32",
            lambda x: x.softmax(-1),
            lambda torch, x: torch.softmax(x, -1),
            _softmax,
            2 * rows, "GB/s", 1e-5,
        ),
        Case(
            f"layernorm {n}", draw((n, n)), "float32",
            lambda x: x.layernorm(),
            lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
            lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
            2 * rows, "GB/s", 1e-5,
        ),
        Case(
            f"attention {n}", draw(*[(1, heads, n, features)] * 3), "float16",
            lambda q, k, v: q.scaled_dot_product_attention(k, v),
            lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v),
            _attention,
            4.0 * heads * n * n * features, "TFLOP/s", 2e-2,
        ),
    ]  # fmt: skip


def _moved(small: bool) -> list[Case]:
    """Bound by memory: the goal is a share of what a copy moves."""
    n = 1 << 12 if small else 1 << 27
    side = 64 if small else 8192
    return [
        Case(
            f"a * b + c, {n}", draw((n,), (n,), (n,)), "float32",
            lambda a, b, c: a * b + c,
            lambda torch, a, b, c: torch.addcmul(c, a, b),
            lambda a, b, c: a * b + c,
            16.0 * n, "GB/s", 1e-6,
        ),
        Case(
            f"sum, {n}", draw((n,)), "float32",
            lambda x: x.sum(),
            lambda torch, x: x.sum(),
            lambda x: x.sum(dtype=np.float64).astype(np.float32),
            4.0 * n, "GB/s", 1e-2,
        ),
        Case(
            f"sum of rows {side}", draw((side, side)), "float32",
            lambda x: x.sum(1),
            lambda torch, x: x.sum(1),
            lambda x: x.sum(1),
            4.0 * side * side, "GB/s", 1e-4,
        ),
        Case(
            f"sum of columns {side}", draw((side, side)), "float32",
            lambda x: x.sum(0),
            lambda torch, x: x.sum(0),
            lambda x: x.sum(0),
            4.0 * side * side, "GB/s", 1e-4,
        ),
        Case(
            f"transpose {side}", draw((side, side)), "float32",
            lambda x: x.T.contiguous(),
            lambda torch, x: x.T.contiguous(),
            lambda x: x.T,
            8.0 * side * side, "GB/s", 0.0,
        ),
    ]  # fmt: skip
