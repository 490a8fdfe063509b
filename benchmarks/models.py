"""Whole models at the limit of one machine: networks in use, one token, training steps.

The networks are written once, in the words of a vocabulary that each kind of peer has: `lazy` for
weft and tinygrad, `torch`, `jax`. Parameters are the same normal numbers for all, scaled so that
every layer gives numbers near one. What is captured, and how steps carry their parameters along, is
each peer's own affair (limit_peers.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Network = Callable[..., Any]

VOCABULARY, WIDTH, HEADS, LAYERS = 50257, 768, 12, 12
PLACES = 256  # of the cache of keys and values
FILLED = 128  # of these, before the generated token


@dataclass(frozen=True)
class Model:
    """One row of the table; the time of one call is what it shows.

    :param name: its name there.
    :param parameters: makes the parameters, the same for every peer.
    :param inputs: makes the other arguments.
    :param network: (words, parameters, *inputs) -> logits, or the loss where there is an optimiser;
        with a cache: -> (logits, caches).
    :param optimiser: "sgd", "adam", or None where nothing is learnt.
    :param rate: the optimiser's.
    :param caches: makes what a call changes besides; it comes after the parameters.
    """

    name: str
    parameters: Callable[[], Arrays]
    inputs: Callable[[], list[np.ndarray]]
    network: Network
    optimiser: str | None = None
    rate: float = 0.0
    caches: Callable[[], list[np.ndarray]] | None = None
    work: tuple[float, str] = (1.0, "call")
    cast: str | None = None


# ---- vocabularies --------------------------------------------------------------------------------


class Lazy:
    """weft's and tinygrad's names, which are alike."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def convolved(self, x: Any, weight: Any, stride: int = 1) -> Any:
        return x.conv2d(weight, stride=stride, padding=weight.shape[-1] // 2)

    def normalised(self, x: Any, mean: Any, variance: Any, scale: Any, shift: Any) -> Any:
        return x.batchnorm(scale, shift, mean, (variance + 1e-5).rsqrt())

    def relu(self, x: Any) -> Any:
        return x.relu()

    def gelu(self, x: Any) -> Any:
        return x.gelu()

    def pooled(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return x.max_pool2d((size, size), stride=stride, padding=padding)

    def mean(self, x: Any, axes: tuple[int, ...]) -> Any:
        return x.mean(axes)

    def linear(self, x: Any, weight: Any, bias: Any | None = None) -> Any:
        return x.linear(weight.transpose(0, 1), bias)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return x.layernorm(eps=1e-5) * scale + shift

    def swapped(self, x: Any, first: int, second: int) -> Any:
        return x.transpose(first, second)

    def attended(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        return q.scaled_dot_product_attention(k, v, is_causal=causal)

    def rows(self, table: Any, indices: Any) -> Any:
        return table[indices]

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return logits.sparse_categorical_crossentropy(labels)

    def appended(self, cache: Any, place: int, key: Any, value: Any) -> tuple[Any, Any, Any]:
        """The cache (2, batch, heads, places, width) with both at a place; all keys and values."""
        cache[:, :, :, place : place + 1] = key.stack(value)
        held = cache[:, :, :, : place + 1]
        return cache, held[0], held[1]


class Torch(Lazy):
    """PyTorch's functions."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.functional = torch, torch.nn.functional

    def convolved(self, x: Any, weight: Any, stride: int = 1) -> Any:
        return self.functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def normalised(self, x: Any, mean: Any, variance: Any, scale: Any, shift: Any) -> Any:
        return self.functional.batch_norm(x, mean, variance, scale, shift, eps=1e-5)

    def gelu(self, x: Any) -> Any:
        return self.functional.gelu(x, approximate="tanh")

    def pooled(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return self.functional.max_pool2d(x, size, stride, padding)

    def linear(self, x: Any, weight: Any, bias: Any | None = None) -> Any:
        return self.functional.linear(x, weight, bias)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.functional.layer_norm(x, x.shape[-1:], scale, shift, 1e-5)

    def attended(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        return self.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def rows(self, table: Any, indices: Any) -> Any:
        return self.functional.embedding(indices, table)

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        return self.functional.cross_entropy(logits, labels.long())

    def appended(self, cache: Any, place: int, key: Any, value: Any) -> tuple[Any, Any, Any]:
        cache[0, :, :, place : place + 1] = key
        cache[1, :, :, place : place + 1] = value
        held = cache[:, :, :, : place + 1]
        return cache, held[0], held[1]


class Jax(Lazy):
    """jax.numpy's, jax.nn's and jax.lax's functions."""

    def __init__(self, jax: Any) -> None:
        self.jax, self.numpy = jax, jax.numpy

    def convolved(self, x: Any, weight: Any, stride: int = 1) -> Any:
        around = (weight.shape[-1] // 2,) * 2
        return self.jax.lax.conv_general_dilated(x, weight, (stride, stride), (around, around))

    def normalised(self, x: Any, mean: Any, variance: Any, scale: Any, shift: Any) -> Any:
        factor = scale * self.jax.lax.rsqrt(variance + 1e-5)
        factor, shift = (one[:, None, None] for one in (factor, shift - mean * factor))
        return x * factor + shift

    def relu(self, x: Any) -> Any:
        return self.jax.nn.relu(x)

    def gelu(self, x: Any) -> Any:
        return self.jax.nn.gelu(x, approximate=True)

    def pooled(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        around = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        window, steps = (1, 1, size, size), (1, 1, stride, stride)
        return self.jax.lax.reduce_window(
            x, -self.numpy.inf, self.jax.lax.max, window, steps, around
        )

    def linear(self, x: Any, weight: Any, bias: Any | None = None) -> Any:
        return x @ weight.T if bias is None else x @ weight.T + bias

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred * self.jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def swapped(self, x: Any, first: int, second: int) -> Any:
        return x.swapaxes(first, second)

    def attended(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
        if causal:
            seen = self.numpy.tril(self.numpy.ones(scores.shape[-2:], bool))
            scores = self.numpy.where(seen, scores, -self.numpy.inf)
        return self.jax.nn.softmax(scores, -1) @ v

    def cross_entropy(self, logits: Any, labels: Any) -> Any:
        logarithms = self.jax.nn.log_softmax(logits, -1)
        return -self.numpy.take_along_axis(logarithms, labels[:, None], -1).mean()

    def appended(self, cache: Any, place: int, key: Any, value: Any) -> tuple[Any, Any, Any]:
        both = self.numpy.stack([key, value])
        cache = self.jax.lax.dynamic_update_slice(cache, both, (0, 0, 0, place, 0))
        held = cache[:, :, :, : place + 1]
        return cache, held[0], held[1]


WORDS: dict[str, Callable[[Any], Lazy]] = {"lazy": Lazy, "torch": Torch, "jax": Jax}


# ---- numbers -------------------------------------------------------------------------------------


class Numbers:
    """Makes arrays by name: normal numbers, divided by the root of what each result adds up."""

    def __init__(self, seed: int) -> None:
        self.random, self.made = np.random.default_rng(seed), dict[str, np.ndarray]()

    def normal(self, name: str, *shape: int, scale: float | None = None) -> None:
        if scale is None:
            scale = float(np.prod(shape[1:])) ** -0.5
        values = self.random.standard_normal(shape, dtype=np.float32)
        self.made[name] = values * np.float32(scale)

    def near_one(self, name: str, *shape: int) -> None:
        self.made[name] = self.random.uniform(0.5, 1.5, shape).astype(np.float32)


def normal(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape, dtype=np.float32) for shape in shapes]


def whole(seed: int, below: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, shape).astype(np.int32)


# ---- ResNet-18 -----------------------------------------------------------------------------------

STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # (channels, stride of the first block)


def _blocks() -> list[tuple[str, int, int, int]]:
    """(name, channels in, channels out, stride) of the eight blocks."""
    found, before = [], 64
    for stage, (width, stride) in enumerate(STAGES):
        for block in range(2):
            found.append((f"stage{stage}.{block}", before, width, stride if block == 0 else 1))
            before = width
    return found


def resnet_parameters() -> Arrays:
    new = Numbers(1)

    def convolution(name: str, out: int, before: int, size: int) -> None:
        new.normal(f"{name}.weight", out, before, size, size, scale=(2 / before) ** 0.5 / size)
        new.normal(f"{name}.mean", out, scale=0.1)
        new.normal(f"{name}.shift", out, scale=0.1)
        new.near_one(f"{name}.variance", out)
        new.near_one(f"{name}.scale", out)

    convolution("stem", 64, 3, 7)
    for name, before, width, stride in _blocks():
        convolution(f"{name}.first", width, before, 3)
        convolution(f"{name}.second", width, width, 3)
        if stride != 1 or before != width:
            convolution(f"{name}.around", width, before, 1)
    new.normal("last.weight", 1000, 512)
    new.normal("last.bias", 1000, scale=0.1)
    return new.made


def resnet(words: Lazy, p: dict[str, Any], x: Any) -> Any:
    """Logits (batch, 1000) of images (batch, 3, 224, 224), normalised by running statistics."""

    def convolved(name: str, x: Any, stride: int = 1) -> Any:
        facts = (p[f"{name}.{fact}"] for fact in ("mean", "variance", "scale", "shift"))
        return words.normalised(words.convolved(x, p[f"{name}.weight"], stride), *facts)

    x = words.pooled(words.relu(convolved("stem", x, 2)), 3, 2, 1)
    for name, before, width, stride in _blocks():
        h = words.relu(convolved(f"{name}.first", x, stride))
        h = convolved(f"{name}.second", h)
        if stride != 1 or before != width:
            x = convolved(f"{name}.around", x, stride)
        x = words.relu(h + x)
    return words.linear(words.mean(x, (2, 3)), p["last.weight"], p["last.bias"])


# ---- GPT-2 small, and one of its blocks ----------------------------------------------------------


def _block_parameters(new: Numbers, name: str, scale: float | None = 0.02) -> None:
    for part, out, before in (
        ("both", 3 * WIDTH, WIDTH),
        ("mixed", WIDTH, WIDTH),
        ("wide", 4 * WIDTH, WIDTH),
        ("narrow", WIDTH, 4 * WIDTH),
    ):
        new.normal(f"{name}{part}.weight", out, before, scale=scale)
        new.normal(f"{name}{part}.bias", out, scale=0.02)
    for part in ("before", "between"):
        new.near_one(f"{name}{part}.scale", WIDTH)
        new.normal(f"{name}{part}.shift", WIDTH, scale=0.02)


def block_parameters() -> Arrays:
    new = Numbers(2)
    _block_parameters(new, "", None)
    return new.made


def gpt_parameters() -> Arrays:
    new = Numbers(3)
    new.normal("words", VOCABULARY, WIDTH, scale=0.02)
    new.normal("places", 1024, WIDTH, scale=0.02)
    for layer in range(LAYERS):
        _block_parameters(new, f"{layer}.")
    new.near_one("last.scale", WIDTH)
    new.normal("last.shift", WIDTH, scale=0.02)
    return new.made


def block(
    words: Lazy, p: dict[str, Any], name: str, x: Any, cache: Any = None, place: int = 0
) -> tuple[Any, Any]:
    """One block of GPT-2 on x (batch, tokens, WIDTH), causal; with a cache, one token after it."""
    batch, tokens, _ = x.shape

    def linear(part: str, x: Any) -> Any:
        return words.linear(x, p[f"{name}{part}.weight"], p[f"{name}{part}.bias"])

    def normalised(part: str, x: Any) -> Any:
        return words.layer_norm(x, p[f"{name}{part}.scale"], p[f"{name}{part}.shift"])

    both = linear("both", normalised("before", x))
    q, k, v = (
        words.swapped(
            both[:, :, part * WIDTH : (part + 1) * WIDTH].reshape(
                (batch, tokens, HEADS, WIDTH // HEADS)
            ), 1, 2,
        )
        for part in range(3)
    )  # fmt: skip
    if cache is not None:
        cache, k, v = words.appended(cache, place, k, v)
    mixed = words.attended(q, k, v, causal=cache is None)
    x = x + linear("mixed", words.swapped(mixed, 1, 2).reshape((batch, tokens, WIDTH)))
    h = words.gelu(linear("wide", normalised("between", x)))
    return x + linear("narrow", h), cache


def gpt(words: Lazy, p: dict[str, Any], tokens: Any) -> Any:
    """Logits (1, length, VOCABULARY) of tokens (1, length)."""
    x = words.rows(p["words"], tokens) + p["places"][: tokens.shape[1]]
    for layer in range(LAYERS):
        x, _ = block(words, p, f"{layer}.", x)
    return words.linear(words.layer_norm(x, p["last.scale"], p["last.shift"]), p["words"])


def gpt_token(words: Lazy, p: dict[str, Any], caches: list[Any], token: Any) -> Any:
    """Logits (1, 1, VOCABULARY) of the token (1, 1) after FILLED others; the caches after it."""
    x = words.rows(p["words"], token) + p["places"][FILLED : FILLED + 1]
    changed = []
    for layer, cache in enumerate(caches):
        x, cache = block(words, p, f"{layer}.", x, cache, FILLED)
        changed.append(cache)
    normalised = words.layer_norm(x, p["last.scale"], p["last.shift"])
    return words.linear(normalised, p["words"]), changed


def filled_caches() -> list[np.ndarray]:
    shape = (2, 1, HEADS, PLACES, WIDTH // HEADS)
    return normal(4, *([shape] * LAYERS))


def block_loss(words: Lazy, p: dict[str, Any], x: Any, wanted: Any) -> Any:
    apart = block(words, p, "", x)[0] - wanted
    return (apart * apart).mean()


# ---- small networks that learn -------------------------------------------------------------------

LAYER_SIZES = (784, 512, 256, 10)


def perceptron_parameters() -> Arrays:
    new = Numbers(5)
    for layer, (before, out) in enumerate(pairwise(LAYER_SIZES)):
        new.normal(f"{layer}.weight", out, before)
        new.normal(f"{layer}.bias", out, scale=0.1)
    return new.made


def perceptron(words: Lazy, p: dict[str, Any], x: Any, labels: Any) -> Any:
    for layer in range(len(LAYER_SIZES) - 2):
        x = words.relu(words.linear(x, p[f"{layer}.weight"], p[f"{layer}.bias"]))
    return words.cross_entropy(words.linear(x, p["2.weight"], p["2.bias"]), labels)


def convolutional_parameters() -> Arrays:
    new = Numbers(6)
    new.normal("first", 16, 1, 3, 3)
    new.normal("second", 32, 16, 3, 3)
    new.normal("last", 10, 32 * 16)
    return new.made


def convolutional(words: Lazy, p: dict[str, Any], images: Any, labels: Any) -> Any:
    h = words.relu(words.convolved(images, p["first"]))
    h = words.pooled(words.relu(words.convolved(h, p["second"])), 2, 2)
    return words.cross_entropy(words.linear(h.reshape((h.shape[0], -1)), p["last"]), labels)


MODELS = (
    *(
        Model(
            f"ResNet-18, batch {batch}", resnet_parameters,
            lambda batch=batch: normal(7, (batch, 3, 224, 224)), resnet,
        )
        for batch in (1, 8)
    ),
    Model("GPT-2 small, 128 tokens", gpt_parameters, lambda: [whole(8, VOCABULARY, 1, 128)], gpt),
    Model(
        "GPT-2 small, one token after 128", gpt_parameters, lambda: [whole(8, VOCABULARY, 1, 1)],
        gpt_token, caches=filled_caches,
    ),
    Model(
        "MLP, training step", perceptron_parameters,
        lambda: [*normal(9, (128, 784)), whole(9, 10, 128)], perceptron, "sgd", 0.1,
    ),
    Model(
        "convolutional network, training step", convolutional_parameters,
        lambda: [*normal(10, (128, 1, 8, 8)), whole(10, 10, 128)], convolutional, "adam", 1e-3,
    ),
    Model(
        "transformer block, training step", block_parameters,
        lambda: normal(11, (4, 128, WIDTH), (4, 128, WIDTH)), block_loss, "sgd", 0.1,
    ),
)  # fmt: skip
"""All of them, in the order of the table."""
