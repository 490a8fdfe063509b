"""Reductions against NumPy: axes, dtypes, nothing at all."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, ShapeError

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = hnp.arrays(np.float32, SHAPES, elements=st.floats(-10, 10, width=32))


@st.composite
def with_axes(draw):
    a = draw(ARRAYS)
    axes = draw(
        st.none() | st.lists(st.integers(0, max(a.ndim - 1, 0)), unique=True, max_size=a.ndim)
    )
    return a, None if axes is None or a.ndim == 0 else tuple(axes)


@given(with_axes(), st.booleans())
def test_sum_mean_extremes(case, keepdim):
    a, axes = case
    x = Tensor(a)
    got = x.sum(axes, keepdim).numpy()
    np.testing.assert_allclose(got, a.sum(axes, keepdims=keepdim), rtol=1e-5, atol=1e-5)
    # on the way to a product nothing may overflow nor vanish, or its order decides the result
    calm = np.where(np.abs(a) < 0.5, np.float32(1), np.clip(a, -1.5, 1.5))
    np.testing.assert_allclose(
        Tensor(calm).prod(axes, keepdim).numpy(), calm.prod(axes, keepdims=keepdim), rtol=1e-5
    )
    reduced = range(a.ndim) if axes is None else axes
    for name in ("max", "min"):
        if 0 in [a.shape[axis] for axis in reduced]:
            with pytest.raises(ShapeError):
                getattr(x, name)(axes, keepdim)
            continue
        want = getattr(a, name)(axes, keepdims=keepdim)
        np.testing.assert_array_equal(getattr(x, name)(axes, keepdim).numpy(), want)
    count = a.size if axes is None else int(np.prod([a.shape[i] for i in axes], dtype=int))
    mean = x.mean(axes, keepdim).numpy()
    if count:
        np.testing.assert_allclose(mean, a.mean(axes, keepdims=keepdim), rtol=1e-5, atol=1e-5)
    else:
        assert np.isnan(mean).all()
    np.testing.assert_array_equal(
        (x > 0).any(axes, keepdim).numpy(), (a > 0).any(axes, keepdims=keepdim)
    )
    np.testing.assert_array_equal(
        (x > 0).all(axes, keepdim).numpy(), (a > 0).all(axes, keepdims=keepdim)
    )


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=5),
        elements=st.floats(-10, 10, width=32),
    ),
    st.sampled_from([0, 1]),
)
@example(np.full((5, 5, 5), 9.157986, np.float32), 1)
def test_variance(a, correction):
    got = Tensor(a).var(-1, correction=correction).numpy()
    np.testing.assert_allclose(got, a.var(-1, ddof=correction), rtol=1e-4, atol=1e-5)
    deviation, mean = Tensor(a).std_mean()
    # equal values differ from their rounded mean by its error, which grows with the values
    error = 1e-5 + 1e-5 * np.abs(a).max()
    np.testing.assert_allclose(deviation.numpy(), a.std(ddof=1), rtol=1e-4, atol=error)
    np.testing.assert_allclose(mean.numpy(), a.mean(), rtol=1e-5, atol=1e-5)


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
        elements=st.sampled_from([-2.0, 0.0, 1.0, 5.0, np.nan, -np.inf]),
    ),
    st.data(),
)
def test_argmax_is_the_first_and_takes_nan(a, data):
    axis = data.draw(st.none() | st.integers(-a.ndim, a.ndim - 1))
    x = Tensor(a)
    got = x.argmax(axis)
    assert got.dtype is dtypes.int32
    np.testing.assert_array_equal(got.numpy(), a.argmax(axis))
    np.testing.assert_array_equal(x.argmin(axis).numpy(), a.argmin(axis))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.bool_])
def test_argmax_of_integers(dtype):
    a = np.array([[3, 1, 3], [0, 0, 2]]).astype(dtype)
    np.testing.assert_array_equal(Tensor(a).argmax(1).numpy(), a.argmax(1))
    np.testing.assert_array_equal(Tensor(a).argmin(1).numpy(), a.argmin(1))
    np.testing.assert_array_equal(Tensor(a).max(1).numpy(), a.max(1))
    np.testing.assert_array_equal(Tensor(a).min(1).numpy(), a.min(1))


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=6),
        elements=st.floats(-80, 80, width=32),
    ),
    st.data(),
)
def test_softmax_family(a, data):
    axis = data.draw(st.integers(0, a.ndim - 1))
    wide = a.astype(np.float64)
    powers = np.exp(wide - wide.max(axis, keepdims=True))
    shares = powers / powers.sum(axis, keepdims=True)
    log_sum = np.log(powers.sum(axis)) + wide.max(axis)
    np.testing.assert_allclose(Tensor(a).softmax(axis).numpy(), shares, rtol=2e-5, atol=1e-30)
    logs = Tensor(a).log_softmax(axis).numpy()
    np.testing.assert_allclose(logs, wide - np.expand_dims(log_sum, axis), rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(Tensor(a).logsumexp(axis).numpy(), log_sum, rtol=1e-5, atol=1e-5)


def test_logsumexp_of_infinities():
    assert Tensor([-np.inf, -np.inf]).logsumexp().item() == -np.inf
    assert Tensor([np.inf, 1.0]).logsumexp().item() == np.inf


@given(
    hnp.arrays(
        np.int32,
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6),
        elements=st.integers(-3, 3),
    ),
    st.data(),
)
def test_scans(a, data):
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    x = Tensor(a)
    np.testing.assert_array_equal(x.cumsum(axis).numpy(), a.cumsum(axis))
    np.testing.assert_array_equal(x.cumprod(axis).numpy(), a.cumprod(axis))
    np.testing.assert_array_equal(x.cummax(axis).numpy(), np.maximum.accumulate(a, axis))
    f = a.astype(np.float32)
    np.testing.assert_allclose(
        Tensor(f).logcumsumexp(axis).numpy(), np.logaddexp.accumulate(f, axis), rtol=1e-5, atol=1e-5
    )


def test_long_scans_go_in_two_stages():
    a = (np.arange(1500) % 7 - 3).astype(np.int32).reshape(2, 750)
    np.testing.assert_array_equal(Tensor(a).cumsum(1).numpy(), a.cumsum(1))
    np.testing.assert_array_equal(Tensor(a).cummax(1).numpy(), np.maximum.accumulate(a, 1))


@pytest.mark.parametrize(
    "given_dtype, expected",
    [
        ("bool", "long"),
        ("char", "long"),
        ("short", "long"),
        ("uchar", "ulong"),
        ("ushort", "ulong"),
        ("int", "long"),
        ("long", "long"),
        ("ulong", "ulong"),
        ("half", "half"),
        ("bfloat16", "bfloat16"),
        ("float", "float"),
        ("double", "double"),
    ],
)
def test_dtype_of_a_sum(given_dtype, expected):
    x = Tensor([1, 1, 0]).cast(given_dtype)
    total = x.sum()
    assert total.dtype.name == expected and float(total.item()) == 2.0
    assert x.max().dtype.name == given_dtype and x.prod().dtype.name == expected


def test_short_types_accumulate_wide():
    assert Tensor(np.full(300, 100, np.uint8)).sum().item() == 30000
    assert Tensor(np.full(4096, 1.0, np.float16)).sum().item() == 4096.0
    assert Tensor(np.full(4096, 16.0, np.float16)).mean().item() == 16.0


def test_of_nothing():
    x = Tensor(np.zeros((2, 0), np.float32))
    assert x.sum(1).tolist() == [0.0, 0.0] and x.prod(1).tolist() == [1.0, 1.0]
    assert x.max(0).shape == (0,) and np.isnan(x.mean().item())
    assert x.sum(0).shape == (0,) and x.any().item() is False and x.all().item() is True
    assert Tensor(5.0).sum().item() == 5.0 and Tensor(5).argmax().item() == 0
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ShapeError):
            getattr(x, name)(1)


def test_a_tensor_in_place_of_the_axis_is_the_other_operand():
    x, y = Tensor([[1.0, 5.0], [9.0, 2.0]]), Tensor([3.0, 3.0])
    assert x.max(y).tolist() == [[3.0, 5.0], [9.0, 3.0]]
    assert x.min(y).tolist() == [[1.0, 3.0], [3.0, 2.0]]
    assert x.min(Tensor(1)).shape == (2, 2)


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_corrections_by_either_word(name):
    x = Tensor([[1.0, 2.0, 4.0], [8.0, 5.0, 7.0]])

    def found(*args, **kwargs):
        result = getattr(x, name)(*args, **kwargs)
        results = result if isinstance(result, tuple) else (result,)
        # a kernel for sizes that vary may add in another order
        return [np.round(t.numpy(), 5).tolist() for t in results]

    plain, whole = found(axis=1), found(axis=1, correction=0)
    assert found(axis=1, unbiased=True) == found(axis=1, correction=None) == plain != whole
    assert found(axis=1, unbiased=False) == found(axis=1, correction=0, unbiased=False) == whole
    assert found(False) == found(correction=0) and found(True) == found()
    with pytest.raises(ArgumentError):
        found(correction=2, unbiased=True)


@pytest.mark.parametrize("size", [256, 257, 300, 5000])
def test_running_logs_of_long_axes(size):
    x = (np.random.default_rng(size).normal(size=(2, size)) * 9).astype(np.float32)
    leaf = Tensor(x)
    wide = x.astype(np.float64)
    want = np.logaddexp.accumulate(wide, 1)
    np.testing.assert_allclose(leaf.logcumsumexp(1).numpy(), want, rtol=1e-6, atol=1e-5)
    # the slope of the sum of all is how much of each later sum an element is
    slope = np.exp(wide) * np.cumsum(np.exp(-want)[:, ::-1], 1)[:, ::-1]
    found = leaf.logcumsumexp(1).sum().gradient(leaf)[0]
    np.testing.assert_allclose(found.numpy(), slope, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_running_logs_where_something_is_not_finite():
    x = np.zeros((3, 300), np.float32)
    x[0, 100], x[1, 200], x[2, :150] = np.inf, np.nan, -np.inf
    found, want = Tensor(x).logcumsumexp(1).numpy(), np.logaddexp.accumulate(x, 1)
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_scans_in_another_dtype():
    x = Tensor([1, 2, 3])
    sums, products = x.cumsum(dtype="float64"), x.cumprod(0, dtype="half")
    assert sums.dtype is dtypes.double and sums.tolist() == [1.0, 3.0, 6.0]
    assert products.dtype is dtypes.half and products.tolist() == [1.0, 2.0, 6.0]
