"""Random workloads, which nobody tuned for: products, convolutions, reductions, permutations and
elementwise expressions with random shapes.

Sizes are spread evenly over their logarithm, from a few elements to 64 MB. Every workload computes
on float32 and is written once for all peers, like those of `workloads.py`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import Function, Workload, everywhere, floats

MOST_BYTES = 1 << 26
MOST_OPERATIONS = 1 << 34  # a product or a convolution ends within seconds on one core
UNARY: dict[str, Function] = {
    "exp": lambda lib, x: lib.exp(x * 0.1),
    "tanh": lambda lib, x: lib.tanh(x),
    "sin": lambda lib, x: lib.sin(x),
    "sqrt": lambda lib, x: lib.sqrt(x * x + 1),
    "log": lambda lib, x: lib.log(x * x + 1),
    "square": lambda lib, x: x * x,
    "negative": lambda lib, x: -x,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / (y * y + 1),
}


class Draw:
    """A generator of random workloads with one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def workload(self, number: int) -> Workload:
        kinds = (self.product, self.convolution, self.reduction, self.permutation, self.expression)
        return kinds[number % len(kinds)](number)

    def log_uniform(self, low: float, high: float) -> int:
        """A whole number whose logarithm is uniform between these."""
        return max(1, round(math.exp(self.random.uniform(math.log(low), math.log(high)))))

    def shape(self, axes: int, low: float = 8, high: float = MOST_BYTES / 4) -> tuple[int, ...]:
        """Random sizes of `axes` axes, whose product is near a random number."""
        left, sizes = float(self.log_uniform(low, high)), []
        for rest in range(axes, 1, -1):
            mean = left ** (1 / rest)
            sizes.append(self.log_uniform(max(1.0, mean / 4), mean * 4))
            left = max(1.0, left / sizes[-1])
        sizes.append(max(1, round(left)))
        self.random.shuffle(sizes)
        return tuple(sizes)

    def product(self, number: int) -> Workload:
        while True:
            batch = self.random.choice([1, 1, 1, self.log_uniform(2, 64)])
            m, k, n = (self.log_uniform(1, 4096) for _ in range(3))
            most = max(m * k, k * n, m * n) * batch * 4
            if most <= MOST_BYTES and 2 * batch * m * k * n <= MOST_OPERATIONS:
                break
        transposed = self.random.random() < 0.3
        first, second = (m, k), (n, k) if transposed else (k, n)
        shapes = ((batch, *first), (batch, *second)) if batch > 1 else (first, second)
        name = f"{number} product {batch} x {m} x {k} x {n}{', transposed' * transposed}"

        def function(_: Any, a: Any, b: Any) -> Any:
            return a @ (b.swapaxes(-1, -2) if transposed else b)

        by = everywhere(function)
        by["lazy"] = lambda _, a, b: a @ (b.transpose(-1, -2) if transposed else b)
        return Workload(name, floats(*shapes), (2.0 * batch * m * k * n, "flop"), by)

    def convolution(self, number: int) -> Workload:
        while True:
            batch, size = self.log_uniform(1, 16), self.log_uniform(6, 112)
            inputs, outputs = self.log_uniform(1, 256), self.log_uniform(1, 256)
            window, stride = self.random.choice([1, 3, 3, 5, 7]), self.random.choice([1, 1, 2])
            padding = window // 2
            side = (size + 2 * padding - window) // stride + 1
            work = 2.0 * batch * inputs * outputs * window**2 * side**2
            most = 4 * batch * max(inputs * size**2, outputs * side**2)
            if size >= window and most <= MOST_BYTES and work <= MOST_OPERATIONS:
                break

        def lazy(_: Any, x: Any, w: Any) -> Any:
            return x.conv2d(w, padding=padding, stride=stride)

        def torch(lib: Any, x: Any, w: Any) -> Any:
            return lib.nn.functional.conv2d(x, w, padding=padding, stride=stride)

        def jax(lib: Any, x: Any, w: Any) -> Any:
            around = ((padding, padding),) * 2
            return lib.lax.conv_general_dilated(x, w, (stride, stride), around)

        name = (
            f"{number} convolution {batch} x {inputs} x {size} x {size}, {outputs} of "
            f"{window} x {window}, stride {stride}"
        )
        shapes = ((batch, inputs, size, size), (outputs, inputs, window, window))
        by = {"lazy": lazy, "torch": torch, "jax": jax}
        return Workload(name, floats(*shapes), (work, "flop"), by)

    def reduction(self, number: int) -> Workload:
        shape = self.shape(self.random.randint(1, 4))
        axes = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        how = self.random.choice(["sum", "mean", "max", "min", "sum of squares", "var"])
        chosen = tuple(axes)

        def function(lib: Any, x: Any) -> Any:
            if how == "sum of squares":
                return (x * x).sum(chosen)
            return getattr(x, how)(chosen)

        by = everywhere(function)
        if how in ("max", "min"):
            by["torch"] = lambda lib, x: getattr(x, f"a{how}")(chosen)
        if how == "var":
            by["torch"] = lambda lib, x: x.var(chosen, correction=0)
            by["lazy"] = lambda lib, x: x.var(chosen, correction=0)
        return self.moved(f"{number} {how} of {shape} over {chosen}", shape, 1, by)

    def permutation(self, number: int) -> Workload:
        shape = self.shape(self.random.randint(2, 5))
        order = list(range(len(shape)))
        while order == sorted(order):
            self.random.shuffle(order)
        by: dict[str, Function | None] = {
            "lazy": lambda _, x: x.permute(*order).contiguous(),
            "torch": lambda _, x: x.permute(*order).contiguous(),
            "jax": lambda _, x: x.transpose(*order) + 0,
            "numpy": lambda lib, x: lib.ascontiguousarray(x.transpose(*order)),
        }
        return self.moved(f"{number} permutation of {shape} by {tuple(order)}", shape, 2, by)

    def expression(self, number: int) -> Workload:
        """A chain of unary and binary operations on two arrays; one broadcasts at times."""
        shape = self.shape(self.random.randint(1, 3))
        second = shape
        if self.random.random() < 0.5:
            second = tuple(1 if self.random.random() < 0.5 else size for size in shape)
        steps = [
            (self.random.choice(list(UNARY)), self.random.choice(list(BINARY)))
            for _ in range(self.random.randint(1, 6))
        ]

        def function(lib: Any, x: Any, y: Any) -> Any:
            for unary, binary in steps:
                x = BINARY[binary](UNARY[unary](lib, x), y)
            return x

        def lazy(_: Any, x: Any, y: Any) -> Any:
            return function(Methods, x, y)

        by: dict[str, Function | None] = {
            "lazy": lazy, "torch": function, "numpy": function,
            "jax": lambda lib, x, y: function(lib.numpy, x, y),
        }  # fmt: skip
        words = " ".join(f"{unary} {binary}" for unary, binary in steps)
        name = f"{number} expression {words} of {shape} and {second}"
        size, other = math.prod(shape), math.prod(second)
        return Workload(name, floats(shape, second), (4.0 * (2 * size + other), "byte"), by)

    def moved(
        self, name: str, shape: tuple[int, ...], times: float, by: dict[str, Function | None]
    ) -> Workload:
        return Workload(name, floats(shape), (4.0 * float(np.prod(shape)) * times, "byte"), by)


class Methods:
    """Functions that call a tensor's method of their name."""

    exp = staticmethod(lambda x: x.exp())
    tanh = staticmethod(lambda x: x.tanh())
    sin = staticmethod(lambda x: x.sin())
    sqrt = staticmethod(lambda x: x.sqrt())
    log = staticmethod(lambda x: x.log())


def random_workloads(count: int, seed: int) -> tuple[Workload, ...]:
    """`count` workloads of one seed, the same number of each kind."""
    draw = Draw(seed)
    return tuple(draw.workload(number) for number in range(count))
