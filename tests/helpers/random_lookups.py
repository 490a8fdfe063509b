"""Random sums and maxima of what indices choose, as embeddings, their gradients and scans are.

An index is compared with a counter, and what is not meant is left out of a reduce: that is how all
of them are written before the code generator looks at it. Indices are negative or too large at
times, and several terms go to one place. Numbers are small integers, also in floats, so that no
order of summation rounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from weft.tensor import Tensor

_SIZES = (1, 2, 3, 4, 5, 8, 9, 16, 17, 24)
_TURNS = 6000  # of a kernel's loops, at most
_INDICES = ("int32", "int32", "int64", "int16", "uint8")
_OF_TERMS = ((3,), (0, 3), (2, 3), (0, 2, 3))
_OF_PLACES = ((1,), (0, 1), (1, 2), (0, 1, 2))
_OF_VALUES = ((0, 2, 3), (2, 3), (0, 1, 2, 3), (3,))

Pair = tuple[Tensor, Any]


class RandomLookup:
    """One random program. `result` is its tensor, not yet realized, and `expected` what is in it.

    Everything has axes (batch, places, columns, terms); the last one is reduced.

    :param seed: of the choice.
    :param device: where its inputs are.
    """

    def __init__(self, seed: int, device: str = "REF") -> None:
        import numpy

        self.numpy, self.device = numpy, device
        pick = self.random = random.Random(seed)
        self.kind = pick.choice(("float32", "int32"))
        self.sizes = [1, 1, 1, _TURNS + 1]
        while numpy.prod(self.sizes) > _TURNS:
            self.sizes = [pick.choice((1, 1, 2, 3)), *(pick.choice(_SIZES) for _ in range(3))]
        self.result, self.expected = self.chosen()
        for _ in range(pick.randint(0, 2)):
            if pick.random() < 0.5:
                self.sizes[3] = min(self.sizes[3], pick.choice(_SIZES))
            more = self.chosen() if pick.random() < 0.7 else self.numbers(pick.choice(_OF_PLACES))
            self.join(more)
        self.result = self.result.contiguous()

    def join(self, more: Pair) -> None:
        """Add another value, or take the larger one, or that where this one is positive."""
        (a, x), (b, y) = (self.result, self.expected), more
        how = self.random.choice(("add", "max", "where"))
        if how == "add":
            self.result, self.expected = a + b, x + y
        elif how == "max":
            self.result, self.expected = a.maximum(b), self.numpy.maximum(x, y)
        else:
            self.result, self.expected = (a > 0).where(b, a), self.numpy.where(x > 0, y, x)

    def chosen(self) -> Pair:
        """The terms that an index chooses, as a sum or a maximum."""
        numpy, pick = self.numpy, self.random
        ways: tuple[Callable[[], Pair], ...] = (
            self.placed, self.placed, self.picked, self.triangle, self.both,
        )  # fmt: skip
        meant, hits = pick.choice(ways)()
        value, array = self.numbers(pick.choice(_OF_VALUES))
        if pick.random() < 0.3:
            value, array = value.relu() + 1, numpy.maximum(array, 0) + 1
        most = pick.random() < 0.3
        other = pick.choice((0, -9)) if most else 0
        value = meant.where(value, other)
        array = numpy.where(hits, array, other).astype(self.kind)
        wide = numpy.broadcast_to(array, self.sizes)
        if most:
            return value.expand(self.sizes).max(3, keepdim=True), wide.max(3, keepdims=True)
        total = wide.sum(3, keepdims=True, dtype=self.kind)
        return value.expand(self.sizes).sum(3, keepdim=True), total

    # ---- which -----------------------------------------------------------------------------------

    def placed(self) -> Pair:
        """Whether a term goes to a place."""
        index, array = self.index(_OF_TERMS, self.sizes[1])
        counter, places = self.counter(1)
        return index == counter, array == places

    def picked(self) -> Pair:
        """Whether an index selects a term."""
        index, array = self.index(_OF_PLACES, self.sizes[3])
        counter, places = self.counter(3)
        return index == counter, array == places

    def triangle(self) -> Pair:
        """Whether a term comes before a place."""
        (one, x), (other, y) = self.counter(3), self.counter(1)
        by = self.random.choice((0, 1, 3))
        return one < other + by, x < y + by

    def both(self) -> Pair:
        """Whether two of these hold."""
        (a, x), (b, y) = self.placed(), self.random.choice((self.placed, self.triangle))()
        return a & b, x & y

    # ---- inputs ----------------------------------------------------------------------------------

    def counter(self, axis: int) -> Pair:
        size = self.sizes[axis]
        shape = [size if at == axis else 1 for at in range(4)]
        return (
            Tensor.arange(size, device=self.device).reshape(*shape),
            self.numpy.arange(size).reshape(shape),
        )

    def index(self, axes: tuple[tuple[int, ...], ...], most: int) -> Pair:
        """Indices below `most`, some of them out of bounds."""
        pick, kind = self.random, self.random.choice(_INDICES)
        low = 0 if kind == "uint8" else pick.choice((0, 0, -2))
        high = most + pick.choice((0, 0, 3))
        tensor, array = self.stored(pick.choice(axes), low, high - 1, kind)
        return tensor.cast("int32") if pick.random() < 0.3 else tensor, array.astype("int64")

    def numbers(self, axes: tuple[int, ...]) -> Pair:
        return self.stored(axes, -3, 3, self.kind)

    def stored(self, axes: tuple[int, ...], low: int, high: int, kind: str) -> Pair:
        """A new input that moves with some axes, at times stored in another order."""
        numpy, pick = self.numpy, self.random
        shape = [size if at in axes else 1 for at, size in enumerate(self.sizes)]
        count = int(numpy.prod(shape))
        array = numpy.array([pick.randint(low, high) for _ in range(count)], kind).reshape(shape)
        order = pick.choice(((0, 1, 2, 3), (0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)))
        held = Tensor(numpy.ascontiguousarray(array.transpose(order)), device=self.device)
        return held.realize().permute(*(order.index(at) for at in range(4))), array
