"""Plans give what schedules give: over other memory, and beside tensors that share nodes."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.settings import settings
from weft.engine import stats
from weft.tensor import launch_plans
from weft.tensor.live_tensors import waiting_tensors


@pytest.fixture(autouse=True)
def no_plans():
    launch_plans.clear_plans()


@pytest.fixture
def launched(monkeypatch):
    """The tensors that a plan computed."""
    found = []
    set_value = launch_plans._set_value

    def noted(tensor, plan, buffer):
        set_value(tensor, plan, buffer)
        found.append(tensor)

    monkeypatch.setattr(launch_plans, "_set_value", noted)
    return found


def number(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def given(array):
    return Tensor(array).realize()


PROGRAMS = {
    "sum of two": lambda x, y: x + y,
    "one twice": lambda x, y: x + x,
    "chain": lambda x, y: ((x * 2 + y).relu() - 1).exp(),
    "reduction": lambda x, y: (x * y).sum(axis=1),
    "mean over all": lambda x, y: (x - y).mean(),
    "softmax": lambda x, y: (x + y).softmax(-1),
    "product": lambda x, y: x @ y.transpose(0, 1),
    "movement": lambda x, y: (x.transpose(0, 1) + 1).reshape(-1)[2:9],
    "padded": lambda x, y: x.pad(((1, 1), (0, 2))) * 3,
    "integers": lambda x, y: (x > y).sum(axis=0),
    "sorted": lambda x, y: (x + y).sort(axis=1)[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_graphs_over_other_memory(name):
    program = PROGRAMS[name]
    for seed in range(4):
        x, y = number(seed, 4, 6), number(seed + 100, 4, 6)
        found = program(given(x), given(y)).realize()
        with settings.override(SCHEDULE_CACHE=0):
            launch_plans.clear_plans()
            expected = program(given(x), given(y)).numpy()
        np.testing.assert_array_equal(found.numpy(), expected)


def test_the_second_call_uses_the_plan(launched):
    for seed in range(3):
        before = stats.kernels
        x, y = number(seed, 5), number(seed + 9, 5)
        np.testing.assert_array_equal((given(x) + given(y)).numpy(), x + y)
        assert stats.kernels == before + 1
    assert len(launched) == 2


def test_equal_leaves_are_told_apart(launched):
    x, y = given(number(0, 5)), given(number(1, 5))
    (x + y).realize()
    np.testing.assert_array_equal((x + x).numpy(), 2 * x.numpy())
    assert not launched
    np.testing.assert_array_equal((y + x).numpy(), x.numpy() + y.numpy())
    assert len(launched) == 1


def test_other_sizes_have_plans_of_their_own(launched):
    for size in (3, 4, 5):
        x = number(size, size)
        np.testing.assert_array_equal((given(x) * 2).numpy(), x * 2)
    assert not launched


def test_a_shared_node_is_computed_once(launched):
    x = given(number(0, 5))
    (x * 2).realize()
    shared = x * 2
    user = shared + 1
    shared.realize()
    assert not launched  # else the other tensor would compute it again
    before = stats.kernels
    np.testing.assert_array_equal(user.numpy(), x.numpy() * 2 + 1)
    assert stats.kernels == before + 1


def test_pending_tensors_elsewhere_do_not_matter(launched):
    x = given(number(0, 5))
    (x.reshape(5, 1) * 2).realize()
    elsewhere = [given(number(1, 5)) + 1, x.reshape(5, 1) + 3]
    (x.reshape(5, 1) * 2).realize()
    assert len(launched) == 1
    np.testing.assert_array_equal(elsewhere[1].numpy(), x.numpy()[:, None] + 3)


def test_gradients_flow_through_values_that_were_read(launched):
    x = given(number(0, 5))
    (x * 3).realize()
    w = Tensor(number(0, 5), requires_grad=True)
    y = w * 3
    y.realize()
    y.sum().backward()
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.numpy(), np.full(5, 3, np.float32))


def test_a_write_after_a_plan(launched):
    x = given(number(0, 5))
    for _ in range(3):
        before = x.numpy().copy()
        y = (x * 2).realize()
        x += 1
        x.realize()
        np.testing.assert_array_equal(y.numpy(), before * 2)
        np.testing.assert_array_equal(x.numpy(), before + 1)
    assert launched


def test_views_and_writes_to_them():
    for seed in range(3):
        x = given(number(seed, 4, 4))
        y = (x + 1).realize()
        y[1] = 7
        expected = x.numpy() + 1
        expected[1] = 7
        np.testing.assert_array_equal(y.numpy(), expected)


def test_a_written_tensor_is_pending_again():
    x = given(number(0, 5))
    (x + 1).realize()
    assert not any(tensor is x for tensor in waiting_tensors())
    x.assign(x * 2)
    assert any(tensor is x for tensor in waiting_tensors())


def test_a_view_of_a_written_base_is_pending_again():
    x = given(number(0, 4, 4))
    view = x[1]
    view.realize()
    assert not any(tensor is view for tensor in waiting_tensors())
    x.assign(x * 2)
    assert any(tensor is view for tensor in waiting_tensors())


def test_settings_are_part_of_a_plan(launched):
    x = given(number(0, 5))
    (x + 1).realize()
    with settings.override(NOOPT=1):
        (x + 1).realize()
        assert not launched
    (x + 1).realize()
    assert len(launched) == 1


def test_jit_records_what_a_plan_would_run():
    x = given(number(0, 5))
    (x * 5).realize()

    @jit
    def times(x):
        return (x * 5).realize()

    for seed in range(4):
        array = number(seed, 5)
        np.testing.assert_array_equal(times(given(array)).numpy(), array * 5)


def test_items(launched):
    for seed in range(3):
        array = number(seed, 7)
        total = float((given(array) * 2).sum())  # in an assert, pytest would keep every operand
        assert total == pytest.approx(float((array * 2).sum()), rel=1e-6)
        assert given(array[:1].reshape(1, 1)).item() == float(array[0])
    assert launched


def test_deep_and_wide_graphs_have_no_plan(launched):
    for _ in range(2):
        x = given(number(0, 3))
        for _ in range(200):
            x = x * 0.5 + 1
        x.realize()
        y = given(number(1, 3))
        for _ in range(30):
            y = y + y
        np.testing.assert_allclose(y.numpy(), number(1, 3) * 2.0**30, rtol=1e-6)
    assert not launched
