"""Fourier transforms, windows and the mel scale compared with NumPy and the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _pairs(x):
    return np.stack([x.real, x.imag], -1)


def _transformed(x, inputs=(), **options):
    given = [x, *inputs]
    constants = [i for i in range(1, len(given)) if given[i] is not None]
    return by_weft(node_model("DFT", given, constants=constants, **options), given)[0]


# 96 and 200 are factored, 131 is a prime number, and 289 the square of one.
@pytest.mark.parametrize("length", [1, 7, 96, 131, 200, 289])
def test_lengths(length, rng):
    x = rng.standard_normal((2, length, 2))
    numbers = x[..., 0] + 1j * x[..., 1]
    np.testing.assert_allclose(_transformed(x), _pairs(np.fft.fft(numbers)), 1e-7, 1e-9)
    inverse = _transformed(x, inverse=1)
    np.testing.assert_allclose(inverse, _pairs(np.fft.ifft(numbers)), 1e-7, 1e-9)


def test_float32_of_a_long_axis_is_exact_enough(rng):
    x = rng.standard_normal((1, 4096, 1)).astype(np.float32)
    expected = _pairs(np.fft.rfft(x[..., 0].astype(np.float64)))
    found = _transformed(x, onesided=1)
    assert found.dtype == np.float32
    assert abs(found - expected).max() < 1e-6 * abs(expected).max() * 10


@pytest.mark.parametrize("length", [9, 10])
def test_real_signals(length, rng):
    x = rng.standard_normal((2, length, 3, 1)).astype(np.float32)
    axis = np.array(1)
    half = _transformed(x, [None, axis], onesided=1)
    np.testing.assert_allclose(half, _pairs(np.fft.rfft(x[..., 0], axis=1)), 1e-4, 1e-4)
    back = _transformed(half, [np.array(length), axis], onesided=1, inverse=1)
    np.testing.assert_allclose(back, x, 1e-4, 1e-5)


@pytest.mark.parametrize("length", [5, 12])
def test_the_length_cuts_or_adds_zeros(length, rng):
    x = rng.standard_normal((2, 3, 8, 1)).astype(np.float32)
    expected = _pairs(np.fft.fft(x[..., 0], length, axis=-1))
    np.testing.assert_allclose(_transformed(x, [np.array(length)]), expected, 1e-4, 1e-5)
    old = _transformed(x, [np.array(length)], opset=17, axis=2)
    np.testing.assert_allclose(old, expected, 1e-4, 1e-5)


@pytest.mark.parametrize("onesided", [0, 1])
def test_frames(onesided, rng):
    signal = rng.standard_normal((2, 40, 1)).astype(np.float32)
    window = rng.random(16).astype(np.float32)
    inputs = [signal, np.array(6), window, np.array(16)]
    found = by_weft(node_model("STFT", inputs, constants=[1, 3], onesided=onesided), inputs)[0]
    frames = [signal[:, at : at + 16, 0] * window for at in range(0, 25, 6)]
    transform = np.fft.rfft if onesided else np.fft.fft
    expected = np.stack([_pairs(transform(frame)) for frame in frames], 1)
    np.testing.assert_allclose(found, expected, 1e-4, 1e-4)


def test_complex_frames_without_a_window(rng):
    signal = rng.standard_normal((1, 10, 2)).astype(np.float32)
    inputs = [signal, np.array(3), None, np.array(4)]
    found = by_weft(node_model("STFT", inputs, constants=[1, 3], onesided=0), inputs)[0]
    numbers = signal[..., 0] + 1j * signal[..., 1]
    expected = [_pairs(np.fft.fft(numbers[:, at : at + 4])) for at in (0, 3, 6)]
    np.testing.assert_allclose(found, np.stack(expected, 1), 1e-4, 1e-5)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows(op, periodic):
    inputs = [np.array(9)]
    options = {"periodic": periodic, "constants": [0]}
    compare(op, inputs, rtol=1e-5, atol=1e-6, **options)
    found = compare(op, inputs, output_datatype=11, rtol=1e-12, atol=1e-15, **options)[0]
    short = by_weft(node_model(op, inputs, output_datatype=10, **options), inputs)[0]
    np.testing.assert_array_equal(short, found.astype(np.float32).astype(np.float16))


def test_a_window_of_one_element():
    inputs = [np.array(1)]
    model = node_model("HammingWindow", inputs, periodic=0, constants=[0])
    assert by_weft(model, inputs)[0].shape == (1,)


@pytest.mark.parametrize(("bins", "low", "high"), [(8, 0, 8000), (20, 100, 7000)])
def test_mel_weights(bins, low, high):
    numbers = [np.array(bins), np.array(64), np.array(16000)]
    inputs = [*numbers, np.array(low, np.float32), np.array(high, np.float32)]
    compare("MelWeightMatrix", inputs, constants=range(5), rtol=1e-6, atol=1e-6)


def test_errors(rng):
    x = rng.standard_normal((2, 4, 3)).astype(np.float32)
    refused("DFT", [x], "shape")
    refused("DFT", [x[..., :1]], "axis is 5", opset=17, axis=5)
    refused("DFT", [x[..., :2]], "onesided", onesided=1)
    refused("STFT", [x[..., :1], np.array(1), None, np.array(9)], "frames of 9", constants=[1, 3])
    refused("HannWindow", [np.array(4)], "output_datatype", output_datatype=8, constants=[0])
