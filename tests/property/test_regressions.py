"""Programs that went wrong once, made small."""

import numpy as np
import pytest

from weft import Tensor, settings
from weft.engine import lower_schedule_item


def tensor(*values):
    return Tensor(list(values)).realize()


def test_kernelize_of_a_write_keeps_the_value_of_its_readers():
    a = tensor(3, 4)
    twice = a + a
    a += twice
    a.kernelize()
    assert a.tolist() == [9, 12]
    assert twice.tolist() == [6, 8]


@pytest.mark.parametrize("is_kernel", [False, True])
def test_pending_kernels_run_before_their_inputs_are_overwritten(is_kernel):
    a = tensor(3, 4)
    twice = (a + a).kernelize()
    a += 1
    if is_kernel:
        a.kernelize()
    assert a.tolist() == [4, 5]
    assert twice.tolist() == [6, 8]


def test_schedule_takes_readers_along():
    a = tensor(3, 4)
    twice = (a + a).kernelize()
    a += 1
    for item in a.schedule():
        lower_schedule_item(item).run()
    assert a.tolist() == [4, 5]
    assert twice.tolist() == [6, 8]


def test_a_write_run_for_a_reader_keeps_other_values():
    a = tensor(1, 2)
    before = a + a
    a += 1
    middle = before + before
    middle.assign(a)  # the value of a itself
    a.assign(before < 3)
    assert middle.tolist() == [2, 3]
    assert a.tolist() == [1, 0]


def test_copies_of_two_versions_at_once():
    a = tensor(3, 6)
    b = a + a
    a += b
    b = b * 2 + a
    a[0] = 0
    c = a + b
    assert a.tolist() == [0, 18]
    assert b.tolist() == [21, 42]
    assert c.tolist() == [21, 60]


def test_two_writers_that_read_each_others_old_value():
    a, b = tensor(1, 2), tensor(10, 20)
    total = a + b
    a.assign(total)
    b += total
    assert a.tolist() == [11, 22]
    assert b.tolist() == [21, 42]


def test_contiguous_of_a_view_keeps_the_old_value():
    a = tensor(1, 2)
    held = a.detach().contiguous()
    a += 1
    assert a.tolist() == [2, 3]
    assert held.tolist() == [1, 2]


@pytest.mark.parametrize("number", [Tensor(2), Tensor.full((), 2, dtype="int32")])
def test_complement_of_a_number_keeps_its_place(number):
    assert (~number).relu().tolist() == 0


def test_minimum_with_a_number_is_within_the_spec():
    with settings.override(SPEC=1):
        result = Tensor(np.array([-1, 5, 2], dtype=np.int32)).minimum(3).numpy()
    np.testing.assert_array_equal(result, [-1, 3, 2])


@pytest.mark.parametrize("device", ["REF", None])
def test_places_that_are_divided_are_added_up_once(device):
    # the indices are sums in a local array, and a view of the table divides them
    a = np.random.default_rng(0).integers(-4, 5, (5, 20)).astype(np.int32)
    x = Tensor(np.flip(a, 1).copy(), device=device).flip(1).flatten()
    np.testing.assert_array_equal(x.sort()[0].numpy(), np.sort(a, None))


@pytest.mark.parametrize("device", ["REF", None])
def test_padding_is_positive_zero(device):
    x = Tensor([1.0, 2.0], device=device).realize()
    for y in (-x, x * -3, x.cat(x), x.roll(1), (x < 2).where(x, -0.0)):
        edges = y.pad(((1, 1),)).numpy()[[0, -1]]
        assert not np.signbit(edges).any()
    y = (-x.pad(((1, 0),))).pad(((1, 0),))
    assert np.signbit(y.numpy()).tolist() == [False, True, True, True]
