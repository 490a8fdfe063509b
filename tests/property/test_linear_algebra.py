"""Linear algebra by LAPACK against NumPy, and its gradients against differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from helpers.example_counts import examples
from weft import Tensor, dtypes
from weft.base.errors import LinearAlgebraError
from weft.engine import stats

BATCHES = st.sampled_from([(), (1,), (3,), (2, 2), (0,)])
SIZES = st.integers(0, 20)
SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from([np.float32, np.float64])


def drawn(seed, shape, kind=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


def well_conditioned(seed, batch, size, kind=np.float64):
    """Singular values between 1 and 2, no two equal."""
    if 0 in (*batch, size):
        return np.zeros((*batch, size, size), kind)
    u, _, vh = np.linalg.svd(drawn(seed, (*batch, size, size)))
    return (u * np.linspace(2.0, 1.0, size) @ vh).astype(kind)


def symmetric(x):
    return x + x.swapaxes(-1, -2)


def close(got, want):
    got = got.numpy() if isinstance(got, Tensor) else got
    assert got.shape == want.shape
    tolerance = 2e-3 if got.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@given(SEEDS, BATCHES, SIZES, st.integers(0, 3), KINDS)
@settings(max_examples=examples(40), deadline=None)
def test_linear_equations(seed, batch, size, count, kind):
    x, b = well_conditioned(seed, batch, size, kind), drawn(seed, (*batch, size, count), kind)
    close(Tensor(x).solve(Tensor(b)), np.linalg.solve(x, b))
    close(Tensor(x).inv(), np.linalg.inv(x))
    close(Tensor(x).det(), np.linalg.det(x))
    for got, want in zip(Tensor(x).slogdet(), np.linalg.slogdet(x)):
        close(got, want)


@given(SEEDS, BATCHES, SIZES, SIZES, KINDS, st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_factorizations(seed, batch, rows, columns, kind, full):
    x, k = drawn(seed, (*batch, rows, columns), kind), min(rows, columns)
    if 0 in x.shape and not full:
        return
    q, r = (t.numpy() for t in Tensor(x).qr("complete" if full else "reduced"))
    close(q @ r, x)
    if 0 in x.shape:
        return
    u, s, vh = (t.numpy() for t in Tensor(x).svd(full))
    want = np.linalg.svd(x, full)
    assert [u.shape, s.shape, vh.shape] == [each.shape for each in want]
    close(s, want[1])
    close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], x)
    close(Tensor(x).svdvals(), want[1])
    close(Tensor(x).pinv(), np.linalg.pinv(x, max(rows, columns) * np.finfo(kind).eps))
    np.testing.assert_array_equal(Tensor(x).matrix_rank().numpy(), np.linalg.matrix_rank(x))


@given(SEEDS, BATCHES, st.integers(1, 20), KINDS)
@settings(max_examples=examples(40), deadline=None)
def test_symmetric_matrices(seed, batch, size, kind):
    x = symmetric(drawn(seed, (*batch, size, size), kind))
    values, vectors = (t.numpy() for t in Tensor(np.tril(x)).eigh())
    close(values, np.linalg.eigvalsh(x))
    close(x @ vectors, vectors * values[..., None, :])
    close(Tensor(np.tril(x)).eigvalsh(), np.linalg.eigvalsh(x))
    positive = x @ x.swapaxes(-1, -2) + np.eye(size, dtype=kind)
    close(Tensor(positive).cholesky(), np.linalg.cholesky(positive))


@given(SEEDS, st.integers(1, 12), st.integers(1, 12), st.integers(1, 3), KINDS)
@settings(max_examples=examples(30), deadline=None)
def test_least_squares(seed, rows, columns, count, kind):
    x, b = drawn(seed, (rows, columns), kind), drawn([seed, 1], (rows, count), kind)
    found = Tensor(x).lstsq(Tensor(b))
    want, _, rank, values = np.linalg.lstsq(x, b, None)
    scale = np.linalg.cond(x) * np.abs(want).max()
    close(found.solution.numpy() / scale, want / scale)
    close(found.residuals, np.square(x @ want - b).sum(0).astype(kind))
    close(found.singular_values, values)
    assert found.rank.item() == rank


@given(SEEDS, st.integers(1, 8))
@settings(max_examples=examples(20), deadline=None)
def test_eigenvalues_of_matrices_that_have_real_ones(seed, size):
    v = well_conditioned(seed, (2,), size)
    x = v * np.arange(1.0, size + 1) @ np.linalg.inv(v)
    values, vectors = (t.numpy() for t in Tensor(x).eig())
    close(np.sort(values), np.broadcast_to(np.arange(1.0, size + 1), (2, size)))
    close(x @ vectors, vectors * values[..., None, :])


# ---- gradients -----------------------------------------------------------------------------------

WEIGHTS = drawn(7, (12, 12))


def weighted(x):
    """A scalar in which every element has a weight of its own."""
    rows, columns = x.shape[-2:]
    return (x * Tensor(WEIGHTS[:rows, :columns])).sum()


SQUARE = {
    "solve": lambda x: weighted(x.solve(Tensor(WEIGHTS[: x.shape[-1], :2]))),
    "solve_right": lambda x: weighted((x * 0.1 + Tensor.eye(x.shape[-1])).solve(x)),
    "inv": lambda x: weighted(x.inv()),
    "det": lambda x: x.det().square().sum(),
    "matrix_power": lambda x: weighted((x * 0.3).matrix_power(5)),
    "slogdet": lambda x: x.slogdet().logabsdet.sum(),
    "eigh": lambda x: weighted((x + x.mT).eigh().eigenvectors.square()),
    "eigh_values": lambda x: (x + x.mT).eigh().eigenvalues.cos().sum(),
    "eigvalsh": lambda x: (x + x.mT).eigvalsh().cos().sum(),
    "cholesky": lambda x: weighted((x @ x.mT).cholesky()),
}
ANY = {
    "qr": lambda x: weighted(x.qr("reduced").Q.square()) + weighted(x.qr("reduced").R.square()),
    "qr_complete": lambda x: weighted(x.qr()[0].square()[..., : min(x.shape[-2:])])
    + weighted(x.qr().R.square()),
    "qr_complement": lambda x: weighted(x.qr().Q[..., x.shape[-1] :] @ x.qr().Q[
        ..., x.shape[-1] :].mT),
    "svd": lambda x: weighted(x.svd(False).U.square()) + weighted(x.svd(False).Vh.square())
    + x.svd(False).S.cos().sum(),
    "svd_complement": lambda x: weighted(x.svd().U[..., x.shape[-1] :] @ x.svd().U[
        ..., x.shape[-1] :].mT) + weighted(x.svd().Vh[..., x.shape[-2] :, :].mT @ x.svd().Vh[
        ..., x.shape[-2] :, :]),
    "svdvals": lambda x: x.svdvals().cos().sum(),
    "pinv": lambda x: weighted(x.pinv()),
    "lstsq": lambda x: weighted(x.lstsq(Tensor(WEIGHTS[: x.shape[-2], :2])).solution),
    "residuals": lambda x: x.lstsq(Tensor(WEIGHTS[: x.shape[-2], :2])).residuals.sum(),
}  # fmt: skip
CASES = [(f, s) for f in SQUARE.items() for s in ((1, 1), (3, 3), (2, 4, 4))] + [
    (f, s) for f in ANY.items() for s in ((3, 3), (5, 3), (3, 5), (2, 4, 2))
]


def derivative(function, x, direction, step=1e-5):
    """The directional derivative, by central differences of fourth order."""

    def at(t):
        return function(Tensor(x + t * step * direction, dtype=dtypes.float64)).item()

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)


@pytest.mark.parametrize("case, shape", CASES, ids=[f"{f[0]}-{s}" for f, s in CASES])
def test_gradients(case, shape):
    name, function = case
    x = drawn(len(name), shape)
    if shape[-1] == shape[-2]:
        x = x + 2 * np.eye(shape[-1])
    leaf = Tensor(x, dtype=dtypes.float64, requires_grad=True)
    function(leaf).backward()
    for seed in range(2):
        direction = drawn([seed, 5], shape)
        want = derivative(function, x, direction)
        np.testing.assert_allclose(
            (leaf.grad.numpy() * direction).sum(), want, rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "solve", "cholesky", "eigvalsh"])
def test_second_derivatives(name):
    x, direction = drawn(3, (3, 3)) + 3 * np.eye(3), Tensor(drawn(4, (3, 3)))

    def slope(t):
        leaf = t.requires_grad_(True)
        return (SQUARE[name](leaf).gradient(leaf)[0] * direction).sum()

    leaf = Tensor(x, dtype=dtypes.float64)
    got = slope(leaf).gradient(leaf)[0].numpy()
    for seed in range(2):
        along = drawn([seed, 9], (3, 3))
        np.testing.assert_allclose((got * along).sum(), derivative(slope, x, along), rtol=1e-5)


def test_the_gradient_of_eig():
    x = np.array([[4.0, 1.0, 0.3], [0.2, 2.0, 0.1], [0.0, 0.5, 1.0]])

    def function(t):
        values, vectors = t.eig()
        return weighted(vectors.square()) + values.cos().sum()

    leaf = Tensor(x, requires_grad=True)
    function(leaf).backward()
    direction = drawn(1, (3, 3))
    want = derivative(function, x, direction)
    np.testing.assert_allclose((leaf.grad.numpy() * direction).sum(), want, rtol=1e-6)


def test_the_gradient_of_a_determinant_of_zero():
    leaf = Tensor([[1.0, 2.0], [2.0, 4.0]], dtype=dtypes.float64, requires_grad=True)
    leaf.det().backward()
    close(leaf.grad, np.array([[4.0, -2.0], [-2.0, 1.0]]))


def test_equal_values_have_gradients_of_functions_that_do_not_tell_them_apart():
    leaf = Tensor(np.eye(3), requires_grad=True)
    values, vectors = leaf.eigh()
    (vectors * values.exp().unsqueeze(-2) @ vectors.mT).sum().backward()
    np.testing.assert_allclose(np.diag(leaf.grad.numpy()), np.full(3, np.e), rtol=1e-6)
    leaf = Tensor(np.eye(3), requires_grad=True)
    leaf.svd().S.sum().backward()
    close(leaf.grad, np.eye(3))


# ---- capture -------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 6))
@settings(max_examples=examples(10), deadline=None)
def test_captured_functions_compute_what_they_compute_uncaptured(seed, size):
    def function(x, b):
        u, s, vh = x.svd()
        w = x.solve(b).sin()
        return {"w": w, "parts": (u * s @ vh, s), "det": (x @ w).square().sum() + x.det()}

    captured = weft.jit(function)
    for turn in range(4):
        x, b = well_conditioned(seed + turn, (), size), drawn(seed + turn, (size, 2))
        got, want = captured(Tensor(x), Tensor(b)), function(Tensor(x), Tensor(b))
        close(got["w"], want["w"].numpy())
        close(got["parts"][0], x)
        close(got["parts"][1], want["parts"][1].numpy())
        close(got["det"], want["det"].numpy())


def test_a_replay_calls_the_host_and_schedules_nothing():
    captured = weft.jit(lambda x: x.inv() + 1)
    xs = [Tensor(well_conditioned(seed, (), 4)).realize() for seed in range(4)]
    for x in xs[:3]:
        captured(x).realize()
    stats.reset()
    close(captured(xs[3]), np.linalg.inv(xs[3].numpy()) + 1)
    assert (stats.host_calls, stats.copies) == (1, 0) and stats.kernels == 1


def test_an_error_in_a_replay_leaves_the_function_usable():
    captured = weft.jit(lambda x: x.inv())
    good = Tensor(well_conditioned(1, (), 3))
    for _ in range(3):
        captured(good)
    with pytest.raises(LinearAlgebraError, match="Singular"):
        captured(Tensor(np.zeros((3, 3))))
    close(captured(good), np.linalg.inv(good.numpy()))


def test_a_training_step_through_a_factorization_is_captured():
    x = Tensor(drawn(2, (4, 4)) + 4 * np.eye(4), requires_grad=True)

    def step():
        x.grad = None
        loss = (x @ x.mT).cholesky().sum()
        loss.backward()
        return loss, x.grad

    captured = weft.jit(step)
    want = [each.numpy() for each in step()]
    for _ in range(4):
        for got, expected in zip(captured(), want):
            close(got, expected)
