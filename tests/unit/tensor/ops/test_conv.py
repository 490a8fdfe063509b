"""Resizing and pooling at the ends of what they take."""

from __future__ import annotations

import pytest

from weft import Tensor, dtypes
from weft.base.errors import UnknownChoice


def test_whole_numbers_are_blended_and_rounded() -> None:
    x = Tensor([[0, 255]], dtype="uint8")
    assert x.interpolate((4,)).tolist() == [[0, 64, 191, 255]]
    assert x.interpolate((4,), mode="nearest").dtype is dtypes.uint8


def test_double_is_resized_in_double() -> None:
    x = Tensor([0.0, 1.0], dtype="double").interpolate((7,), align_corners=True)
    assert x.tolist() == pytest.approx([i / 6 for i in range(7)], abs=1e-15)


def test_an_unknown_mode() -> None:
    with pytest.raises(UnknownChoice):
        Tensor([[1.0]]).interpolate((2,), mode="cubic")


def test_images_change_no_value() -> None:
    x, w = Tensor.rand(1, 2, 5, 5), Tensor.rand(3, 2, 3, 3)
    assert x.image_conv2d(w, padding=1).tolist() == x.conv2d(w, padding=1).tolist()
    assert x.image_dot(w[0, 0, :, 0].pad(((0, 2),))).shape == (1, 2, 5)


def test_averages_of_short_floats_do_not_overflow_on_the_way() -> None:
    x = Tensor.full((1, 1, 16, 16), 1000.0, dtype="half")
    for pooled in (x.avg_pool2d(16), x.avg_pool2d(16, count_include_pad=False)):
        assert pooled.item() == 1000.0 and pooled.dtype is dtypes.float16
    assert x.adaptive_avg_pool2d(1).item() == 1000.0
