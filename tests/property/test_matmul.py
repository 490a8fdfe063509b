"""Products of matrices, convolution and pooling against direct computation."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, ShapeError


def random(shape, seed=0, kind=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


@given(
    hnp.mutually_broadcastable_shapes(signature="(m?,n),(n,p?)->(m?,p?)", max_dims=2, max_side=4)
)
def test_matmul_shapes(shapes):
    a, b = (random(s, i) for i, s in enumerate(shapes.input_shapes))
    got = (Tensor(a) @ Tensor(b)).numpy()
    expected = a @ b
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_integer_matmul_is_exact_and_empty_ones_are_zero(m, k, n):
    a = np.arange(m * k, dtype=np.int32).reshape(m, k)
    b = np.arange(k * n, dtype=np.int32).reshape(k, n)
    np.testing.assert_array_equal((Tensor(a) @ Tensor(b)).numpy(), a @ b)


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int16", "uint16", "int64"])
def test_products_of_whole_numbers_keep_their_dtype(kind):
    a = (np.arange(12).reshape(3, 4) * 25).astype(kind)
    b = (np.arange(8).reshape(4, 2) % 3).astype(kind)
    for got in (Tensor(a) @ Tensor(b), Tensor.einsum("ij,jk->ik", Tensor(a), Tensor(b))):
        assert got.dtype is Tensor(a).dtype
        np.testing.assert_array_equal(got.numpy(), a @ b)
    wide = Tensor(a).dot(Tensor(b), dtype=dtypes.int32)
    assert wide.dtype is dtypes.int32
    np.testing.assert_array_equal(wide.numpy(), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_short_floats_are_summed_wide(kind):
    x = Tensor.ones(1, 3000, dtype=kind)
    got = x @ Tensor.ones(3000, 1, dtype=kind)
    assert got.dtype.name == kind and abs(float(got.float().item()) - 3000) <= 8
    assert x.dot(Tensor.ones(3000, 1, dtype=kind), dtype=dtypes.float32).item() == 3000.0


def test_shapes_that_do_not_multiply():
    with pytest.raises(ShapeError, match="do not multiply"):
        Tensor(random((3, 4))) @ Tensor(random((3, 4)))
    with pytest.raises(ShapeError):
        Tensor(random((3, 4))) @ Tensor(2.0)


FORMULAS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij->ji", [(2, 3)]),
    ("ij->", [(2, 3)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("i,j->ij", [(2,), (3,)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
    ("ij,ij->i", [(2, 3), (2, 3)]),
    ("abc,cd,da->b", [(2, 3, 4), (4, 5), (5, 2)]),
    ("i->", [(4,)]),
    ("iij->ij", [(2, 2, 3)]),
]


@pytest.mark.parametrize("formula, shapes", FORMULAS)
def test_einsum(formula, shapes):
    arrays = [random(s, i) for i, s in enumerate(shapes)]
    got = Tensor.einsum(formula, *map(Tensor, arrays)).numpy()
    expected = np.einsum(formula, *arrays)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("formula", ["ij,jk->ik", "ij->ijk", "i->i", "ij->ii"])
def test_einsum_reports_errors(formula):
    with pytest.raises(ArgumentError):
        Tensor.einsum(formula, Tensor(random((2, 3))))


def direct_conv(x, w, groups, stride, dilation, pads):
    """Convolution over any number of axes, by its definition."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pads])
    n = x.ndim - 2
    outputs, inputs = w.shape[:2]
    out = [
        (x.shape[2 + i] - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(n)
    ]
    result = np.zeros((x.shape[0], outputs, *out))
    for place in np.ndindex(*out):
        window = tuple(
            slice(p * s, p * s + d * (k - 1) + 1, d)
            for p, s, d, k in zip(place, stride, dilation, w.shape[2:])
        )
        for g in range(groups):
            part = x[(slice(None), slice(g * inputs, (g + 1) * inputs), *window)]
            each = outputs // groups
            kernel = w[g * each : (g + 1) * each]
            axes = list(range(1, n + 2))
            value = np.tensordot(part, kernel, axes=(axes, axes))
            result[(slice(None), slice(g * each, (g + 1) * each), *place)] = value
    return result


@given(st.data())
def test_convolution(data):
    n = data.draw(st.integers(1, 2))

    def draw(low, high):
        return [data.draw(st.integers(low, high)) for _ in range(n)]

    groups = data.draw(st.integers(1, 2))
    kernel, stride, dilation = draw(1, 3), draw(1, 3), draw(1, 2)
    pads = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in range(n)]
    need = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    least = [max(n - sum(p), 1) for n, p in zip(need, pads)]
    spatial = [data.draw(st.integers(low, max(low, 6))) for low in least]
    x = random((2, 2 * groups, *spatial))
    w = random((groups * 2, 2, *kernel), 1)
    got = Tensor(x).conv2d(Tensor(w), None, groups, tuple(stride), tuple(dilation), tuple(pads))
    expected = direct_conv(x, w, groups, stride, dilation, pads)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4, atol=1e-5)


@given(st.data())
def test_transposed_convolution_is_the_gradient(data):
    stride, dilation = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    kernel, groups = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    padding = data.draw(st.integers(0, dilation * (kernel - 1)))
    size = data.draw(st.integers(1, 4))
    x = random((2, 2 * groups, size, size))
    w = random((2 * groups, 2, kernel, kernel), 1)
    extra = data.draw(st.integers(0, stride - 1))
    assume((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 > 0)
    got = Tensor(x).conv_transpose2d(Tensor(w), None, groups, stride, dilation, padding, extra)
    length = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1
    assert got.shape == (2, 2 * groups, length, length)
    if length:
        target = Tensor(np.zeros(got.shape, np.float32), requires_grad=True)
        forward = target.conv2d(Tensor(w), None, groups, stride, dilation, padding)
        expected = (forward[..., :size, :size] * Tensor(x)).sum().gradient(target)[0]
        Tensor.realize(got, expected)
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


@given(st.data())
def test_pooling(data):
    kernel, stride = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    padding = data.draw(st.integers(0, kernel // 2))
    size = data.draw(st.integers(kernel, 6))
    a = random((1, 2, size, size))
    padded = np.pad(
        a, [(0, 0), (0, 0), (padding, padding), (padding, padding)], constant_values=-np.inf
    )
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))
    windows = windows[:, :, ::stride, ::stride]
    x = Tensor(a)
    top, places = x.max_pool2d(kernel, stride, padding=padding, return_indices=True)
    mean = x.avg_pool2d(kernel, stride, padding=padding)
    mean_inside = x.avg_pool2d(kernel, stride, padding=padding, count_include_pad=False)
    Tensor.realize(top, places, mean, mean_inside)
    np.testing.assert_array_equal(top.numpy(), windows.max((-1, -2)))
    np.testing.assert_array_equal(
        np.take_along_axis(a.reshape(1, 2, -1), places.numpy().reshape(1, 2, -1), -1),
        top.numpy().reshape(1, 2, -1),
    )
    inside = np.isfinite(windows)
    total = np.where(inside, windows, 0).sum((-1, -2))
    np.testing.assert_allclose(mean.numpy(), total / kernel**2, rtol=1e-4, atol=1e-6)
    expected = total / inside.sum((-1, -2))
    np.testing.assert_allclose(mean_inside.numpy(), expected, rtol=1e-4, atol=1e-6)


def test_pooling_with_ceil_mode_and_unpooling():
    a = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    x = Tensor(a)
    assert x.max_pool2d(2, ceil_mode=True).numpy()[0, 0].tolist() == [
        [6, 8, 9],
        [16, 18, 19],
        [21, 23, 24],
    ]
    assert x.avg_pool2d(2, ceil_mode=True).numpy()[0, 0].tolist() == [
        [3, 5, 6.5], [13, 15, 16.5], [20.5, 22.5, 24]]  # fmt: skip
    top, places = x.max_pool2d(2, return_indices=True)
    back = top.max_unpool2d(places, 2, output_size=(5, 5)).numpy()
    expected = np.where(np.isin(a, [6, 8, 16, 18]), a, 0)
    np.testing.assert_array_equal(back, expected)


def test_interpolation():
    a = np.float32([[0.0, 1.0, 4.0]])
    x = Tensor(a)
    np.testing.assert_allclose(x.interpolate(5, align_corners=True).numpy(), [[0, 0.5, 1, 2.5, 4]])
    np.testing.assert_allclose(x.interpolate(6).numpy(), [[0, 0.25, 0.75, 1.75, 3.25, 4]])
    assert x.interpolate(6, mode="nearest").numpy().tolist() == [[0, 0, 1, 1, 4, 4]]
    assert x.interpolate(2, mode="nearest-exact").numpy().tolist() == [[0, 4]]


def test_attention_and_losses():
    q, k, v = (random((2, 4, 5, 8), i) for i in range(3))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(8)
    masked = np.where(np.tril(np.ones((5, 5), bool)), scores, -np.inf)
    for causal, s in ((False, scores), (True, masked)):
        w = np.exp(s - s.max(-1, keepdims=True))
        expected = w / w.sum(-1, keepdims=True) @ v
        got = Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=causal)
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-4, atol=1e-5)
    shared = Tensor(q).scaled_dot_product_attention(
        Tensor(k[:, :2]), Tensor(v[:, :2]), enable_gqa=True
    )
    repeated = Tensor(q).scaled_dot_product_attention(
        Tensor(k[:, :2].repeat(2, 1)), Tensor(v[:, :2].repeat(2, 1))
    )
    np.testing.assert_allclose(shared.numpy(), repeated.numpy(), rtol=1e-5, atol=1e-6)

    logits, labels = random((6, 4)), np.int32([0, 3, 1, 2, 2, 0])
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    picked = -logs[np.arange(6), labels]
    x, y = Tensor(logits), Tensor(labels)
    np.testing.assert_allclose(x.cross_entropy(y).item(), picked.mean(), rtol=1e-5)
    np.testing.assert_allclose(
        x.sparse_categorical_crossentropy(y).item(), picked.mean(), rtol=1e-5
    )
    ignored = x.sparse_categorical_crossentropy(y, ignore_index=2).item()
    np.testing.assert_allclose(ignored, picked[labels != 2].mean(), rtol=1e-5)
    smooth = x.cross_entropy(y, label_smoothing=0.1).item()
    np.testing.assert_allclose(smooth, (picked * 0.9 - logs.mean(-1) * 0.1).mean(), rtol=1e-5)
    np.testing.assert_allclose(
        Tensor(logs).nll_loss(y, weight=Tensor([1.0, 2.0, 3.0, 4.0])).item(),
        (picked * np.float32([1, 4, 2, 3, 3, 1])).sum() / 14, rtol=1e-5,
    )  # fmt: skip
    p = 1 / (1 + np.exp(-logits))
    target = (random((6, 4), 5) > 0).astype(np.float32)
    bce = -(target * np.log(p) + (1 - target) * np.log(1 - p)).mean()
    np.testing.assert_allclose(x.binary_crossentropy_logits(Tensor(target)).item(), bce, rtol=1e-5)
    np.testing.assert_allclose(
        x.sigmoid().binary_crossentropy(Tensor(target)).item(), bce, rtol=1e-4
    )
