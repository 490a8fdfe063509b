"""Attention with several heads against NumPy, and against PyTorch where it is installed."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, DTypeError, ShapeError


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reference(layer, query, key, value, mask=0.0):
    weights = np.split(layer.in_proj_weight.numpy(), 3)
    biases = [0] * 3 if layer.in_proj_bias is None else np.split(layer.in_proj_bias.numpy(), 3)
    heads = []
    for x, w, b in zip((query, key, value), weights, biases):
        y = x @ w.T + b
        heads.append(y.reshape(*y.shape[:2], layer.num_heads, -1).swapaxes(1, 2))
    q, k, v = heads
    mixed = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + mask) @ v
    flat = mixed.swapaxes(1, 2).reshape(query.shape)
    bias = 0 if layer.out_proj.bias is None else layer.out_proj.bias.numpy()
    return flat @ layer.out_proj.weight.numpy().T + bias


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_attention_to_itself(heads, bias):
    layer, x = nn.MultiHeadAttention(8, heads, bias=bias), drawn(2, 5, 8)
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), reference(layer, x, x, x), atol=1e-5)
    causal = np.where(np.tril(np.ones((5, 5))) > 0, 0, -np.inf)
    got = layer(Tensor(x), is_causal=True).numpy()
    np.testing.assert_allclose(got, reference(layer, x, x, x, causal), atol=1e-5)


def test_attention_to_others():
    layer, x, k, v = nn.MultiHeadAttention(8, 2), drawn(2, 5, 8), drawn(2, 3, 8), drawn(2, 3, 8) + 1
    got = layer(Tensor(x), Tensor(k), Tensor(v)).numpy()
    np.testing.assert_allclose(got, reference(layer, x, k, v), atol=1e-5)
    may = np.array([[True, False, True]] * 5)
    got = layer(Tensor(x), Tensor(k), attn_mask=Tensor(may)).numpy()
    np.testing.assert_allclose(got, reference(layer, x, k, k, np.where(may, 0, -np.inf)), atol=1e-5)


def test_the_weights_of_pytorchs():
    torch = pytest.importorskip("torch", reason="PyTorch's layer is loaded by its names")
    theirs, ours, x = (
        torch.nn.MultiheadAttention(8, 2, batch_first=True),
        nn.MultiHeadAttention(8, 2),
        drawn(2, 5, 8),
    )
    nn.state.load_state_dict(ours, {k: Tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    expected = theirs(*[torch.tensor(x)] * 3)[0].detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, atol=1e-5)


def test_invalid_shapes():
    with pytest.raises(ArgumentError, match="heads"):
        nn.MultiHeadAttention(8, 3)
    with pytest.raises(ShapeError, match="batch of sequences"):
        nn.MultiHeadAttention(8, 2)(Tensor.zeros(5, 8))


def test_keys_that_are_padding_are_not_seen():
    layer, x, k = nn.MultiHeadAttention(8, 2), drawn(2, 5, 8), drawn(2, 3, 8)
    padding = np.array([[False, False, True], [True, False, False]])
    kept = np.where(padding, -np.inf, 0)[:, None, None]
    got = layer(Tensor(x), Tensor(k), key_padding_mask=Tensor(padding)).numpy()
    np.testing.assert_allclose(got, reference(layer, x, k, k, kept), atol=1e-5)
    more = drawn(5, 3)
    got = layer(
        Tensor(x), Tensor(k), attn_mask=Tensor(more), key_padding_mask=Tensor(padding)
    ).numpy()
    np.testing.assert_allclose(got, reference(layer, x, k, k, kept + more), atol=1e-5)
    last = np.array([[False] * 4 + [True]] * 2)
    causal = np.where(np.tril(np.ones((5, 5))) > 0, 0, -np.inf)
    both = causal + np.where(last, -np.inf, 0)[:, None, None]
    got = layer(Tensor(x), is_causal=True, key_padding_mask=Tensor(last)).numpy()
    np.testing.assert_allclose(got, reference(layer, x, x, x, both), atol=1e-5)


def test_keys_and_values_of_other_sizes_are_pytorchs():
    torch = pytest.importorskip("torch", reason="PyTorch's layer is loaded by its names")
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True, kdim=5, vdim=3)
    ours, x, k, v = nn.MultiHeadAttention(8, 2, kdim=5, vdim=3), *map(drawn, (2, 2, 2), (4, 6, 6),
                                                                      (8, 5, 3))  # fmt: skip
    nn.state.load_state_dict(ours, {n: Tensor(p.numpy()) for n, p in theirs.state_dict().items()})
    out, weights = theirs(*map(torch.tensor, (x, k, v)), average_attn_weights=False)
    got = ours(Tensor(x), Tensor(k), Tensor(v)).numpy()
    np.testing.assert_allclose(got, out.detach().numpy(), atol=1e-5)
    got = ours.weights(Tensor(x), Tensor(k)).numpy()
    np.testing.assert_allclose(got, weights.detach().numpy(), atol=1e-5)


def test_the_weights_of_causal_attention():
    layer, x = nn.MultiHeadAttention(8, 2), drawn(2, 5, 8)
    weights = layer.weights(Tensor(x), is_causal=True).numpy()
    assert weights.shape == (2, 2, 5, 5) and not np.triu(weights, 1).any()
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("attn_mask", (2, 5, 5), "bool"),
        ("key_padding_mask", (2, 4), "bool"),
        ("key_padding_mask", (2, 5), "float32"),
    ],
)
def test_masks_that_do_not_fit(name, shape, dtype):
    mask = {name: Tensor.ones(*shape, dtype=dtype)}
    with pytest.raises((ShapeError, DTypeError), match="mask"):
        nn.MultiHeadAttention(8, 2)(Tensor.zeros(2, 5, 8), **mask)
