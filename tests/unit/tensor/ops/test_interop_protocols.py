"""Python's own protocols and NumPy's: numbers, containers, copies, display."""

import copy
import operator
import pickle
import subprocess
import sys

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError, ExchangeError, ShapeError
from weft.engine import stats


def kernels(function):
    before = stats.kernels
    function()
    return stats.kernels - before


# ---- numbers -------------------------------------------------------------------------------------


def test_numbers():
    assert int(Tensor(3)) == 3 and int(Tensor([2.9])) == 2
    assert float(Tensor(1.5)) == 1.5 and complex(Tensor(1.5)) == 1.5
    assert operator.index(Tensor(7)) == 7
    assert list(range(Tensor(3))) == [0, 1, 2]
    assert ["a", "b"][Tensor(1)] == "b"
    assert f"{Tensor(1.25):.1f}" == "1.2" and f"{Tensor(255):x}" == "ff"
    assert f"{Tensor([1.25]):.1f}" == "1.2" and f"{Tensor([[7]]):03d}" == "007"
    assert f"{Tensor([1, 2])}".startswith("Tensor([1, 2], ")
    assert "%s" % Tensor([1, 2]) == repr(Tensor([1, 2]))  # noqa: UP031
    with pytest.raises(ShapeError, match="a format is of one number"):
        format(Tensor([1, 2]), ".1f")
    assert round(Tensor(2.5)).item() == 2.0
    assert round(Tensor(1.234), 2).item() == pytest.approx(1.23)
    quotient, rest = divmod(Tensor([7, -7]), 3)
    assert (quotient.tolist(), rest.tolist()) == ([2, -3], [1, 2])
    quotient, rest = divmod(7, Tensor([3]))
    assert (quotient.tolist(), rest.tolist()) == ([2], [1])
    assert (+Tensor([1])).tolist() == [1]


@pytest.mark.parametrize("value", [Tensor(1.0), Tensor(True), Tensor([1])], ids=["f", "b", "1-d"])
def test_invalid_indices(value):
    with pytest.raises(DTypeError, match="index"):
        operator.index(value)


def test_many_elements_are_no_number():
    with pytest.raises(ShapeError):
        float(Tensor([1.0, 2.0]))
    with pytest.raises(ShapeError, match="format"):
        format(Tensor([1, 2]), ".2f")
    with pytest.raises(TypeError, match="true or false"):
        bool(Tensor([1, 2]))


def test_containers():
    x = Tensor([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert [row.tolist() for row in reversed(x)] == [[3, 4], [1, 2]]
    assert 3 in x and 5 not in x
    assert 1 not in Tensor.zeros(0)
    assert len({x, x, Tensor([1])}) == 2, "by identity"
    with pytest.raises(TypeError):
        len(Tensor(1))
    with pytest.raises(TypeError):
        iter(Tensor(1)).__next__()


def test_single_elements_of_memory_need_no_kernel():
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4)).realize()
    if x._memory(None).copied:
        pytest.skip("the host does not see the memory of the default device")
    assert kernels(lambda: [x[i, j].item() for i in range(3) for j in range(4)]) == 0
    assert [x[i, 3].item() for i in range(3)] == [3.0, 7.0, 11.0]
    assert (x.T[1, 2].item(), x.flip(0)[0, 0].item(), x[1:][1:, 1:][0, -1].item()) == (9, 8, 11)
    assert x.pad(((1, 0), None))[0, 0].item() == 0.0
    assert x.expand(2, 3, 4)[1, 2, 3].item() == 11.0
    assert x.bitcast(dtypes.int32)[0, 1].item() == 0x3F800000
    x[0, 1] = 5
    assert x[0, 1].item() == 5.0


# ---- NumPy ---------------------------------------------------------------------------------------


def test_arrays():
    x = Tensor([[1, 2], [3, 4]])
    a = np.asarray(x)
    assert a.dtype == np.int32 and a.tolist() == x.tolist()
    a[0, 0] = 9
    assert x.tolist() == [[1, 2], [3, 4]]
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.array([x, x]).shape == (2, 2, 2)


def test_windows():
    x = Tensor([1.0, 2.0]).realize()
    if x._memory(None).copied:
        pytest.skip("the host does not see the memory of the default device")
    window = x.__array__(copy=False)
    assert not window.flags.writeable
    assert window.ctypes.data == x.__array__(copy=False).ctypes.data
    assert x.__array__(copy=True).ctypes.data != window.ctypes.data
    assert x.__array__(np.float32, copy=False).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="needs a copy"):
        x.__array__(np.float64, copy=False)
    with pytest.raises(ExchangeError):
        x.flip(0).__array__(copy=False)


# ---- copies --------------------------------------------------------------------------------------

PICKLED = {
    "memory": lambda: Tensor([[1.0, 2.0], [3.0, 4.0]]).realize(),
    "pending": lambda: Tensor([1, 2]) + 1,
    "view": lambda: Tensor([[1.0, 2.0], [3.0, 4.0]]).realize().T,
    "constant": lambda: Tensor.ones(2, 2),
    "bfloat16": lambda: Tensor([1.0, 2.0], dtype=dtypes.bfloat16),
    "bool": lambda: Tensor([True, False]),
    "nothing": lambda: Tensor.zeros(0, 3),
    "0-d": lambda: Tensor(5),
    "leaf": lambda: Tensor([1.0], requires_grad=True),
    "never": lambda: Tensor([1.0], requires_grad=False),
    "elsewhere": lambda: Tensor([1, 2], device="REF"),
}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", PICKLED)
def test_pickle(name, protocol):
    x = PICKLED[name]()
    y = pickle.loads(pickle.dumps(x, protocol))
    assert (y.tolist(), y.dtype, y.shape) == (x.tolist(), x.dtype, x.shape)
    assert (y.requires_grad, y.device) == (x.requires_grad, x.device)
    assert type(y) is Tensor


def test_pickle_out_of_band():
    buffers = []
    x = Tensor(np.arange(1000))
    packed = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(packed) < 1000 and len(buffers) == 1
    assert pickle.loads(packed, buffers=buffers).tolist() == list(range(1000))


def test_pickle_of_a_device_that_is_not_there():
    x = Tensor([1, 2], device="REF")
    build, arguments = x.__reduce_ex__(4)
    values, dtype, shape, flag, where, kind = arguments
    assert where == "REF"
    back = build(values, dtype, shape, flag, "NOWHERE:7", kind)
    assert back.device == Tensor([1]).device and back.tolist() == [1, 2]


def test_pickle_of_shards():
    x = Tensor([1, 2, 3, 4]).shard(("REF:0", "REF:1"), 0)
    assert pickle.loads(pickle.dumps(x)).tolist() == [1, 2, 3, 4]


def test_another_process(tmp_path):
    (tmp_path / "x.pickle").write_bytes(pickle.dumps({"w": Tensor([1.5, 2.5])}))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))['w'].tolist())"
    command = [sys.executable, "-c", code, str(tmp_path / "x.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[1.5, 2.5]", done.stderr


def test_deep_copies_have_memory_and_gradients_of_their_own():
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = copy.deepcopy({"a": x, "b": [x]})
    assert y["a"] is y["b"][0]
    assert y["a"].grad is not x.grad and y["a"].grad.tolist() == [2.0, 4.0]
    assert y["a"].requires_grad is True and y["a"].is_leaf
    with Tensor.no_grad():
        x[0] = 9
    assert y["a"].tolist() == [1.0, 2.0]
    for flag in (None, False):
        assert copy.deepcopy(Tensor([1.0], requires_grad=flag)).requires_grad is flag


def test_shallow_copies_keep_their_value():
    x = Tensor([1, 2]).realize()
    y = copy.copy(x)
    x[0] = 9
    assert (x.tolist(), y.tolist()) == ([9, 2], [1, 2])


# ---- display -------------------------------------------------------------------------------------


def test_display_computes_nothing():
    x = Tensor([[1.0, 2.0]]) + 1

    def show():
        repr(x), str(x), f"{x}", x._repr_html_()

    assert kernels(show) == 0
    assert x.uop.realized is None
    null = Tensor.empty(3, device="NULL") * 2
    assert kernels(null._repr_html_) == 0


def test_display_of_notebooks():
    pending = (Tensor([1, 2]) + 1)._repr_html_()
    assert "to be computed (ADD)" in pending and "<pre>" not in pending
    done = Tensor([[1.5, 2.5]]).realize()
    assert "[[1.5, 2.5]]" in done._repr_html_() and "in memory" in done._repr_html_()
    assert "constant" in Tensor.ones(3)._repr_html_()
    assert "memory without values" in Tensor.empty(3)._repr_html_()
    assert "[0., 0., 0., ..., 0., 0., 0.]" in Tensor(np.zeros(2000)).realize()._repr_html_()
    leaf = Tensor([1.0], requires_grad=True)
    assert "none yet" in leaf._repr_html_()
    (leaf * 2).sum().backward()
    assert "accumulated" in leaf._repr_html_()


def test_pretty_printing():
    pretty = pytest.importorskip("rich.pretty")
    x = Tensor([[1, 2]]) + 1
    shown = pretty.pretty_repr({"x": x}, max_width=200)
    assert "Tensor(" in shown and "shape='(1, 2)'" in shown and "to be computed" in shown
    assert x.uop.realized is None


def test_arrays_of_the_standard_come_back_as_arrays():
    from weft.array_api import Array, asarray

    assert isinstance(pickle.loads(pickle.dumps(asarray([1, 2]))), Array)
    assert isinstance(copy.deepcopy(asarray([1, 2])), Array)


def test_bits_share_the_memory_of_their_numbers():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    if x._memory(None).copied:
        pytest.skip("the host does not see the memory of the default device")
    bits = x.bitcast("int32").T
    seen = np.from_dlpack(bits)
    assert np.asarray(bits, copy=False).tolist() == seen.tolist() == bits.tolist()
    assert np.shares_memory(seen, np.from_dlpack(x))
    x += 1  # goes to a copy, since the memory is in other hands
    assert seen[0].tolist() == [0x3F800000, 0x40400000] and bits[0, 0].item() == 0x40000000
