"""Kernels, bytes and values of what counters are for: lookups, labels and scans."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.engine import stats

ROWS, WIDTH = 50, 16
RNG = np.random.default_rng(0)
X = RNG.standard_normal((ROWS, WIDTH)).astype(np.float32)
I = RNG.integers(0, ROWS, (4, 7)).astype(np.int32)  # noqa: E741
J = RNG.integers(0, WIDTH, 7).astype(np.int32)
G = RNG.integers(0, WIDTH, (ROWS, 3)).astype(np.int32)
LABELS = RNG.integers(0, WIDTH, ROWS).astype(np.int32)
LOGS = (
    X - X.max(1, keepdims=True) - np.log(np.exp(X - X.max(1, keepdims=True)).sum(1, keepdims=True))
)


def on(device, *arrays):
    return [Tensor(array, device=device).realize() for array in arrays]


def cost(tensor):
    """(kernels, bytes, value)."""
    before = stats.kernels, stats.bytes
    tensor.realize()
    return stats.kernels - before[0], stats.bytes - before[1], tensor.numpy()


LOOKUPS = {
    "rows": (lambda x, i, j, g: x[i], lambda: X[I]),
    "rows from the end": (lambda x, i, j, g: x[-i - 1], lambda: X[-I - 1]),
    "rows by int64": (lambda x, i, j, g: x[i.cast(dtypes.int64)], lambda: X[I]),
    "rows by uint8": (lambda x, i, j, g: x[i.cast(dtypes.uint8)], lambda: X[I]),
    "elements": (lambda x, i, j, g: x[i, j], lambda: X[I, J]),
    "columns": (lambda x, i, j, g: x[:, j], lambda: X[:, J]),
    "of a window": (lambda x, i, j, g: x[2:40][i % 38], lambda: X[2:40][I % 38]),
    "of what is computed": (lambda x, i, j, g: x.relu()[i] + 1, lambda: np.maximum(X, 0)[I] + 1),
    "gather": (lambda x, i, j, g: x.gather(1, g), lambda: np.take_along_axis(X, G, 1)),
    "one-hot product": (
        lambda x, i, j, g: i.one_hot(ROWS).cast(dtypes.float) @ x,
        lambda: X[I],
    ),
}


@pytest.mark.parametrize("arange", [0, 1, 2])
@pytest.mark.parametrize("device", ["CPU", "REF"])
@pytest.mark.parametrize("name", LOOKUPS)
def test_a_lookup_is_one_kernel_and_equal_when_switched_off(name, device, arange):
    ours, theirs = LOOKUPS[name]
    with settings.override(FUSE_ARANGE=arange):
        kernels, _, value = cost(ours(*on(device, X, I, J, G)))
    np.testing.assert_allclose(value, theirs(), rtol=1e-6)
    assert kernels == 1 or not arange


def test_only_selected_rows_are_read():
    table, index = Tensor.empty(5000, WIDTH, device="REF").realize(), on("REF", I)[0]
    _, moved, _ = cost(table[index])
    picked = I.size * WIDTH * 4
    assert moved == 2 * picked + I.nbytes


def test_a_label_is_picked_on_the_way():
    logits, labels = on("REF", X, LABELS)
    kernels, _, value = cost(logits.cross_entropy(labels))
    assert kernels <= 2
    np.testing.assert_allclose(value, -LOGS[np.arange(ROWS), LABELS].mean(), rtol=1e-5)
    kernels, _, value = cost(logits.nll_loss(labels, reduction="none"))
    assert kernels == 1
    np.testing.assert_allclose(value, -X[np.arange(ROWS), LABELS], rtol=1e-6)


@pytest.mark.parametrize("arange", [0, 1])
def test_the_gradient_of_a_lookup_accumulates_repeated_rows(arange):
    twice = np.array([3, 1, 3, -1], np.int32)
    want = np.zeros_like(X)
    np.add.at(want, twice, 2 * X[twice])
    with settings.override(FUSE_ARANGE=arange):
        x = Tensor(X).requires_grad_()
        (x[Tensor(twice)] ** 2).sum().backward()
        before = stats.kernels
        x.grad.realize()
        assert stats.kernels - before <= 2 + (not arange)
        np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-5)


# ---- counters ------------------------------------------------------------------------------------


def test_a_counter_takes_no_kernel_until_it_is_read():
    t = Tensor.arange(10) * 2 + 1
    before = stats.kernels
    t.realize()
    assert stats.kernels == before
    np.testing.assert_array_equal(t.numpy(), np.arange(10) * 2 + 1)
    assert Tensor.arange(10).realize().tolist() == list(range(10))


def test_a_realized_counter_is_a_value_like_others():
    t = Tensor.arange(6).realize()
    u = t + 1
    t[2:4] = 9
    np.testing.assert_array_equal(t.numpy(), [0, 1, 9, 9, 4, 5])
    np.testing.assert_array_equal(u.numpy(), [1, 2, 3, 4, 5, 6])
    v = Tensor.arange(6).realize()
    v.assign(Tensor.arange(6) * 2)
    np.testing.assert_array_equal(v.numpy(), np.arange(6) * 2)
    w = Tensor.arange(6, device="CPU").realize()
    np.testing.assert_array_equal(w.to("REF").numpy(), np.arange(6))
    np.testing.assert_array_equal(w.contiguous().realize().numpy(), np.arange(6))


def test_memory_of_two_counters_is_not_shared_by_their_writers():
    a, b = Tensor.arange(4).contiguous().realize(), Tensor.arange(4).contiguous().realize()
    a.assign(a + 10)
    a.realize()
    np.testing.assert_array_equal(b.numpy(), np.arange(4))


def test_masks_made_of_counters_are_computed_where_they_are_read():
    (x,) = on("REF", X)
    kernels, moved, value = cost(x.tril())
    assert kernels == 1 and moved == 2 * X.nbytes
    np.testing.assert_array_equal(value, np.tril(X))
    assert cost(Tensor.arange(10, device="REF").sum())[2] == 45


# ---- scans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 31, 32, 33, 100, 4096, 5000, 65536, 70001])
def test_a_running_sum_is_few_kernels_at_nearly_linear_cost(size):
    x = np.random.default_rng(size).integers(-9, 9, size).astype(np.int32)
    (t,) = on("CPU", x)
    before = stats.kernels, stats.ops
    got = t.cumsum(0).realize()
    # beyond 16 rows of 4096 the totals of rows are scanned in blocks as well
    assert stats.kernels - before[0] <= (2 if size <= 1 << 16 else 4)
    assert stats.ops - before[1] <= 60 * size + 100
    np.testing.assert_array_equal(got.numpy(), np.cumsum(x))


@pytest.mark.parametrize("shape", [(3, 70), (5, 33), (2, 4100)])
@pytest.mark.parametrize("axis", [0, 1])
def test_running_reductions_against_numpy(shape, axis):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    x[1, 20] = np.inf
    with np.errstate(invalid="ignore"):
        sums = np.cumsum(x, axis)
    t = Tensor(x)
    np.testing.assert_allclose(t.cumsum(axis).numpy(), sums, rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(t.cummax(axis).numpy(), np.maximum.accumulate(x, axis))
    near = (1 + 0.01 * np.nan_to_num(x, posinf=1)).astype(np.float32)
    want = np.cumprod(near, axis)
    np.testing.assert_allclose(Tensor(near).cumprod(axis).numpy(), want, rtol=1e-3)


def test_nan_affects_only_later_elements():
    x = np.ones(100, np.float32)
    x[40] = np.nan
    np.testing.assert_array_equal(Tensor(x).cumsum(0).numpy(), np.cumsum(x))
