"""Methods over an axis of variable length: what they give for the same length, known beforehand."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Device, Tensor, Variable, dtypes, jit, nn, settings
from weft.base import trace
from weft.base.errors import DeviceUnavailable, WeftError

A = (np.arange(40, dtype=np.float32).reshape(10, 4) * 11 % 37 - 15) / 8
FILTERS = np.array([[[1.0, -2.0, 0.5]]], dtype=np.float32)
PLACES = np.array([[2, 0, 1, 1], [0, 0, 2, 1]], dtype=np.int32)

by_engine = pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle builds no programs"
)


def line(x: Tensor, n: Any) -> Tensor:
    """One signal of n samples."""
    return x[:n, 1].reshape(1, 1, n)


def padded(mode: str) -> Callable[[Tensor, Any], Tensor]:
    return lambda x, n: x[:n, 1].pad(((2, 1),), mode=mode)


def written(x: Tensor, n: Any) -> Tensor:
    made = x.clone()
    made[:n, 0] = Tensor(A)[:n, 1] + 1
    made[n - 1] = 0.5
    made[n:, 2] = 3.0
    return made


# name -> what is done to x, (10, 4), with n, an int or a variable bound to it
CASES: dict[str, Callable[[Tensor, Any], Any]] = {
    "split by a number": lambda x, n: list(x[:n].split(2)),
    "split by sizes": lambda x, n: list(x.split([n, 10 - n])),
    "chunks": lambda x, n: list(x[:n].chunk(2)),
    "largest": lambda x, n: list(x[:n].topk(2, 0)),
    "as many of the largest": lambda x, n: list(x[:, 0].topk(n)),
    "rolled": lambda x, n: x[:n].roll(1, 0) + x[:n].roll(-2, 0) + x[:n].roll(7, 0),
    "rolled by a variable": lambda x, n: x.roll(n, 0),
    "windows": lambda x, n: x[:n].unfold(0, 3, 1),
    "windows apart": lambda x, n: x[:n].unfold(0, 2, 2),
    "windows with steps": lambda x, n: x[:n].unfold(0, 3, 2),
    "made longer": lambda x, n: x[:n].T.reshape(1, 4, n).interpolate((9,)),
    "made twice as long": lambda x, n: x[:n].T.reshape(1, 4, n).interpolate((n * 2,)),
    "made shorter": lambda x, n: x.T.reshape(1, 4, 10).interpolate((n,), mode="nearest"),
    "joined": lambda x, n: x[:n].cat(x, x[:n] * 2),
    "filled up": lambda x, n: x[:n].pad(((1, 2), (0, 1)), value=1.5),
    "filled up by a variable": lambda x, n: x.pad(((n, 0), (0, n))),
    "reflected": padded("reflect"),
    "replicated": padded("replicate"),
    "circular": padded("circular"),
    "backwards": lambda x, n: x[:n].flip(0) * x[:n],
    "repeated": lambda x, n: x[:n].repeat(2, 3),
    "repeated by a variable": lambda x, n: x.repeat(n, 1),
    "interleaved": lambda x, n: x[:n].repeat_interleave(2, 0),
    "softmax": lambda x, n: x[:n].softmax(0),
    "places of extremes": lambda x, n: [x[:n].argmax(0), x[:n].argmin(0)],
    "sorted": lambda x, n: list(x[:n].sort(0, descending=True)),
    "order": lambda x, n: x[:n, 1].argsort(),
    "gathered": lambda x, n: x[:n].gather(0, Tensor(PLACES)),
    "scattered": lambda x, n: x[:n].scatter(0, Tensor(PLACES), 2.0),
    "picked": lambda x, n: x[:n][Tensor(PLACES[0])],
    "picked beside a variable": lambda x, n: x.T[Tensor(PLACES[0]), n - 3],
    "picked by a mask": lambda x, n: x[:n].masked_select(x[:n] > 0.2),
    "where not zero": lambda x, n: (x[:n] > 0.2).nonzero(),
    "from the end": lambda x, n: x[-n:] + x[-n:].sum(),
    "one from the end": lambda x, n: x[n - 8],
    "running sums": lambda x, n: x[:n].cumsum(0) + x[:n].cumprod(0),
    "running maximum": lambda x, n: x[:n].cummax(0)[0],
    "running log of sums": lambda x, n: x[:n].logcumsumexp(0),
    "spread": lambda x, n: x[:n].std(0) + x[:n].var(0) + x[:n].mean(0),
    "product": lambda x, n: x[:n].prod(0),
    "one hot": lambda x, n: Tensor(PLACES[0]).one_hot(n),
    "diagonal": lambda x, n: [x[:n, 0].diag(), (x @ x.T)[:n, :n].diagonal()],
    "contracted": lambda x, n: Tensor.einsum("ij,ik->jk", x[:n], x[:n]),
    "convolution along it": lambda x, n: line(x, n).conv2d(Tensor(FILTERS)),
    "convolution, filled up": lambda x, n: line(x, n).conv2d(Tensor(FILTERS), padding=1),
    "convolution, in steps": lambda x, n: line(x, n).conv2d(Tensor(FILTERS), stride=2, padding=1),
    "convolution, dilated": lambda x, n: line(x, n).conv2d(Tensor(FILTERS), dilation=2, padding=2),
    "transposed convolution": lambda x, n: line(x, n).conv_transpose2d(Tensor(FILTERS), stride=2),
    "pooled": lambda x, n: line(x, n).reshape(1, 1, n, 1).max_pool2d((2, 1)),
    "pooled, overlapping": lambda x, n: line(x, n).reshape(1, 1, n, 1).avg_pool2d((3, 1), 1),
    "pooled, rounded up": lambda x, n: [
        line(x, n).reshape(1, 1, n, 1).max_pool2d((2, 1), ceil_mode=True),
        line(x, n).reshape(1, 1, n, 1).avg_pool2d((3, 1), (2, 1), padding=(1, 0), ceil_mode=True),
    ],
    "pooled with places": lambda x, n: list(
        line(x, n).reshape(1, 1, n, 1).max_pool2d((3, 1), (2, 1), return_indices=True)
    ),
    "added at places, filled up": lambda x, n: (
        x[:n, 0]
        .zeros_like()
        .scatter_add(0, Tensor([1, 0, 3, 2, 4])[: n // 2], x[: n // 2, 1].pad(((1, 1),))[: n // 2])
    ),
    "counted": lambda x, n: [Tensor.arange(n), Tensor.arange(n, 12), Tensor.arange(1, n * 3, n)],
    "counted by a variable": lambda x, n: Tensor.arange(0, 20, n),
    "in even steps": lambda x, n: [Tensor.linspace(0, 1, n), Tensor.linspace(0, n, 4)],
    "made full": lambda x, n: [Tensor.full((n, 2), 3), Tensor.full((2,), n), Tensor.eye(n)],
    "a number": lambda x, n: [Tensor(n) + 2, Tensor(n * 2 + 1).float() / 4, Tensor(n)],
    "beside numbers": lambda x, n: [x + n, n - x, x * (n * 2), x // n, x < n, (x > 0).where(x, n)],
    "fractions of it": lambda x, n: x[:n].sum(0) * (1 / n) + n / 2 + 0.5 * n + math.sqrt(n),
    "looked up": lambda x, n: nn.Embedding(4, 2)(Tensor([1, 2, 3, 0, 1, 2, 3, 0])[:n]).shape[1],
    "rearranged": lambda x, n: x[:n].rearrange("a (b c) -> (a b) c", b=2),
    "loss": lambda x, n: x[:n].sparse_categorical_crossentropy(Tensor([0, 1, 2, 3] * 3)[:n]),
    "attention": lambda x, n: x[:n].scaled_dot_product_attention(
        x[:n], x[:n], attn_mask=Tensor.ones(n, n, dtype=dtypes.bool).tril()
    ),
    "written": written,
    "written, of known size": lambda x, n: put(x, n, Tensor(A[: int(n), 0]) * 2),
    "bits": lambda x, n: x[:n].bitcast(dtypes.int32),
    "norms": lambda x, n: x[:n].layernorm() + x[:n].T.layernorm().T,
}


# how long these are, only the values tell
BY_VALUES = {"picked by a mask", "where not zero"}


def put(x: Tensor, n: Any, value: Tensor) -> Tensor:
    made = x.clone()
    made[:n, 3] = value
    return made


def read(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    if tensors := [item for item in items if isinstance(item, Tensor)]:
        Tensor.realize(*tensors)
    return [item.numpy() if isinstance(item, Tensor) else item for item in items]


def known(do: Callable[[Tensor, Any], Any], x: np.ndarray, n: int) -> list[Any]:
    """What the reference finds for this length. On a device that compiles, each length would be
    compiled for itself."""
    with settings.override(DEVICE="REF"):
        return read(do(Tensor(x), n))


def same(one: list[Any], other: list[Any]) -> None:
    assert len(one) == len(other)
    for left, right in zip(one, other):
        np.testing.assert_allclose(left, right, rtol=2e-5, atol=2e-5)
        assert getattr(left, "dtype", None) == getattr(right, "dtype", None)


@pytest.mark.parametrize("name", CASES)
def test_as_with_a_known_length(name: str) -> None:
    do = CASES[name]
    for n in (3, 8, 5):
        v = Variable("n", 3, 8).bind(n)
        same(read(do(Tensor(A), v)), known(do, A, n))


@by_engine
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", sorted(CASES.keys() - BY_VALUES))
def test_captured(name: str) -> None:
    do = CASES[name]

    def step(x: Tensor, n: Any) -> Any:
        found = do(x, n)
        return [t for t in (found if isinstance(found, list) else [found]) if isinstance(t, Tensor)]

    captured = jit(step)
    for turn in range(4):
        for n in (3, 5):
            found = captured(Tensor(A + turn), Variable("n", 3, 8).bind(n))
            same(read(found), known(step, A + turn, n))


@by_engine
def test_devices() -> None:
    family = Device.DEFAULT.partition(":")[0]
    devices = (f"{family}:1", f"{family}:2")
    try:
        Tensor([1.0], device=devices[1]).realize()
    except DeviceUnavailable as reason:
        pytest.skip(f"there are no three devices: {reason}")
    v = Variable("n", 1, 10).bind(3)
    for laid_out in (
        Tensor(A)[:v].shard(devices),
        Tensor(A)[:v].shard(devices, axis=1),
        Tensor(A)[:v].shard(devices, axis=1).to(devices[1]),
    ):
        np.testing.assert_array_equal((laid_out * 2).numpy(), A[:3] * 2)
    with pytest.raises(WeftError, match="definite size"):
        Tensor(A)[:v].shard(devices, axis=0)


@pytest.mark.parametrize(
    "name", ["my n", "data0", "int", "for", "alu0", "ridx0", "gidx0", "1n", "é", "max", "values"]
)
def test_any_name_will_do(name: str) -> None:
    v = Variable(name, 1, 10).bind(3)
    np.testing.assert_allclose(Tensor(A)[:v].sum(0).numpy(), A[:3].sum(0))


def test_two_variables_of_one_name() -> None:
    narrow, wide = Variable("n", 0, 5), Variable("n", 0, 9)
    x = Tensor(A)
    found = x[: narrow.bind(3)].sum(0) + x[: wide.bind(7)].sum(0) * 2
    np.testing.assert_allclose(found.numpy(), A[:3].sum(0) + A[:7].sum(0) * 2, rtol=1e-5)


def test_values_of_variables_are_computed_on_the_default_device() -> None:
    v = Variable("n", 0, 10).bind(3)
    assert (Tensor(v) + 2).realize().item() == 5
    assert Tensor(v).contiguous().realize().tolist() == 3
    assert Tensor(v).schedule() == []
    with settings.override(DEVICE="REF"):
        assert (Tensor(v) + 2).realize().device == "REF"


# where Python takes the value: how many pieces there are, or a number of the kernels themselves
TAKEN = {
    "as many of the largest",
    "counted",
    "counted by a variable",
    "fractions of it",
    "in even steps",
    "made shorter",
    "made twice as long",
    "one from the end",
    "running log of sums",
    "split by a number",
    "chunks",
    "rolled",
    "rolled by a variable",
    "written, of known size",
}


@by_engine
@pytest.mark.parametrize("name", sorted(CASES.keys() - BY_VALUES - TAKEN))
def test_one_program_serves_every_value(name: str) -> None:
    do = CASES[name]
    read(do(Tensor(A), Variable("n", 3, 8).bind(3)))
    built: list[str] = []
    stop = trace.subscribe(lambda e: built.append(e.facts["name"]) if e.name == "source" else None)
    try:
        for n in (8, 4, 5):
            read(do(Tensor(A), Variable("n", 3, 8).bind(n)))
    finally:
        stop()
    assert built == []
