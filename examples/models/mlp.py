"""A multilayer perceptron: linear maps with a ReLU between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from weft import Tensor
from weft.nn import Linear


class MLP:
    """(n, ...) to (n, sizes[-1]); `sizes` are the features of every layer, the input's first."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.layers = [Linear(a, b) for a, b in pairwise(sizes)]

    def __call__(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)
