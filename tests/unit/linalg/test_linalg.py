"""`weft.linalg` beside `numpy.linalg`."""

import math

import numpy as np
import pytest

import weft
from weft import Tensor, linalg

rng = np.random.default_rng(0)
A = rng.standard_normal((2, 4, 4))
B = rng.standard_normal((2, 4, 3))
R = rng.standard_normal((3, 5))
C = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
S = A @ A.swapaxes(-1, -2) + np.eye(4)


def close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


def test_decompositions():
    close(linalg.cholesky(Tensor(S)), np.linalg.cholesky(S))
    q, r = linalg.qr(Tensor(R))
    close(q @ r, R)
    assert linalg.qr(Tensor(R), "r")[0].shape == (0,)
    u, s, vh = linalg.svd(Tensor(R), full_matrices=False)
    close((u * s) @ vh, R)
    close(linalg.svdvals(Tensor(R)), np.linalg.svd(R, compute_uv=False))
    close(linalg.eigvalsh(Tensor(S)), np.linalg.eigvalsh(S))
    values = np.sort_complex(linalg.eigvals(Tensor(C)).numpy())
    np.testing.assert_allclose(values, np.sort_complex(np.linalg.eigvals(C)), rtol=1e-9)


def test_the_triangle_that_eigh_reads():
    close(linalg.eigvalsh(Tensor(A), "U"), np.linalg.eigvalsh(A, "U"))
    close(linalg.eigvalsh(Tensor(C), "U"), np.linalg.eigvalsh(C, "U"))
    close(linalg.eigh(Tensor(A), UPLO="L")[0], np.linalg.eigvalsh(A))
    with pytest.raises(weft.WeftError, match="UPLO"):
        linalg.eigh(Tensor(A), "X")


def test_equations():
    close(linalg.solve(Tensor(A), Tensor(B)), np.linalg.solve(A, B))
    close(linalg.solve(Tensor(A), Tensor(B[..., 0])), np.linalg.solve(A, B[..., :1])[..., 0])
    right = B.swapaxes(-1, -2)
    close(linalg.solve(Tensor(A), Tensor(right), left=False) @ Tensor(A), right)
    close(linalg.inv(Tensor(A)), np.linalg.inv(A))
    close(linalg.det(Tensor(A)), np.linalg.det(A))
    close(linalg.slogdet(Tensor(A))[1], np.linalg.slogdet(A)[1])
    close(linalg.lstsq(Tensor(R.T), Tensor(B[0, :1].repeat(5, 0))).solution,
          np.linalg.lstsq(R.T, B[0, :1].repeat(5, 0), rcond=None)[0])  # fmt: skip
    cube = np.eye(6).reshape(6, 2, 3) + rng.standard_normal((6, 2, 3)) / 10
    close(linalg.tensorinv(Tensor(cube), ind=1), np.linalg.tensorinv(cube, ind=1))
    side = rng.standard_normal(6)
    close(linalg.tensorsolve(Tensor(cube), Tensor(side)), np.linalg.tensorsolve(cube, side))


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_equations(upper, unit):
    triangle = np.triu(A) if upper else np.tril(A)
    if unit:
        triangle = triangle - triangle * np.eye(4) + np.eye(4)
    found = linalg.solve_triangular(Tensor(A), Tensor(B), upper=upper, unitriangular=unit)
    close(found, np.linalg.solve(triangle, B))


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
@pytest.mark.parametrize("keep", [True, False])
def test_norms_of_matrices(order, keep):
    expected = np.linalg.norm(A, order, (1, 2), keepdims=keep)
    close(linalg.matrix_norm(Tensor(A), order, keepdim=keep), expected)
    close(linalg.norm(Tensor(A), order, (1, 2), keep), expected)
    moved = np.linalg.norm(A, order, (0, 2), keepdims=keep)
    close(linalg.matrix_norm(Tensor(A), order, (0, 2), keep), moved)


@pytest.mark.parametrize("order", [2, 1, 0, 3, math.inf, -math.inf])
def test_norms_of_vectors(order):
    close(linalg.vector_norm(Tensor(R), order, 1), np.linalg.norm(R, order, 1))
    close(linalg.norm(Tensor(R[0]), order), np.linalg.norm(R[0], order))
    close(linalg.vector_norm(Tensor(C), order, 0), np.linalg.norm(C, order, 0))


@pytest.mark.parametrize("order", [None, 2, -2, 1, "fro"])
def test_condition_numbers(order):
    close(linalg.cond(Tensor(A), order), np.linalg.cond(A, order))


def test_ranks_and_pseudo_inverses():
    low = np.outer(R[0], R[1])
    assert linalg.matrix_rank(Tensor(low)).item() == 1
    assert linalg.matrix_rank(Tensor(S), atol=1e9).tolist() == [0, 0]
    single = Tensor(np.stack([low, np.eye(5)]).astype(np.float32))
    for tolerance in (None, 0.0, Tensor([0.0, 0.0])):  # epsilon is that of the dtype
        assert linalg.matrix_rank(single, atol=tolerance).tolist() == [1, 5]
    assert linalg.matrix_rank(single, atol=Tensor([1e9, 0.0])).tolist() == [0, 5]
    close(linalg.pinv(Tensor(R)), np.linalg.pinv(R))
    cut = np.linalg.svd(R, compute_uv=False)[1] * 1.001
    close(linalg.pinv(Tensor(R), atol=cut), np.linalg.pinv(R, rcond=cut / np.linalg.norm(R, 2)))


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_the_exponential(size):
    symmetric = (A + A.swapaxes(-1, -2)) * size
    w, v = np.linalg.eigh(symmetric)
    expected = (v * np.exp(w)[:, None, :]) @ v.swapaxes(-1, -2)
    scale = np.abs(expected).max()
    close(linalg.matrix_exp(Tensor(symmetric)) / scale, expected / scale)
    turned = linalg.matrix_exp(Tensor(np.array([[0.0, size], [-size, 0.0]])))
    close(turned, [[math.cos(size), math.sin(size)], [-math.sin(size), math.cos(size)]])


def test_the_triangle_of_hermitian_matrices():
    whole = np.tril(A) + np.tril(A, -1).swapaxes(-1, -2)
    close(linalg.pinv(Tensor(A), hermitian=True), np.linalg.pinv(whole))


def test_eigenvalues_of_real_matrices_are_complex():
    values = linalg.eigvals(Tensor([[0.0, 1.0], [-1.0, 0.0]]))
    assert values.dtype is weft.complex64
    assert sorted(v.imag for v in values.tolist()) == [-1.0, 1.0]


def test_products():
    chain = [rng.standard_normal(shape) for shape in ((4,), (4, 9), (9, 2), (2, 7), (7,))]
    close(linalg.multi_dot([Tensor(x) for x in chain]), np.linalg.multi_dot(chain))
    close(linalg.matrix_power(Tensor(A), -2), np.linalg.matrix_power(A, -2), 1e-7)
    close(linalg.cross(Tensor(R[:, :3]), Tensor(C.real)), np.cross(R[:, :3], C.real))
    close(linalg.vecdot(Tensor(C), Tensor(C + 1)), (C.conj() * (C + 1)).sum(-1))
    close(linalg.diagonal(Tensor(A), offset=1), np.diagonal(A, 1, -2, -1))
    close(linalg.vander(Tensor(R[0]), N=3), np.vander(R[0], 3, increasing=True))


def test_integers_count_as_floats():
    assert linalg.det(Tensor([[2, 0], [0, 4]])).item() == 8.0


REFUSED = {
    "matrices": lambda: linalg.qr(Tensor([1.0])),
    "square matrices": lambda: linalg.inv(Tensor(R)),
    "input of linalg.det is a tensor": lambda: linalg.det([[1.0]]),
    "no norm": lambda: linalg.matrix_norm(Tensor(R), "max"),
    "two matrices or more": lambda: linalg.multi_dot([Tensor(R)]),
    "fit each other": lambda: linalg.multi_dot([Tensor(R), Tensor(R)]),
    "of vectors or of matrices": lambda: linalg.norm(Tensor(A), 2),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_arguments(reason):
    with pytest.raises(weft.WeftError, match=reason):
        REFUSED[reason]()


def test_gradients():
    x = Tensor(A[0], requires_grad=True)
    (found,) = linalg.matrix_exp(x).sum().gradient(x)
    step = 1e-6
    moved = np.array(A[0])
    moved[1, 2] += step
    change = (linalg.matrix_exp(Tensor(moved)).sum() - linalg.matrix_exp(Tensor(A[0])).sum()).item()
    assert abs(found.numpy()[1, 2] - change / step) < 1e-4
