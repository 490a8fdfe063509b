"""A short tour of Tensor on the device: the first methods of a user."""

from __future__ import annotations

import numpy
import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.tensor import Tensor


@pytest.fixture
def tensor(weft_device, weft_compute, weft_bytes):
    """``tensor(array)``: an array on the device under test."""

    def put(array, dtype=None):
        return Tensor(numpy.asarray(array), dtype=dtype, device=weft_device.name)

    return put


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def close(found, wanted):
    assert found.shape == wanted.shape
    assert numpy.allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_printing_reads_windows_of_memory(weft_device, weft_bytes):
    values = numpy.arange(6000, dtype=numpy.int32).reshape(60, 100)
    x, same = (Tensor(values, device=d).contiguous().realize() for d in (weft_device.name, "REF"))
    for each in (lambda t: t, lambda t: t.transpose(0, 1), lambda t: t[7, 3:9], lambda t: t[::9]):
        shown = repr(each(x)).replace(repr(x.device), "'REF'")
        assert " ".join(shown.split()) == " ".join(repr(each(same)).split())


def test_there_and_back(tensor, weft_device):
    array = numbers(3, 4)
    x = tensor(array)
    assert x.device == weft_device.name
    assert (x.numpy() == array).all()


def test_elementwise_and_broadcasting(tensor):
    a, b = numbers(3, 1, seed=1), numbers(4, seed=2)
    close((tensor(a) + tensor(b)) * 2 - tensor(a), (a + b) * 2 - a)
    close((tensor(a) < tensor(b)).where(tensor(a), tensor(b)), numpy.minimum(a, b))


def test_movement(tensor):
    a = numbers(2, 3, 4)
    x = tensor(a)
    close(x.permute(2, 0, 1).reshape(4, 6), a.transpose(2, 0, 1).reshape(4, 6))
    close(x[1, ::-1, 1:3].contiguous(), a[1, ::-1, 1:3])
    close(x.pad(((0, 0), (1, 0), (0, 2))), numpy.pad(a, ((0, 0), (1, 0), (0, 2))))


def test_reductions(tensor):
    a = numbers(5, 33)
    x = tensor(a)
    close(x.sum(axis=1), a.sum(axis=1))
    close(x.max(axis=0), a.max(axis=0))
    close(x.mean(), a.mean())
    close(x.softmax(axis=1), numpy.exp(a) / numpy.exp(a).sum(axis=1, keepdims=True))


def test_matmul(tensor):
    a, b = numbers(7, 12, seed=1), numbers(12, 5, seed=2)
    close(tensor(a) @ tensor(b), a @ b)


def test_integers_wrap(tensor):
    x = tensor(numpy.array([2**31 - 1, -(2**31)], dtype=numpy.int32))
    assert (x + 1).tolist() == [-(2**31), -(2**31) + 1]


def test_writing(tensor):
    x = tensor(numbers(4)).realize()
    before = x + 0
    x.assign(x * 2).realize()
    close(before * 2, x.numpy())


def test_gradients(tensor):
    a = numbers(6)
    x = tensor(a)
    x.requires_grad_() if hasattr(x, "requires_grad_") else None
    (x * x * x).sum().backward()
    close(x.grad, 3 * a * a)


def test_empty_and_scalar(tensor):
    assert tensor(numpy.zeros((0, 3), dtype=numpy.float32)).sum().item() == 0
    assert (tensor(numpy.float32(2.0)) * 3).item() == 6


def test_random_numbers_are_the_same_everywhere(weft_device, weft_compute, weft_bytes):
    Tensor.manual_seed(7)
    here = Tensor.rand(16, device=weft_device.name).numpy()
    Tensor.manual_seed(7)
    assert (Tensor.rand(16, device=weft_device.name).numpy() == here).all()
    assert ((here >= 0) & (here < 1)).all() and len(set(here.tolist())) > 10


def test_a_storage_device_refuses_to_compute(weft_device):
    if weft_device.capabilities.compute is not None:
        pytest.skip("this device computes")
    stored = Tensor.empty(4, dtype=dtypes.float32, device=weft_device.name)
    with pytest.raises(CapabilityError):
        (stored + 1).realize()
