"""What tensors are made of: arrays of any library, typed memory, ranges."""

import array
import ctypes
import mmap

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError
from weft.tensor import interop


class OnlyDLPack:
    """An array whose library offers no other protocol."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **wanted):
        return self.values.__dlpack__(**wanted)

    def __dlpack_device__(self):
        return (1, 0)


class OnlyInterface:
    def __init__(self, values):
        self.values = values

    @property
    def __array_interface__(self):
        return self.values.__array_interface__


class Refuses:
    def __array__(self, *_args, **_named):
        raise RuntimeError("not today")


def test_typed_memory():
    assert Tensor(array.array("d", [1.5, 2.5])).dtype is dtypes.float64
    assert Tensor((ctypes.c_int * 3)(1, 2, 3)).tolist() == [1, 2, 3]
    assert Tensor(range(2, 8, 2)).tolist() == [2, 4, 6]
    with mmap.mmap(-1, 4) as memory:
        memory[:] = b"weft"
        assert bytes(Tensor(memory).tolist()).startswith(b"w") or Tensor(memory).shape


def test_raw_bytes_stay_bytes():
    view = memoryview(array.array("d", [1.5]))
    assert Tensor(view).dtype is dtypes.uint8
    assert Tensor(view, dtype=dtypes.float64).tolist() == [1.5]


def test_protocols():
    a = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert Tensor(OnlyDLPack(a)).tolist() == a.tolist()
    assert Tensor(OnlyInterface(a)).dtype is dtypes.int16
    assert Tensor(OnlyDLPack(np.zeros((0, 2)))).shape == (0, 2)
    assert Tensor(OnlyDLPack(a), dtype=dtypes.float32).dtype is dtypes.float32


def test_tensors_are_copies():
    a = np.arange(3.0)
    x, y = Tensor(a), Tensor(OnlyDLPack(a))
    a[0] = 9
    assert x.tolist() == y.tolist() == [0.0, 1.0, 2.0]


def test_orders_of_bytes_and_of_elements():
    a = np.arange(6, dtype=">f4").reshape(2, 3)
    assert Tensor(a).dtype is dtypes.float32
    assert Tensor(a).tolist() == a.tolist()
    assert Tensor(np.asfortranarray(a)).tolist() == a.tolist()
    assert interop.as_array(a).dtype.isnative


@pytest.mark.parametrize(
    "data", [np.array(["a"]), np.array([None]), np.array(["a"]), {1}, {}, iter([1]), "text"]
)
def test_unsupported_data(data):
    with pytest.raises(DTypeError):
        Tensor(data)


def test_refusals_are_reported():
    with pytest.raises(DTypeError, match="not today"):
        Tensor(Refuses())


def test_torch():
    torch = pytest.importorskip("torch")
    assert Tensor(torch.arange(3)).dtype is dtypes.int64
    assert Tensor(torch.ones(2, dtype=torch.bfloat16)).dtype is dtypes.bfloat16
    with pytest.raises(DTypeError, match="detach"):
        Tensor(torch.ones(2, requires_grad=True))


@pytest.mark.parametrize("shape", [(6,), (2, 3), 6, (0, 3)])
def test_memory_at_an_address_is_shared_with_a_device_that_can_use_it(shape):
    numbers = array.array("f", range(6))
    x = Tensor.from_blob(numbers.buffer_info()[0], shape, device="REF")
    assert x.dtype is dtypes.float32 and x.device == "REF"
    numbers[0] = 9.0
    expected = np.array(numbers, dtype=np.float32)[: x.numel()].reshape(x.shape)
    np.testing.assert_array_equal((x * 2).numpy(), expected * 2)


def test_memory_at_an_address_is_copied_where_there_are_several_devices():
    numbers = array.array("d", range(4))
    places = ("REF:1", "REF:2")
    x = Tensor.from_blob(numbers.buffer_info()[0], (4,), dtype="double", device=places).realize()
    numbers[0] = 9.0
    assert x.device == places and x.tolist() == [0.0, 1.0, 2.0, 3.0]
