"""Workloads at the limit of one machine: products, convolutions, and what moves memory.

Each is written once for every kind of peer: `lazy` for weft and tinygrad, whose names are alike,
`torch`, `jax`, `numpy`. A function is given the peer's module and its own arrays, and gives one.
Sizes are those that the peers' own benchmarks use; inputs are float32 unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    :param name: its name there.
    :param inputs: makes the arguments, the same for every peer.
    :param work: (number, unit) done by one call: "flop", "byte" or "kernel".
    :param by: the function for each kind of peer; a kind that is left out does not take part.
        "compiled" compiles what "torch" has, unless it has its own, or None; "jax as written" is
        not captured.
    :param cast: the dtype the peers hold the inputs in, where that is another.
    """

    name: str
    inputs: Callable[[], list[np.ndarray]]
    work: tuple[float, str]
    by: dict[str, Function | None] = field(default_factory=dict)
    cast: str | None = None


def floats(*shapes: tuple[int, ...]) -> Callable[[], list[np.ndarray]]:
    """Normal numbers of these shapes, seeds 0, 1, ..."""
    return lambda: [
        np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
        for seed, shape in enumerate(shapes)
    ]


def everywhere(function: Function, *left_out: str) -> dict[str, Function]:
    """One text for all kinds but those left out."""
    kinds = ("lazy", "torch", "jax", "numpy")
    return {kind: function for kind in kinds if kind not in left_out}


def matmul(name: str, m: int, k: int, n: int, **facts: Any) -> Workload:
    return Workload(
        name, floats((m, k), (k, n)), (2.0 * m * k * n, "flop"),
        everywhere(lambda _, a, b: a @ b), **facts,
    )  # fmt: skip


def convolution(name: str, backward: bool) -> Workload:
    """8 images of 64 channels and 56 x 56 pixels, 3 x 3 windows, padded (ResNet's first stage)."""
    shapes = ((8, 64, 56, 56), (64, 64, 3, 3))
    flop = 2.0 * 8 * 64 * 64 * 9 * 56 * 56 * (3 if backward else 1)

    def lazy(lib: Any, x: Any, w: Any) -> Any:
        if not backward:
            return x.conv2d(w, padding=1)
        x.requires_grad = w.requires_grad = True
        y = (x.conv2d(w, padding=1) ** 2).sum()
        return y.gradient(x, w)

    def torch(lib: Any, x: Any, w: Any) -> Any:
        if not backward:
            return lib.nn.functional.conv2d(x, w, padding=1)
        x.requires_grad_()
        w.requires_grad_()
        y = (lib.nn.functional.conv2d(x, w, padding=1) ** 2).sum()
        return lib.autograd.grad(y, (x, w))

    def jax(lib: Any, x: Any, w: Any) -> Any:
        def forward(x: Any, w: Any) -> Any:
            return lib.lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)))

        if not backward:
            return forward(x, w)
        return lib.grad(lambda x, w: (forward(x, w) ** 2).sum(), (0, 1))(x, w)

    return Workload(
        name, floats(*shapes), (flop, "flop"), {"lazy": lazy, "torch": torch, "jax": jax}
    )


def moved(
    name: str, shape: tuple[int, ...], times: float, lazy: Function, torch: Function | None = None,
    jax: Function | None = None, numpy: Function | None = None, indices: tuple[int, ...] = (),
) -> Workload:  # fmt: skip
    """A workload that is bound by memory: `times` is how often all of `shape` passes through it.

    Peers without a function of their own use `lazy`'s. indices: the shape of a second input, of
    whole numbers below the first one's length.
    """

    def inputs() -> list[np.ndarray]:
        made = floats(shape)()
        if indices:
            rows = np.random.default_rng(9).integers(0, shape[0], indices)
            made.append(rows.astype(np.int32))
        return made

    by = {"lazy": lazy, "torch": torch or lazy, "jax": jax or lazy, "numpy": numpy or jax or lazy}
    return Workload(name, inputs, (4.0 * float(np.prod(shape)) * times, "byte"), by)


def _chain(_: Any, x: Any) -> Any:
    return ((((x * 2 + 1) * x - 3) * 0.5 + x) * x - x) * x + 1


def _softmax(lib: Any, x: Any) -> Any:
    e = lib.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _layernorm(lib: Any, x: Any) -> Any:
    centred = x - x.mean(1, keepdims=True)
    return centred / lib.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)


SMALL_KERNELS = 1000


def replayed() -> Workload:
    """A thousand kernels of sixteen numbers, each of the result of the one before.

    PyTorch and NumPy compute a thousand operations; JAX calls a thousand times what it compiled.
    Inside one `jax.jit`, and compiled by PyTorch, they become one kernel or one loop, which is
    another thing (a step of such a loop takes JAX 9 ns; jit_replay.md has it).
    """

    def at_once(_: Any, x: Any) -> Any:
        for _ in range(SMALL_KERNELS):
            x = x + 1
        return x

    def lazy(_: Any, x: Any) -> Any:
        for _ in range(SMALL_KERNELS):
            x = (x + 1).contiguous().realize()
        return x

    @cache
    def small(lib: Any) -> Function:
        return lib.jit(lambda x: x + 1)

    def jax(lib: Any, x: Any) -> Any:
        kernel = small(lib)
        for _ in range(SMALL_KERNELS):
            x = kernel(x)
        return lib.block_until_ready(x)

    by = {"lazy": lazy, "torch": at_once, "numpy": at_once, "jax as written": jax, "compiled": None}
    return Workload("replay of 1,000 small kernels", floats((16,)), (SMALL_KERNELS, "kernel"), by)


LONG, SQUARE, BLOCKS = (1 << 24,), (4096, 4096), (64, 64, 64, 64)

WORKLOADS = (
    *(matmul(f"matmul {n}", n, n, n) for n in (512, 1024, 2048, 4096, 1000, 1023)),
    matmul("matmul tall, 8192 x 256 x 256", 8192, 256, 256),
    matmul("matmul wide, 64 x 1024 x 8192", 64, 1024, 8192),
    Workload(
        "matmul transposed, 1024", floats((1024, 1024), (1024, 1024)), (2.0 * 1024**3, "flop"),
        everywhere(lambda _, a, b: a @ b.T),
    ),
    Workload(
        "matmul batched, 32 of 256", floats((32, 256, 256), (32, 256, 256)),
        (2.0 * 32 * 256**3, "flop"), everywhere(lambda _, a, b: a @ b),
    ),
    Workload(
        "matmul 1024, bfloat16", floats((1024, 1024), (1024, 1024)), (2.0 * 1024**3, "flop"),
        everywhere(lambda _, a, b: a @ b, "numpy"), cast="bfloat16",
    ),
    Workload(
        "matrix by vector, 4096", floats((4096, 4096), (4096,)), (4.0 * 4096**2, "byte"),
        everywhere(lambda _, a, b: a @ b),
    ),
    moved("chain of 10, 16 M", LONG, 2, _chain),
    moved(
        "exp, sin, log, tanh, 16 M", LONG, 2,
        lambda _, x: (x.exp().sin() + (x * x + 1).log()).tanh(),
        jax=lambda lib, x: lib.numpy.tanh(
            lib.numpy.sin(lib.numpy.exp(x)) + lib.numpy.log(x * x + 1)
        ),
        numpy=lambda lib, x: lib.tanh(lib.sin(lib.exp(x)) + lib.log(x * x + 1)),
    ),
    moved("sum, 16 M", LONG, 1, lambda _, x: x.sum()),
    moved("max, 16 M", LONG, 1, lambda _, x: x.max()),
    moved("argmax, 16 M", LONG, 1, lambda _, x: x.argmax()),
    moved("sum of rows, 4096", SQUARE, 1, lambda _, x: x.sum(1)),
    moved("sum of columns, 4096", SQUARE, 1, lambda _, x: x.sum(0)),
    moved(
        "softmax, 4096", SQUARE, 2, lambda _, x: x.softmax(1),
        jax=lambda lib, x: lib.nn.softmax(x, 1), numpy=_softmax,
    ),
    moved(
        "logsumexp, 4096", SQUARE, 1, lambda _, x: x.logsumexp(1),
        jax=lambda lib, x: lib.nn.logsumexp(x, 1),
        numpy=lambda lib, x: lib.log(lib.exp(x - x.max(1, keepdims=True)).sum(1)) + x.max(1),
    ),
    moved(
        "layernorm, 4096", SQUARE, 2, lambda _, x: x.layernorm(),
        torch=lambda lib, x: lib.nn.functional.layer_norm(x, (4096,)),
        jax=lambda lib, x: _layernorm(lib.numpy, x), numpy=_layernorm,
    ),
    moved(
        "transpose, 4096", SQUARE, 2, lambda _, x: x.T.contiguous(),
        jax=lambda lib, x: x.T + 0, numpy=lambda lib, x: lib.ascontiguousarray(x.T),
    ),
    moved(
        "permute (64, 64, 64, 64) by 3, 1, 0, 2", BLOCKS, 2,
        lambda _, x: x.permute(3, 1, 0, 2).contiguous(),
        jax=lambda lib, x: x.transpose(3, 1, 0, 2) + 0,
        numpy=lambda lib, x: lib.ascontiguousarray(x.transpose(3, 1, 0, 2)),
    ),
    moved(
        "cumsum of rows, 4096", SQUARE, 2, lambda _, x: x.cumsum(1),
        jax=lambda lib, x: x.cumsum(1), numpy=lambda lib, x: x.cumsum(1),
    ),
    moved(
        "embedding, 4096 rows of 4096", SQUARE, 2, lambda _, x, i: x[i], indices=(4096,),
    ),
    moved(
        "gather along columns, 4096", SQUARE, 3, lambda _, x, i: x.gather(0, i),
        torch=lambda lib, x, i: x.gather(0, i.long()),
        jax=lambda lib, x, i: lib.numpy.take_along_axis(x, i, 0),
        numpy=lambda lib, x, i: lib.take_along_axis(x, i, 0), indices=SQUARE,
    ),
    convolution("convolution 3 x 3, forward", backward=False),
    convolution("convolution 3 x 3, gradients of both", backward=True),
    replayed(),
)  # fmt: skip
"""All rows, in the order of the table."""
