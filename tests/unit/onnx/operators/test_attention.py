"""Attention compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import by_weft, compare, node_model, refused


def _floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def _close(op, inputs, outputs=1, **options):
    return compare(op, inputs, outputs, rtol=1e-4, atol=1e-5, **options)


@pytest.mark.parametrize("opset", [23, 24])
def test_shared_heads_with_a_cache(opset, rng):
    query = _floats(rng, 2, 4, 3, 6)
    key, value = _floats(rng, 2, 2, 2, 6), _floats(rng, 2, 2, 2, 5)
    past = [_floats(rng, 2, 2, 4, 6), _floats(rng, 2, 2, 4, 5)]
    mask = rng.random((3, 6)) > 0.4
    _close("Attention", [query, key, value, mask, *past], 3, opset=opset, is_causal=1)


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_packed_heads_and_intermediate_values(mode, rng):
    query, key, value = _floats(rng, 1, 3, 8), _floats(rng, 1, 4, 4), _floats(rng, 1, 4, 4)
    mask = _floats(rng, 1, 4, 3, 3)  # the last key is masked
    _close(
        "Attention", [query, key, value, mask], 4, opset=24, q_num_heads=4, kv_num_heads=2,
        softcap=2.0, scale=0.7, qk_matmul_output_mode=mode,
    )  # fmt: skip


def test_masked_rows_are_zero(rng):
    query, key, value = (_floats(rng, 2, 1, 3, 4) for _ in range(3))
    mask = np.ones((3, 3), bool)
    mask[1] = False
    y = _close("Attention", [query, key, value, mask], opset=24)[0]
    assert not y[:, :, 1].any()
    lengths = [None, None, None, np.array([2, 3])]
    y = _close("Attention", [query, key, value, *lengths], opset=24, is_causal=1)[0]
    assert not y[0, :, 0].any()


@pytest.mark.parametrize(
    ("left", "right", "causal"), [(1, -1, 0), (1, 1, 0), (2, -1, 1), (-1, 0, 0)]
)
def test_windows(left, right, causal, rng):
    query, key, value = (_floats(rng, 1, 2, 5, 4) for _ in range(3))
    windows = {"left_window_size": left, "right_window_size": right}
    _close("Attention", [query, key, value], is_causal=causal, **windows)


def test_scores_of_float16_do_not_overflow(rng):
    query = np.full((1, 1, 2, 64), 60, np.float16)
    inputs = [query, query, _floats(rng, 1, 1, 2, 4).astype(np.float16)]
    found = by_weft(node_model("Attention", inputs, softmax_precision=1), inputs)[0]
    assert found.dtype == np.float16
    np.testing.assert_allclose(found[0, 0, 0], inputs[2][0, 0].mean(0), 2e-3, 2e-3)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_linear_attention(rule, rng):
    query, key, value = _floats(rng, 2, 3, 8), _floats(rng, 2, 3, 4), _floats(rng, 2, 3, 6)
    decay = -np.abs(_floats(rng, 2, 3, 4)) if "gated" in rule else None
    beta = rng.random((2, 3, 1)).astype(np.float32) if "delta" in rule else None
    state = _floats(rng, 2, 2, 2, 3)
    _close(
        "LinearAttention", [query, key, value, state, decay, beta], 2, update_rule=rule,
        q_num_heads=4, kv_num_heads=2,
    )  # fmt: skip


def test_linear_attention_in_two_calls_is_one(rng):
    inputs = [_floats(rng, 1, 5, 4) for _ in range(3)]
    options = {"update_rule": "linear", "q_num_heads": 2, "kv_num_heads": 2}
    whole = by_weft(node_model("LinearAttention", inputs, 2, **options), inputs)
    first = [each[:, :2] for each in inputs]
    y, state = by_weft(node_model("LinearAttention", first, 2, **options), first)
    rest = [*(each[:, 2:] for each in inputs), state]
    z, end = by_weft(node_model("LinearAttention", rest, 2, **options), rest)
    np.testing.assert_allclose(np.concatenate([y, z], 1), whole[0], 1e-5, 1e-5)
    np.testing.assert_allclose(end, whole[1], 1e-5, 1e-5)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("count", [0, 4])
def test_rotary_embedding(interleaved, count, rng):
    half = (count or 6) // 2
    caches = [_floats(rng, 10, half), _floats(rng, 10, half)]
    positions = rng.integers(0, 10, (2, 3))
    options = {"interleaved": interleaved, "rotary_embedding_dim": count}
    inputs = [_floats(rng, 2, 2, 3, 6), *caches, positions]
    _close("RotaryEmbedding", inputs, **options)
    packed = [_floats(rng, 2, 3, 12), *(each[positions] for each in caches)]
    _close("RotaryEmbedding", packed, num_heads=2, **options)


def test_errors(rng):
    query, key, value = (_floats(rng, 1, 3, 8) for _ in range(3))
    refused("Attention", [query, key, value], "number of heads")
    refused("Attention", [query, key, value], "cannot share", q_num_heads=2, kv_num_heads=4)
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    refused("LinearAttention", [query, key, value], "needs decay", **heads)
    refused("LinearAttention", [query, key, value], "update_rule", update_rule="none", **heads)
    caches = [_floats(rng, 1, 3, 3), _floats(rng, 1, 3, 3)]
    refused("RotaryEmbedding", [query, *caches], "cache", num_heads=2)
