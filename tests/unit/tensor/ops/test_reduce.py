"""Dtypes of sums and products, maxima of nothing, flags of reductions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft.array_api as xp
from weft import Tensor, dtypes
from weft.base.errors import GradientError, ShapeError, WrongKind

INTEGERS = {
    "bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64", "int64": "int64",
    "uint8": "uint64", "uint16": "uint64", "uint32": "uint64", "uint64": "uint64",
}  # fmt: skip
REDUCES = ["sum", "prod", "cumsum", "cumprod"]


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", REDUCES)
def test_sums_of_integers_are_numpys(name: str, kind: str) -> None:
    numbers = np.random.default_rng(5).integers(0, 2 if kind == "bool" else 120, (3, 20))
    a = numbers.astype(kind)
    results = [getattr(Tensor(a), name)(axis) for axis in (0, 1)]
    Tensor.realize(*results)
    for axis, got in enumerate(results):
        want = getattr(np, name)(a, axis)
        assert got.dtype is dtypes.to_dtype(INTEGERS[kind]) is dtypes.to_dtype(want.dtype)
        np.testing.assert_array_equal(got.numpy(), want, f"axis {axis}")


@pytest.mark.parametrize("name", REDUCES)
def test_a_dtype_that_is_given_is_that_of_the_result(name: str) -> None:
    a = np.array([100, 100, 3], np.uint8)
    kinds = ("uint8", "int32", "float32", "uint64")
    results = [getattr(Tensor(a), name)(0, dtype=kind) for kind in kinds]
    Tensor.realize(*results)
    for kind, got in zip(kinds, results):
        assert got.dtype is dtypes.to_dtype(kind)
        np.testing.assert_array_equal(got.numpy(), getattr(np, name)(a, 0, dtype=kind), kind)


def test_large_sums_do_not_wrap() -> None:
    assert Tensor.arange(100_000).sum().item() == sum(range(100_000))
    assert Tensor.arange(100_000).cumsum().max().item() == sum(range(100_000))
    top = Tensor([2**31 - 1] * 3)
    assert top.nansum().item() == 3 * (2**31 - 1) and top.mean().item() == 2.0**31
    assert Tensor([2**31 - 1, 1]).diag().trace().item() == 2**31
    assert xp.sum(xp.asarray([2**31 - 1, 1])).item() == 2**31
    assert (Tensor.ones(300, dtype="int8") != 0).sum().item() == 300


def test_products_of_matrices_keep_their_dtype() -> None:
    x = Tensor([[1, 2], [3, 4]], dtype="int16")
    assert (x @ x).dtype is x.vecdot(x).dtype is Tensor.einsum("ij,jk->", x, x).dtype
    assert (x @ x).dtype is dtypes.int16
    assert Tensor.einsum("ij->", x).tolist() == 10


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "aminmax", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_extremes_of_nothing_are_refused(name: str, dtype: str) -> None:
    x = Tensor.empty(2, 0, dtype=dtype)
    for axis in (None, 1, -1):
        with pytest.raises(ShapeError, match="no elements"):
            getattr(x, name)(axis)
        with pytest.raises(ValueError, match="no elements"):
            getattr(x, name)(axis)
    if name != "aminmax":
        assert getattr(x, name)(0).shape == (0,)


def test_reductions_of_empty_axes() -> None:
    x = Tensor.empty(2, 0)
    assert x.sum(1).tolist() == [0.0, 0.0] and x.prod(1).tolist() == [1.0, 1.0]
    assert x.any(1).tolist() == [False, False] and x.all(1).tolist() == [True, True]
    assert x.cummax(1).shape == x.softmax(1).shape == x.log_softmax(1).shape == (2, 0)
    assert x.logsumexp(1).tolist() == [-math.inf, -math.inf]
    assert x.norm(math.inf, 1).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "name",
    "sum prod mean max min any all argmax argmin var std logsumexp amax count_nonzero nansum "
    "nanmean median".split(),
)
def test_a_number_in_place_of_keepdim_is_refused(name: str) -> None:
    with pytest.raises(WrongKind) as told:
        getattr(Tensor.ones(2, 3, 4), name)(1, 2)
    one_axis = name in ("argmax", "argmin", "median")
    hint = "keepdim=True" if one_axis else f"{name}((1, 2))"
    assert told.value.try_ is not None and hint in told.value.try_
    for flag in (1, "yes", None):
        with pytest.raises(WrongKind):
            getattr(Tensor.ones(2, 3, 4), name)(1, keepdim=flag)
    kept = getattr(Tensor.ones(2, 3, 4), name)(1, np.True_)
    assert (kept[0] if isinstance(kept, tuple) else kept).shape == (2, 1, 4)


def test_other_flags_are_checked_as_well() -> None:
    x = Tensor([[3.0, 1.0], [2.0, 4.0]])
    for call in (
        lambda: x.sort(0, 1), lambda: x.topk(1, 0, 1), lambda: x.isclose(x, 1e-5, 1e-8, 1),
        lambda: x.add(1, 2), lambda: x.sub(1, 2), lambda: x.mul(1, 2), lambda: x.div(1, "floor"),
        lambda: x.mod(1, 2), lambda: x.pow(1, 2), lambda: x.matmul(x, 2), lambda: x.svd(1),
        lambda: x.requires_grad_(2), lambda: Tensor([1.0], requires_grad=1),  # type: ignore
        lambda: Tensor.zeros(2, requires_grad="no"), lambda: x.searchsorted(x, 1),
    ):  # fmt: skip
        with pytest.raises(WrongKind):
            call()
    assert x.sub(1, True).tolist() == (1 - x).tolist()


def test_gradients_with_respect_to_integers_are_refused() -> None:
    x = Tensor([1, 2, 3])
    for materialize in (False, True):
        with pytest.raises(GradientError, match="floats"):
            x.float().mean().gradient(x, materialize_grads=materialize)


def test_the_power_of_minus_a_half_is_cs() -> None:
    numbers = [-math.inf, -0.0, 0.0, 4.0, -4.0, math.inf, math.nan]
    x = Tensor(numbers)
    with np.errstate(all="ignore"):
        want = np.power(np.array(numbers, np.float32), np.full(7, -0.5, np.float32))
    np.testing.assert_array_equal((x**-0.5).numpy(), want)
    np.testing.assert_array_equal((x ** Tensor([-0.5] * 7)).numpy(), want)
    leaf = Tensor([4.0], requires_grad=True)
    assert (leaf**-0.5).sum().gradient(leaf)[0].tolist() == [-0.0625]
