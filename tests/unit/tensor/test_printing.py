"""The text of tensors: right values in NumPy's layout, and nothing computed or read in vain."""

import math
import re

import numpy as np
import pytest

import weft.array_api as xp
from weft import Tensor, Variable, dtypes, jit, settings
from weft.base.errors import ArgumentError, DeviceError
from weft.device import Buffer
from weft.engine import stats
from weft.tensor.printing import dtype_name

KINDS = [d for d in dtypes.all if d not in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)]


@pytest.fixture(autouse=True)
def plain_settings():
    with settings.override(REPR="auto"):
        yield


def expected(array, dtype=None, device="REF", more=""):
    """What NumPy prints, with the facts of a tensor in the place of its own."""
    array = np.asarray(array)
    body = np.array2string(array, separator=", ", prefix="Tensor(", suffix=",")
    text, facts = f"Tensor({body},", f"dtype={dtype or array.dtype.name}, device={device!r}{more})"
    too_long = len(text.splitlines()[-1]) + 1 + len(facts) > 75  # NumPy's width of a line
    return text + ("\n       " if too_long else " ") + facts


@pytest.mark.parametrize("dtype", KINDS, ids=dtype_name)
def test_values_of_every_dtype(dtype):
    array = np.array([[0, 1, 1], [1, 0, 100]]).astype(dtype_name(dtype))
    assert repr(Tensor(array, device="REF").realize()) == expected(array)


@pytest.mark.parametrize("name", ["bfloat16", "fp8e4m3", "fp8e5m2"])
def test_dtypes_that_numpy_lacks(name):
    x = Tensor([0.5, -2.0, 1.25], dtype=name, device="REF").realize()
    assert repr(x) == expected(np.array([0.5, -2.0, 1.25], np.float32), name)


def test_special_numbers():
    array = np.array([math.nan, math.inf, -math.inf, 1e-20], np.float32)
    assert repr(Tensor(array, device="REF").realize()) == expected(array)


MOVES = {
    "transposed": lambda x: x.transpose(0, 1) if isinstance(x, Tensor) else x.swapaxes(0, 1),
    "window": lambda x: x[1:, ::2],
    "backwards": lambda x: x[::-1],
    "row": lambda x: x[1],
    "element": lambda x: x[1, 2, 0],
    "expanded": lambda x: (
        x[:, :1] + 0 * x if isinstance(x, np.ndarray) else x[:, :1].expand(x.shape)
    ),
    "flat": lambda x: x[:, 1:].reshape(-1),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_views_of_memory(move):
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    x = Tensor(array, device="REF").contiguous().realize()
    before = stats.kernels, stats.copies
    shown = repr(move(x))
    assert (stats.kernels, stats.copies) == before
    assert shown == expected(move(array))


def test_repeated_axes():
    array = np.arange(3, dtype=np.int32).reshape(3, 1)
    x = Tensor(array, device="REF").contiguous().realize()
    assert repr(x.expand(3, 4)) == expected(np.broadcast_to(array, (3, 4)))


def test_padding_is_shown_as_zeros():
    x = Tensor([[1, 2], [3, 4]], device="REF").contiguous().realize()
    assert repr(x.pad(((1, 0), (0, 2)))) == expected(
        np.pad(np.array([[1, 2], [3, 4]], np.int32), ((1, 0), (0, 2)))
    )


def test_bits_read_as_another_dtype():
    array = np.array([[1.0, -2.5], [0.0, 3.0]], np.float32)
    x = Tensor(array, device="REF").contiguous().realize()
    assert repr(x.bitcast("int32")) == expected(array.view(np.int32))
    assert repr(x.bitcast("uint8")) == expected(array.view(np.uint8))
    assert repr(x.bitcast("int64")) == expected(array.view(np.int64))


def test_pending_values_are_not_computed():
    x = Tensor([[1.0, 2.0]], device="REF") + 1
    before = stats.kernels
    assert repr(x) == "Tensor(shape=(1, 2), dtype=float32, device='REF', pending)"
    assert stats.kernels == before and x.uop.realized is None
    assert repr(Tensor.empty(2, device="REF")).endswith("device='REF', uninitialized)")


def test_values_known_without_memory():
    before = stats.kernels
    assert repr(Tensor([1, 2], device="REF")) == expected(np.array([1, 2], np.int32))
    assert repr(Tensor.full((2, 2), 0.5, device="REF")) == expected(
        np.full((2, 2), np.float32(0.5))
    )
    assert repr(Tensor(3, device="REF")) == "Tensor(3, dtype=int32, device='REF')"
    assert repr(Tensor.arange(6, device="REF").reshape(2, 3)) == expected(
        np.arange(6, dtype=np.int32).reshape(2, 3)
    )
    assert repr(Tensor.arange(1, 9, 3, device="REF") * 0.5) == expected(
        np.arange(1, 9, 3) * np.float32(0.5)
    ).replace("float64", "float32")
    assert repr(Tensor.zeros(0, 3, device="REF")) == (
        "Tensor([], shape=(0, 3), dtype=float32, device='REF')"
    )
    assert stats.kernels == before


def test_gradients_are_said():
    x = Tensor([1.0], device="REF", requires_grad=True)
    assert repr(x) == "Tensor([1.], dtype=float32, device='REF', requires_grad=True)"
    assert repr(x * 2).endswith("device='REF', requires_grad=True, pending)")


def read_bytes(monkeypatch, show):
    """The text, and how many bytes were copied out of buffers for it."""
    counted = []
    copy_out = Buffer.copy_out

    def counting(self, into=None):
        counted.append(self.nbytes)
        return copy_out(self, into)

    monkeypatch.setattr(Buffer, "copy_out", counting)
    shown = show()
    monkeypatch.undo()
    return shown, sum(counted)


def test_a_large_tensor_is_summarised_and_little_of_it_is_read(monkeypatch):
    array = np.arange(400_000, dtype=np.int32).reshape(400, 1000)
    x = Tensor(array, device="REF").realize()
    shown, read = read_bytes(monkeypatch, lambda: repr(x))
    body = np.array2string(array, separator=", ", prefix="Tensor(", suffix=",", threshold=1000)
    assert shown == (f"Tensor({body},\n       shape=(400, 1000), dtype=int32, device='REF')")
    assert read <= 6 * 6 * 4
    shown, read = read_bytes(monkeypatch, lambda: repr(x.transpose(0, 1)[::7]))
    assert read <= 6 * 6 * 256 and "..." in shown
    shown, read = read_bytes(monkeypatch, lambda: repr(x[3, 5:8]))
    assert read == 3 * 4 and shown == expected(array[3, 5:8])


def test_files_are_read_in_windows(monkeypatch, tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.write(b"\1\2\3\4")
        file.truncate(1 << 33)
    x = Tensor.from_file(path)
    shown, read = read_bytes(monkeypatch, lambda: repr(x))
    assert shown.startswith("Tensor([1, 2, 3, ..., 0, 0, 0],") and read <= 6
    shown, read = read_bytes(monkeypatch, lambda: repr(x.bitcast("uint32")))
    assert shown.startswith("Tensor([67305985, ") and read <= 6 * 4


def test_options_of_numpy():
    x = Tensor([1.23456, 2.0], device="REF").realize()
    with np.printoptions(precision=2):
        assert repr(x) == "Tensor([1.23, 2.  ], dtype=float32, device='REF')"
    with np.printoptions(threshold=2, edgeitems=1):
        assert repr(Tensor.arange(4, device="REF")).startswith("Tensor([0, ..., 3],")
    with np.printoptions(linewidth=30):
        assert repr(x).splitlines()[1] == "       dtype=float32, device='REF')"


def test_shards():
    for axis in (0, None):
        x = Tensor([[1, 2], [3, 4], [5, 6]]).shard(("REF:1", "REF:2"), axis).realize()
        whole = np.array([[1, 2], [3, 4], [5, 6]], np.int32)
        assert repr(x) == expected(whole, device=("REF:1", "REF:2"))
        assert repr(x[1:].transpose(0, 1)) == expected(whole[1:].T, device=("REF:1", "REF:2"))


def test_images():
    values = np.arange(60, dtype=np.float32).reshape(15, 4) / 4
    for kind, numpy_kind in (("imagef", np.float32), ("imageh", np.float16)):
        dtype = getattr(dtypes, kind)((3, 5, 4))
        with settings.override(IMAGE=1):
            x = Tensor(values, device="REF:grid").cast(dtype).realize()
        wanted = np.array2string(values.astype(numpy_kind), separator=", ", prefix="Tensor(")
        assert repr(x) == f"Tensor({wanted},\n       dtype={kind}((3, 5, 4)), device='REF:grid')"


def test_symbolic_shapes():
    n = Variable("n", 1, 4).bind(2)
    x = Tensor([[1, 2, 3, 4]] * 3, device="REF").realize()[:, :n]
    values = np.array([[1, 2]] * 3, np.int32)
    assert repr(x) == expected(values).replace("dtype", "shape=(3, n), dtype")
    done = (x + 1).realize()
    assert repr(done) == expected(values + 1).replace("dtype", "shape=(3, n), dtype")
    free = Tensor.zeros(4, device="REF").contiguous()[: Variable("m", 1, 4)]
    assert "shape=(m)" in repr(free) or "shape=(m,)" in repr(free)


def test_arrays_of_the_standard():
    assert repr(xp.asarray([1, 2], device="REF")).startswith("Array([1, 2], dtype=int32")


def test_nothing_is_read_while_a_function_is_captured(capsys):
    @jit
    def double(x):
        result = x * 2
        print(x, result, f"{x}", sep="\n")
        return result

    x = Tensor([1.0, 2.0], device="REF").realize()
    for _ in range(4):
        assert double(x).tolist() == [2.0, 4.0]
    assert double.replays == 2
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 6
    assert all(re.search(r"shape=\(2,\).*(captured by jit|pending)\)$", text) for text in shown)


def test_settings_choose_the_form():
    x = Tensor([1, 2], device="REF") + 1
    with settings.override(REPR="graph"):
        assert repr(x).startswith("<Tensor <UOp REF (2,) int (<Ops.ADD")
    with settings.override(REPR="values"):
        assert repr(x) == expected(np.array([2, 3], np.int32))
    with pytest.raises(ArgumentError):
        settings.REPR = "pretty"


def test_no_error_leaves_it(monkeypatch):
    x = Tensor([1, 2], device="REF").contiguous().realize()

    def lost(self, into=None):
        raise DeviceError("the device is lost", asked="a copy")

    monkeypatch.setattr(Buffer, "copy_out", lost)
    assert repr(x) == (
        "Tensor(shape=(2,), dtype=int32, device='REF', "
        "values cannot be read: DeviceError: the device is lost)"
    )
    assert "<pre>" not in x._repr_html_()


@pytest.mark.parametrize("copy", [lambda x: x.clone(), lambda x: x.transpose(0, 1).contiguous()])
def test_a_pending_copy_keeps_its_values_while_its_source_is_written(copy):
    array = np.array([[1, 2], [3, 4]], np.int32)
    x = Tensor(array, device="REF").contiguous().realize()
    made = copy(x)
    shown = repr(made)
    x[0, 0] = 5
    assert repr(made) == shown
    x.realize()
    assert repr(made) == shown and repr(x).startswith("Tensor([[5, 2],")
    assert made.numpy().sum() == array.sum()
