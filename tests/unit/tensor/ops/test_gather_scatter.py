"""Scattering: dtypes are those of what is written to."""

from __future__ import annotations

import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError


def test_another_dtype_is_refused() -> None:
    x, index = Tensor.zeros(3), Tensor([0, 1])
    for source in (Tensor([1, 2]), Tensor([1.0, 2.0], dtype="half")):
        with pytest.raises(DTypeError) as error:
            x.scatter(0, index, source)
        assert "cast" in str(error.value.try_)
        with pytest.raises(DTypeError):
            x.scatter_reduce(0, index, source, "sum")
    assert x.scatter(0, index, 2).tolist() == [2.0, 2.0, 0.0]


def test_slopes_of_steps_are_zero_and_not_missing() -> None:
    x = Tensor([-1.5, 0.0, 2.5])
    for name in ("sign", "round", "floor", "ceil", "trunc"):
        assert getattr(x, name)().sum().gradient(x)[0].tolist() == [0.0, 0.0, 0.0], name
    assert (x**0).sum().gradient(x)[0].tolist() == [0.0, 0.0, 0.0]
    size = Tensor([1.0, 1.0, 1.0])
    assert size.copysign(x).sum().gradient(x)[0].tolist() == [0.0, 0.0, 0.0]


def test_without_axes_there_is_one_element() -> None:
    x, at, new = Tensor(1.5), Tensor(0), Tensor(2.5)
    for i, s in ((at, new), (at.reshape(1), new), (at, new.reshape(1))):
        assert x.scatter(0, i, s).tolist() == 2.5
        assert x.scatter(-1, i, s, reduce="add").tolist() == 4.0
        assert x.scatter_reduce(0, i, s, "mean").tolist() == 2.0
        assert x.reshape(1).scatter(0, i, s).tolist() == [2.5]
    assert x.scatter(0, at, 3).tolist() == 3.0
    assert x.scatter_reduce(0, at, new, "amin", include_self=False).tolist() == 2.5
    assert x.gather(0, Tensor([0, 0])).tolist() == [1.5, 1.5]
    assert x.gather(-1, at).tolist() == 1.5 and Tensor([4, 5]).gather(0, Tensor(1)).tolist() == 5
    leaf = Tensor(1.5, requires_grad=True)
    assert leaf.gather(0, at).gradient(leaf)[0].item() == 1.0


def test_truths_stay_truths() -> None:
    x, index, new = Tensor([True, False]), Tensor([1, 0, 0]), Tensor([True, True, False])
    for how, want in (("sum", [True, True]), ("prod", [False, False]), ("amax", [True, True])):
        found = x.scatter_reduce(0, index, new, how)
        assert found.dtype is dtypes.bool and found.tolist() == want, how
