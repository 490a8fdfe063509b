"""A program run twice, with its functions captured by `jit` and as they are written: all the same.

    def program(wrap):
        step = wrap(lambda x: x * 2)
        return [step(Tensor(numbers(3, seed=i))) for i in range(CALLS)]

    both(program, replays=CALLS - 2)

in:  a program that captures what it wants to with `wrap`
out: an AssertionError where results, whatever they are in, differ; else what was captured first
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.tensor import Tensor
from weft.tensor.jit import Jit, jit

CALLS = 6
"""Calls of one function: the first two are recorded, the others replayed."""


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """float32 numbers from a normal distribution, the same for one seed."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def read(value: Any) -> Any:
    """Tensors in a result as arrays, whatever they are in."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {key: read(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [read(item) for item in value]
    return value


def same(one: Any, other: Any) -> None:
    """:raises AssertionError: where two results that were `read` differ."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), f"{list(one)} is not {list(other)}"
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other), f"{len(one)} results are not {len(other)}"
        for left, right in zip(one, other):
            same(left, right)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, f"{one.dtype} is not {other.dtype}"
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    else:
        assert one == other, f"{one!r} is not {other!r}"


def both(
    program: Callable[[Callable[..., Any]], Any], replays: int | None = None, quiet: bool = True
) -> Jit | None:
    """`program(wrap)` with wrap = jit and with nothing; everything that it gives is equal.

    :param replays: how many calls of what is captured first must have been replays.
    :param quiet: whether a warning, that something is not captured, is an error.
    """
    made: list[Jit] = []

    def wrap(function: Callable[..., Any]) -> Jit:
        made.append(jit(function))
        return made[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("error" if quiet else "ignore")
        # A program may make many calls that differ before the first that is repeated.
        warnings.filterwarnings("ignore", ".* is recorded at every call")
        Tensor.manual_seed(3)
        captured = read(program(wrap))
    Tensor.manual_seed(3)
    same(captured, read(program(lambda function: function)))
    if replays is not None:
        assert made[0].replays == replays, f"{made[0]}: {made[0].reason}"
    return made[0] if made else None
