"""Products of matrices and the extension, against NumPy's."""

import math

import numpy as np
import pytest

import weft.array_api as xp
from weft.base.errors import ArgumentError, DTypeError, IndexingError, ShapeError, WrongKind

RNG = np.random.default_rng(7)
A = RNG.standard_normal((2, 3, 3)) + 3 * np.eye(3)
X = xp.asarray(A)
L, N = xp.linalg, np.linalg


def close(got, expected, tolerance=1e-9):
    assert got.shape == np.shape(expected)
    np.testing.assert_allclose(got.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "a, b",
    [
        ((3,), (3,)),
        ((2, 3), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (5, 3, 2)),
        ((4, 1, 2, 0), (3, 0, 2)),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32"])
def test_matmul(a, b, dtype):
    p, q = (RNG.integers(0, 4, s).astype(dtype) for s in (a, b))
    got = xp.matmul(xp.asarray(p), xp.asarray(q))
    np.testing.assert_array_equal(got.numpy(), p @ q)
    assert got.dtype is getattr(xp, dtype)


def test_products_that_do_not_fit():
    for a, b in (((), (2,)), ((2,), (3,)), ((2, 3), (2, 3))):
        with pytest.raises(ShapeError):
            xp.matmul(xp.ones(a), xp.ones(b))
    with pytest.raises(ShapeError):
        xp.vecdot(xp.ones(2), xp.ones(3))
    with pytest.raises(ShapeError):
        xp.tensordot(xp.ones((2, 3)), xp.ones((2, 3)), axes=1)
    with pytest.raises(ShapeError):
        L.cross(xp.ones(2), xp.ones(2))
    with pytest.raises(ShapeError):
        L.outer(xp.ones((2, 2)), xp.ones(2))


@pytest.mark.parametrize("axes", [0, 1, ([1], [1]), ([1, -1], [1, 0])])
def test_tensordot(axes):
    p, q = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((4, 3, 5))
    close(xp.tensordot(xp.asarray(p), xp.asarray(q), axes=axes), np.tensordot(p, q, axes))


def test_products_of_vectors():
    p, q = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((3, 4))
    close(xp.vecdot(xp.asarray(p), xp.asarray(q)), (p * q).sum(-1))
    close(xp.vecdot(xp.asarray(p), xp.asarray(q), axis=-2), (p * q).sum(-2))
    close(L.outer(xp.asarray(q[0]), xp.asarray(q[1])), np.outer(q[0], q[1]))
    a, b = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3))
    close(L.cross(xp.asarray(a), xp.asarray(b)), np.cross(a, b))
    close(L.cross(xp.asarray(a.T), xp.asarray(b.T), axis=-2), np.cross(a, b).T)


def test_equations():
    close(L.det(X), N.det(A))
    close(L.inv(X), N.inv(A))
    right = RNG.standard_normal((2, 3, 2))
    close(L.solve(X, xp.asarray(right)), N.solve(A, right))
    close(L.solve(X[0], xp.asarray(right[0, :, 0])), N.solve(A[0], right[0, :, 0]))
    sign, size = L.slogdet(X)
    close(sign, N.slogdet(A)[0])
    close(size, N.slogdet(A)[1])


@pytest.mark.parametrize("n", [-2, 0, 1, 5])
def test_matrix_power(n):
    close(L.matrix_power(X, n), N.matrix_power(A, n), 1e-7)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3)])
def test_decompositions(shape):
    a = RNG.standard_normal(shape)
    for mode in ("reduced", "complete"):
        q, r = L.qr(xp.asarray(a), mode=mode)
        assert (q.shape, r.shape) == tuple(x.shape for x in N.qr(a, mode))
        close(q @ r, a)
    for full in (True, False):
        u, s, vh = L.svd(xp.asarray(a), full_matrices=full)
        assert [x.shape for x in (u, s, vh)] == [x.shape for x in N.svd(a, full)]
    close((u * s) @ vh, a)
    close(L.svdvals(xp.asarray(a)), N.svd(a)[1])
    close(L.pinv(xp.asarray(a)), N.pinv(a))


def test_symmetric_matrices():
    s = A @ A.transpose(0, 2, 1)
    close(L.cholesky(xp.asarray(s)), N.cholesky(s))
    close(L.cholesky(xp.asarray(s), upper=True), N.cholesky(s).transpose(0, 2, 1))
    values, vectors = L.eigh(xp.asarray(s))
    close(values, N.eigh(s)[0])
    close(L.eigvalsh(xp.asarray(s)), N.eigh(s)[0])
    close(xp.asarray(s) @ vectors, (vectors * values[:, None, :]).numpy(), 1e-8)


def test_rank():
    a = np.zeros((3, 3, 3))
    a[1, 0] = 1
    a[2] = np.eye(3)
    assert L.matrix_rank(xp.asarray(a)).tolist() == [0, 1, 3]
    thin = xp.asarray(np.diag([1.0, 1e-3, 0.0]))
    assert L.matrix_rank(thin, rtol=1e-2).item() == 1
    assert L.matrix_rank(thin, rtol=xp.asarray(1e-4, dtype=xp.float64)).item() == 2


@pytest.mark.parametrize("offset", [-4, -1, 0, 2, 9])
def test_diagonals(offset):
    a = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    got = L.diagonal(xp.asarray(a), offset=offset)
    np.testing.assert_array_equal(got.numpy(), a.diagonal(offset, -2, -1))
    assert L.trace(xp.asarray(a), offset=offset).tolist() == a.trace(offset, -2, -1).tolist()
    assert L.trace(xp.asarray(a)).dtype is xp.int64


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_matrix_norms(order, keepdims):
    expected = N.norm(A, order, axis=(-2, -1), keepdims=keepdims)
    close(L.matrix_norm(X, ord=order, keepdims=keepdims), expected)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, -1, math.inf, -math.inf])
def test_vector_norms(order):
    close(L.vector_norm(X, axis=-1, ord=order), N.norm(A, order, axis=-1))
    close(L.vector_norm(X, ord=order), N.norm(A.reshape(-1), order))
    kept = L.vector_norm(X, axis=(0, 2), keepdims=True, ord=order)
    assert kept.shape == (1, 3, 1)


def test_norms_of_large_numbers():
    huge = xp.asarray([3e200, 4e200], dtype=xp.float64)
    assert L.vector_norm(huge).item() == pytest.approx(5e200)
    assert L.vector_norm(xp.asarray([math.inf, 1.0])).item() == math.inf
    assert L.vector_norm(xp.zeros(3)).item() == L.vector_norm(xp.zeros(0)).item() == 0.0


def test_of_nothing():
    none = xp.zeros((0, 3, 3))
    assert L.det(none).shape == (0,)
    assert L.inv(none).shape == L.cholesky(none).shape == (0, 3, 3)
    assert [x.shape for x in L.eigh(none)] == [(0, 3), (0, 3, 3)]
    assert L.det(xp.zeros((0, 0))).item() == 1.0
    assert L.pinv(xp.zeros((2, 0))).shape == (0, 2)
    assert L.matrix_rank(xp.zeros((2, 0, 3))).tolist() == [0, 0]
    assert L.solve(xp.zeros((0, 0)), xp.zeros(0)).shape == (0,)


def test_invalid_arguments():
    with pytest.raises(ShapeError):
        L.inv(xp.ones((2, 3)))
    with pytest.raises(ShapeError):
        L.qr(xp.ones(3))
    with pytest.raises(DTypeError):
        L.svd(xp.ones((2, 2), dtype=xp.int32))
    with pytest.raises(ArgumentError, match="norm"):
        L.matrix_norm(X, ord=7)
    with pytest.raises(ShapeError):
        L.solve(X, xp.ones((4, 1)))


@pytest.mark.parametrize("shape", [(), (3,)])
def test_axes_that_are_not_there(shape):
    with pytest.raises(ShapeError):
        xp.tensordot(xp.ones(()), xp.ones(shape), axes=1)
    with pytest.raises(ShapeError):
        xp.tensordot(xp.ones(shape), xp.ones((3, 3)), axes=2)
    with pytest.raises(IndexingError):
        xp.vecdot(xp.ones(()), xp.ones(shape))
    with pytest.raises(IndexingError):
        L.cross(xp.ones(()), xp.ones(shape))


def test_axes_that_are_no_numbers():
    with pytest.raises(ArgumentError, match="number of axes is at least 0"):
        xp.tensordot(X, X, axes=-1)
    with pytest.raises(WrongKind):
        xp.tensordot(X, X, axes=0.5)
    with pytest.raises(WrongKind):
        xp.vecdot(X, X, axis=None)
