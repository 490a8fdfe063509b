"""DynamicQuantizeLSTM compared with NumPy, and with ONNX Runtime where it is installed."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

import weft.onnx
from helpers.onnx_models import constant, model, node, value

SIZE, HIDDEN, LENGTH = 6, 4, 3
ORDER = ("w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz")


def _constants(rng, directions, per_row):
    shape = (directions, 4 * HIDDEN) if per_row else (directions,)
    kind = np.int8 if per_row else np.uint8
    low = -64 if per_row else 0
    made = {
        "w": rng.integers(low, 64, (directions, SIZE, 4 * HIDDEN)).astype(kind),
        "r": rng.integers(low, 64, (directions, HIDDEN, 4 * HIDDEN)).astype(kind),
        "b": rng.standard_normal((directions, 8 * HIDDEN)).astype(np.float32),
    }
    for name in "wr":
        made[name + "s"] = rng.uniform(0.01, 0.02, shape).astype(np.float32)
        made[name + "z"] = np.full(shape, 0 if per_row else 30, kind)
    return made


def _model(constants, direction):
    quantized = node(
        "DynamicQuantizeLSTM", ["x", *ORDER], ["y", "h", "c"], domain="com.microsoft",
        direction=direction, hidden_size=HIDDEN,
    )  # fmt: skip
    return model(
        [quantized], [value("x", [LENGTH, 1, SIZE])], [value("y"), value("h"), value("c")],
        [constant(name, each, each.dtype) for name, each in constants.items()],
        domains=["com.microsoft"],
    )  # fmt: skip


def _quantized(x):
    """The integers that stand for x without their zero point, and the scale."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32(high - low) / np.float32(255) if high > low else np.float32(1 / 255)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return np.clip(np.rint(x / scale) + zero, 0, 255) - zero, scale


def _product(x, weights, scale, zero):
    codes, step = _quantized(x)
    return (codes @ (weights.astype(np.float64) - zero)) * (step * scale)


def _expected(x, made, number, backwards):
    """The hidden states of one direction."""
    w, r, b, ws, wz, rs, rz = (made[name][number] for name in filter(None, ORDER))
    given = _product(x[:, 0], w, ws, wz) + b[: 4 * HIDDEN] + b[4 * HIDDEN :]
    hidden = memory = np.zeros((1, HIDDEN), np.float32)
    shown = np.zeros((LENGTH, HIDDEN), np.float32)
    for step in range(LENGTH)[:: -1 if backwards else 1]:
        total = given[step] + _product(hidden, r, rs, rz)
        i, o, f = (1 / (1 + np.exp(-each)) for each in np.split(total[:, : 3 * HIDDEN], 3, 1))
        memory = f * memory + i * np.tanh(total[:, 3 * HIDDEN :])
        hidden = (o * np.tanh(memory)).astype(np.float32)
        shown[step] = hidden[0]
    return shown


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_states(direction, per_row, rng):
    directions = 2 if direction == "bidirectional" else 1
    made = _constants(rng, directions, per_row)
    x = rng.standard_normal((LENGTH, 1, SIZE)).astype(np.float32)
    y, h, _ = weft.onnx.load(_model(made, direction))(x).values()
    expected = np.stack([_expected(x, made, k, k == 1) for k in range(directions)])
    np.testing.assert_allclose(y.numpy()[:, :, 0], expected.transpose(1, 0, 2), 1e-4, 1e-5)
    np.testing.assert_allclose(h.numpy()[0, 0], expected[0, -1], 1e-4, 1e-5)


def test_onnxruntime_gives_the_same(rng):
    onnxruntime = pytest.importorskip("onnxruntime", reason="the other implementation")
    source = _model(_constants(rng, 2, False), "bidirectional")
    x = rng.standard_normal((LENGTH, 1, SIZE)).astype(np.float32)
    expected = onnxruntime.InferenceSession(source).run(None, {"x": x})
    for mine, theirs in zip(weft.onnx.load(source)(x).values(), expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, 1e-4, 1e-5)
