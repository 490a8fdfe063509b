"""Values of the special functions beside those of Python's `math` and `statistics`, and laws."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, special

rng = np.random.default_rng(0)
ANY = np.concatenate([rng.uniform(-9.5, 9.5, 60), rng.uniform(0, 3, 60), [0.5, 1.0, 1.5, 2.0, 2.5]])
POSITIVE = np.concatenate([np.exp(rng.uniform(-12, 12, 80)), [1.0, 2.0, 2.5, 8.5, 10.5]])
UNIT = np.concatenate([rng.uniform(0, 1, 80), np.exp(-rng.uniform(1, 60, 40))])
TOLERANCE = {"float64": (2e-12, 1e-14), "float32": (5e-6, 1e-6)}


def _bessel(order, x):
    half = x / 2
    terms = (half ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order))
             for k in range(80))  # fmt: skip
    return math.fsum(terms)


def _trigamma(x):
    total = math.fsum((x + k) ** -2 for k in range(400))
    w = x + 400
    return total + 1 / w + 1 / (2 * w**2) + 1 / (6 * w**3) - 1 / (30 * w**5)


def _digamma(x):
    total = -math.fsum(1 / (x + k) for k in range(400))
    w = x + 400
    return total + math.log(w) - 1 / (2 * w) - 1 / (12 * w**2) + 1 / (120 * w**4)


CASES = {
    "gammaln": (special.gammaln, math.lgamma, ANY),
    "gammaln of large numbers": (special.gammaln, math.lgamma, POSITIVE),
    "digamma": (special.digamma, _digamma, POSITIVE[POSITIVE < 1e3]),
    "trigamma": (lambda x: special.polygamma(1, x), _trigamma, POSITIVE[POSITIVE < 1e3]),
    "zeta": (lambda x: special.zeta(Tensor.full(x.shape, 2.0, dtype=x.dtype), x), _trigamma,
             POSITIVE[POSITIVE < 1e3]),
    "multigammaln": (
        lambda x: special.multigammaln(x, 2),
        lambda v: math.log(math.pi) / 2 + math.lgamma(v) + math.lgamma(v - 0.5),
        rng.uniform(1, 20, 40),
    ),
    "erfc": (special.erfc, math.erfc, rng.uniform(-6, 9, 120)),
    "erfcx": (
        special.erfcx, lambda v: math.exp(v * v) * math.erfc(v), rng.uniform(-4, 5, 120)
    ),
    "ndtr": (special.ndtr, lambda v: math.erfc(-v / math.sqrt(2)) / 2, rng.uniform(-9, 9, 80)),
    "log_ndtr": (
        special.log_ndtr,
        lambda v: math.log(math.erfc(-v / math.sqrt(2)) / 2),
        rng.uniform(-20, 4, 80),
    ),
    "ndtri": (special.ndtri, NormalDist().inv_cdf, UNIT),
    "i0": (special.i0, lambda v: _bessel(0, v), rng.uniform(-30, 30, 80)),
    "i1": (special.i1, lambda v: _bessel(1, v), rng.uniform(-30, 30, 80)),
    "i0e": (special.i0e, lambda v: _bessel(0, v) * math.exp(-abs(v)), rng.uniform(-20, 20, 80)),
    "i1e": (special.i1e, lambda v: _bessel(1, v) * math.exp(-abs(v)), rng.uniform(-20, 20, 80)),
    "entr": (special.entr, lambda v: -v * math.log(v), POSITIVE),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, dtype):
    function, reference, arguments = CASES[name]
    x = arguments.astype(dtype)
    expected = np.array([reference(float(v)) for v in x])
    relative, absolute = TOLERANCE[dtype]
    found = function(Tensor(x))
    assert found.dtype is getattr(dtypes, dtype)
    with np.errstate(over="ignore"):
        expected = expected.astype(dtype)
    np.testing.assert_allclose(found.numpy(), expected, rtol=relative, atol=absolute)


def test_the_inverse_of_the_error_function():
    y = np.concatenate([rng.uniform(-1, 1, 100), 1 - np.exp(-rng.uniform(1, 30, 40)), [1e-300, 0]])
    x = special.erfinv(Tensor(y)).numpy()
    # beside 1 a unit in the last place of y is a larger change of x
    back = np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(back, y, rtol=1e-15, atol=0)


EDGES = {
    "gammaln": ([0.0, -1.0, math.inf, -math.inf], [math.inf] * 4),
    "digamma": ([0.0, -0.0, -1.0, math.inf], [-math.inf, math.inf, math.nan, math.inf]),
    "erfc": ([math.inf, -math.inf, 0.0], [0.0, 2.0, 1.0]),
    "erfcx": ([math.inf, -math.inf, 0.0], [0.0, math.inf, 1.0]),
    "erfinv": ([1.0, -1.0, 1.5, -1.5], [math.inf, -math.inf, math.nan, math.nan]),
    "ndtri": ([0.0, 1.0, -0.5, 1.5], [-math.inf, math.inf, math.nan, math.nan]),
    "entr": ([0.0, -1.0, math.nan], [0.0, -math.inf, math.nan]),
    "i0": ([0.0, 1000.0], [1.0, math.inf]),
    "i1e": ([0.0, 1e30], [0.0, 1 / math.sqrt(2 * math.pi * 1e30)]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_and_nan(name):
    arguments, expected = EDGES[name]
    function = getattr(special, name)
    found = function(Tensor([*arguments, math.nan], dtype=dtypes.float64)).numpy()
    np.testing.assert_allclose(found, [*expected, math.nan], rtol=1e-12)


def test_products_with_logarithms():
    x, y = Tensor([0.0, 2.0, 0.0]), Tensor([-1.0, 1.0, math.nan])
    np.testing.assert_allclose(
        special.xlog1py(x, y).numpy(), [0.0, 2 * math.log(2), math.nan], rtol=1e-6
    )


DERIVATIVES = {
    "gammaln": [-1.5, 0.3, 1.2, 2.7, 9.0], "digamma": [0.3, 1.2, 12.0],
    "erfc": [-2.0, 0.2, 1.5], "erfcx": [-1.0, 0.2, 3.0], "erfinv": [-0.9, 0.0, 0.3],
    "ndtr": [-2.0, 1.0], "ndtri": [0.01, 0.5, 0.9], "log_ndtr": [-7.0, 0.5],
    "i0": [-2.0, 0.5, 9.0], "i0e": [-2.0, 0.5, 9.0], "i1": [-2.0, 0.0, 9.0],
    "i1e": [-2.0, 0.5, 9.0], "entr": [0.5, 3.0],
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVATIVES)
def test_gradients_and_those_of_gradients(name):
    function, step = getattr(special, name), 1e-5
    x = np.array(DERIVATIVES[name])
    point = Tensor(x, requires_grad=True)
    (first,) = function(point).sum().gradient(point)
    ends = [function(Tensor(x + d)).numpy() for d in (step, -step)]
    np.testing.assert_allclose(
        first.numpy(), (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-8
    )
    if name == "i1":  # at 0 the derivative is defined by a case of its own
        return
    (second,) = first.sum().gradient(point)
    slopes = []
    for d in (step, -step):
        moved = Tensor(x + d, requires_grad=True)
        slopes.append(function(moved).sum().gradient(moved)[0].numpy())
    np.testing.assert_allclose(
        second.numpy(), (slopes[0] - slopes[1]) / (2 * step), rtol=1e-5, atol=1e-7
    )


def test_dtypes_of_results():
    assert special.gammaln(Tensor([3])).dtype is dtypes.default_float
    half = special.erfc(Tensor([1.0], dtype=dtypes.float16))
    assert half.dtype is dtypes.float16 and abs(half.item() - math.erfc(1.0)) < 1e-3


def test_refused_arguments():
    with pytest.raises(weft.WeftError, match="the input of special.gammaln is a tensor"):
        special.gammaln(2.0)
    with pytest.raises(weft.WeftError, match="order of a derivative"):
        special.polygamma(-1, Tensor([1.0]))


def test_one_kernel_under_jit():
    f = weft.jit(lambda x: special.ndtr(x) * 2)
    for _ in range(3):
        found = f(Tensor([0.0, 1.0]).realize())
    np.testing.assert_allclose(found.numpy(), [1.0, 2 * NormalDist().cdf(1.0)], rtol=1e-6)
