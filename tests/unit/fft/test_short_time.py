"""Short-time transforms against the definition, and their inverse."""

import numpy as np
import pytest

import weft
from weft import Tensor
from weft.base.errors import ArgumentError, ShapeError
from weft.fft import short_time

RNG = np.random.default_rng(17)
SIGNAL = RNG.standard_normal((2, 50)).astype(np.float32)
HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(16) / 16)).astype(np.float32)


def frames_of(x, n, hop, window, center):
    x = np.pad(x, ((0, 0), (n // 2, n // 2)), "reflect") if center else x
    starts = range(0, x.shape[-1] - n + 1, hop)
    return np.stack([np.fft.rfft(x[:, s : s + n] * window) for s in starts], -1)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("hop", [4, 5])
def test_transform(center, hop):
    found = weft.stft(Tensor(SIGNAL), 16, hop, window=Tensor(HANN), center=center)
    assert np.allclose(found.numpy(), frames_of(SIGNAL, 16, hop, HANN, center), atol=1e-4)


def test_options():
    x = Tensor(SIGNAL[0])
    whole = weft.stft(x, 16, onesided=False)
    half = weft.stft(x, 16)
    assert whole.shape == (16, 13) and half.shape == (9, 13)
    assert np.allclose(whole.numpy()[:9], half.numpy(), atol=1e-4)
    assert np.allclose(weft.stft(x, 16, normalized=True).numpy() * 4, half.numpy(), atol=1e-4)
    assert weft.stft(x, 16, return_complex=False).shape == (9, 13, 2)
    narrow = weft.stft(x, 16, win_length=8, window=Tensor.ones(8))
    padded = weft.stft(x, 16, window=Tensor.ones(8).pad(((4, 4),)))
    assert np.allclose(narrow.numpy(), padded.numpy())
    with pytest.raises(ShapeError):
        weft.stft(Tensor.ones(4), 16, center=False)
    with pytest.raises(ShapeError):
        weft.stft(x, 16, window=Tensor.ones(8))


@pytest.mark.parametrize("hop", [4, 6])
def test_inverse(hop):
    z = weft.stft(Tensor(SIGNAL), 16, hop, window=Tensor(HANN))
    back = weft.istft(z, 16, hop, window=Tensor(HANN), length=48)
    assert np.allclose(back.numpy(), SIGNAL[:, :48], atol=1e-5)
    z = weft.stft(Tensor(SIGNAL), 16, hop, window=Tensor(HANN), onesided=False, normalized=True)
    back = weft.istft(z, 16, hop, window=Tensor(HANN), normalized=True, onesided=False, length=40)
    assert np.allclose(back.numpy(), SIGNAL[:, :40], atol=1e-5)
    with pytest.raises(ArgumentError):
        weft.istft(z, 16, 40, window=Tensor(HANN))
    assert set(short_time.__all__) == {"stft", "istft"}


def test_complex_signals():
    z = weft.stft(Tensor(SIGNAL[0] + 1j * SIGNAL[1]), 8)
    assert z.shape == (8, 26)
    back = weft.istft(z, 8, return_complex=True)
    assert np.allclose(back.numpy(), SIGNAL[0] + 1j * SIGNAL[1], atol=1e-5)


def test_inverse_of_all_frequencies_is_that_of_the_lower_half():
    x = np.random.default_rng(1).standard_normal(24)
    whole = weft.stft(Tensor(x), 8, onesided=False)
    np.testing.assert_allclose(weft.istft(whole, 8, onesided=False).numpy(), x, atol=1e-12)
    changed = whole.numpy().copy()
    changed[5:] = 7.0
    np.testing.assert_allclose(weft.istft(Tensor(changed), 8).numpy(), x, atol=1e-12)


def test_inverse_of_another_number_of_frequencies_is_refused():
    with pytest.raises(weft.WeftError, match="istft is of 5 or"):
        weft.istft(Tensor(np.ones((6, 4), complex)), 8)
