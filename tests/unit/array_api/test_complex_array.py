"""Arrays of complex numbers, by the standard's text and against NumPy."""

import numpy as np
import pytest

from weft import Tensor
from weft import array_api as xp
from weft.array_api.complex_array import ComplexArray
from weft.base.errors import ArgumentError, DTypeError

RNG = np.random.default_rng(11)
Z = (RNG.standard_normal((2, 3)) + 1j * RNG.standard_normal((2, 3))).astype(np.complex64)
W = (RNG.standard_normal((3, 2)) + 1j * RNG.standard_normal((3, 2))).astype(np.complex64)


def same(found, expected, rtol=1e-5):
    found = np.asarray(found.numpy())
    assert found.shape == np.shape(expected) and found.dtype == np.asarray(expected).dtype
    return np.allclose(found, expected, rtol=rtol, atol=1e-6)


def test_arrays():
    z = xp.asarray(Z)
    assert isinstance(z, ComplexArray) and z.dtype is xp.complex64 and z.size == 6
    assert z.T.shape == z.mT.shape == (3, 2) and isinstance(z.real, xp.Array)
    assert z.__array_namespace__() is xp and z.to_device(z.device).shape == (2, 3)
    assert bool(xp.asarray(1j)) and not bool(xp.asarray([0j])) and complex(xp.asarray(2j)) == 2j
    assert isinstance(xp.asarray(1 + 0j), ComplexArray)
    assert isinstance(xp.abs(Tensor([1j])), xp.Array)
    assert isinstance(xp.exp(Tensor([1j])), ComplexArray)
    assert isinstance(xp.asarray([1.0]) * 1j, ComplexArray)
    assert isinstance(1j + xp.asarray([1.0]), ComplexArray)


def test_creation():
    for dtype in (xp.complex64, xp.complex128):
        for made, expected in (
            (xp.zeros((2,), dtype=dtype), [0, 0]), (xp.ones(2, dtype=dtype), [1, 1]),
            (xp.full((2,), 2j, dtype=dtype), [2j, 2j]), (xp.full(2, 3, dtype=dtype), [3, 3]),
            (xp.eye(2, dtype=dtype)[0], [1, 0]), (xp.asarray([1, 2j], dtype=dtype), [1, 2j]),
            (xp.linspace(0, 2j, 3, dtype=dtype), [0, 1j, 2j]),
            (xp.full_like(xp.zeros(2, dtype=dtype), 1j), [1j, 1j]),
            (xp.astype(xp.asarray([1, 2]), dtype), [1, 2]),
        ):  # fmt: skip
            assert made.dtype is dtype and made.tolist() == expected
    assert xp.full((1,), 1j).dtype is xp.complex64 and xp.linspace(0, 1j, 2).dtype is xp.complex64
    assert xp.empty((2,), dtype=xp.complex64).shape == (2,)


def test_asarray_on_a_device():
    z = xp.asarray(Z)
    assert same(xp.asarray(z, device=z.device), Z)
    assert same(xp.asarray(z, device=z.device, dtype=xp.complex128), Z.astype(np.complex128))
    assert same(xp.asarray(z, device=z.device, copy=False), Z)


def test_dtypes():
    assert xp.isdtype(xp.complex64, "complex floating") and xp.isdtype(xp.complex128, "numeric")
    assert not xp.isdtype(xp.complex64, "real floating")
    assert xp.result_type(xp.complex64, xp.float64) is xp.complex128
    assert xp.result_type(xp.float32, 1j) is xp.complex64
    assert xp.result_type(xp.complex64, 1.0) is xp.complex64
    assert xp.can_cast(xp.float32, xp.complex64) and xp.can_cast(xp.complex64, xp.complex128)
    assert not xp.can_cast(xp.int8, xp.complex64) and not xp.can_cast(xp.complex64, xp.float64)
    assert xp.finfo(xp.complex64).bits == 32 and xp.finfo(xp.complex128).dtype is xp.float64
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["complex floating"] is xp.complex64
    assert info.default_dtypes()["indexing"] is xp.int64
    assert set(info.dtypes(kind="complex floating")) <= {"complex64", "complex128"}
    with pytest.raises(DTypeError):
        xp.astype(xp.asarray([1j]), xp.float32)


UNARY = (
    "abs acos acosh asin asinh atan atanh conj cos cosh exp expm1 log log1p log2 log10 negative "
    "positive reciprocal round sign sin sinh sqrt square tan tanh real imag isfinite isinf isnan "
    "logical_not"
).split()


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name):
    assert same(getattr(xp, name)(xp.asarray(Z)), getattr(np, name)(Z))


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "pow", "equal", "not_equal"]
)
def test_functions_of_two_arrays(name):
    for x, y in ((Z, Z[0]), (Z, Z.real), (Z.real, Z), (Z, 2.0), (1 + 2j, Z), (Z.real, 1j)):
        a, b = (xp.asarray(v) if isinstance(v, np.ndarray) else v for v in (x, y))
        with np.errstate(all="ignore"):
            assert same(getattr(xp, name)(a, b), getattr(np, name)(x, y), 1e-4)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "cumulative_sum", "cumulative_prod", "any", "all"]
)
def test_statistics(name):
    kwargs = {"axis": 1}
    assert same(getattr(xp, name)(xp.asarray(Z), **kwargs), getattr(np, name)(Z, **kwargs))
    assert xp.count_nonzero(xp.asarray(Z)).item() == 6
    assert same(xp.diff(xp.asarray(Z)), np.diff(Z))


def test_manipulation_and_indexing():
    z = xp.asarray(Z)
    for found, expected in (
        (xp.concat([z, xp.asarray(Z.real)]), np.concat([Z, Z.real])),
        (xp.stack([z, z], axis=1), np.stack([Z, Z], axis=1)), (xp.flip(z), np.flip(Z)),
        (xp.roll(z, 1, axis=1), np.roll(Z, 1, axis=1)), (xp.squeeze(z[:1], 0), Z[0]),
        (xp.expand_dims(z, axis=1), Z[:, None]), (xp.permute_dims(z, (1, 0)), Z.T),
        (xp.reshape(z, (3, 2)), Z.reshape(3, 2)), (xp.tile(z, (2, 1)), np.tile(Z, (2, 1))),
        (xp.repeat(z, 2, axis=0), np.repeat(Z, 2, axis=0)), (xp.moveaxis(z, 0, 1), Z.T),
        (xp.broadcast_to(z, (4, 2, 3)), np.broadcast_to(Z, (4, 2, 3))),
        (xp.take(z, xp.asarray([2, 0]), axis=1), Z[:, [2, 0]]), (xp.tril(z), np.tril(Z)),
        (xp.take_along_axis(z, xp.asarray([[1], [0]]), axis=1), Z[[[0], [1]], [[1], [0]]]),
        (xp.where(xp.asarray(Z.real > 0), z, 0.0), np.where(Z.real > 0, Z, np.complex64(0))),
        (z[xp.asarray(Z.real > 0)], Z[Z.real > 0]),
        (xp.meshgrid(z[0], z[1])[0], np.meshgrid(Z[0], Z[1])[0]),
    ):  # fmt: skip
        assert isinstance(found, ComplexArray) and same(found, expected)
    z[0, 1] = 5j
    assert z[0, 1].item() == 5j
    assert len(xp.nonzero(z)) == 2 and len(xp.unstack(z)) == 2


def test_products():
    z, w = xp.asarray(Z), xp.asarray(W)
    assert same(z @ w, Z @ W) and same(xp.matmul(z, xp.asarray(W.real)), Z @ W.real)
    assert same(xp.tensordot(z, w, axes=1), np.tensordot(Z, W, 1))
    assert same(xp.vecdot(z, z), np.vecdot(Z, Z)) and same(
        xp.linalg.outer(z[0], z[1]), np.outer(Z[0], Z[1])
    )
    assert same(xp.linalg.vector_norm(z), np.float32(np.linalg.norm(Z)))
    assert same(xp.linalg.matrix_norm(z), np.float32(np.linalg.norm(Z)))
    assert same(xp.linalg.trace(z), np.trace(Z)) and same(xp.linalg.diagonal(z), np.diagonal(Z))
    assert same(xp.linalg.matrix_power(z @ w, 2), np.linalg.matrix_power(Z @ W, 2), 1e-4)


def test_distinct_elements():
    z = np.array([1 + 2j, 1 + 1j, 0j, -0.0 + 0j, 1 + 2j, complex(np.nan, 1), complex(1, np.nan)])
    found, expected = xp.unique_all(xp.asarray(z)), np.unique_all(z)
    for each, want in zip(found, expected):
        np.testing.assert_array_equal(each.numpy(), want)
    np.testing.assert_array_equal(xp.unique_values(xp.asarray(z)).numpy(), found.values.numpy())
    assert xp.unique_counts(xp.asarray([])).values.size == 0
    assert xp.isin(xp.asarray(z), xp.asarray([1 + 2j, 0j])).tolist() == [
        True, False, True, True, True, False, False
    ]  # fmt: skip


def test_differences():
    z = xp.asarray(Z)
    assert same(xp.diff(z, n=2, axis=0), np.diff(Z, n=2, axis=0))
    ends = {"prepend": Z[:, :1], "append": Z[:, :2]}
    own = {name: xp.asarray(part) for name, part in ends.items()}
    assert same(xp.diff(z, **own), np.diff(Z, **ends))
    assert same(xp.diff(z, n=0), Z)


def test_decompositions():
    a = np.concat([Z, Z[:1] * 1j + 1]).astype(np.complex128)
    x = xp.asarray(a)
    h = xp.matmul(x, xp.conj(x.mT)) + 1.0 * xp.eye(3, dtype=xp.complex128)
    hermitian = h.numpy()
    for found, expected in (
        (xp.linalg.cholesky(h, upper=True), np.linalg.cholesky(hermitian, upper=True)),
        (xp.linalg.det(x), np.linalg.det(a)), (xp.linalg.inv(x), np.linalg.inv(a)),
        (xp.linalg.eigvalsh(h), np.linalg.eigvalsh(hermitian)),
        (xp.linalg.eigh(h).eigenvalues, np.linalg.eigvalsh(hermitian)),
        (xp.linalg.svd(x).S, np.linalg.svdvals(a)), (xp.linalg.pinv(x), np.linalg.pinv(a)),
        (xp.linalg.qr(x).R, np.linalg.qr(a).R), (xp.linalg.svdvals(x), np.linalg.svdvals(a)),
        (xp.linalg.slogdet(x).sign, np.linalg.slogdet(a).sign),
        (xp.linalg.slogdet(x).logabsdet, np.linalg.slogdet(a).logabsdet),
        (xp.linalg.solve(x, x[0]), np.linalg.solve(a, a[0])),
        (xp.linalg.solve(xp.real(x), x), np.linalg.solve(a.real, a)),
        (xp.linalg.matrix_norm(x, ord="nuc"), np.linalg.norm(a, "nuc")),
        (xp.linalg.matrix_power(x, -2), np.linalg.matrix_power(a, -2)),
    ):  # fmt: skip
        assert isinstance(found, xp.Array) and same(found, expected, 1e-9)
    assert xp.linalg.matrix_rank(x).item() == 3


def test_what_is_not_for_complex_numbers():
    z = xp.asarray(Z)
    for function in (xp.floor, xp.sort, xp.max, xp.argmin, xp.signbit, xp.var):
        with pytest.raises(DTypeError):
            function(z)
    for function in (xp.less, xp.maximum, xp.floor_divide, xp.atan2, xp.hypot):
        with pytest.raises(DTypeError):
            function(z, z)
    with pytest.raises(ArgumentError):
        xp.imag(xp.asarray([1.0]))
