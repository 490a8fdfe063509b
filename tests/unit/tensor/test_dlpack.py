"""Memory shared with other libraries by DLPack: whose it is, how long, and who may write."""

import gc
import os
import sys

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, jit
from weft.base.errors import DTypeError, ExchangeError
from weft.tensor import dlpack

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _needs_memory_of_the_host():
    if os.environ.get("WEFT_TEST_ORACLE") == "1":
        pytest.skip("the oracle computes values; it writes nothing in place")
    if Tensor([1.0]).realize()._memory(None).copied:
        pytest.skip("the host does not see the memory of the default device")


@pytest.fixture
def in_place():
    """For tests of memory that is taken as it is."""
    try:
        Tensor.from_dlpack(np.ones(1), copy=False)
    except ExchangeError:
        pytest.skip("the default device cannot compute in the host's memory")


class Before1:
    """A producer from before version 1.0, whose `__dlpack__` knows a stream and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


class Elsewhere(Before1):
    """A producer whose memory the host does not see."""

    def __dlpack_device__(self):
        return (2, 0)


def address(x):
    return np.from_dlpack(x).ctypes.data


# ---- handing out ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_sees_the_memory(dtype):
    x = Tensor([[1, 0, 3], [4, 5, 1]], dtype=dtype).realize()
    seen = np.from_dlpack(x)
    assert seen.dtype == np.dtype(dtype)
    assert seen.tolist() == x.tolist()
    assert seen.ctypes.data == address(x)
    assert x.__dlpack_device__() == (1, 0)


def test_pending_values_are_computed():
    x = Tensor([1.0, 2.0]) + 1
    assert np.from_dlpack(x).tolist() == [2.0, 3.0]
    assert np.from_dlpack(Tensor.ones(2, 2)).tolist() == [[1.0, 1.0]] * 2
    assert np.from_dlpack(Tensor([1, 2], device="REF") * 2).tolist() == [2, 4]


def test_views_have_strides():
    x = Tensor(np.arange(12).reshape(3, 4)).realize()
    for view in (x.T, x[1:], x[:, 1:3], x[1], x[2, 3], x.unsqueeze(1)):
        seen = np.from_dlpack(view)
        np.testing.assert_array_equal(seen, view.numpy())
        assert 0 <= seen.ctypes.data - address(x) < 12 * 8, "no copy was needed"
    np.testing.assert_array_equal(np.from_dlpack(x.flip(0)), x.numpy()[::-1])


def test_of_nothing():
    assert np.from_dlpack(Tensor.zeros(0, 3)).shape == (0, 3)
    assert Tensor.from_dlpack(np.zeros((2, 0), np.int8)).shape == (2, 0)


def test_exported_memory_does_not_change():
    x = Tensor([1.0, 2.0, 3.0]).realize()
    seen = np.from_dlpack(x)
    assert not seen.flags.writeable
    x += 1
    x[0] = 9
    assert x.tolist() == [9.0, 3.0, 4.0]
    assert seen.tolist() == [1.0, 2.0, 3.0]


def test_writing_is_in_place_again_once_it_is_given_back():
    x = Tensor([1.0, 2.0, 3.0]).realize()
    place = address(x)
    gc.collect()
    x += 1
    x.realize()
    assert address(x) == place


def test_replays_do_not_change_exported_memory():
    weights = Tensor([1.0, 2.0]).realize()

    @jit
    def step(x):
        weights.assign(weights + x)
        return (weights * 2).realize()

    seen = []
    for _ in range(5):
        seen.append(np.from_dlpack(weights))
        step(Tensor([1.0, 1.0]))
    assert [s.tolist() for s in seen] == [[1.0 + i, 2.0 + i] for i in range(5)]
    assert weights.tolist() == [6.0, 7.0]


def test_copies_are_to_be_written():
    x = Tensor([1.0, 2.0]).realize()
    capsule = x.__dlpack__(copy=True, max_version=(1, 0))
    taken = dlpack.take(capsule, None)
    assert taken.copied
    assert bytes(taken.compact()) == x.numpy().tobytes()
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        copied = np.from_dlpack(x, copy=True)
        copied[0] = 7
        assert x.tolist() == [1.0, 2.0]


def test_the_tensor_may_go_first():
    seen = np.from_dlpack((Tensor.arange(1000) + 1).realize())
    gc.collect()
    for _ in range(3):
        (Tensor.arange(1000) * 0).realize()
    assert seen.tolist() == list(range(1, 1001))


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_unused_capsules(version, in_place):
    x = Tensor([1.0]).realize()
    there = address(x)
    capsule = x.__dlpack__(max_version=version)
    x.assign([2.0]).realize()
    assert address(x) != there
    there = address(x)
    capsule = x.__dlpack__(max_version=version)
    del capsule
    gc.collect()
    x.assign([3.0]).realize()
    assert address(x) == there


def test_an_exception_on_its_way_is_not_lost():
    """What is handed out dies while it is raised."""
    x = Tensor([1.0, 2.0]).realize()

    def both(first, second):
        raise AssertionError

    for make in (x.__dlpack__, lambda: x.__dlpack__(max_version=(1, 0)),
                 lambda: np.from_dlpack(x), lambda: Tensor.from_dlpack(np.ones(3))):  # fmt: skip
        with pytest.raises(ZeroDivisionError):
            both(make(), 1 / 0)


def test_exceptions_of_a_consumer_are_propagated():
    class Refusing:
        def __init__(self, value):
            value.__dlpack__()
            raise KeyError("refused")

    with pytest.raises(KeyError, match="refused"):
        Refusing(Tensor([1.0]))
    with pytest.raises((RuntimeError, BufferError), match="dtype"):
        np.from_dlpack(Tensor([1.0], dtype=dtypes.bfloat16))


def test_a_numpy_with_unversioned_capsules(monkeypatch):
    class Dated(np.ndarray):
        def __dlpack__(self, *, stream=None):
            return super().__dlpack__()

    over = dlpack._array_over
    monkeypatch.setattr(dlpack, "_array_over", lambda memory: over(memory).view(Dated))
    x = Tensor([1.0, 2.0]).realize()
    assert "dltensor_versioned" not in repr(x.__dlpack__(max_version=(1, 0)))
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]
    with pytest.raises(ExchangeError, match="this NumPy"):
        x.cast(dtypes.fp8e4m3).__dlpack__(max_version=(1, 0))


def test_unsupported_exports():
    x = Tensor([1.0, 2.0]).realize()
    with pytest.raises(BufferError, match="streams"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="host"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ExchangeError, match="no memory"):
        x.flip(0).__dlpack__(copy=False)
    with pytest.raises(ExchangeError, match="knows no"):
        x.cast(dtypes.fp8e4m3).__dlpack__()


# ---- taking in -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_is_seen(dtype, in_place):
    a = np.array([[1, 0, 3], [4, 5, 1]], dtype)
    x = Tensor.from_dlpack(a)
    assert x.dtype is getattr(dtypes, dtype)
    assert x.tolist() == a.tolist()
    assert weft.from_dlpack(a).tolist() == a.tolist()
    assert address(x) == a.ctypes.data


def test_the_producer_is_seen_and_not_written(in_place):
    a = np.arange(3.0)
    x, y = Tensor.from_dlpack(a), Tensor.from_dlpack(a)
    a[0] = 7
    assert x.tolist() == [7.0, 1.0, 2.0]
    x += 1
    x[1] = 50
    assert x.tolist() == [8.0, 50.0, 3.0]
    assert y.tolist() == a.tolist() == [7.0, 1.0, 2.0]


def test_recordings_do_not_write_it_either():
    a = np.arange(3.0)

    @jit
    def double(x):
        x.assign(x * 2)
        return (x + 0).realize()

    for _ in range(4):
        assert double(Tensor.from_dlpack(a)).tolist() == [0.0, 2.0, 4.0]
    assert a.tolist() == [0.0, 1.0, 2.0]


def test_copies():
    a = np.arange(3.0)
    x = Tensor.from_dlpack(a, copy=True)
    a[0] = 7
    assert x.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "key",
    [
        (slice(None, None, 2), slice(1, None)), slice(None, None, -1),
        (slice(None), slice(None, None, -2)), slice(1, None), (1, slice(2, 3)),
        (slice(None), None, 1),
    ],
)  # fmt: skip
def test_strides_and_offsets(key):
    a = np.arange(12.0).reshape(3, 4)
    for view in (a[key], a.T[key]):
        np.testing.assert_array_equal(Tensor.from_dlpack(view).numpy(), view)


def test_broadcast_and_read_only_arrays():
    wide = np.broadcast_to(np.arange(3.0), (2, 3))
    np.testing.assert_array_equal(Tensor.from_dlpack(wide).numpy(), wide)
    np.testing.assert_array_equal(Tensor.from_dlpack(np.array(5.0)).numpy(), 5.0)


def test_no_copy(in_place):
    a = np.arange(12.0).reshape(3, 4)
    assert address(Tensor.from_dlpack(a[1:], copy=False)) == a[1:].ctypes.data
    with pytest.raises(BufferError, match="row-major"):
        Tensor.from_dlpack(a.T, copy=False)
    with pytest.raises(BufferError, match="host's memory"):
        Tensor.from_dlpack(a, device="NULL", copy=False)


def test_other_devices_of_the_host():
    a = np.arange(3.0)
    x = Tensor.from_dlpack(a, device="REF:vector")
    assert x.device == "REF:vector"
    assert (x + 1).tolist() == [1.0, 2.0, 3.0]
    assert Tensor.from_dlpack(a, device=("REF:0", "REF:1")).tolist() == [0.0, 1.0, 2.0]


def test_it_is_kept_as_long_as_needed(in_place):
    a = np.ones(100)
    before = sys.getrefcount(a)
    x = Tensor.from_dlpack(a)
    y = x.reshape(10, 10)[2:4]
    assert sys.getrefcount(a) == before + 1
    del x
    assert y.sum().item() == 20.0
    assert sys.getrefcount(a) == before + 1
    del y
    gc.collect()
    assert sys.getrefcount(a) == before


def test_gradients_flow_to_it():
    x = Tensor.from_dlpack(np.arange(3.0)).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 4.0]


def test_capsules():
    x = Tensor([1.0, 2.0]).realize()
    capsule = x.__dlpack__()
    assert Tensor.from_dlpack(capsule).tolist() == [1.0, 2.0]
    with pytest.raises(ExchangeError, match="once"):
        Tensor.from_dlpack(capsule)
    with pytest.raises(ExchangeError, match="no array of DLPack"):
        Tensor.from_dlpack([1.0])


def test_old_and_distant_producers():
    a = np.arange(3)
    assert Tensor.from_dlpack(Before1(a)).tolist() == [0, 1, 2]
    with pytest.raises(ExchangeError, match="on the host"):
        Tensor.from_dlpack(Elsewhere(a))


def test_elements_that_weft_has_not(monkeypatch):
    monkeypatch.setattr(dlpack, "_KINDS", {})
    with pytest.raises(DTypeError, match="no dtype"):
        Tensor.from_dlpack(np.array([1.0]))


def test_tensors_themselves():
    x = Tensor([1.0, 2.0])
    assert Tensor.from_dlpack(x) is x
    assert Tensor.from_dlpack(x, device="REF").device == "REF"
    assert Tensor.from_dlpack(x, copy=True).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_torch_both_ways(dtype, in_place):
    torch = pytest.importorskip("torch")
    if not hasattr(torch, dtype):
        pytest.skip(f"this PyTorch has no {dtype}")
    there = torch.tensor([[1, 0, 3], [4, 5, 1]]).to(getattr(torch, dtype))
    here = Tensor.from_dlpack(there)
    assert here.cast(dtypes.float64).tolist() == there.to(torch.float64).tolist()
    back = torch.from_dlpack(here)
    assert back.dtype is there.dtype
    assert back.data_ptr() == there.data_ptr()
    turned = Tensor.from_dlpack(there.T)
    assert turned.cast(dtypes.float64).tolist() == there.T.to(torch.float64).tolist()
