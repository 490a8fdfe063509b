"""Small programs whose kernels are counted, for any Tensor class with weft's method names.

Each gives its result tensors; their inputs are `Tensor.empty`, and nothing is computed.
`goal` is how many kernels they should take, None where no goal was set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from networks import Parameters, attention, embedded, gpt_block, resnet50

Build = Callable[[Any], list[Any]]  # from the class Tensor to the results

ROWS, COLUMNS = 512, 1024
TOKENS, WIDTH, HEADS = 64, 128, 4


@dataclass(frozen=True)
class Program:
    """A program: its name, what makes it, and the kernels it should take."""

    name: str
    build: Build
    goal: int | None = None


PROGRAMS: list[Program] = []


def _program(name: str, goal: int | None = None) -> Callable[[Build], Build]:
    def add(build: Build) -> Build:
        PROGRAMS.append(Program(name, build, goal))
        return build

    return add


def _matrix(tensor: Any) -> Any:
    return tensor.empty(ROWS, COLUMNS)


def _tokens(tensor: Any) -> Any:
    return tensor.empty(1, TOKENS, WIDTH)


@_program("softmax", 1)
def _(tensor: Any) -> list[Any]:
    return [_matrix(tensor).softmax()]


@_program("log_softmax", 1)
def _(tensor: Any) -> list[Any]:
    return [_matrix(tensor).log_softmax()]


@_program("layernorm", 1)
def _(tensor: Any) -> list[Any]:
    return [_matrix(tensor).layernorm()]


@_program("rmsnorm", 1)
def _(tensor: Any) -> list[Any]:
    x = _matrix(tensor)
    return [x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()]


@_program("variance", 1)
def _(tensor: Any) -> list[Any]:
    return [_matrix(tensor).var(1)]


@_program("argmax", 1)
def _(tensor: Any) -> list[Any]:
    return [_matrix(tensor).argmax(1)]


def _attended(tensor: Any) -> tuple[list[Any], Any]:
    q, k, v = (tensor.empty(1, HEADS, TOKENS, WIDTH // HEADS) for _ in range(3))
    return [q, k, v], q.scaled_dot_product_attention(k, v)


@_program("attention forward", 2)
def _(tensor: Any) -> list[Any]:
    return [_attended(tensor)[1]]


@_program("attention forward + backward")
def _(tensor: Any) -> list[Any]:
    inputs, mixed = _attended(tensor)
    return [mixed, *mixed.sum().gradient(*inputs)]


def _backward(function: Callable[[Any], Any]) -> Build:
    def build(tensor: Any) -> list[Any]:
        x, upstream = _matrix(tensor), _matrix(tensor)
        return list(function(x).gradient(x, gradient=upstream))

    return build


_program("softmax backward", 2)(_backward(lambda x: x.softmax()))
_program("layernorm backward", 2)(_backward(lambda x: x.layernorm()))


@_program("conv + relu forward + backward", 5)
def _(tensor: Any) -> list[Any]:
    x, weight = tensor.empty(8, 16, 32, 32), tensor.empty(32, 16, 3, 3)
    y = x.conv2d(weight, padding=1).relu()
    return [y, *y.sum().gradient(x, weight)]


@_program("matmul + bias + gelu", 1)
def _(tensor: Any) -> list[Any]:
    return [(_matrix(tensor) @ tensor.empty(COLUMNS, ROWS) + tensor.empty(ROWS)).gelu()]


@_program("embedding", 1)
def _(tensor: Any) -> list[Any]:
    return [embedded(tensor.empty(8, 16, dtype="int32"), tensor.empty(1000, 64))]


@_program("arange(10000)", 0)
def _(tensor: Any) -> list[Any]:
    return [tensor.arange(10000)]


@_program("arange(10000) + x", 1)
def _(tensor: Any) -> list[Any]:
    return [tensor.arange(10000) + tensor.empty(10000, dtype="int32")]


@_program("cumsum(4096)", 1)
def _(tensor: Any) -> list[Any]:
    return [tensor.empty(4096).cumsum()]


@_program("sort(1024)")
def _(tensor: Any) -> list[Any]:
    return [tensor.empty(1024).sort()[0]]


@_program("two outputs of one input", 1)
def _(tensor: Any) -> list[Any]:
    x = _matrix(tensor)
    return [x + 1, x * 2]


@_program("sum + max of one input", 1)
def _(tensor: Any) -> list[Any]:
    x = _matrix(tensor)
    return [x.sum(1), x.max(1)]


@_program("rand")
def _(tensor: Any) -> list[Any]:
    return [tensor.rand(1024)]


@_program("GPT block forward", 7)
def _(tensor: Any) -> list[Any]:
    return [gpt_block(_tokens(tensor), HEADS, Parameters(tensor))]


@_program("GPT block forward + backward", 20)
def _(tensor: Any) -> list[Any]:
    new, x = Parameters(tensor), _tokens(tensor)
    y = gpt_block(x, HEADS, new)
    return [y, *y.sum().gradient(x, *new.made)]


@_program("self-attention of the block")
def _(tensor: Any) -> list[Any]:
    return [attention(_tokens(tensor), HEADS, Parameters(tensor))]


@_program("ResNet-50 forward", 51)
def _(tensor: Any) -> list[Any]:
    return [resnet50(tensor)]


@_program("Adam step, 4 tensors", 4)
def adam(tensor: Any) -> list[Any]:
    """Moments, their bias correction and the step, in place, as an optimiser records them."""
    asked = []
    for shape in ((256, 256), (256,), (256, 64), (64,)):
        value, gradient, first, second = (tensor.empty(*shape) for _ in range(4))
        first.assign(first * 0.9 + gradient * 0.1)
        second.assign(second * 0.999 + gradient.square() * 0.001)
        change = (first / 0.1) / ((second / 0.001).sqrt() + 1e-8)
        value.assign(value - change * 0.001)
        asked += [value, first, second]
    return asked
