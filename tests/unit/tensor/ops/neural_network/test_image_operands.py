"""Operands in images, and values that are stored as one: the same numbers as without."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.dtype import ImageDType
from weft.base.settings import settings
from weft.tensor.ops.neural_network.image_operands import drawn, image_for
from weft.uop import Ops

DEVICE = "REF:grid"
IMAGE = dtypes.imagef((2, 3, 4))
VALUES = np.arange(24, dtype=np.float32).reshape(6, 4)


@pytest.fixture(autouse=True)
def _images_on():
    with settings.override(IMAGE=1):
        yield


def numbers(*shape):
    return np.random.default_rng(5).integers(-4, 5, shape).astype(np.float32)


def on(array, dtype=None):
    return Tensor(array, device=DEVICE, dtype=dtype)


def image():
    return on(VALUES).cast(IMAGE).realize()


def images_read(*tensors):
    """How many images the kernels of a schedule read."""
    asts = [item.ast for item in tensors[0].schedule(*tensors[1:]) if item.ast.op is Ops.SINK]
    loads = {u.src[0].base for ast in asts for u in ast.toposort() if u.op is Ops.LOAD}
    return sum(isinstance(pointer.dtype, ImageDType) for pointer in loads)


@pytest.mark.parametrize("m,k,n", [(2, 4, 3), (3, 5, 1), (1, 1, 1)])
def test_matrix_products_read_images(m, k, n):
    a, b = numbers(m, k), numbers(k, n)
    assert images_read(on(a) @ on(b)) == 2
    np.testing.assert_array_equal((on(a) @ on(b)).numpy(), a @ b)
    half = on(a).half() @ on(b).half()
    assert half.dtype is dtypes.half
    np.testing.assert_array_equal(half.numpy(), (a @ b).astype(np.float16))


def test_vectors_and_batches():
    a, b = numbers(2, 1, 3, 4), numbers(2, 4, 2)
    np.testing.assert_array_equal((on(a) @ on(b)).numpy(), a @ b)
    np.testing.assert_array_equal((on(a) @ on(b[0, :, 0])).numpy(), a @ b[0, :, 0])


@pytest.mark.parametrize("groups,padding", [(1, 0), (2, 1)])
def test_convolutions_read_images(groups, padding):
    x, w = numbers(1, 6, 3, 3), numbers(2, 6 // groups, 2, 2)
    with settings.override(IMAGE=0):
        wanted = on(x).conv2d(on(w), groups=groups, padding=padding).numpy()
    y = on(x).conv2d(on(w), groups=groups, padding=padding)
    assert images_read(y) == 2
    np.testing.assert_array_equal(y.numpy(), wanted)


def test_gradients_come_through_images():
    a, b = numbers(2, 3), numbers(3, 4)
    left, right = on(a).requires_grad_(), on(b).requires_grad_()
    (left @ right).sum().backward()
    np.testing.assert_array_equal(left.grad.numpy(), np.ones((2, 4), np.float32) @ b.T)
    np.testing.assert_array_equal(right.grad.numpy(), a.T @ np.ones((2, 4), np.float32))


def test_nothing_changes_without_images():
    a, b = Tensor(numbers(2, 4), device="REF"), Tensor(numbers(4, 2), device="REF")
    assert drawn(a, b, 1, 0) == (a, b)
    whole = on(numbers(2, 4)).cast(dtypes.int)
    assert drawn(whole, whole, 1, 1) == (whole, whole)
    with settings.override(IMAGE=0):
        assert images_read(on(numbers(2, 4)) @ on(numbers(4, 2))) == 0


def test_an_image_is_as_square_as_axes_allow():
    assert image_for((2, 8, 16), dtypes.float, DEVICE).shape == (16, 4, 4)
    assert image_for((256, 1024), dtypes.half, DEVICE) is dtypes.imageh((256, 256, 4))
    assert image_for((257, 1024), dtypes.float, DEVICE) is None
    assert image_for((4, 6), dtypes.float, DEVICE) is None
    assert image_for((), dtypes.float, DEVICE) is None


FUNCTIONS = {
    "plus one": lambda x: x + 1,
    "plus itself": lambda x: x + x,
    "sum": lambda x: x.sum(0),
    "maximum": lambda x: x.max(),
    "root": lambda x: x.sqrt(),
    "chosen": lambda x: (x > 3).where(x, 0),
    "half": lambda x: x.half(),
    "joined": lambda x: x.cat(x),
    "a window": lambda x: x[1:3, ::2],
    "another shape": lambda x: x.reshape(3, 8),
    "one element": lambda x: x[2, 1],
    "copied": lambda x: x.clone(),
    "elsewhere": lambda x: x.to("REF"),
    "looked up": lambda x: x[Tensor([4, 0], device=DEVICE)],
    "itself": lambda x: x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_image_counts_as_the_floats_in_it(name):
    function = FUNCTIONS[name]
    found, wanted = function(image()), function(on(VALUES))
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_reading_an_image():
    assert image().dtype is IMAGE and image()[2, 1].item() == 9
    assert image().tolist() == VALUES.tolist()
    assert image().data().tolist() == VALUES.tolist()


def test_writing_an_image():
    x = image()
    x += 1
    x[0] = 7
    assert x.dtype is IMAGE
    np.testing.assert_array_equal(x.numpy(), np.concatenate([[[7.0] * 4], VALUES[1:] + 1]))
    assert Tensor.full((6, 4), 2, dtype=IMAGE, device=DEVICE).numpy().sum() == 48


def test_halves_are_rounded_once():
    values = VALUES / 7
    x = on(values).cast(dtypes.imageh((2, 3, 4))).realize()
    np.testing.assert_array_equal(x.numpy(), values.astype(np.float16).astype(np.float32))
