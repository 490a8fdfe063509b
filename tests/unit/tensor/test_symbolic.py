"""What can be done with shapes that depend on a variable: NumPy's values for every value of it, and
kernels that are built once."""

from __future__ import annotations

import copy
import os
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from weft import Tensor, Variable, jit
from weft.base import trace
from weft.base.errors import (
    ArgumentError,
    IndexingError,
    ScheduleError,
    ShapeError,
)

SIZE = 8
A = (np.arange(SIZE * SIZE, dtype=np.float32).reshape(SIZE, SIZE) * 7 % 64 - 20) / 16
INTS = np.array([5, 1, 7, 0, 0, 3, 6, 2], dtype=np.int32)
FILTER = np.array([[1.0, -2.0], [0.5, 3.0]], dtype=np.float32)

by_engine = pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle builds no programs"
)


def variable(name: str = "n", low: int = 1, high: int = SIZE) -> Any:
    return Variable(name, low, high)


def softmax(a: np.ndarray) -> np.ndarray:
    shifted = np.exp(a - a.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def normalised(a: np.ndarray) -> np.ndarray:
    return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v


def gradient_of_squares(x: Tensor, v: Any) -> Tensor:
    return x[:v].relu().square().sum().gradient(x)[0]


def correlated(a: np.ndarray) -> np.ndarray:
    """Images of 2 by 4 in the rows of `a`, correlated with FILTER."""
    images = a.reshape(len(a), 1, 2, 4)
    columns = [(images[:, :, :, j : j + 2] * FILTER).sum((2, 3)) for j in range(3)]
    return np.stack(columns, -1).reshape(len(a), 1, 1, 3)


# name -> (what is done to x, the (8, 8) A, with the bound variable; the same in NumPy)
CASES: dict[str, tuple[Callable[[Tensor, Any], Any], Callable[[np.ndarray, int], Any]]] = {
    "rows": (lambda x, v: x[:v], lambda a, n: a[:n]),
    "columns": (lambda x, v: x[:, :v], lambda a, n: a[:, :n]),
    "computed": (lambda x, v: x[:v] * 2 + 1, lambda a, n: a[:n] * 2 + 1),
    "one row": (lambda x, v: x[v - 1], lambda a, n: a[n - 1]),
    "one column": (lambda x, v: x[:, v - 1 : v], lambda a, n: a[:, n - 1 : n]),
    "from a place on": (lambda x, v: x[v - 1 :].sum(0), lambda a, n: a[n - 1 :].sum(0)),
    "from the end": (lambda x, v: x[-v:], lambda a, n: a[-n:]),
    "up to the end": (lambda x, v: x[:-v].sum(0), lambda a, n: a[:-n].sum(0)),
    "last of some": (lambda x, v: x[:v][-1], lambda a, n: a[:n][-1]),
    "all but the last": (lambda x, v: x[:v][:-1].sum(0), lambda a, n: a[:n][:-1].sum(0)),
    "backwards": (lambda x, v: x[:v].flip(0), lambda a, n: a[:n][::-1]),
    "transposed": (lambda x, v: x[:v].T.contiguous(), lambda a, n: a[:n].T),
    "two axes": (lambda x, v: x[:v, : v - 1].sum(), lambda a, n: a[:n, : n - 1].sum()),
    "sum": (lambda x, v: x[:v].sum(0), lambda a, n: a[:n].sum(0)),
    "mean": (lambda x, v: x[:, :v].mean(1), lambda a, n: a[:, :n].mean(1)),
    "variance": (lambda x, v: x[:v].var(0, correction=0), lambda a, n: a[:n].var(0)),
    "maximum": (lambda x, v: x[:, :v].max(1), lambda a, n: a[:, :n].max(1)),
    "argmax": (lambda x, v: x[:, :v].argmax(1), lambda a, n: a[:, :n].argmax(1)),
    "running sum": (lambda x, v: x[:, :v].cumsum(1), lambda a, n: a[:, :n].cumsum(1)),
    "sorted": (lambda x, v: x[:, :v].sort(1)[0], lambda a, n: np.sort(a[:, :n], 1)),
    "softmax": (lambda x, v: x[:, :v].softmax(-1), lambda a, n: softmax(a[:, :n])),
    "log of softmax": (
        lambda x, v: x[:, :v].log_softmax(-1),
        lambda a, n: np.log(softmax(a[:, :n])),
    ),
    "layer norm": (lambda x, v: x[:, :v].layernorm(), lambda a, n: normalised(a[:, :n])),
    "product, inner": (lambda x, v: x[:, :v] @ x[:v], lambda a, n: a[:, :n] @ a[:n]),
    "product, rows": (lambda x, v: x[:v] @ x, lambda a, n: a[:n] @ a),
    "product, columns": (lambda x, v: x @ x[:, :v], lambda a, n: a @ a[:, :n]),
    "products of batches": (
        lambda x, v: x[:v].reshape(v, 2, 4) @ x[:v].reshape(v, 4, 2),
        lambda a, n: a[:n].reshape(n, 2, 4) @ a[:n].reshape(n, 4, 2),
    ),
    "attention": (
        lambda x, v: x.reshape(1, 8, 8).scaled_dot_product_attention(
            x[:v].reshape(1, v, 8), x[:v].reshape(1, v, 8)
        ),
        lambda a, n: attention(a, a[:n], a[:n])[None],
    ),
    "attention of all to all": (
        lambda x, v: x[:v].scaled_dot_product_attention(x[:v], x[:v]),
        lambda a, n: attention(a[:n], a[:n], a[:n]),
    ),
    "causal attention": (
        lambda x, v: x[:v].scaled_dot_product_attention(x[:v], x[:v], is_causal=True)[-1],
        lambda a, n: attention(a[n - 1 : n], a[:n], a[:n])[0],
    ),
    "convolution": (
        lambda x, v: x[:v].reshape(v, 1, 2, 4).conv2d(Tensor(FILTER).reshape(1, 1, 2, 2)),
        lambda a, n: correlated(a[:n]),
    ),
    "expand": (lambda x, v: x[:1].expand(v, 8) + 1, lambda a, n: np.tile(a[:1], (n, 1)) + 1),
    "repeat": (lambda x, v: x[:2].repeat(v, 1), lambda a, n: np.tile(a[:2], (n, 1))),
    "reshape": (lambda x, v: x[:v].reshape(v * 8), lambda a, n: a[:n].reshape(-1)),
    "reshape by -1": (
        lambda x, v: x[:v].reshape(-1, 2, 4).sum(1),
        lambda a, n: a[:n].reshape(-1, 2, 4).sum(1),
    ),
    "heads": (
        lambda x, v: x[:v].reshape(1, v, 2, 4).transpose(1, 2).sum(-1),
        lambda a, n: a[:n].reshape(1, n, 2, 4).transpose(0, 2, 1, 3).sum(-1),
    ),
    "pad to a fixed size": (
        lambda x, v: x[:v].pad(((0, 8 - v), (0, 0))),
        lambda a, n: np.pad(a[:n], ((0, 8 - n), (0, 0))),
    ),
    "pad by a value": (
        lambda x, v: x[:v].pad(((1, 0), (0, v)), value=2.0).sum(0).sum(),
        lambda a, n: np.pad(a[:n], ((1, 0), (0, n)), constant_values=2).sum(),
    ),
    "joined": (lambda x, v: x[:v].cat(x, x[:v]), lambda a, n: np.concatenate([a[:n], a, a[:n]])),
    "stacked": (lambda x, v: x[:v].stack(x[:v] + 1), lambda a, n: np.stack([a[:n], a[:n] + 1])),
    "chosen": (
        lambda x, v: (x[:v] > 0).where(x[:v], -1),
        lambda a, n: np.where(a[:n] > 0, a[:n], -1),
    ),
    "triangles": (
        lambda x, v: x[:, :v].tril() + x[:, :v].triu(1),
        lambda a, n: np.tril(a[:, :n]) + np.triu(a[:, :n], 1),
    ),
    "picked from": (
        lambda x, v: x[:, :v][Tensor(INTS)],
        lambda a, n: a[:, :n][INTS],
    ),
    "picked by": (lambda x, v: x[Tensor(INTS)[:v]], lambda a, n: a[INTS[:n]]),
    "picked in a window": (
        lambda x, v: x[:v][Tensor(INTS) * 0],
        lambda a, n: a[:n][INTS * 0],
    ),
    "counted": (lambda x, v: Tensor.arange(v) * 2, lambda a, n: np.arange(n) * 2),
    "counted down": (lambda x, v: Tensor.arange(v, 0, -1), lambda a, n: np.arange(n, 0, -1)),
    "counted by twos": (
        lambda x, v: Tensor.arange(1, v, 2).sum(),
        lambda a, n: np.arange(1, n, 2).sum(),
    ),
    "filled": (lambda x, v: Tensor.full((v, 3), 2.5), lambda a, n: np.full((n, 3), 2.5)),
    "classes": (lambda x, v: Tensor(INTS)[:v].one_hot(8), lambda a, n: np.eye(8)[INTS[:n]]),
    "masked by a number": (
        lambda x, v: (Tensor.arange(8) < v).where(x, 0),
        lambda a, n: np.where(np.arange(8) < n, a, 0),
    ),
    "times the number": (lambda x, v: x * v - v, lambda a, n: a * n - n),
    "the number first": (lambda x, v: v - x / v, lambda a, n: n - a / n),
    "divided by a size": (lambda x, v: x[:v].sum(0) / v, lambda a, n: a[:n].mean(0)),
    "bits": (lambda x, v: x[:v].bitcast("int32"), lambda a, n: a[:n].view(np.int32)),
    "gradient": (
        lambda x, v: gradient_of_squares(x, v),
        lambda a, n: np.concatenate([2 * a[:n].clip(0), a[n:] * 0]),
    ),
    "stored, then used": (
        lambda x, v: x[:, :v].contiguous().realize().sum(0) + 1,
        lambda a, n: a[:, :n].sum(0) + 1,
    ),
    "copied to another device": (
        lambda x, v: (x[:, :v] + 1).to("REF").sum(0),
        lambda a, n: (a[:, :n] + 1).sum(0),
    ),
    "sum of sums": (
        lambda x, v: ((x[:, :v] - x[:, :v].mean(1, keepdim=True)).square()).sum(1),
        lambda a, n: ((a[:, :n] - a[:, :n].mean(1, keepdims=True)) ** 2).sum(1),
    ),
}


def plain(value: Any) -> np.ndarray:
    return value.numpy()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:overflow")
def test_as_numpy_for_every_value(name: str) -> None:
    ours, theirs = CASES[name]
    for n in (3, 1, 8, 2, 5, 4, 7, 6):
        expected = theirs(A, n)
        got = plain(ours(Tensor(A), variable().bind(n)))
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5, err_msg=f"{name}, n={n}")


@contextmanager
def built() -> Iterator[list[str]]:
    """The names of the programs that are generated inside."""
    names: list[str] = []

    def heard(event: Any) -> None:
        if event.name == "source":
            names.append(event.facts["name"])

    stop = trace.subscribe(heard)
    try:
        yield names
    finally:
        stop()


@by_engine
@pytest.mark.parametrize("name", CASES)
def test_one_program_serves_every_value(name: str) -> None:
    ours, _ = CASES[name]
    ours(Tensor(A), variable().bind(3)).numpy()
    with built() as names:
        for n in (1, 8, 2, 5):
            ours(Tensor(A), variable().bind(n)).numpy()
    assert names == []


# ---- writing -------------------------------------------------------------------------------------


def stored() -> Tensor:
    return Tensor(A).clone().realize()


def test_writes_at_a_place_that_a_variable_names() -> None:
    for n in (3, 1, 8):
        v, x, expected = variable().bind(n), stored(), A.copy()
        x[v - 1 : v] = Tensor.full((1, SIZE), 5.0)
        expected[n - 1 : n] = 5
        x[:, v - 1] = 7.0
        expected[:, n - 1] = 7
        x[:v] = x[:v] + 1
        expected[:n] += 1
        np.testing.assert_array_equal(x[:v].sum(0).numpy(), expected[:n].sum(0))
        np.testing.assert_array_equal(x.numpy(), expected)


def test_a_stored_value_of_symbolic_shape_is_written() -> None:
    v = variable().bind(6)
    x, expected = (Tensor(A)[:, :v] + 1).contiguous().realize(), A[:, :6] + 1
    x[1:3] = 0
    expected[1:3] = 0
    x[v - 1] = 5.0
    expected[5] = 5
    x += 1
    np.testing.assert_array_equal(x.numpy(), expected + 1)


def test_values_read_before_a_write_are_unchanged() -> None:
    x, v = stored(), variable().bind(5)
    view, before, summed = x[:v], x[:v].contiguous(), x[:v].sum(0)
    x[v - 1 :] = 0.0
    np.testing.assert_array_equal(view[:4].numpy(), A[:4])
    assert not view[4].numpy().any()
    np.testing.assert_array_equal(before.numpy(), A[:5])
    np.testing.assert_array_equal(summed.numpy(), A[:5].sum(0))


@by_engine
def test_a_write_at_another_place_builds_no_program() -> None:
    x = stored()

    def step(n: int) -> None:
        v = variable().bind(n)
        x[v - 1 : v] = x[v - 1 : v] * 2
        (x[:v].softmax(0) @ x).sum(0).realize()

    step(1)
    with built() as names:
        for n in (2, 5, 8):
            step(n)
    assert names == []


# ---- several variables ---------------------------------------------------------------------------


def test_two_variables() -> None:
    for n, m in ((3, 5), (8, 1), (2, 2)):
        v, w = variable().bind(n), variable("m").bind(m)
        x = Tensor(A)
        np.testing.assert_allclose((x[:v] @ x[:, :w]).numpy(), A[:n] @ A[:, :m], rtol=1e-5)
        np.testing.assert_array_equal(x[:v, :w].cat(x[:v, :w]).numpy(), np.tile(A[:n, :m], (2, 1)))


def test_a_variable_has_one_value_at_a_time() -> None:
    one, other = (Tensor(A)[: variable().bind(n)] for n in (2, 3))
    with pytest.raises(ShapeError, match="n is 2 here, and n is 3 here"):
        one + other
    with pytest.raises(ScheduleError, match="two values"):
        (one.sum() + other.sum()).realize()
    assert one.sum().item() == A[:2].sum() and other.sum().item() == A[:3].sum()


# ---- Python values -------------------------------------------------------------------------------


def test_lists_bytes_items_and_copies() -> None:
    x = Tensor(A)[: variable().bind(2), : variable("m").bind(3)] * 2
    expected = A[:2, :3] * 2
    assert x.tolist() == expected.tolist()
    assert x.data().tolist() == expected.tolist() and x.data().shape == (2, 3)
    assert x[1, 2].item() == expected[1, 2]
    assert Tensor(A)[: variable().bind(1), :1].item() == A[0, 0]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).numpy(), expected)
    np.testing.assert_array_equal(copy.deepcopy(x).numpy(), expected)


def test_sizes_are_numbers_where_python_wants_some() -> None:
    x = Tensor(A)[: variable().bind(3)]
    assert len(x) == 3 and (x.shape[0] * 8).simplify() is x.numel()
    assert [row.shape for row in x] == [(SIZE,)] * 3
    assert "(n, 8)" in repr(x)


def test_nothing_at_all() -> None:
    x = Tensor(A)[: variable("n", 0).bind(0)]
    assert x.numpy().shape == (0, SIZE) and x.tolist() == []
    assert x.sum(0).tolist() == [0.0] * SIZE
    assert (x.T @ x).numpy().sum() == 0


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "kind", "said"),
    [
        (lambda x, v: x[: v * 2], ShapeError, "n is 6 here"),
        (lambda x, v: x[v : v + 4], ShapeError, "n is 6 here"),
        (lambda x, v: x[v - 15], ShapeError, "not inside axis 0"),
        (lambda x, v: x[v + 8], ShapeError, "not inside axis 0"),
        (lambda x, v: x.__setitem__(slice(v, v + 4), 0.0), ShapeError, "n is 6 here"),
        (lambda x, v: x[:v:2], IndexingError, "no step"),
        (lambda x, v: x[:v] + x, ShapeError, r"shapes \(n, 8\) and \(8, 8\)"),
        (lambda x, v: x[:, :v] @ x, ShapeError, "last axis of the left has n"),
        (lambda x, v: x[:v].reshape(3, 15), ShapeError, r"\(n\*8\) is not 45"),
        (lambda x, v: x[:v].reshape(3, 15), ShapeError, "n is 6 here"),
        (lambda x, v: x.reshape(v, 8), ShapeError, r"64 is not \(n\*8\)"),
        (lambda x, v: x.reshape(variable(), 8), ShapeError, r"64 is not \(n\*8\)"),
        (lambda x, v: x[:v].reshape(v, 3, -1), ShapeError, "do not divide"),
        (lambda x, v: x[: variable()].split(2), ArgumentError, "no single value"),
        (lambda x, v: x[:v].topk(7, 0), ArgumentError, "no 7 elements"),
        (lambda x, v: Variable("", 1, 2), ArgumentError, "has a name"),
        (lambda x, v: variable() * 0.5, ArgumentError, "no single value"),
        (lambda x, v: Tensor.empty(v, 3), ShapeError, "a definite size"),
        (lambda x, v: Tensor.arange(v, 8.5), ArgumentError, "symbolic range"),
        (lambda x, v: x[: variable()].numpy(), ShapeError, "no value"),
        (lambda x, v: variable().bind(9), ArgumentError, ""),
    ],
)
def test_mistakes_are_named(mistake: Callable[..., Any], kind: type, said: str) -> None:
    with pytest.raises(kind) as caught:
        mistake(stored(), variable().bind(6))
    assert re.search(said, str(caught.value))
    assert "UOp(" not in str(caught.value)


@by_engine
def test_a_variable_without_a_value_is_named() -> None:
    with pytest.raises(ArgumentError, match="variable 'n' has no value"):
        Tensor(A)[: variable()].sum().item()


@by_engine
def test_a_replay_takes_no_window_that_may_not_fit() -> None:
    fits = jit(lambda x, v: x[:v].sum(0))
    for n in (2, 3, 8, 1):
        np.testing.assert_array_equal(fits(stored(), variable().bind(n)).numpy(), A[:n].sum(0))
    assert fits.replays == 2
    loose = jit(lambda x, v: x[: v * 2].sum(0))
    for n in (2, 3, 4, 2, 3, 2, 3):
        found = loose(stored(), variable().bind(n))
        np.testing.assert_array_equal(found.numpy(), A[: 2 * n].sum(0))
    with pytest.raises(ShapeError, match="n is 5 here"):
        loose(stored(), variable().bind(5))


@by_engine
@pytest.mark.parametrize("n", [1, 3, 8])
def test_definite_sizes_and_bound_ones_become_each_other(n: int) -> None:
    v = variable().bind(n)
    here = Tensor(A[:n])
    assert here.reshape(v, SIZE).shape == (v, SIZE)
    np.testing.assert_array_equal((here.reshape(v, SIZE) * 2).sum(0).numpy(), A[:n].sum(0) * 2)
    np.testing.assert_array_equal(here.T.reshape(-1, v).max(1).numpy(), A[:n].max(0))
    there = (stored()[:v] + 1).realize()
    assert there.reshape(2 * n, 4).shape == (2 * n, 4)
    np.testing.assert_array_equal(there.reshape(2 * n, 4).numpy().reshape(n, SIZE), A[:n] + 1)
    np.testing.assert_array_equal(there.reshape(-1, n).numpy().reshape(n, SIZE), A[:n] + 1)
    slope = Tensor(A[:n], requires_grad=True)
    (slope.reshape(v, SIZE) * 3).sum().backward()
    assert slope.grad is not None and slope.grad.tolist() == np.full((n, SIZE), 3.0).tolist()


@by_engine
@pytest.mark.parametrize(
    "number",
    [
        lambda x, v: int(v),
        lambda x, v: len(x),
        lambda x, v: v.unbind()[1],
        lambda x, v: (v + 1).val - 1,
        lambda x, v: len(range(v)),
        lambda x, v: float(v * 2) / 2,
        lambda x, v: sum(1 for _ in x),
        lambda x, v: x.reshape(-1, 4).shape[0] // 2,
        lambda x, v: 1 * x.reshape(v.val * 2, 4).shape[0] // 2,
    ],
    ids="int len unbind val index float iterated reshape definite".split(),
)
def test_values_that_python_takes_inside_a_captured_function_are_not_frozen(number: Any) -> None:
    step = jit(lambda x, v: x.sum(0) * number(x, v))
    for _ in range(4):
        for n in (3, 5):
            v = variable().bind(n)
            found = step(stored()[:v], v)
            np.testing.assert_array_equal(found.numpy(), A[:n].sum(0) * n)
    assert step.replays > 2
    outer = jit(lambda x, v: step(x, v) + 1)
    for n in (3, 5, 3, 5, 3, 5, 3):
        v = variable().bind(n)
        np.testing.assert_array_equal(outer(stored()[:v], v).numpy(), A[:n].sum(0) * n + 1)
