"""The transforms against SciPy's reference, which is NumPy's: values, lengths, axes, gradients."""

import numpy as np
import pytest

import weft
from weft import Tensor, jit
from weft.base.errors import ArgumentError, ShapeError, WrongKind
from weft.fft import functions, helpers

RNG = np.random.default_rng(7)


def numbers(*shape, dtype="complex64"):
    z = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return (z if "complex" in dtype else z.real).astype(dtype)


def close(found, expected, dtype="complex64"):
    eps = 2e-6 if dtype in ("complex64", "float32") else 1e-14
    found = found.numpy()
    assert found.shape == expected.shape
    return abs(found - expected).max() <= eps * max(abs(expected).max(), 1e-30)


SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 60, 64, 97, 128, 210, 243, 256]


@pytest.mark.parametrize("size", SIZES)
def test_sizes(size):
    z, x = numbers(2, size, dtype="complex128"), numbers(2, size, dtype="float64")
    assert close(weft.fft.fft(Tensor(z)), np.fft.fft(z), "complex128")
    assert close(weft.fft.ifft(Tensor(z)), np.fft.ifft(z), "complex128")
    assert close(weft.fft.rfft(Tensor(x)), np.fft.rfft(x), "complex128")
    half = np.fft.rfft(x)
    assert close(weft.fft.irfft(Tensor(half), size), np.fft.irfft(half, size), "complex128")


@pytest.mark.parametrize("size", [1000, 1009, 2048])
def test_float32(size):
    z = numbers(size)
    assert close(weft.fft.fft(Tensor(z)), np.fft.fft(z.astype(np.complex128)))
    x = numbers(size, dtype="float32")
    assert close(weft.fft.rfft(Tensor(x)), np.fft.rfft(x.astype(np.float64)))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_normalisation(name, norm):
    data = numbers(3, 8, dtype="float64" if name in ("rfft", "ihfft") else "complex128")
    expected = getattr(np.fft, name)(data, norm=norm)
    assert close(getattr(weft.fft, name)(Tensor(data), norm=norm), expected, "complex128")


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("n", [None, 3, 7])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_axes_and_lengths(name, n, axis):
    data = numbers(4, 5, 6, dtype="float64" if name in ("rfft", "ihfft") else "complex128")
    expected = getattr(np.fft, name)(data, n, axis)
    assert close(getattr(weft.fft, name)(Tensor(data), n, axis), expected, "complex128")
    assert close(getattr(weft.fft, name)(Tensor(data), n, axis=axis), expected, "complex128")


@pytest.mark.parametrize(
    "axes, s", [(None, None), ((0, 2), None), ((2, 0), (3, 8)), (None, (4, 4))]
)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name, axes, s):
    data = numbers(4, 3, 6, dtype="float64" if name == "rfftn" else "complex128")
    if axes is None and s is not None:
        expected = getattr(np.fft, name)(data, s, (-2, -1))
    else:
        expected = getattr(np.fft, name)(data, s, axes)
    assert close(getattr(weft.fft, name)(Tensor(data), s, axes), expected, "complex128")


def test_two_axes():
    z = numbers(2, 4, 6)
    assert close(weft.fft.fft2(Tensor(z)), np.fft.fft2(z))
    assert close(weft.fft.ifft2(Tensor(z)), np.fft.ifft2(z))
    assert close(weft.fft.rfft2(Tensor(z.real.copy())), np.fft.rfft2(z.real))
    assert close(weft.fft.irfft2(Tensor(z)), np.fft.irfft2(z))


def test_other_dtypes():
    assert weft.fft.fft(Tensor([1, 2, 3])).numpy().dtype == np.complex64
    assert weft.fft.fft(Tensor([1.0, 2.0], dtype="float16")).numpy().dtype == np.complex64
    assert weft.fft.irfft(Tensor([1.0, 2.0])).numpy().dtype == np.float32


def test_errors():
    for call, error in (
        (lambda: weft.fft.fft(Tensor(1.0)), ShapeError),
        (lambda: weft.fft.fft(Tensor([1.0]), 0), ShapeError),
        (lambda: weft.fft.fft([1.0]), WrongKind),
        (lambda: weft.fft.rfft(Tensor([1j])), ArgumentError),
        (lambda: weft.fft.fft(Tensor([1.0]), norm="no"), ArgumentError),
        (lambda: weft.fft.fftn(Tensor([1.0]), (1, 1), (0,)), ArgumentError),
        (lambda: weft.fft.irfft(Tensor([1.0])), ShapeError),
    ):
        with pytest.raises(error):
            call()


def test_frequencies_and_shifts():
    for n in (1, 4, 5):
        assert np.allclose(weft.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
        assert np.allclose(weft.fft.rfftfreq(n, 2.0).numpy(), np.fft.rfftfreq(n, 2.0))
    a = np.arange(15).reshape(3, 5)
    for axes in (None, 0, (1,), (0, 1)):
        assert np.array_equal(weft.fft.fftshift(Tensor(a), axes).numpy(), np.fft.fftshift(a, axes))
        assert np.array_equal(
            weft.fft.ifftshift(Tensor(a), axes).numpy(), np.fft.ifftshift(a, axes)
        )
    assert {*functions.__all__, *helpers.__all__} == set(weft.fft.__all__)


def test_gradients():
    x = Tensor(numbers(10, dtype="float64"), requires_grad=True)
    weights = numbers(6, dtype="complex128")
    (found,) = (weft.fft.rfft(x) * Tensor(weights)).real.sum().gradient(x)
    step = np.eye(10)
    assert np.allclose(found.numpy(), (np.fft.rfft(step) * weights).real.sum(-1))
    z = Tensor(numbers(12, dtype="complex128"), requires_grad=True)
    y = weft.fft.fft(z)
    (found,) = (y.abs() ** 2).sum().gradient(z)  # Parseval
    assert np.allclose(found.numpy(), 2 * 12 * z.detach().numpy())


def test_jit():
    @jit
    def f(x):
        return weft.fft.irfft(weft.fft.rfft(x) * 2.0)

    for k in range(4):
        x = numbers(24, dtype="float32")
        assert close(f(Tensor(x).realize()), 2 * x, "float32"), k
