"""The kernels whose search is compared with the heuristic's choice: small programs of a kernel or
two, and the layers of networks, each with memory that holds nothing (`Tensor.empty`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from networks import Parameters, gpt_block

Build = Callable[[Any], list[Any]]  # from the class Tensor to the results


def _square(tensor: Any, size: int = 4096) -> Any:
    return tensor.empty(size, size)


def _chain(a: Any, b: Any, c: Any) -> Any:
    return (a * b + c).relu() * 0.5 - a / (c * c + 1)


SINGLE: dict[str, Build] = {
    "matmul 512": lambda t: [_square(t, 512) @ _square(t, 512)],
    "matmul 1024": lambda t: [_square(t, 1024) @ _square(t, 1024)],
    "matmul 1000": lambda t: [_square(t, 1000) @ _square(t, 1000)],
    "matmul, transposed": lambda t: [_square(t, 512) @ _square(t, 512).transpose(0, 1)],
    "matmul, 64 of 128": lambda t: [t.empty(64, 128, 128) @ t.empty(64, 128, 128)],
    "matmul, bf16": lambda t: [
        t.empty(512, 512, dtype="bfloat16") @ t.empty(512, 512, dtype="bfloat16")
    ],
    "matvec 4096": lambda t: [_square(t) @ t.empty(4096)],
    "elementwise chain, 4 M": lambda t: [_chain(*(t.empty(1 << 22) for _ in range(3)))],
    "transcendentals, 4 M": lambda t: [(t.empty(1 << 22).exp() + 1).log().tanh()],
    "sum, 16 M": lambda t: [t.empty(1 << 24).sum()],
    "max, 16 M": lambda t: [t.empty(1 << 24).max()],
    "sum of rows": lambda t: [_square(t).sum(1)],
    "sum of columns": lambda t: [_square(t).sum(0)],
    "max of columns": lambda t: [_square(t).max(0)],
    "softmax 4096": lambda t: [_square(t).softmax()],
    "logsumexp 4096": lambda t: [_square(t).logsumexp(1)],
    "layernorm 4096": lambda t: [_square(t).layernorm()],
    "argmax of rows": lambda t: [_square(t).argmax(1)],
    "cumsum of rows": lambda t: [_square(t, 2048).cumsum(1)],
    "transpose": lambda t: [_square(t).transpose(0, 1).contiguous()],
    "permute": lambda t: [t.empty(64, 128, 12, 64).permute(0, 2, 1, 3).contiguous()],
    "embedding": lambda t: [t.empty(50257, 768)[t.empty(512, dtype="int32")]],
    "gather": lambda t: [_square(t, 2048).gather(1, t.empty(2048, 2048, dtype="int32"))],
    "conv 3x3": lambda t: [t.empty(8, 64, 56, 56).conv2d(t.empty(64, 64, 3, 3), padding=1)],
}
"""A kernel or two each."""


def _conv_gradients(tensor: Any) -> list[Any]:
    x, weight = tensor.empty(8, 64, 56, 56), tensor.empty(64, 64, 3, 3)
    upstream = tensor.empty(8, 64, 56, 56)
    return list(x.conv2d(weight, padding=1).gradient(x, weight, gradient=upstream))


def _convolved(channels: int, size: int, out: int, window: int, stride: int = 1) -> Build:
    """A convolution of one image, normalised, as in a ResNet."""

    def build(tensor: Any) -> list[Any]:
        new = Parameters(tensor)
        x = tensor.empty(1, channels, size, size)
        y = x.conv2d(new(out, channels, window, window), stride=stride, padding=window // 2)
        mean, variance, scale, shift = (new(out) for _ in range(4))
        return [y.batchnorm(scale, shift, mean, (variance + 1e-5).rsqrt()).relu()]

    return build


def _gpt_layer(tokens: int) -> Build:
    return lambda tensor: [gpt_block(tensor.empty(1, tokens, 768), 12, Parameters(tensor))]


def _logits(tensor: Any) -> list[Any]:
    return [tensor.empty(1, 128, 768) @ tensor.empty(50257, 768).transpose(0, 1)]


def _perceptron_step(tensor: Any) -> list[Any]:
    """Loss and a step of plain gradient descent, for two layers and 64 pictures of digits."""
    x, labels = tensor.empty(64, 784), tensor.empty(64, dtype="int32")
    first, second = tensor.empty(784, 128), tensor.empty(128, 10)
    loss = ((x @ first).relu() @ second).sparse_categorical_crossentropy(labels)
    steps = loss.gradient(first, second)
    changed = [weight - 0.01 * step for weight, step in zip((first, second), steps)]
    return [loss, *changed]


LAYERS: dict[str, Build] = {
    "conv 3x3, gradients": _conv_gradients,
    "ResNet, 7x7 at 224": _convolved(3, 224, 64, 7, 2),
    "ResNet, 3x3 at 56": _convolved(64, 56, 64, 3),
    "ResNet, 3x3 at 28": _convolved(128, 28, 128, 3),
    "ResNet, 3x3 at 14": _convolved(256, 14, 256, 3),
    "ResNet, 3x3 at 7": _convolved(512, 7, 512, 3),
    "ResNet, 3x3 to 28": _convolved(64, 56, 128, 3, 2),
    "ResNet, 1x1 at 56": _convolved(256, 56, 64, 1),
    "ResNet, 1x1 at 14": _convolved(1024, 14, 256, 1),
    "ResNet, pool": lambda t: [t.empty(1, 64, 112, 112).max_pool2d((3, 3), stride=2, padding=1)],
    "GPT-2 layer, 128 tokens": _gpt_layer(128),
    "GPT-2 layer, one token": _gpt_layer(1),
    "GPT-2 logits": _logits,
    "perceptron step": _perceptron_step,
}
"""What networks are made of."""
