"""Random programs over axes of variable length: what they give for lengths known beforehand."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft import Tensor, Variable, jit
from weft import settings as weft_settings

A = np.random.default_rng(0).standard_normal((8, 5)).astype(np.float32)
B = np.random.default_rng(1).standard_normal((6, 8)).astype(np.float32)
EXAMPLES = examples(25)
N, M = Variable("n", 2, 8), Variable("m", 2, 6)


def at(x: Tensor, axis: int, this: Any, others: Any) -> tuple[Any, ...]:
    """`this` for one axis, `others` for the rest."""
    return tuple(this if i == axis else others for i in range(x.ndim))


# what is done to a value of at least one axis, at one of its axes
STEPS: list[Callable[[Tensor, int, Any], Tensor]] = [
    lambda x, axis, n: x.relu() + 0.5,
    lambda x, axis, n: x.sum(axis),
    lambda x, axis, n: x.sum(axis, keepdim=True).expand(x.shape) * 0.1 + x,
    lambda x, axis, n: x.cat(x * 2, dim=axis),
    lambda x, axis, n: x.pad(at(x, axis, (1, 2), (0, 0))),
    lambda x, axis, n: x.flip(axis),
    lambda x, axis, n: x.transpose(0, -1),
    lambda x, axis, n: x @ x.transpose(-1, -2) * 0.1 if x.ndim > 1 else x * 3,
    lambda x, axis, n: x.softmax(axis),
    lambda x, axis, n: x.cumsum(axis) * 0.2,
    lambda x, axis, n: x.reshape(-1),
    lambda x, axis, n: x.max(axis),
    lambda x, axis, n: x[at(x, axis, slice(1, None), slice(None))],
    lambda x, axis, n: x[at(x, axis, -1, slice(None))],
    lambda x, axis, n: x.contiguous(),
    lambda x, axis, n: x.unsqueeze(axis),
    lambda x, axis, n: x.mean(axis),
    lambda x, axis, n: x.roll(1, axis),
    lambda x, axis, n: x.sort(axis)[0],
    lambda x, axis, n: x.argmax(axis).float(),
    lambda x, axis, n: x.tril() if x.ndim > 1 else x.unsqueeze(0),
    lambda x, axis, n: x.repeat(*at(x, axis, 2, 1)),
    lambda x, axis, n: x.unfold(axis, 2, 1),
    lambda x, axis, n: x * n + 1,
    lambda x, axis, n: x.shrink(at(x, axis, (0, 2), None)),
    lambda x, axis, n: x.pad(at(x, axis, (0, n), (0, 0))),
]

programs = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, len(STEPS) - 1), st.integers(0, 3)),
    min_size=2,
    max_size=6,
)


def fits(x: Tensor) -> bool:
    """Whether a value is not too large to go on with."""
    room = 1
    for size in x.shape:
        room *= size if isinstance(size, int) else size.vmax
    return 0 < x.ndim < 4 and room < 4000


def run(program: list[tuple[int, int, int]], x: Tensor, y: Tensor, n: Any, m: Any) -> list[Tensor]:
    values = [x[:n], y[:, :n].T * 2, x[:n, :3], y[:m, :n]]
    open_ends = list(values)
    for which, step, axis in program:
        value = open_ends[which % len(open_ends)]
        made = STEPS[step](value, axis % value.ndim, n)
        values.append(made)
        if fits(made):
            open_ends.append(made)
    return values[-2:]


def numbers(tensors: list[Tensor]) -> list[np.ndarray]:
    return [t.numpy() for t in tensors]


def known(program: list[Any], a: np.ndarray, n: int, m: int) -> list[np.ndarray]:
    """What the reference finds for these lengths. On a device that compiles, all of them would be
    compiled."""
    with weft_settings.override(DEVICE="REF"):
        return numbers(run(program, Tensor(a), Tensor(B), n, m))


def same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for left, right in zip(one, other):
        assert left.shape == right.shape
        np.testing.assert_allclose(left, right, rtol=2e-3, atol=2e-3)


@settings(max_examples=EXAMPLES)
@given(programs, st.sampled_from([(3, 4), (8, 2), (2, 6), (6, 6)]))
def test_bound_and_known_lengths(program: list[Any], lengths: tuple[int, int]) -> None:
    n, m = lengths
    x, y = Tensor(A), Tensor(B)
    bound = (N.bind(n), M.bind(m))
    try:
        expected = known(program, A, n, m)
    except Exception as error:  # too short for a window, say: then it is for both
        try:
            numbers(run(program, x, y, *bound))
        except type(error):
            return
        raise
    same(numbers(run(program, x, y, *bound)), expected)


@settings(max_examples=EXAMPLES)
@given(programs)
@example([(0, 22, 0), (24, 22, 0)])  # windows of windows: Python tests that they fit
@example([(29, 1, 2), (69, 1, 2), (29, 1, 2), (65, 1, 2)])  # local rows of a variable size
def test_captured(program: list[Any]) -> None:
    step = jit(lambda x, y, n, m: run(program, x, y, n, m))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for turn, (n, m) in enumerate([(3, 4), (5, 3), (3, 4), (5, 3), (8, 6), (4, 5)]):
            try:
                expected = known(program, A + turn, n, m)
            except Exception:  # noqa: BLE001
                return
            x, y = Tensor(A + turn), Tensor(B)
            same(numbers(step(x, y, N.bind(n), M.bind(m))), expected)
