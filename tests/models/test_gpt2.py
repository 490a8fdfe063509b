"""GPT-2 against PyTorch on the same weights, with and without the cache of keys and values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from models.gpt2 import GPT2, Config, Decoder

from weft import Tensor
from weft.base import trace

SMALL = Config(vocabulary=53, positions=24, features=32, heads=4, layers=2)
TOKENS = [5, 17, 3, 38, 41, 2, 7, 52, 0]


@pytest.fixture(scope="module")
def model() -> GPT2:
    Tensor.manual_seed(7)
    return GPT2(SMALL)


def torch_logits(model: GPT2, tokens: list[int]) -> np.ndarray:
    """What PyTorch computes of the whole sequence."""
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional

    def own(x: Any) -> Any:
        return torch.tensor(x.numpy())

    def linear(layer: Any, x: Any) -> Any:
        return functional.linear(x, own(layer.weight), own(layer.bias))

    def norm(layer: Any, x: Any) -> Any:
        return functional.layer_norm(x, x.shape[-1:], own(layer.weight), own(layer.bias))

    heads, size = SMALL.heads, SMALL.features // SMALL.heads
    x = own(model.tokens.weight)[tokens] + own(model.places.weight)[: len(tokens)]
    later = torch.ones(len(tokens), len(tokens), dtype=torch.bool).triu(1)
    for block in model.blocks:
        parts = linear(block.attention.into, norm(block.before_attention, x)).chunk(3, -1)
        query, key, value = (p.reshape(-1, heads, size).transpose(0, 1) for p in parts)
        scores = (query @ key.transpose(1, 2) / math.sqrt(size)).masked_fill(later, -math.inf)
        seen = (scores.softmax(-1) @ value).transpose(0, 1).reshape(len(tokens), -1)
        x = x + linear(block.attention.out, seen)
        wide = functional.gelu(
            linear(block.wide, norm(block.before_network, x)), approximate="tanh"
        )
        x = x + linear(block.narrow, wide)
    return (norm(model.last, x) @ own(model.tokens.weight).T).numpy()


def test_logits_are_those_of_torch(model: GPT2) -> None:
    ours = model(Tensor([TOKENS])).numpy()[0]
    np.testing.assert_allclose(ours, torch_logits(model, TOKENS), atol=1e-4, rtol=1e-4)


def test_token_by_token_gives_the_same(model: GPT2) -> None:
    expected = torch_logits(model, TOKENS)
    decoder = Decoder(model)
    for place, token in enumerate(TOKENS):
        np.testing.assert_allclose(
            decoder.feed([token]).numpy(), expected[place], atol=1e-4, rtol=1e-4
        )


def test_a_start_in_one_go_and_then_token_by_token(model: GPT2) -> None:
    whole = model(Tensor([TOKENS])).numpy()[0]
    decoder = Decoder(model)
    np.testing.assert_allclose(decoder.feed(TOKENS[:5]).numpy(), whole[4], atol=1e-5)
    for place in range(5, len(TOKENS)):
        np.testing.assert_allclose(decoder.feed([TOKENS[place]]).numpy(), whole[place], atol=1e-5)


def test_no_position_is_compiled_for_itself(model: GPT2) -> None:
    decoder = Decoder(model)
    decoder.feed([TOKENS[0]]).realize()
    built: list[str] = []
    stop = trace.subscribe(lambda event: built.append(event.facts["name"]), only=["source"])
    try:
        for token in TOKENS[1:]:
            decoder.feed([token]).realize()
    finally:
        stop()
    assert built == []


def test_greedy_decoding_is_that_without_a_cache(model: GPT2) -> None:
    said = list(Decoder(model).continued(TOKENS[:4], 6))
    known = TOKENS[:4]
    for _ in range(6):
        known.append(int(model(Tensor([known]))[0, -1].argmax().item()))
    assert said == known[4:]
