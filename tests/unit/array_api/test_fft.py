"""The extension `fft`, by the standard's text and against NumPy."""

import numpy as np
import pytest

from weft import array_api as xp
from weft.array_api import fft
from weft.base.errors import DTypeError

RNG = np.random.default_rng(13)
Z = (RNG.standard_normal((3, 6)) + 1j * RNG.standard_normal((3, 6))).astype(np.complex64)
X = Z.real.copy()


def same(found, expected):
    assert isinstance(found, xp.Array) and found.numpy().shape == expected.shape
    return np.allclose(found.numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis(name, norm):
    data = X if name in ("rfft", "ihfft") else Z
    for options in ({}, {"n": 4}, {"axis": 0, "n": 5}):
        found = getattr(xp.fft, name)(xp.asarray(data), norm=norm, **options)
        assert same(found, getattr(np.fft, name)(data, norm=norm, **options))
        kind = xp.float32 if name in ("irfft", "hfft") else xp.complex64
        assert found.dtype is kind


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name):
    data = X if name == "rfftn" else Z
    for options in ({}, {"axes": (0,)}, {"s": (2, 4), "axes": (0, 1)}):
        found = getattr(xp.fft, name)(xp.asarray(data), **options)
        assert same(found, getattr(np.fft, name)(data, **options))


def test_frequencies_and_shifts():
    assert same(xp.fft.fftfreq(5, d=0.5), np.fft.fftfreq(5, 0.5))
    assert same(xp.fft.rfftfreq(5, dtype=xp.float64), np.fft.rfftfreq(5))
    assert same(xp.fft.fftshift(xp.asarray(Z)), np.fft.fftshift(Z))
    assert same(xp.fft.ifftshift(xp.asarray(Z), axes=1), np.fft.ifftshift(Z, 1))
    assert len(fft.__all__) == 14


def test_dtypes_that_are_refused():
    for name in ("fft", "rfft", "ihfft", "fftn"):
        with pytest.raises(DTypeError):
            getattr(xp.fft, name)(xp.asarray([1, 2]))
    with pytest.raises(DTypeError):
        xp.fft.rfft(xp.asarray([1j, 2]))
    with pytest.raises(DTypeError):
        xp.fft.fftfreq(4, dtype=xp.int32)
