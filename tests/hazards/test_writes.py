"""A write never changes what was read before it, and is seen by everything recorded after it."""

import numpy as np
import pytest

from weft import Tensor, nn, settings


def test_a_pending_result_keeps_the_old_value():
    a = Tensor([1.0, 2.0, 3.0])
    b = a.relu()
    a[1] = 9.0
    assert b.tolist() == [1.0, 2.0, 3.0]
    assert a.tolist() == [1.0, 9.0, 3.0]


def test_a_held_copy_keeps_the_old_value_and_a_view_does_not():
    a = Tensor.arange(6).reshape(2, 3).contiguous().realize()
    row, column, copy = a[0], a[:, 1], a[:, 1].contiguous()
    a[:, :] = 0
    assert (row.tolist(), column.tolist(), copy.tolist()) == ([0, 0, 0], [0, 0], [1, 4])
    assert a.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_writes_follow_each_other():
    a = Tensor.zeros(4).contiguous()
    seen = []
    for place in range(4):
        a[place] = place + 1.0
        seen.append(a.sum())
    assert [s.item() for s in reversed(seen)] == [10.0, 6.0, 3.0, 1.0]


def test_two_halves_change_places():
    a = Tensor.arange(8).float().contiguous().realize()
    front, back = a[:4].contiguous(), a[4:].contiguous()
    a[:4], a[4:] = back, front
    assert a.tolist() == [4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0, 3.0]


def test_a_write_through_a_permuted_view():
    a = Tensor.zeros(2, 3).contiguous().realize()
    b = a.T
    b[1] = Tensor([5.0, 6.0])
    assert b.tolist() == [[0.0, 0.0], [5.0, 6.0], [0.0, 0.0]]
    assert a.tolist() == [[0.0, 5.0, 0.0], [0.0, 6.0, 0.0]]


def test_assign_in_a_loop_without_realize():
    total = Tensor.zeros(3).contiguous().realize()
    step = Tensor([1.0, 2.0, 3.0])
    for _ in range(50):
        total.assign(total + step)
    assert total.tolist() == [50.0, 100.0, 150.0]


def test_an_unrealized_assign_is_seen_by_later_reads():
    a = Tensor([1.0, 2.0]).realize()
    a += 1
    b = a * 10
    a += 1
    assert (b.tolist(), a.tolist()) == ([20.0, 30.0], [3.0, 4.0])


@pytest.mark.parametrize("seed", range(5))
def test_shifts_within_one_tensor(seed):
    """Either NumPy's answer or a refusal that says what to do; never another answer."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal(16).astype(np.float32)
    by = int(rng.integers(1, 8))
    a = Tensor(data.copy()).realize()
    expected = data.copy()
    expected[by:] = data[:-by]
    a[by:] = a[:-by].contiguous()
    np.testing.assert_array_equal(a.numpy(), expected)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LAMB"])
def test_parameters_that_their_own_gradients_read(kind):
    """The scale of a normalisation is read for its gradient, and written in the same step."""

    def steps(group):
        Tensor.manual_seed(1)
        with settings.override(GROUP_KERNELS=group), Tensor.train():
            conv, norm = nn.Conv2d(3, 16, 3, bias=False), nn.BatchNorm(16)
            parameters = nn.state.get_parameters([conv, norm])
            optimiser = getattr(nn.optim, kind)(parameters, lr=0.01)
            for _ in range(2):
                loss = norm(conv(Tensor.rand(1, 3, 4, 4))).elu().sum()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            return [p.numpy() for p in parameters]

    for one, other in zip(steps(1), steps(0)):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


def test_two_writers_of_one_memory_of_which_one_is_reached_through_a_constant():
    """x >= x is True without x: the write below it is not carried out with the other one."""
    t = Tensor(np.array([[2, 3], [4, 5]], np.uint16)).kernelize()
    other = t.contiguous()
    other.assign(t)
    t *= other
    other -= other
    later = t + 1
    other[None, :] = later >= later
    assert other.sum(0).kernelize().tolist() == [2, 2]
    assert later.tolist() == [[5, 10], [17, 26]]
    assert t.tolist() == [[4, 9], [16, 25]] and other.tolist() == [[1, 1], [1, 1]]


def test_a_round_trip_copy_before_two_writes_of_one_buffer():
    for change in (2, 3):
        x = (Tensor([1.0, 2.0, 3.0]) + 0).realize()
        there_and_back = x.to("REF").to(x.device)
        x[None, :] += change
        assert x.tolist() == [1.0 + change, 2.0 + change, 3.0 + change]
        assert there_and_back.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_aliases_write_a_value_that_folds_to_a_constant(rounds, first):
    data = np.array([3, 5, 4, 2], dtype=np.int32)
    one = Tensor(data).realize()
    other = one.contiguous()
    for _ in range(rounds):
        one[...] = other * 0
        other -= one
        other[...] = other % 7
    pair = [(one, [0] * 4), (other, data.tolist())]
    for tensor, expected in pair[::-1] if first else pair:
        assert tensor.tolist() == expected
