"""Order statistics and counts at their edges; the rest is compared with PyTorch elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError

X = Tensor([[3.0, 1.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: X.quantile(0.5, interpolation="cubic"), ArgumentError),
        (lambda: X.int().quantile(0.5), DTypeError),
        (lambda: Tensor.zeros(0, 2).quantile(0.5, 0), ArgumentError),
        (lambda: Tensor.zeros(0, 2).median(0), ArgumentError),
        (lambda: X.kthvalue(3), ArgumentError),
        (lambda: X.bincount(), DTypeError),
        (lambda: Tensor([-1]).bincount(), ArgumentError),
        (lambda: X.histc(0), ArgumentError),
        (lambda: X.norm("spectral"), ArgumentError),
        (lambda: Tensor(1.0).diff(), ShapeError),
        (lambda: Tensor.zeros(1, 1, 1).cov(), ShapeError),
    ],
)
def test_invalid_arguments(call: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_medians_of_nothing_and_of_nan() -> None:
    assert math.isnan(Tensor([]).median().item())
    value, place = Tensor([[1.0, math.nan, 0.0]]).median(1)
    assert math.isnan(value.item()) and place.item() == 1
    assert math.isnan(Tensor([math.nan]).nanmedian().item())
    assert Tensor(3).median(0)[0].item() == 3


def test_quantiles_of_several_shares_come_first() -> None:
    assert X.quantile([0.0, 0.5, 1.0], 0).tolist() == [[2.0, 1.0], [2.5, 2.5], [3.0, 4.0]]
    assert X.quantile([0.5], keepdim=True).shape == (1, 1, 1)
    assert X.quantile(0.5, 1, True).shape == (2, 1)


def test_infinities_are_not_blended_away() -> None:
    x = Tensor([-math.inf, -math.inf, 1.0, math.inf, math.inf])
    got = [x.quantile(q).item() for q in (0.0, 0.1, 0.5, 0.9, 1.0)]
    assert got == [-math.inf, -math.inf, 1.0, math.inf, math.inf]


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles_are_numpys(how: str) -> None:
    x = np.random.default_rng(3).normal(size=9).astype(np.float32)
    for q in (0.0, 0.2, 0.33, 0.7, 1.0):
        want = np.quantile(x, q, method=how)
        np.testing.assert_allclose(Tensor(x).quantile(q, interpolation=how).item(), want, rtol=1e-6)


def test_sizes_of_counts() -> None:
    assert Tensor.zeros(0, dtype="int32").bincount().shape == (0,)
    assert Tensor([1]).bincount(minlength=4).tolist() == [0, 1, 0, 0]
    assert Tensor([0, 0]).bincount(Tensor([0.5, 0.25])).tolist() == [0.75]
    assert X.count_nonzero().dtype is Tensor([1]).bincount().dtype is dtypes.int64


def test_the_slope_of_a_norm_at_zero_is_zero() -> None:
    x = Tensor([0.0, 0.0])
    assert x.norm().gradient(x)[0].tolist() == [0.0, 0.0]


def test_short_floats_are_added_up_wide() -> None:
    x = Tensor.full((4096,), 0.25, dtype="half")
    assert x.norm(1).item() == 1024.0 and x.norm().item() == 16.0 and x.norm().dtype is x.dtype
    assert x.nansum().item() == 1024.0 and x.nanmean().item() == 0.25


@pytest.mark.parametrize("p", [-2, -1, 0.5])
def test_powers_without_a_slope_at_zero_are_flat_there(p: float) -> None:
    x, y = Tensor([0.0, 0.0]), Tensor([0.0, 2.0])
    assert x.norm(p).item() == 0.0 and x.norm(p).gradient(x)[0].tolist() == [0.0, 0.0]
    assert y.norm(p).item() == pytest.approx(2.0 if p > 0 else 0.0)
    assert y.norm(p).gradient(y)[0].tolist() == pytest.approx([0.0, 1.0 if p > 0 else 0.0])


def test_a_norm_of_infinities() -> None:
    x = Tensor([float("inf"), 2.0])
    assert x.norm(-1).item() == 2.0 and x[:1].norm(-1).item() == float("inf")


def test_no_differences_are_self() -> None:
    assert X.diff(0, prepend=X).tolist() == X.tolist()


def test_a_norm_of_nothing() -> None:
    assert Tensor.zeros(3, 0).norm(float("inf"), 1).tolist() == [0.0, 0.0, 0.0]


def test_shares_have_a_slope_where_it_is_interpolated() -> None:
    x, q = Tensor([1.0, 5.0, 2.0]), Tensor([0.3, 0.8])
    assert x.quantile(q).sum().gradient(q)[0].tolist() == pytest.approx([2.0, 6.0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_a_histogram_of_integers_counts_in_int64(dtype):
    info = np.iinfo(np.int8 if dtype == "int8" else np.uint8)
    values = [info.min, info.max, *[3] * 300]
    got = Tensor(values, dtype=dtype, device="REF").histc(4)
    want, _ = np.histogram(values, 4)
    assert got.dtype is dtypes.int64 and got.tolist() == want.tolist()
    assert Tensor([0, 1, 2], dtype=dtype).histc(2, 0.5, 2.5).tolist() == [1, 1]


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), ()])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_a_median_of_all_elements_keeps_its_axes(name, shape):
    got = getattr(Tensor.ones(*shape), name)(keepdim=True)
    assert got.shape == (1,) * len(shape)


def test_nuclear_norm():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 4, 3))
    expected = [np.linalg.norm(each, "nuc") for each in x]
    np.testing.assert_allclose(Tensor(x).norm("nuc", dim=(1, 2)).numpy(), expected, rtol=1e-9)
    assert Tensor(x).norm("nuc", dim=(1, 2), keepdim=True).shape == (2, 1, 1)
    moved = Tensor(x.transpose(1, 0, 2)).norm("nuc", dim=(0, 2), keepdim=True)
    assert moved.shape == (1, 2, 1)
    np.testing.assert_allclose(moved.numpy().ravel(), expected, rtol=1e-9)
    np.testing.assert_allclose(Tensor(x[0]).norm("nuc").item(), expected[0], rtol=1e-9)
    with pytest.raises(ShapeError):
        Tensor(x).norm("nuc")


def test_nanmean_along_a_dim():
    x = Tensor([[1.0, float("nan")], [2.0, 4.0]])
    assert x.nanmean(dim=1).tolist() == x.nanmean(axis=1).tolist() == [1.0, 3.0]
