"""Images, where they are declared: stored and read by pixels, copied whole, up to the limit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pytest

from weft.base.dtype import ImageDType, dtypes
from weft.base.settings import settings
from weft.device import Buffer, ComputeCaps
from weft.tensor import Tensor

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

KINDS = {"float": (dtypes.imagef, numpy.float32), "half": (dtypes.imageh, numpy.float16)}


@pytest.fixture
def limit(weft_compute: ComputeCaps) -> Iterator[tuple[int, int]]:
    """(width, height) of the largest image; the setting IMAGE is on."""
    if weft_compute.limits.image_size is None:
        pytest.skip("no images are declared")
    with settings.override(IMAGE=1):
        yield weft_compute.limits.image_size


def numbers(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(7).integers(-8, 9, shape).astype(numpy.float32)


@pytest.mark.parametrize("shape", [(1, 1, 4), (3, 5, 4), (7, 1, 4), (1, 67, 4)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_bytes_in_and_out_of_any_size(weft_device, limit, kind, shape):
    make, numpy_kind = KINDS[kind]
    values = numbers(*shape).astype(numpy_kind)
    buffer = Buffer(weft_device.id, values.size, make(shape)).copy_in(values.tobytes())
    assert bytes(buffer.copy_out()) == values.tobytes()
    assert buffer.numpy(window=False).tolist() == values.reshape(-1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_and_read(weft_device, limit, kind):
    values = numbers(15, 4) / 4
    x = Tensor(values, device=weft_device.name).cast(KINDS[kind][0]((3, 5, 4))).realize()
    assert isinstance(x.uop.base.realized.dtype, ImageDType)
    numpy.testing.assert_array_equal(x.numpy(), values)
    numpy.testing.assert_array_equal((x[1:, 1:3] * 2).numpy(), values[1:, 1:3] * 2)
    found = x.reshape(4, 15).pad(((1, 0), (0, 2))).sum(0).numpy()
    wanted = numpy.pad(values.reshape(4, 15), ((1, 0), (0, 2))).sum(0)
    numpy.testing.assert_array_equal(found, wanted)
    assert x.to("REF").numpy().tolist() == values.tolist()


def test_the_largest(weft_device, limit):
    for width, height in ((limit[0], 1), (1, limit[1])):
        values = numbers(width * height, 4)
        x = Tensor(values, device=weft_device.name).cast(dtypes.imagef((height, width, 4)))
        assert isinstance(x.realize().uop.base.realized.dtype, ImageDType)
        numpy.testing.assert_array_equal((x + 1).numpy(), values + 1)
    wide = Tensor(numbers(limit[0] + 1, 4), device=weft_device.name)
    kept = wide.cast(dtypes.imagef((1, limit[0] + 1, 4))).realize()
    assert kept.dtype is dtypes.float32


def test_products_and_convolutions(weft_device, limit):
    a, b = numbers(5, 7), numbers(7, 6)
    found = Tensor(a, device=weft_device.name) @ Tensor(b, device=weft_device.name)
    numpy.testing.assert_array_equal(found.numpy(), a @ b)
    x, w = numbers(1, 5, 6, 6), numbers(4, 5, 3, 3)
    found = Tensor(x, device=weft_device.name).conv2d(Tensor(w, device=weft_device.name))
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    numpy.testing.assert_array_equal(found.numpy(), numpy.einsum("ncyxhw,ochw->noyx", windows, w))
