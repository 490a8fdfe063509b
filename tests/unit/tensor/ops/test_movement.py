"""Movement: padding that goes round."""

from __future__ import annotations

import math

import pytest

from weft import Tensor
from weft.base.errors import UnknownChoice


def test_what_goes_round_is_what_is_left() -> None:
    x = Tensor([0, 1, 2])
    assert x.pad((1, -1), mode="circular").tolist() == [1, 0, 1]
    assert x.pad((-1, 2), mode="circular").tolist() == [1, 2, 1, 2]
    assert x.pad((-1, 2), mode="reflect").tolist() == [1, 2, 1, 0]
    with pytest.raises(UnknownChoice):
        x.pad((1, 1), mode="mirror")


def test_the_sign_of_zero_goes_along() -> None:
    x = Tensor([[-0.0, 1.0, -math.inf], [0.0, -0.0, math.nan]])
    y = x.cast("half")
    parts = {
        "joined": (x.cat(x * 1, y, dim=1), [0, 1, 2, 0, 1, 2, 0, 1, 2]),
        "stacked": (x.stack(y).transpose(0, 1).reshape(2, 6), [0, 1, 2, 0, 1, 2]),
        "rolled": (x.roll(1, 1), [2, 0, 1]),
        "mirrored": (x.pad((1, 2), mode="reflect"), [1, 0, 1, 2, 1, 0]),
        "repeated": (x.pad((2, 0), mode="replicate"), [0, 0, 0, 1, 2]),
        "round": (x.pad((1, 1), mode="circular"), [2, 0, 1, 2, 0]),
    }
    wanted = x.tolist()
    for name, (found, places) in parts.items():
        assert repr(found.tolist()) == repr([[row[i] for i in places] for row in wanted]), name


def test_padding_with_minus_zero() -> None:
    assert repr(Tensor([1.0, -0.0]).pad((1, 1), value=-0.0).tolist()) == "[-0.0, 1.0, -0.0, -0.0]"
    assert repr(Tensor([1.0, -0.0]).pad((1, 1)).tolist()) == "[0.0, 1.0, -0.0, 0.0]"
    padded = Tensor([1, 2]).pad((0, 1), value=-0.0)
    assert (padded.dtype, padded.tolist()) == (Tensor([1]).dtype, [1, 2, 0])
