"""Images sampled by grids, compared with PyTorch: values, and gradients of image and grid."""

import itertools

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.grid_sampling import affine_grid, grid_sample

CHANCE = np.random.default_rng(0)
IMAGES = {2: CHANCE.standard_normal((2, 2, 4, 5)), 3: CHANCE.standard_normal((2, 2, 4, 3, 5))}
GRIDS = {n: CHANCE.uniform(-1.7, 1.7, (2, *(3, 2, 2)[:n], n)) for n in (2, 3)}
PADDINGS, CORNERS = ("zeros", "border", "reflection"), (False, True)
CASES = [
    *itertools.product((2,), ("bilinear", "nearest", "bicubic"), PADDINGS, CORNERS),
    *itertools.product((3,), ("bilinear", "nearest"), PADDINGS, CORNERS),
]


@pytest.mark.parametrize(("axes", "mode", "padding", "corners"), CASES)
def test_values_and_gradients_are_pytorchs(
    axes: int, mode: str, padding: str, corners: bool
) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs = [torch.tensor(x, requires_grad=True) for x in (IMAGES[axes], GRIDS[axes])]
    ours = [Tensor(x, requires_grad=True) for x in (IMAGES[axes], GRIDS[axes])]
    expected = torch.nn.functional.grid_sample(*theirs, mode, padding, corners)
    got = grid_sample(*ours, mode, padding, corners)
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-9)
    expected.square().sum().backward()
    got.square().sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        gradient = 0 if one.grad is None else one.grad.numpy()
        np.testing.assert_allclose(gradient, other.grad.numpy(), rtol=1e-5, atol=1e-8)


def test_the_grid_of_the_identity_gives_the_image() -> None:
    image = Tensor(IMAGES[2])
    theta = Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]] * 2)

    @jit
    def sampled(x: Tensor) -> Tensor:
        return grid_sample(x, affine_grid(theta, x.shape, False), align_corners=False)

    for _ in range(3):
        np.testing.assert_allclose(sampled(image).numpy(), IMAGES[2], rtol=1e-5, atol=1e-5)


def test_invalid_arguments() -> None:
    image, grid = Tensor.ones(1, 1, 2, 2), Tensor.zeros(1, 3, 3, 2)
    with pytest.raises(ShapeError, match="grid does not fit"):
        grid_sample(image, grid.expand(2, 3, 3, 2))
    with pytest.raises(ArgumentError, match="mode"):
        grid_sample(image, grid, "linear")
    with pytest.raises(ArgumentError, match="mode"):
        grid_sample(Tensor.ones(1, 1, 2, 2, 2), Tensor.zeros(1, 1, 1, 1, 3), "bicubic")
    with pytest.raises(ShapeError, match="theta"):
        affine_grid(Tensor.ones(1, 2, 2), (1, 1, 2, 2))
    with pytest.raises(ArgumentError, match="spatial axes"):
        affine_grid(Tensor.ones(1, 2, 3), (1, 1, 2))
