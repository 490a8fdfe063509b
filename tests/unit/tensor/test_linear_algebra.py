"""Matrix decompositions and linear equations against NumPy, by LAPACK and by kernels."""

import numpy as np
import pytest

from weft import Tensor, dtypes, settings
from weft.base.errors import ArgumentError, LinearAlgebraError, ShapeError
from weft.tensor.ops.linear_algebra.host_lapack import computes_on_host

SHAPES = [(3, 3), (5, 3), (3, 5), (2, 4, 4), (1, 1), (6, 2), (2, 3, 4)]
SQUARE = [(1, 1), (3, 3), (2, 4, 4), (5, 5)]


@pytest.fixture(params=[1, 0], ids=["lapack", "kernels"], autouse=True)
def host_calls(request):
    with settings.override(HOST_CALLS=request.param):
        yield request.param


def drawn(shape, seed=0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def positive(shape) -> np.ndarray:
    x = drawn(shape)
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1])


def double(x: np.ndarray) -> Tensor:
    return Tensor(x, dtype=dtypes.float64)


def transposed(x: np.ndarray) -> np.ndarray:
    return x.swapaxes(-1, -2)


def assert_orthogonal(x: np.ndarray) -> None:
    """The smaller number of its rows and columns."""
    small = x @ transposed(x) if x.shape[-2] <= x.shape[-1] else transposed(x) @ x
    np.testing.assert_allclose(
        small, np.broadcast_to(np.eye(small.shape[-1]), small.shape), atol=1e-9
    )


@pytest.mark.parametrize("mode", ["complete", "reduced"])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, mode):
    x = drawn(shape)
    q, r = (t.numpy() for t in double(x).qr(mode))
    expected = np.linalg.qr(x, mode)
    assert (q.shape, r.shape) == (expected[0].shape, expected[1].shape)
    np.testing.assert_allclose(q @ r, x, atol=1e-9)
    np.testing.assert_allclose(r, np.triu(r))
    assert_orthogonal(q)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape, full):
    x, k = drawn(shape), min(shape[-2:])
    u, s, v = (t.numpy() for t in double(x).svd(full))
    expected = np.linalg.svd(x, full)
    assert [u.shape, s.shape, v.shape] == [e.shape for e in expected]
    np.testing.assert_allclose(s, expected[1], atol=1e-9)
    np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ v[..., :k, :], x, atol=1e-9)
    assert_orthogonal(u)
    assert_orthogonal(v)


@pytest.mark.parametrize(
    "x", [np.zeros((3, 2)), np.ones((3, 3)), np.diag([2.0, 0.0, -3.0])], ids=str
)
def test_svd_of_rank_deficient_matrices(x):
    u, s, v = (t.numpy() for t in double(x).svd())
    np.testing.assert_allclose(s, np.linalg.svd(x)[1], atol=1e-9)
    np.testing.assert_allclose(u[:, : len(s)] * s @ v[: len(s)], x, atol=1e-9)
    assert_orthogonal(u)
    assert_orthogonal(v)


@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(shape):
    x = positive(shape)
    lower = double(x).cholesky().numpy()
    np.testing.assert_allclose(lower, np.linalg.cholesky(x), atol=1e-9)
    np.testing.assert_allclose(double(x).cholesky(upper=True).numpy(), transposed(lower))


def test_a_matrix_that_is_not_positive_definite(host_calls):
    x = double(-positive((3, 3))).cholesky()
    if computes_on_host(double(positive((3, 3)))):
        with pytest.raises(LinearAlgebraError, match="positive definite"):
            x.realize()
    else:
        assert np.isnan(x.numpy()).any()


@pytest.mark.parametrize("shape", SQUARE)
def test_eigh_reads_the_lower_triangle(shape):
    x = positive(shape) - 2 * np.eye(shape[-1])
    values, vectors = (t.numpy() for t in double(np.tril(x)).eigh())
    np.testing.assert_allclose(values, np.linalg.eigh(x)[0], atol=1e-9)
    np.testing.assert_allclose(x @ vectors, vectors * values[..., None, :], atol=1e-8)
    assert_orthogonal(vectors)


@pytest.mark.parametrize("shape", SQUARE)
def test_solving(shape):
    x, b = drawn(shape), drawn((*shape[:-1], 2), 1)
    np.testing.assert_allclose(double(x).solve(double(b)).numpy(), np.linalg.solve(x, b), atol=1e-8)
    np.testing.assert_allclose(double(x).inv().numpy(), np.linalg.inv(x), atol=1e-8)
    np.testing.assert_allclose(double(x).det().numpy(), np.linalg.det(x), atol=1e-9)


@pytest.mark.parametrize("shape", [(16, 16), (17, 17), (2, 35, 35)])
def test_solving_in_panels(shape):
    x, b = drawn(shape), drawn((*shape[:-1], 2), 1)
    np.testing.assert_allclose(double(x).solve(double(b)).numpy(), np.linalg.solve(x, b), atol=1e-8)
    sign, size = double(x).slogdet()
    np.testing.assert_array_equal(sign.numpy(), np.linalg.slogdet(x)[0])
    np.testing.assert_allclose(size.numpy(), np.linalg.slogdet(x)[1], atol=1e-9)


def test_exchanges_of_rows_across_panels():
    order = np.random.default_rng(2).permutation(40)
    x, b = np.eye(40)[order] * np.arange(1.0, 41.0), drawn((40, 1))
    np.testing.assert_allclose(double(x).solve(double(b)).numpy(), np.linalg.solve(x, b))
    assert double(x).slogdet()[0].item() == np.linalg.slogdet(x)[0]


def test_the_gradient_of_solving_goes_through_panels():
    x, b = drawn((18, 18)), drawn((18, 1))
    leaf = double(x).requires_grad_(True)
    got = leaf.solve(double(b)).sum().gradient(leaf)[0].numpy()
    inverse = np.linalg.inv(x)
    want = -(inverse.T @ np.ones((18, 1))) @ (inverse @ b).T
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


def test_the_steps_of_all_panels_are_the_same_kernels():
    x, b = double(drawn((48, 48))).realize(), double(drawn((48, 1))).realize()
    with settings.override(HOST_CALLS=0):
        items = x.solve(b).schedule()
    assert len({item.ast for item in items}) < 48 < len(items)


def test_solving_needs_exchanges_of_rows():
    x = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [4.0, 5.0, 0.0]])
    b = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(double(x).solve(double(b)).numpy(), np.linalg.solve(x, b))
    np.testing.assert_allclose(double(x).det().numpy(), np.linalg.det(x))
    assert double(np.ones((2, 2))).det().item() == 0


def test_one_matrix_and_many_right_sides():
    x, b = drawn((3, 3)), drawn((4, 3, 2))
    np.testing.assert_allclose(
        double(x).solve(double(b)).numpy(), np.linalg.solve(x[None], b), atol=1e-9
    )


def test_one_vector_and_many_matrices():
    x, b = positive((4, 3, 3)), drawn((3,))
    want = np.linalg.solve(x, np.broadcast_to(b[:, None], (4, 3, 1)))[..., 0]
    np.testing.assert_allclose(double(x).solve(double(b)).numpy(), want, atol=1e-8)


@pytest.mark.parametrize(
    "mode, shapes", [("complete", [(3, 3), (3, 0)]), ("reduced", [(3, 0), (0, 0)])]
)
def test_qr_of_no_columns(mode, shapes):
    assert [t.shape for t in double(np.zeros((3, 0))).qr(mode)] == shapes


def test_gradients_by_differences():
    x, step = drawn((3, 3)) + 3 * np.eye(3), 1e-6
    for function in (lambda t: t.det(), lambda t: t.inv().square().sum(),
                     lambda t: (t @ t.T).cholesky().sum()):  # fmt: skip
        leaf = double(x).requires_grad_(True)
        got = function(leaf).gradient(leaf)[0].numpy()
        for i, j in ((0, 0), (1, 2), (2, 0)):
            change = np.zeros((3, 3))
            change[i, j] = step
            up, down = (function(double(x + c)).item() for c in (change, -change))
            np.testing.assert_allclose(got[i, j], (up - down) / (2 * step), rtol=1e-4, atol=1e-6)


def test_integers_and_halves_become_float32():
    assert Tensor([[2, 0], [0, 4]]).inv().tolist() == [[0.5, 0.0], [0.0, 0.25]]
    assert Tensor([[2.0]], dtype=dtypes.half).qr()[0].dtype is dtypes.float32


def test_invalid_matrices():
    wide = Tensor.ones(2, 3)
    for call in (lambda: Tensor([1.0]).qr(), wide.inv, wide.eigh, wide.cholesky, wide.det,
                 lambda: Tensor.ones(2, 2).solve(Tensor.ones(3)),
                 lambda: Tensor.ones(2, 2, 2).solve(Tensor.ones(3, 2, 1))):  # fmt: skip
        with pytest.raises(ShapeError):
            call()
    with pytest.raises(ArgumentError, match="two forms"):
        Tensor.ones(2, 2).qr("thin")


@pytest.mark.parametrize("device", ["CPU", "REF"])
def test_gradients_of_a_pseudo_inverse_with_equal_singular_values(device):
    rotation = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    a = rotation @ np.diag([2.0, 2.0, 1.0]) @ rotation[::-1]
    weights = np.arange(9.0).reshape(3, 3)
    x = Tensor(a, requires_grad=True, device=device)
    (found,) = (x.pinv() * Tensor(weights, device=device)).sum().gradient(x)
    p = np.linalg.inv(a)  # of full rank: the derivative is that of the inverse
    np.testing.assert_allclose(found.numpy(), -p.T @ weights @ p.T, rtol=1e-8, atol=1e-10)
    (second,) = (found * found).sum().gradient(x)
    step = 1e-6 * np.eye(3)[0][:, None] * np.eye(3)[1]

    def square(a):
        p = np.linalg.inv(a)
        return ((p.T @ weights @ p.T) ** 2).sum()

    slope = (square(a + step) - square(a - step)) / 2e-6
    np.testing.assert_allclose(second.numpy()[0, 1], slope, rtol=1e-5)
