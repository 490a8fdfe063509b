"""Maxima of uneven parts with their places, and arguments that pools refuse."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional import folding, pooling, unpooling

CHANCE = np.random.default_rng(0)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_places_of_maxima_are_pytorchs(axes: int, parts: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    # small integers: equal maxima occur
    x = CHANCE.integers(0, 3, (2, 3, *(5, 4, 7)[:axes])).astype(np.float64)
    name = f"adaptive_max_pool{axes}d"
    theirs, ours = torch.tensor(x, requires_grad=True), Tensor(x, requires_grad=True)
    expected = getattr(torch.nn.functional, name)(theirs, parts, return_indices=True)
    got = getattr(pooling, name)(ours, parts, return_indices=True)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.detach().numpy())
    flat = x.reshape(6, -1)
    places = got[1].numpy().reshape(6, -1)
    np.testing.assert_array_equal(
        np.take_along_axis(flat, places, 1), got[0].numpy().reshape(6, -1)
    )
    x = CHANCE.standard_normal(x.shape)  # a gradient is one element's where no two are equal
    theirs, ours = torch.tensor(x, requires_grad=True), Tensor(x, requires_grad=True)
    getattr(torch.nn.functional, name)(theirs, parts).square().sum().backward()
    getattr(pooling, name)(ours, parts, True)[0].square().sum().backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-6)


def test_windows_that_do_not_fit() -> None:
    with pytest.raises(ArgumentError, match="divided by 0"):
        pooling.avg_pool2d(Tensor.ones(1, 1, 4, 4), 2, divisor_override=0)
    with pytest.raises(ArgumentError, match="reduces that size"):
        unpooling.max_unpool1d(Tensor.ones(1, 1, 2), Tensor([[[0, 3]]]), 2, output_size=(9,))
    with pytest.raises(ShapeError, match="images"):
        folding.unfold(Tensor.ones(4, 4), 2)
    with pytest.raises(ShapeError, match="larger than"):
        folding.unfold(Tensor.ones(1, 1, 2, 2), 3)
    with pytest.raises(ShapeError, match="do not fit"):
        folding.fold(Tensor.ones(1, 4, 3), (3, 3), 2)
