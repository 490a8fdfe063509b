"""Writes into a tensor's memory, which other tensors must not see."""

import os

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, GradientError, ScheduleError, ShapeError


def stored(values, **kwargs):
    return Tensor(values, **kwargs).contiguous().realize()


@pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle does not run schedules"
)
def test_assign_keeps_the_memory():
    x = stored([1.0, 2.0, 3.0])
    buffer = x.uop.base
    assert x.assign(Tensor([4.0, 5.0, 6.0])) is x
    x.realize()
    assert x.tolist() == [4.0, 5.0, 6.0] and x.uop.base is buffer
    x += 1
    x.realize()
    assert x.tolist() == [5.0, 6.0, 7.0] and x.uop.base is buffer


def test_assign_to_a_pending_value():
    x = Tensor([1.0, 2.0]) * 2
    y = x + 1
    x.assign(Tensor([9.0, 9.0]))
    assert x.tolist() == [9.0, 9.0] and y.tolist() == [3.0, 5.0]


def test_values_that_are_written_are_converted():
    x = stored([1.0, 2.0])
    x.assign(3)
    assert x.tolist() == [3.0, 3.0]
    x.assign([4, 5])
    assert x.tolist() == [4.0, 5.0]
    x.assign(np.array([6.5, 7.5]))
    assert x.tolist() == [6.5, 7.5] and x.dtype is dtypes.float32
    x.assign(Tensor([1, 2]))
    assert x.tolist() == [1.0, 2.0]


def test_mismatched_values():
    x = stored([1, 2, 3])
    with pytest.raises(ShapeError):
        x.assign(Tensor([1, 2]))
    with pytest.raises(ShapeError):
        x.assign(Tensor([[1, 2, 3], [4, 5, 6]]))
    with pytest.raises(DTypeError):
        x.assign(Tensor([1.5, 2.5, 3.5]))
    with pytest.raises(DTypeError):
        x /= 2
    assert x.tolist() == [1, 2, 3]


def test_values_recorded_before_a_write_stay():
    a = stored([1.0, 2.0])
    b, view, copy = a + 1, a.reshape(2, 1), a.reshape(2, 1).contiguous()
    a.assign(Tensor([10.0, 20.0]))
    c = a + 1
    a.assign(a * 2)
    assert a.tolist() == [20.0, 40.0] and b.tolist() == [2.0, 3.0]
    assert c.tolist() == [11.0, 21.0] and copy.tolist() == [[1.0], [2.0]]
    assert view.tolist() == [[20.0], [40.0]]


def test_a_value_that_reads_itself_moved():
    a = stored([[1.0, 2.0], [3.0, 4.0]])
    a += a.T.contiguous()
    assert a.tolist() == [[2.0, 5.0], [5.0, 8.0]]


@pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle does not run schedules"
)
def test_a_self_referencing_assign_suggests_contiguous():
    a = stored([[1.0, 2.0], [3.0, 4.0]])
    a += a.T
    with pytest.raises(ScheduleError) as caught:
        a.realize()
    assert "contiguous()" in caught.value.try_


def test_many_writes_before_one_realize():
    a = stored([0, 0])
    for i in range(5):
        a += i
    a[0] = 7
    assert a.tolist() == [7, 10]


def test_all_operators_in_place():
    a = stored([7, 9])
    a -= 1
    a *= 3
    a //= 2
    a %= 5
    assert a.tolist() == [4, 2]
    a <<= 2
    a |= 1
    a &= 0b11101
    a ^= 1
    a >>= 1
    assert a.tolist() == [8, 4]
    a **= 2
    assert a.tolist() == [64, 16]
    m = stored([[1.0, 1.0], [0.0, 1.0]])
    m @= m
    m /= 2
    assert m.tolist() == [[0.5, 1.0], [0.0, 0.5]]


def test_leaves_and_writes():
    w = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(GradientError):
        w.assign(w * 2)
    w.assign(w.detach() * 2)
    assert w.tolist() == [2.0, 4.0] and w.requires_grad and w.is_leaf
    (w * 3).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]
    with Tensor.no_grad():
        w -= w.grad * 0.5
    assert w.tolist() == [0.5, 2.5] and w.is_leaf
    b = Tensor([0.0, 0.0])
    b.assign(w * 4)
    assert b.requires_grad and b.sum().gradient(w)[0].tolist() == [4.0, 4.0]


def test_replace():
    x = Tensor([1.0, 2.0])
    x.replace(Tensor([3.0, 4.0]))
    assert x.tolist() == [3.0, 4.0]
    with pytest.raises(ShapeError):
        x.replace(Tensor([1.0]))
    x.replace(Tensor([1.0]), allow_shape_mismatch=True)
    assert x.shape == (1,)
    with pytest.raises(DTypeError):
        x.replace(Tensor([1]))
    with pytest.raises(ArgumentError, match="by a tensor"):
        x.replace(1.0)


def test_memory_of_constants_is_not_shared():
    a, b = Tensor.zeros(2).contiguous(), Tensor.zeros(2).contiguous()
    a.realize(b)
    a += 1
    assert a.tolist() == [1.0, 1.0] and b.tolist() == [0.0, 0.0]
    c = a.clone().realize()
    c += 5
    assert a.tolist() == [1.0, 1.0] and c.tolist() == [6.0, 6.0]
