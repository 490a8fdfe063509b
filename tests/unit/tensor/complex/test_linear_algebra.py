"""Linear algebra of complex matrices: values against NumPy's, gradients against PyTorch's."""

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes
from weft.base.errors import LinearAlgebraError, ShapeError
from weft.tensor.complex import ComplexTensor


def drawn(*shape):
    rng = np.random.default_rng(shape)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def adjoint(x):
    return x.mT.conj()


def hermitian(x):
    return x @ adjoint(x)


SQUARE, WIDE, TALL, RIGHT = drawn(2, 4, 4), drawn(2, 3, 5), drawn(2, 5, 3), drawn(2, 4, 3)


def close(found, expected, rtol=1e-10):
    found = found.numpy()
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inv", "det", "slogdet"])
def test_functions_of_square_matrices(name):
    found, expected = getattr(Tensor(SQUARE), name)(), getattr(np.linalg, name)(SQUARE)
    if name != "slogdet":
        found, expected = [found], [expected]
    for each, want in zip(found, expected):
        close(each, np.asarray(want))
    single = getattr(Tensor(SQUARE.astype(np.complex64)), name)()
    assert all(
        each.dtype.itemsize in (4, 8) for each in (single if name == "slogdet" else [single])
    )


@pytest.mark.parametrize("first", [SQUARE, SQUARE.real.copy()])
@pytest.mark.parametrize("second", [RIGHT, RIGHT.real.copy(), RIGHT[0, :, 0].copy()])
def test_solve(first, second):
    right = second[:, None] if second.ndim == 1 else second
    expected = np.linalg.solve(first, right)
    found = Tensor(first).solve(Tensor(second))
    close(found, expected[..., 0] if second.ndim == 1 else expected)


def test_solve_promotes():
    a, b = Tensor(SQUARE.real.copy()), Tensor(RIGHT.astype(np.complex64))
    assert a.solve(b).dtype is dtypes.complex128


@pytest.mark.parametrize("x", [SQUARE, WIDE, TALL])
@pytest.mark.parametrize("full", [True, False])
def test_svd(x, full):
    u, s, vh = Tensor(x).svd(full)
    want = np.linalg.svd(x, full)
    assert u.shape == want.U.shape and vh.shape == want.Vh.shape
    close(s, want.S)
    close(Tensor(x).svdvals(), want.S)
    k = s.shape[-1]
    close(u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], x)
    unit = (adjoint(u) @ u).numpy()
    assert np.allclose(unit, np.eye(unit.shape[-1]))


@pytest.mark.parametrize("x", [SQUARE, WIDE, TALL])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(x, mode):
    q, r = Tensor(x).qr(mode)
    want = np.linalg.qr(x, mode)
    close(q, want.Q)
    close(r, want.R)


def test_cholesky_and_eigenvalues():
    x = hermitian(Tensor(SQUARE)).realize()
    close(x.cholesky(), np.linalg.cholesky(x.numpy()))
    close(x.cholesky(upper=True), np.linalg.cholesky(x.numpy(), upper=True))
    values, vectors = x.eigh()
    close(values, np.linalg.eigvalsh(x.numpy()))
    close(x.eigvalsh(), np.linalg.eigvalsh(x.numpy()))
    close(vectors * values.unsqueeze(-2) @ adjoint(vectors), x.numpy())


def test_eigenvalues_of_a_general_matrix():
    values, vectors = Tensor(SQUARE).eig()
    close(Tensor(SQUARE) @ vectors, (vectors * values.unsqueeze(-2)).numpy())
    rotation = Tensor([[0.0, 1.0], [-1.0, 0.0]])
    found = rotation.cast(dtypes.complex128).eig().eigenvalues.tolist()
    assert sorted(z.imag for z in found) == pytest.approx([-1.0, 1.0])


def test_least_squares_and_rank():
    b = drawn(2, 5, 2)
    found = Tensor(TALL).lstsq(Tensor(b))
    for i in range(2):
        x, rest, rank, values = np.linalg.lstsq(TALL[i], b[i])
        close(found.solution[i], x)
        close(found.residuals[i], rest)
        close(found.singular_values[i], values)
        assert found.rank[i].item() == rank
    close(Tensor(WIDE).pinv(), np.linalg.pinv(WIDE))
    limits = Tensor([1e-9, 1e-9], dtype=dtypes.float64)
    close(Tensor(WIDE).pinv(limits), np.linalg.pinv(WIDE))
    low = TALL[0, :, :1] @ WIDE[0, :1]
    assert Tensor(low).matrix_rank().item() == 1 and Tensor(TALL).matrix_rank().tolist() == [3, 3]


def test_powers_and_logarithms_of_determinants():
    for n in (0, 3, -2):
        close(Tensor(SQUARE).matrix_power(n), np.linalg.matrix_power(SQUARE, n), 1e-8)
    close(Tensor(SQUARE).logdet().exp(), np.linalg.det(SQUARE))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 2, 2), (0, 0)])
def test_matrices_without_elements(shape):
    z, x = np.zeros(shape, np.complex64), Tensor.zeros(*shape, dtype=dtypes.complex64)
    for each, want in zip(x.svd(), np.linalg.svd(z)):
        close(each, want)
    for each, want in zip(x.qr("complete"), np.linalg.qr(z, "complete")):
        close(each, want)
    close(x.svdvals(), np.linalg.svdvals(z))
    close(x.pinv(), np.linalg.pinv(z))
    if shape[-1] == shape[-2]:
        for name in ("inv", "det", "cholesky", "eigvalsh"):
            close(getattr(x, name)(), np.asarray(getattr(np.linalg, name)(z)))
        for each, want in zip(x.slogdet(), np.linalg.slogdet(z)):
            close(each, np.asarray(want))


def test_errors():
    with pytest.raises(LinearAlgebraError):
        Tensor([[0j, 0j], [0j, 0j]]).inv().realize()
    with pytest.raises(LinearAlgebraError):
        (-Tensor([[1 + 0j]])).cholesky().realize()
    with pytest.raises(ShapeError):
        Tensor(WIDE).det()
    with pytest.raises(ShapeError):
        Tensor(SQUARE).solve(Tensor(drawn(3)))
    n = weft.Variable("n", 1, 2).bind(2)
    with pytest.raises(ShapeError, match="known sizes"):
        Tensor(SQUARE)[:n].inv()


def test_devices_whose_memory_the_host_does_not_see():
    x = Tensor(SQUARE, device="REF")
    assert x.inv().device.startswith("REF")
    close(x.inv(), np.linalg.inv(SQUARE))
    close(x.eig().eigenvalues.abs(), abs(np.linalg.eigvals(SQUARE)))


def test_captured_calls():
    @weft.jit
    def solved(a, b):
        return a.solve(b)

    for seed in range(4):
        a, b = drawn(3, 3) + seed, drawn(3, 2) + seed
        close(solved(Tensor(a).realize(), Tensor(b).realize()), np.linalg.solve(a, b))


# ---- gradients -----------------------------------------------------------------------------------

# name: a function of a caller of weft's or PyTorch's functions, and of matrices
GRADIENTS = {
    "solve": (lambda f, x, b: f("solve", x, b), (SQUARE, RIGHT)),
    "inv": (lambda f, x: f("inv", x), (SQUARE,)),
    "det": (lambda f, x: f("det", x), (SQUARE,)),
    "sign": (lambda f, x: f("slogdet", x)[0], (SQUARE,)),
    "logarithm": (lambda f, x: f("slogdet", x)[1], (SQUARE,)),
    "cholesky": (lambda f, x: f("cholesky", hermitian(x)), (SQUARE,)),
    "eigvalsh": (lambda f, x: f("eigvalsh", hermitian(x)), (SQUARE,)),
    "eigh": (
        lambda f, x: (lambda r: r[1].abs() + r[0].unsqueeze(-1))(f("eigh", hermitian(x))), (SQUARE,)
    ),
    "svdvals": (lambda f, x: f("svdvals", x), (WIDE,)),
    "svd": (
        lambda f, x: (lambda r: r[0][..., :2] * r[1][..., None, :2].sin() @ r[2][..., :2, :])(
            f("svd", x, full_matrices=False)
        ),
        (TALL,),
    ),
    "left": (lambda f, x: f("svd", x, full_matrices=False)[0].abs(), (TALL,)),
    "right": (lambda f, x: f("svd", x, full_matrices=False)[2].abs(), (TALL,)),
    "qr": (lambda f, x: (lambda r: r[0] @ r[1].sin())(f("qr", x, mode="reduced")), (TALL,)),
    "wide qr": (lambda f, x: f("qr", x, mode="reduced")[1], (WIDE,)),
    "pinv": (lambda f, x: f("pinv", x), (WIDE,)),
    "lstsq": (lambda f, x, b: f("lstsq", x, b)[0], (TALL, drawn(2, 5, 2))),
    "eigenvalues": (lambda f, x: f("eig", x)[0].abs(), (SQUARE,)),
    "eigenvectors": (lambda f, x: f("eig", x)[1].abs(), (SQUARE,)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    torch = pytest.importorskip("torch")
    function, given = GRADIENTS[name]

    def by_torch(method, *args, **kwargs):
        return getattr(torch.linalg, method)(*args, **kwargs)

    def by_weft(method, *args, **kwargs):
        return getattr(args[0], method)(*args[1:], **kwargs)

    theirs = [torch.tensor(x, requires_grad=True) for x in given]
    own = [Tensor(x, requires_grad=True) for x in given]
    expected, found = function(by_torch, *theirs), function(by_weft, *own)
    factor = drawn(*found.shape)
    factor = factor if found.is_complex() else factor.real.copy()
    for value, number in ((expected, torch.tensor(factor)), (found, Tensor(factor))):
        product = value * number
        (product.real if product.is_complex() else product).sum().backward()
    for x, y in zip(own, theirs):
        assert isinstance(x.grad, ComplexTensor)
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-9)


def test_second_derivatives():
    x = Tensor(SQUARE[0], requires_grad=True)
    (first,) = x.inv().real.sum().gradient(x)
    (second,) = first.abs().square().sum().gradient(x)
    step = 1e-6
    base = SQUARE[0].copy()

    def value(matrix):
        inverse = np.linalg.inv(matrix)
        ones = np.ones_like(inverse)
        return (abs(inverse.conj().T @ ones @ inverse.conj().T) ** 2).sum()

    for turn in (step, step * 1j):
        moved = base.copy()
        moved[1, 2] += turn
        away = base.copy()
        away[1, 2] -= turn
        slope = (value(moved) - value(away)) / (2 * step)
        exact = second.numpy()[1, 2]
        assert (exact.real if turn == step else exact.imag) == pytest.approx(slope, rel=1e-5)
