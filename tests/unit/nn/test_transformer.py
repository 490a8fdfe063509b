"""Layers of transformers with PyTorch's weights, compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import transformer

CHANCE = np.random.default_rng(0)
X, MEMORY = (CHANCE.standard_normal(shape, dtype=np.float32) for shape in ((2, 5, 8), (2, 4, 8)))
CAUSAL = np.triu(np.ones((5, 5), bool), 1)
PADDING = np.array([[False] * 4, [False, False, True, True]])


def pair(name: str, *given, **named):
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs = getattr(torch.nn, name)(*given, **named).eval()
    ours = getattr(nn, name)(*given, **named).eval()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs, torch.tensor


def close(got: Tensor, expected) -> None:
    assert got.shape == tuple(expected.shape)
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_attention_gives_result_and_weights(batch_first: bool, average: bool) -> None:
    ours, theirs, tensor = pair("MultiheadAttention", 8, 2, batch_first=batch_first)
    order = (0, 1, 2) if batch_first else (1, 0, 2)
    x, memory = (np.ascontiguousarray(each.transpose(order)) for each in (X, MEMORY))
    mask = CHANCE.standard_normal((4, 5, 4), dtype=np.float32)
    for make, module in ((Tensor, ours), (tensor, theirs)):
        found = module(
            make(x), make(memory), make(memory), key_padding_mask=make(PADDING[:, :4]),
            attn_mask=make(mask), average_attn_weights=average,
        )  # fmt: skip
        if module is ours:
            got = found
    close(got[0], found[0])
    close(got[1], found[1])


def test_attention_without_weights_with_masks_and_other_sizes() -> None:
    ours, theirs, tensor = pair("MultiheadAttention", 8, 2, kdim=3, vdim=6, batch_first=True)
    key, value = X[:, :, :3].copy(), X[:, :, :6].copy()
    got = ours(Tensor(X), Tensor(key), Tensor(value), None, False, Tensor(CAUSAL))
    expected = theirs(tensor(X), tensor(key), tensor(value), None, False, tensor(CAUSAL))
    close(got[0], expected[0])
    assert got[1] is None
    ours, theirs, tensor = pair("MultiheadAttention", 8, 4)
    x = X[0].copy()
    got, expected = ours(*[Tensor(x)] * 3), theirs(*[tensor(x)] * 3)
    close(got[0], expected[0])
    close(got[1], expected[1])


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder(norm_first: bool, activation: str) -> None:
    how = {"norm_first": norm_first, "activation": activation, "batch_first": True}
    ours, theirs, tensor = pair("TransformerEncoderLayer", 8, 2, 16, **how)
    close(ours(Tensor(X)), theirs(tensor(X)))
    close(ours(Tensor(X), Tensor(CAUSAL)), theirs(tensor(X), tensor(CAUSAL)))
    causal = ours(Tensor(X), is_causal=True)
    close(causal, theirs(tensor(X), tensor(CAUSAL), is_causal=True))


def test_decoder_and_stacks() -> None:
    ours, theirs, tensor = pair("TransformerDecoderLayer", 8, 2, 16)
    x, memory = X.transpose(1, 0, 2).copy(), MEMORY.transpose(1, 0, 2).copy()
    masks = {"tgt_mask": CAUSAL, "memory_key_padding_mask": PADDING}
    got = ours(Tensor(x), Tensor(memory), **{k: Tensor(v) for k, v in masks.items()})
    close(got, theirs(tensor(x), tensor(memory), **{k: tensor(v) for k, v in masks.items()}))
    ours, theirs, tensor = pair("Transformer", 8, 2, 2, 1, 16, batch_first=True)
    close(ours(Tensor(MEMORY), Tensor(X)), theirs(tensor(MEMORY), tensor(X)))


def test_gradients_reach_every_parameter_and_dropout_acts_in_training() -> None:
    layer = transformer.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True)
    layer.train()
    once, again = (layer(Tensor(X)).numpy() for _ in range(2))
    assert not np.allclose(once, again)
    layer(Tensor(X)).square().sum().backward()
    assert all(each.grad is not None for each in layer.parameters())
    layer.eval()
    assert layer(Tensor(X)).tolist() == layer(Tensor(X)).tolist()


def test_invalid_arguments() -> None:
    with pytest.raises(ShapeError, match="sequences"):
        nn.MultiheadAttention(8, 2)(*[Tensor.ones(2, 5, 7)] * 3)
    with pytest.raises(ArgumentError, match="activation"):
        nn.TransformerEncoderLayer(8, 2, activation="tanh")


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_with_an_extra_key_and_a_key_of_zeros(need_weights: bool) -> None:
    how = {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True}
    ours, theirs, tensor = pair("MultiheadAttention", 8, 2, **how)
    for padding in (None, PADDING):
        made = [None if padding is None else make(padding) for make in (Tensor, tensor)]
        got = ours(Tensor(X), *[Tensor(MEMORY)] * 2, made[0], need_weights)
        expected = theirs(tensor(X), *[tensor(MEMORY)] * 2, made[1], need_weights)
        close(got[0], expected[0])
        assert (got[1] is None) == (expected[1] is None)
        if need_weights:
            close(got[1], expected[1])


def test_a_transformer_of_given_parts_takes_all_masks_by_name() -> None:
    def part(*args, **named):
        seen.append(args[-1:] if len(args) == 4 else args[2:])
        return args[0]

    seen = []
    model = nn.Transformer(8, 2, custom_encoder=part, custom_decoder=part)
    x = Tensor(X)
    assert model(src=x, tgt=x, src_is_causal=True, tgt_is_causal=False) is x
    assert seen == [(True,), (None, None, None, None, False, False)]
