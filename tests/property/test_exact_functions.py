"""Functions of numbers at their edges: remainders, signs of zeros, what wraps or overflows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.operations_table.cells import Maker, apart
from weft import Tensor, dtypes

FLOATS = [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]
UNSIGNED = [dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64]
EDGES = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -7.0, math.inf, -math.inf, math.nan, 1e-20, -1e-20]


def near_pairs(kind):
    """Pairs whose quotient is a number of few digits, or none at all."""
    size = st.sampled_from(EDGES) | st.floats(-1e4, 1e4, width=kind)
    divisor = st.sampled_from([v for v in EDGES if abs(v) >= 1 or v != v or v == 0])
    divisor |= st.floats(0.25, 1e4, width=kind) | st.floats(-1e4, -0.25, width=kind)
    return st.lists(st.tuples(size, divisor), min_size=1, max_size=8)


@pytest.mark.parametrize("device", ["CPU", "REF"])
@given(near_pairs(32))
def test_remainders_of_floats_are_numpys(device, pairs):
    a, b = (np.array(v, np.float32) for v in zip(*pairs))
    x, y = Tensor(a, device=device), Tensor(b, device=device)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal((x % y).numpy(), a % b)
        np.testing.assert_array_equal((x // y).numpy(), a // b)


@pytest.mark.parametrize("kind", FLOATS, ids=lambda d: d.name)
def test_a_remainder_is_below_its_divisor_however_large_the_quotient(kind):
    huge = dtypes.finfo(kind).max
    rest = (Tensor([huge, -huge], dtype=kind) % Tensor([0.75, 0.75], dtype=kind)).tolist()
    assert all(0 <= r < 0.75 for r in rest)


def test_gradients_of_a_remainder():
    a, b = Tensor([5.5, -5.5], requires_grad=True), Tensor([2.0, 2.0], requires_grad=True)
    (a % b).sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]
    assert b.grad.tolist() == [-2.0, 3.0]
    quotient = (a // b).sum()
    assert [g.tolist() for g in quotient.gradient(a, b)] == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("name", "round trunc floor ceil log1p expm1 sin tan atan asin sinh asinh "
                         "atanh tanh erf sqrt".split())  # fmt: skip
@pytest.mark.parametrize("device", ["CPU", "REF"])
def test_a_zero_keeps_its_sign(name, device):
    zeros = [Tensor([-0.0, 0.0, -0.0], dtype=kind, device=device) for kind in FLOATS]
    results = [getattr(x, name)() for x in zeros]
    Tensor.realize(*results)
    for kind, got in zip(FLOATS, results):
        assert list(map(str, got.tolist())) == ["-0.0", "0.0", "-0.0"], kind


@pytest.mark.parametrize("kind, unit", [("float32", 2.5), ("float64", 2.5)])
def test_cosine_is_exact_near_its_zeros(kind, unit):
    halves = np.arange(-3000, 3000, 7) + 0.5
    at = np.concatenate([(halves * math.pi).astype(kind), (halves * 300 * math.pi).astype(kind)])
    truth = np.cos(at.astype(np.longdouble))
    assert apart(Tensor(at).cos().numpy(), truth, dtypes.to_dtype(kind)) < unit
    if kind == "float32":  # NumPy's own sine is not exact enough where the pole is in longdouble
        truth = np.tan(at.astype(np.longdouble))
        assert apart(Tensor(at).tan().numpy(), truth, dtypes.float32) < 4


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name, unit", [("sin", 2), ("cos", 3), ("tan", 4.5)])
def test_large_and_small_arguments_side_by_side(name, unit, kind):
    draw = np.random.default_rng(5)
    size = np.exp2(draw.uniform(-20, 126, 4000)) * draw.choice([-1, 1], 4000)
    small = draw.uniform(-7, 7, 4000)
    # vectors of small ones, of large ones, and of both
    runs = [
        small[:2000],
        size[:2000],
        np.where(draw.random(2000) < 0.02, size[2000:], small[2000:]),
    ]
    edges = [2.0**17, 2.0**30, 2.0**20 * math.pi, 2.0**40 * math.pi]
    edges = [np.nextafter(np.dtype(kind).type(edge), way) for edge in edges for way in (0, np.inf)]
    at = np.concatenate([*runs, edges, [0.0, -0.0]]).astype(kind)
    truth = getattr(np, name)(at.astype("float64"))
    assert apart(getattr(Tensor(at), name)().numpy(), truth, dtypes.to_dtype(kind)) < unit


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_cosine_beyond_all_doubles_is_bounded(kind):
    most = np.finfo(kind).max
    at = np.array([most, -most * 0.75, most / 2, math.inf, -math.inf, math.nan], kind)
    values = Tensor(at).cos().numpy()
    assert (np.abs(values[:3]) <= 1).all() and np.isnan(values[3:]).all()
    np.testing.assert_allclose(values[:3], np.cos(at[:3].astype("d")), atol=4 * np.finfo(kind).eps)


@pytest.mark.parametrize("kind", UNSIGNED, ids=lambda d: d.name)
def test_differences_of_unsigned_integers_do_not_wrap_where_floats_come_out(kind):
    a, b = Tensor([1, 5, 3], dtype=kind), Tensor([4, 2, 3], dtype=kind)
    assert a.l1_loss(b).item() == 2.0 and a.mse_loss(b).item() == 6.0
    assert a.lerp(b, 0.5).tolist() == [2.5, 3.5, 3.0]
    assert a.softmin().argmax().item() == 0
    assert a.isclose(b).tolist() == [False, False, True]
    assert a.isclose(b, rtol=0, atol=3).tolist() == [True, True, True]
    assert a.softsign().tolist() == pytest.approx([1 / 2, 5 / 6, 3 / 4])
    p = Tensor([0.5, 0.25, 0.75])
    loss = p.binary_crossentropy(Tensor([1, 0, 1], dtype=kind)).item()
    assert loss == pytest.approx(-(math.log(0.5) + 2 * math.log(0.75)) / 3)


def test_truths_are_targets_of_a_loss():
    p = Tensor([0.5, 0.25])
    assert p.binary_crossentropy(Tensor([True, False])).item() == pytest.approx(0.49041, abs=1e-5)
    assert Tensor([0.0, 0.0]).binary_crossentropy_logits(Tensor([True, False])).item() == (
        pytest.approx(math.log(2))
    )


def test_closeness_of_integers_is_exact():
    near = Tensor([2**24, 2**24 + 1, -(2**31)], dtype="int32")
    assert near.isclose(near + Tensor([1, 0, 0]), rtol=0, atol=0).tolist() == [False, True, True]
    far = Tensor([-(2**31)], dtype="int32").isclose(Tensor([2**31 - 1], dtype="int32"), rtol=0.5)
    assert far.tolist() == [False]


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "fp8e5m2"])
def test_many_small_shares_of_a_short_float(kind):
    x = Tensor.zeros(70000, dtype=kind).contiguous()
    assert x.softmax().max().item() == pytest.approx(1 / 70000, rel=0.25)
    assert x.logsumexp().item() == pytest.approx(math.log(70000), rel=0.1)
    assert x.softmax().dtype is x.log_softmax().dtype is x.logsumexp().dtype is x.dtype


def test_products_of_short_floats_are_rounded_once():
    values = Maker(dtypes.float16, "prod").calm(6, 9)
    wide = values.astype("float64")
    for got, want in (
        (Tensor(values).prod(1), wide.prod(1)),
        (Tensor(values).cumprod(1), wide.cumprod(1)),
    ):
        assert got.dtype is dtypes.float16
        assert apart(got.numpy(), want, dtypes.float16) <= 0.51


def test_half_turns_of_sinc_are_zeros():
    assert Tensor([1.0, -2.0, 3.0]).sinc().abs().tolist() == [0.0, 0.0, 0.0]
    assert Tensor([0.0, 0.5]).sinc().tolist() == pytest.approx([1.0, 2 / math.pi])


def test_float8_without_infinity_is_finite():
    known = Tensor([1.0, 448.0, math.nan], dtype="fp8e4m3")
    assert known.isfinite().tolist() == [True, True, False]
    assert Tensor([1.0, 2.0], dtype="fp8e4m3").logcumsumexp().isfinite().all().item()


def test_truth_has_no_shift():
    with pytest.raises(TypeError, match="shift"):
        Tensor([True]) << Tensor([True])
    assert (Tensor([True]) << 2).tolist() == [4]


def test_attention_of_integers_is_in_floats():
    q = Tensor([[[1, 0], [0, 2]]])
    got = q.scaled_dot_product_attention(q, q)
    want = q.float().scaled_dot_product_attention(q.float(), q.float())
    assert got.dtype is dtypes.float32 and got.tolist() == want.tolist()
