"""Who reads what, when it is overwritten: order, copies, refusals."""

import numpy as np
import pytest

from helpers.graphs import buffer, writes
from weft import Tensor
from weft.base.errors import ScheduleError
from weft.base.settings import settings
from weft.shape import ShapeTracker
from weft.uop import Ops, Window


def test_readers_of_the_old_value_come_before_the_write():
    a = buffer()
    assigned, reader = a.assign(buffer() + 1), a * 2
    for asked in ((assigned, reader), (reader, assigned)):
        order = writes(*asked)
        assert len(order) == 2 and order[-1].src[0] is a


def test_an_assignment_in_place_is_one_kernel():
    a = buffer()
    (write,) = writes(a.assign(a * 2 + 1))
    assert write.src[0] is a and write.src[1].src == (a,)


def test_writes_of_one_memory_follow_each_other():
    a = buffer()
    first = a.assign(a + 1)
    second = first.assign(first.flip((True,)).contiguous())
    one, copied, two = writes(second)
    assert one.src[0] is a and two.src[0] is one and copied.src[1].src[1:] == (one,)


def test_a_window_is_written_in_place():
    a = buffer()
    window = Window(ShapeTracker.from_shape((4,)).shrink(((1, 3),)))
    (write,) = writes(a.assign(buffer(2), window))
    store = write.src[1].arg.ast.src[0]
    assert store.src[0].arg.shape == (2,) and write.src[0] is a


def test_an_augmented_window_needs_no_copy():
    a = buffer()
    window = Window(ShapeTracker.from_shape((4,)).shrink(((1, 3),)))
    assert len(writes(a.assign(a.shrink(((1, 3),)) + 1, window))) == 1


def test_a_window_moved_onto_its_neighbour_is_copied_first():
    a = buffer()
    window = Window(ShapeTracker.from_shape((4,)).shrink(((1, 3),)))
    order = writes(a.assign(a.shrink(((0, 2),)), window))
    assert len(order) == 2 and order[-1].src[0] is a


def test_a_value_that_needs_both_old_and_new_reads_a_copy():
    a = buffer()
    new = a.assign(a + 1)
    with settings.override(GROUP_KERNELS=0):
        copied, written, _ = writes(new * a)
    assert written.src[0] is a and copied.src[0] is not a


def test_a_value_that_needs_both_old_and_new_element_by_element_needs_no_copy():
    a = buffer()
    written, product = writes(a.assign(a + 1) * a)
    assert written.src[1] is product.src[1]
    assert written.src[0] is a and product.src[0] is not a


def test_two_writers_of_one_version_do_not_meet():
    a = buffer()
    order = writes(a.assign(buffer() + 1), a.assign(buffer() + 2))
    assert sum(w.src[0] is a for w in order) == 1


def test_assigning_its_own_transpose_is_refused_with_the_remedy():
    a = buffer()
    square = a.reshape((2, 2))
    with pytest.raises(ScheduleError) as caught:
        writes(a.assign((square + square.permute((1, 0))).reshape((4,))))
    assert ".contiguous()" in caught.value.try_


def test_a_reduce_of_itself_is_stored_before_it_overwrites():
    a = buffer()
    total = a.reshape((2, 2)).reduce(Ops.ADD, (1,)).expand((2, 2)).reshape((4,))
    assert len(writes(a.assign(total))) == 2


def test_a_write_that_reads_a_displaced_part_of_itself_reads_a_copy():
    data = [[float(4 * i + j) for j in range(4)] for i in range(4)]
    a = Tensor(data, device="REF").realize()
    part = a.shrink(((1, 3), (0, 2))).pad(((1, 1), (0, 2)))
    a.assign(a + part)
    expected = [[x * (2 if 0 < i < 3 and j < 2 else 1) for j, x in enumerate(row)]
                for i, row in enumerate(data)]  # fmt: skip
    assert a.tolist() == expected
    b = Tensor(data, device="REF").realize()
    b.assign(b.shrink(((1, 2), None)).pad(((1, 2), None)).where(2, b))
    assert b.tolist() == [row if i != 1 else [2.0] * 4 for i, row in enumerate(data)]
    c = Tensor(data, device="REF").realize()
    c.assign(c + c.T)
    with pytest.raises(ScheduleError, match="at other places"):
        c.realize()


REMOVED = {
    "x * 1": lambda x: x * 1,
    "x + 0": lambda x: x + 0,
    "x | x": lambda x: x | x,
    "--x": lambda x: -(-x),
    "min of one": lambda x: x.reshape(2, 1).min(1),
    "cast there and back": lambda x: x.cast("int64").cast("int32"),
}


@pytest.mark.parametrize("name", REMOVED)
def test_a_value_that_simplification_removes_is_stored_before_a_write(name):
    x = Tensor([3, 4]).contiguous().realize()
    y = REMOVED[name](x)
    x.assign(y + 1)
    x[1] = 9
    assert (x.tolist(), y.tolist()) == ([4, 9], [3, 4])


def test_a_removed_value_is_stored_before_a_write_reads_it_at_other_elements():
    x = Tensor([3, 4]).contiguous().realize()
    y = x * 1
    x.assign(y.flip(0))
    assert (x.tolist(), y.tolist()) == ([4, 3], [3, 4])


def test_a_value_that_simplification_removes_needs_no_copy_element_by_element():
    x = Tensor([3, 4]).contiguous().realize()
    x.assign(x * 1 + 2)
    assert len(x.schedule()) == 1


def test_a_write_that_repeats_a_part_of_itself_reads_a_copy():
    data = np.arange(1.0, 17.0, dtype=np.float32).reshape(4, 4)
    for part in ((slice(0, 1),), (slice(None), slice(3, 4)), (2, 1), (slice(1, 2), slice(0, 1))):
        x, a = Tensor(data, device="REF").realize(), data.copy()
        x -= x[part]
        x += x[part] * 2 + x
        a -= a[part].copy()
        a += a[part] * 2 + a
        assert x.tolist() == a.tolist()
