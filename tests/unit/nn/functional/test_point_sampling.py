"""Values between the elements of an image."""

import numpy as np

from weft import Tensor
from weft.nn.functional.point_sampling import (
    cubic_samples,
    cubic_weights,
    linear_samples,
    nearest_samples,
    values_at,
)

IMAGE = np.arange(12.0).reshape(1, 1, 3, 4)


def test_values_at_indices_of_chosen_images() -> None:
    images = Tensor(np.concatenate([IMAGE, -IMAGE]))
    rows, columns = Tensor([[0, 2], [1, 1]]), Tensor([[1, 3], [0, 2]])
    assert values_at(images, [rows, columns]).tolist() == [[[1.0, 11.0]], [[-4.0, -6.0]]]
    swapped = values_at(images, [rows, columns], Tensor([1, 0]))
    assert swapped.tolist() == [[[-1.0, -11.0]], [[4.0, 6.0]]]


def test_a_plane_is_interpolated_exactly() -> None:
    rows, columns = Tensor([[0.5, 1.25]]), Tensor([[1.5, 1.75]])
    expected = rows.numpy() * 4 + columns.numpy()
    got = linear_samples(Tensor(IMAGE), [rows, columns])
    np.testing.assert_allclose(got.numpy()[0], expected, rtol=1e-6)
    inside = [Tensor([[1.0]]), Tensor([[1.5]])]
    np.testing.assert_allclose(cubic_samples(Tensor(IMAGE), inside).numpy(), [[[5.5]]], rtol=1e-6)
    assert nearest_samples(Tensor(IMAGE), [rows, columns]).tolist() == [[[2.0, 6.0]]]


def test_cubic_weights_sum_to_one() -> None:
    weights = cubic_weights(Tensor([0.0, 0.3, 0.9]), -0.75)
    np.testing.assert_allclose(sum(each.numpy() for each in weights), 1.0, rtol=1e-6)
    assert [each.numpy()[0] for each in weights] == [0.0, 1.0, 0.0, 0.0]
