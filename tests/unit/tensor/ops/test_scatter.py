"""Scattering: dtypes are those of what is written to."""

from __future__ import annotations

import pytest

from weft import Tensor
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
