"""RNN, GRU and LSTM compared with the reference evaluator, and with NumPy beyond it."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def _inputs(rng, op, directions=1, length=3, batch=2, size=3, hidden=2):
    rows = GATES[op] * hidden
    return [
        _floats(rng, length, batch, size), _floats(rng, directions, rows, size),
        _floats(rng, directions, rows, hidden), _floats(rng, directions, 2 * rows),
    ]  # fmt: skip


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_directions(op, direction, rng):
    directions = 2 if direction == "bidirectional" else 1
    inputs = _inputs(rng, op, directions)
    outputs = 3 if op == "LSTM" else 2
    if op != "LSTM":
        inputs += [None, _floats(rng, directions, 2, 2)]
    options = {"linear_before_reset": 1} if op == "GRU" else {}
    compare(
        op, inputs, outputs, direction=direction, hidden_size=2, rtol=1e-4, atol=1e-5, **options
    )


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
def test_batch_first(op, rng):
    inputs = _inputs(rng, op)
    model = node_model(op, inputs, 2, hidden_size=2)
    y, last = by_weft(model, inputs)
    turned = [inputs[0].transpose(1, 0, 2).copy(), *inputs[1:]]
    other, end = by_weft(node_model(op, turned, 2, hidden_size=2, layout=1), turned)
    np.testing.assert_allclose(other, y.transpose(2, 0, 1, 3), 1e-5)
    np.testing.assert_allclose(end, last.transpose(1, 0, 2), 1e-5)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("op", ["GRU", "LSTM"])
def test_lengths_of_sequences(op, direction, rng):
    inputs = _inputs(rng, op)
    lengths = np.array([3, 1], np.int32)
    options = {"hidden_size": 2, "direction": direction}
    whole = [*inputs, lengths]
    y, last = by_weft(node_model(op, whole, 2, **options), whole)
    for sample, length in enumerate(lengths):
        alone = [inputs[0][:length, sample : sample + 1], *inputs[1:]]
        own, end = by_weft(node_model(op, alone, 2, **options), alone)
        np.testing.assert_allclose(y[:length, :, sample], own[:, :, 0], 1e-5, 1e-6)
        np.testing.assert_allclose(last[:, sample], end[:, 0], 1e-5, 1e-6)
        assert not y[length:, :, sample].any()


def test_peepholes_clip_and_coupled_gates(rng):
    x, w, r, b = _inputs(rng, "LSTM", length=2)
    h, c, p = _floats(rng, 1, 2, 2), _floats(rng, 1, 2, 2), _floats(rng, 1, 6)
    inputs = [x, w, r, b, None, h, c, p]
    options = {"hidden_size": 2, "clip": 0.5, "input_forget": 1}
    found = by_weft(node_model("LSTM", inputs, 3, **options), inputs)
    hidden, memory = h[0], c[0]
    for step in x:
        parts = step @ w[0].T + hidden @ r[0].T + b[0, :8] + b[0, 8:]
        i, o, _, g = np.split(parts, 4, -1)
        through = _sigmoid(np.clip(i + p[0, :2] * memory, -0.5, 0.5))
        memory = (1 - through) * memory + through * np.tanh(np.clip(g, -0.5, 0.5))
        hidden = _sigmoid(np.clip(o + p[0, 2:4] * memory, -0.5, 0.5)) * np.tanh(memory)
    np.testing.assert_allclose(found[1][0], hidden, 1e-4, 1e-5)
    np.testing.assert_allclose(found[2][0], memory, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("name", "parameters", "function"),
    [
        ("Affine", (0.5, 0.25), lambda x: 0.5 * x + 0.25),
        ("LeakyRelu", (), lambda x: np.where(x < 0, 0.01 * x, x)),
        ("HardSigmoid", (), lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
        ("ScaledTanh", (2.0, 0.5), lambda x: 2 * np.tanh(0.5 * x)),
        ("ThresholdedRelu", (0.1,), lambda x: np.where(x >= 0.1, x, 0)),
        ("Elu", (), lambda x: np.where(x < 0, np.expm1(x), x)),
        ("softsign", (), lambda x: x / (1 + abs(x))),
    ],
)
def test_activations(name, parameters, function, rng):
    x, w, r, _ = inputs = _inputs(rng, "RNN", length=1)
    options = {"activations": [name], "hidden_size": 2}
    for key, value in zip(("activation_alpha", "activation_beta"), parameters, strict=False):
        options[key] = [value]
    found = by_weft(node_model("RNN", inputs[:3], 2, **options), [x, w, r])[1]
    np.testing.assert_allclose(found[0], function(x[0] @ w[0].T), 1e-4, 1e-5)


def test_float16_is_computed_in_float32(rng):
    inputs = [each.astype(np.float16) for each in _inputs(rng, "LSTM")]
    found = by_weft(node_model("LSTM", inputs, 2, hidden_size=2), inputs)
    wide = [each.astype(np.float32) for each in inputs]
    exact = by_weft(node_model("LSTM", wide, 2, hidden_size=2), wide)
    assert found[0].dtype == np.float16
    np.testing.assert_array_equal(found[0], exact[0].astype(np.float16))


def test_replays(rng):
    import weft.onnx

    inputs = _inputs(rng, "GRU")
    model = weft.onnx.load(node_model("GRU", inputs, 2, hidden_size=2))
    for _ in range(4):
        inputs[0] = _floats(rng, *inputs[0].shape)
        given = {f"x{i}": each for i, each in enumerate(inputs)}
        expected = by_weft(node_model("GRU", inputs, 2, hidden_size=2), inputs)
        np.testing.assert_allclose(model(**given)["y0"].numpy(), expected[0], 1e-5, 1e-6)


def test_errors(rng):
    inputs = _inputs(rng, "LSTM")
    refused("LSTM", inputs, "hidden_size=3", hidden_size=3)
    refused("LSTM", inputs, "direction", direction="up")
    refused("LSTM", inputs, "activations", activations=["Tanh"])
    refused("LSTM", inputs, "Gelu", activations=["Gelu", "Tanh", "Tanh"])
    refused("LSTM", inputs, "bidirectional", direction="bidirectional")
