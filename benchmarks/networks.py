"""Whole networks over uninitialized memory, for any Tensor class with weft's method names.

Both lazy peers name their methods alike, so that one text serves both. Parameters are
`Tensor.empty`: what is measured here is the graph, its kernels and what they cost to make, never
a value. Shapes are those of the papers (He et al., 2015; Radford et al., 2019).
"""

from __future__ import annotations

from typing import Any

VOCABULARY = 50257
CONTEXT = 1024


class Parameters:
    """Makes the parameters of a network, and remembers them."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.made: list[Any] = []

    def __call__(self, *shape: int) -> Any:
        made = self.tensor.empty(*shape)
        self.made.append(made)
        return made


# ---- ResNet-50 --------------------------------------------------------------------------------


def _normalised(x: Any, new: Parameters) -> Any:
    """Batch normalisation in use: the running statistics, then scale and shift."""
    mean, variance, scale, shift = (new(x.shape[1]) for _ in range(4))
    return x.batchnorm(scale, shift, mean, (variance + 1e-5).rsqrt())


def _convolved(x: Any, out: int, kernel: int, new: Parameters, stride: int = 1) -> Any:
    weight = new(out, x.shape[1], kernel, kernel)
    return _normalised(x.conv2d(weight, stride=stride, padding=kernel // 2), new)


def _bottleneck(x: Any, width: int, stride: int, new: Parameters) -> Any:
    h = _convolved(x, width, 1, new).relu()
    h = _convolved(h, width, 3, new, stride).relu()
    h = _convolved(h, 4 * width, 1, new)
    if stride != 1 or x.shape[1] != 4 * width:
        x = _convolved(x, 4 * width, 1, new, stride)
    return (h + x).relu()


def resnet50(tensor: Any, batch: int = 1, size: int = 224) -> Any:
    """Logits (batch, 1000) of ResNet-50 in use, stride in the 3x3 convolution."""
    new = Parameters(tensor)
    x = _convolved(tensor.empty(batch, 3, size, size), 64, 7, new, 2).relu()
    x = x.max_pool2d((3, 3), stride=2, padding=1)
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            x = _bottleneck(x, width, stride if block == 0 else 1, new)
    return x.mean((2, 3)) @ new(2048, 1000) + new(1000)


# ---- GPT-2 ------------------------------------------------------------------------------------


def _linear(x: Any, out: int, new: Parameters) -> Any:
    return x @ new(x.shape[-1], out) + new(out)


def _layer_norm(x: Any, new: Parameters) -> Any:
    return x.layernorm(eps=1e-5) * new(x.shape[-1]) + new(x.shape[-1])


def attention(x: Any, heads: int, new: Parameters) -> Any:
    """Causal self-attention of x (batch, tokens, width), its projections included."""
    batch, tokens, width = x.shape
    projected = _linear(x, 3 * width, new)
    q, k, v = (
        projected[:, :, part * width : (part + 1) * width]
        .reshape(batch, tokens, heads, width // heads)
        .transpose(1, 2)
        for part in range(3)
    )
    mixed = q.scaled_dot_product_attention(k, v, is_causal=True)
    return _linear(mixed.transpose(1, 2).reshape(batch, tokens, width), width, new)


def gpt_block(x: Any, heads: int, new: Parameters) -> Any:
    """One block of GPT-2: both halves normalise first and are added to what they read."""
    x = x + attention(_layer_norm(x, new), heads, new)
    h = _linear(_layer_norm(x, new), 4 * x.shape[-1], new).gelu()
    return x + _linear(h, x.shape[-1], new)


def blocks(x: Any, count: int, heads: int, new: Parameters) -> Any:
    """`count` blocks, one after the other."""
    for _ in range(count):
        x = gpt_block(x, heads, new)
    return x


def embedded(tokens: Any, table: Any) -> Any:
    """Rows of `table` (many, width) for tokens (batch, length), as a one-hot product."""
    one_hot = tokens.unsqueeze(-1) == type(tokens).arange(table.shape[0])
    return (one_hot.unsqueeze(-1).where(table, 0)).sum(-2)


def gpt2(tensor: Any, layers: int = 12, length: int = 128, training: bool = False) -> list[Any]:
    """GPT-2 small on one sequence: its logits; or its loss and the gradients of all parameters."""
    new = Parameters(tensor)
    width, heads = 768, 12
    tokens = tensor.empty(1, length, dtype="int32")
    words, places = new(VOCABULARY, width), new(CONTEXT, width)
    x = embedded(tokens, words) + places[:length]
    x = _layer_norm(blocks(x, layers, heads, new), new)
    logits = x @ words.transpose(0, 1)
    if not training:
        return [logits]
    labels = tensor.empty(1, length, dtype="int32")
    loss = logits.sparse_categorical_crossentropy(labels)
    return [loss, *loss.gradient(*new.made)]
