"""Construction, properties, reading out, running."""

import copy
import os
import pickle

import numpy as np
import pytest

import weft
from weft import Device, Tensor, dtypes, settings
from weft.base.errors import (
    ArgumentError,
    DTypeError,
    OutOfRange,
    ShapeError,
    UnknownDevice,
    WrongKind,
)
from weft.engine import stats
from weft.tensor.live_tensors import live_tensors
from weft.uop import Ops


def test_numbers_are_constants_and_take_no_memory():
    x = Tensor(2.0)
    assert x.uop.op is Ops.CONST and x.shape == () and x.dtype is dtypes.float32
    assert x.item() == 2.0 and x.tolist() == 2.0 and x.device == Device.DEFAULT
    assert Tensor(True).dtype is dtypes.bool and Tensor(3).dtype is dtypes.int32
    assert Tensor(3, dtype="half").item() == 3.0
    assert Tensor(np.float64(1.5)).dtype is dtypes.float64


def test_nested_lists():
    x = Tensor([[1, 2], [3, 4]])
    assert x.shape == (2, 2) and x.dtype is dtypes.int32 and x.tolist() == [[1, 2], [3, 4]]
    assert Tensor([1, 2.5]).dtype is dtypes.float32 and Tensor([True, False]).dtype is dtypes.bool
    assert Tensor([]).shape == (0,) and Tensor([[], []]).shape == (2, 0)
    assert Tensor(((1, 2), (3, 4))).shape == (2, 2)
    assert Tensor([1.9, -1.9], dtype="int32").tolist() == [1, -1]


def test_unsupported_data():
    with pytest.raises(ShapeError, match="length"):
        Tensor([[1, 2], [3]])
    with pytest.raises(ShapeError):
        Tensor([1, [2]])
    with pytest.raises(DTypeError):
        Tensor(["a"])
    with pytest.raises(DTypeError, match="no tensor can be made"):
        Tensor(object())
    with pytest.raises(DTypeError):
        Tensor([1], dtype="flaot")
    with pytest.raises(OutOfRange, match="out of range"):
        Tensor([300, -1], dtype="uint8")
    with pytest.raises(ArgumentError):
        Tensor(b"123", dtype="int32")
    with pytest.raises(UnknownDevice):
        Tensor([1], device="NOSUCH")
    assert Tensor([2**40], dtype=dtypes.int64).tolist() == [2**40]


def test_arrays_are_copied_in_their_own_dtype():
    a = np.arange(6, dtype=np.float64).reshape(2, 3)
    x = Tensor(a)
    a[:] = 0
    assert x.dtype is dtypes.float64 and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Tensor(a.T).shape == (3, 2) and Tensor(np.array(7)).shape == ()
    assert Tensor(a, dtype="float32").dtype is dtypes.float32
    assert Tensor(np.arange(3)[::-1]).tolist() == [2, 1, 0]
    assert Tensor(b"\x01\x02").tolist() == [1, 2]
    assert Tensor(bytearray(b"\0\0\x80\x3f"), dtype="float32").tolist() == [1.0]


def test_other_sources():
    x = Tensor([1, 2])
    assert Tensor(x.uop).tolist() == [1, 2] and Tensor(x, dtype="float").tolist() == [1.0, 2.0]
    assert Tensor(None).shape == (0,)
    assert Tensor.from_uop((x + 1).uop).tolist() == [2, 3]


def test_ranges_are_lists_of_integers():
    assert Tensor(range(2, 7, 2)).tolist() == [2, 4, 6] and Tensor(range(0)).shape == (0,)


@pytest.mark.parametrize(
    ("rows", "dtype"),
    [
        ([np.zeros(2, "int8"), np.ones(2, "int16")], "int16"),
        ([np.arange(2.0), np.arange(2.0)], "float64"),
        ([np.zeros(2, "int8"), [1, 2]], "int32"),
        ([np.zeros(2, "float16"), [1, 2]], "float16"),
        ([[np.zeros(2, "float32")], [np.ones(2, "int32")], [[2, 3]]], "float32"),
    ],
)
def test_lists_of_arrays_are_stacked_in_their_common_dtype(rows, dtype):
    got = Tensor(rows)
    assert got.dtype is dtypes.to_dtype(dtype)
    np.testing.assert_array_equal(got.numpy(), np.array(rows))


def test_many_arrays_are_one_copy():
    rows = [np.full(3, i, np.float32) for i in range(300)]
    got = Tensor(rows)
    assert len(got.uop.toposort()) < 10 and got.numpy()[:, 1].tolist() == list(range(300))


@pytest.mark.parametrize(
    "rows", [[np.zeros(2), np.zeros(3)], [np.zeros(2), 1], [np.zeros((2, 2)), [1, 2]]]
)
def test_rows_of_different_shapes_are_refused(rows):
    with pytest.raises(ShapeError, match="differ in shape"):
        Tensor(rows)


def test_properties():
    x = Tensor(np.zeros((2, 3), np.float32))
    assert (x.ndim, x.numel(), x.nbytes(), x.element_size(), len(x)) == (2, 6, 24, 4, 2)
    assert x.size() == (2, 3) and x.size(-1) == 3 and x.is_floating_point()
    assert x.lazydata is x.uop
    with pytest.raises(DTypeError):
        len(Tensor(1))
    with pytest.raises(DTypeError, match="not true or false"):
        bool(x)
    assert hash(x) == hash(x) and x in {x}
    assert [row.tolist() for row in Tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


def test_reading_out():
    x = Tensor([[1.0, 2.0]])
    assert x.numpy().dtype == np.float32 and x.data().shape == (1, 2) and x.data()[0, 1] == 2.0
    assert float(Tensor([1.5])) == 1.5 and int(Tensor(3)) == 3
    assert np.asarray(x).tolist() == [[1.0, 2.0]]
    with pytest.raises(ShapeError, match="item"):
        x.item()
    held = x.numpy()
    held[:] = 9
    assert x.tolist() == [[1.0, 2.0]]
    assert Tensor.full((2, 2), 7).tolist() == [[7, 7], [7, 7]]
    assert Tensor(np.zeros((2, 0, 3))).tolist() == [[], []]


@pytest.mark.parametrize("make", [lambda: Tensor(3), lambda: Tensor([1, 2]).sum(dtype="int32")])
def test_the_view_of_a_number_has_no_axes(make):
    view = make().data()
    assert (view.shape, view.format, view.itemsize, view.tolist()) == ((), "i", 4, 3)


def test_the_view_of_nothing_knows_its_elements():
    view = Tensor.zeros(0, 2, dtype="int16").data()
    assert (view.shape, view.format, view.itemsize, list(view)) == ((0,), "h", 2, [])


@pytest.mark.parametrize("read", ["numpy", "tolist", "data"])
def test_read_values_are_not_recomputed(read):
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], device="REF").realize()
    total = (x * 3).sum(0)
    shared = total.reshape(2, 1)
    getattr(total, read)()
    before = stats.kernels
    assert total.tolist() == [12.0, 18.0] and shared.tolist() == [[12.0], [18.0]]
    assert stats.kernels == before
    total[0] = 5.0
    assert total.tolist() == [5.0, 18.0] and shared.tolist() == [[5.0], [18.0]]


def test_print_form():
    x = Tensor([1, 2, 3])
    with settings.override(REPR="graph"):
        text, done = repr(x + 1), repr(x.contiguous().realize())
    assert text.startswith(
        f"<Tensor <UOp {x.device} (3,) int (<Ops.ADD: {Ops.ADD.value}>, None)> on "
    )
    assert text.endswith("with grad None>")
    assert "real:True" in done


def test_equal_graphs_are_one_node():
    x = Tensor([1.0, 2.0])
    assert (x + 1).uop is (x + 1).uop and Tensor([1.0, 2.0]).uop is not x.uop


def test_live_tensors_are_held_weakly():
    before = len(live_tensors())
    x = Tensor([1.0])
    y = x + 1
    assert len(live_tensors()) == before + 2 and any(t is y for t in live_tensors())
    del x, y
    assert len(live_tensors()) == before


def test_pickling_and_copying():
    x = Tensor([[1.0, 2.0]], requires_grad=True)
    y = pickle.loads(pickle.dumps(x))
    assert y.tolist() == x.tolist() and y.requires_grad and y.shape == (1, 2)
    z = copy.deepcopy(x)
    assert z.tolist() == x.tolist() and z.requires_grad and z.uop is not x.uop
    assert pickle.loads(pickle.dumps(Tensor(np.zeros((0, 3), np.int8)))).shape == (0, 3)
    assert copy.copy(x).uop is x.uop


def test_training_is_a_scope():
    assert not Tensor.training
    with Tensor.train():
        assert Tensor.training
        with Tensor.train(False):
            assert not Tensor.training
    assert not Tensor.training

    @Tensor.train()
    def step():
        return Tensor.training

    assert step() and not Tensor.training


@pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle does not run schedules"
)
def test_schedules_do_not_run():
    x = (Tensor([1.0, 2.0]) + 1).sum()
    items = x.schedule()
    assert [item.ast.op for item in items][-1] is Ops.SINK
    x = Tensor([1.0, 2.0])
    y, z = x + 1, x * 2
    assert y.realize(z) is y
    assert y.uop.base.op is Ops.BUFFER and z.uop.base.op is Ops.BUFFER
    k = (x + 3).kernelize()
    assert k.uop.base.op is not Ops.ADD and k.tolist() == [4.0, 5.0]


def test_moving_between_devices():
    x = Tensor([1.0, 2.0])
    assert x.to(x.device).tolist() == [1.0, 2.0] and x.to(None).device == x.device
    staged = x.to("HOST")
    assert staged.device == "HOST" and staged.tolist() == [1.0, 2.0]
    assert x.to_("HOST") is x and x.device == "HOST"
    with pytest.raises(weft.WeftError, match="different devices"):
        _ = staged + Tensor([1.0, 2.0], device="REF")


def test_names_that_are_not_there():
    with pytest.raises(AttributeError):
        Tensor([1]).no_such_method
    with pytest.raises(AttributeError, match="it has"):
        weft.nothing
    assert set(weft.__all__) <= set(dir(weft))


@pytest.mark.parametrize("name", ["realize", "kernelize", "schedule", "schedule_with_vars"])
@pytest.mark.parametrize(
    "make", [lambda x: [x], lambda x: (x, x), lambda x: x.numpy(), lambda x: 3]
)
def test_only_tensors_are_realized(name, make):
    x = Tensor([1.0])
    for call in (lambda: getattr(Tensor, name)(make(x)), lambda: getattr(x, name)(make(x))):
        with pytest.raises(WrongKind, match=f"^{name} takes tensors") as caught:
            call()
        hint = f"Tensor.{name}(*tensors) for a list of them"
        assert caught.value.try_ == (hint if isinstance(make(x), (list, tuple)) else None)
