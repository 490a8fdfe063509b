"""Random tensors, and the table of samples of operators.

A sample is a function of a generator `g` that returns the positional arguments, or the positional
and the keyword arguments. Tensors are small, and of several shapes and dtypes.
"""

from __future__ import annotations

import math

import torch


class Generator:
    """Random tensors, for one seed."""

    def __init__(self, seed=0):
        self._generator = torch.Generator().manual_seed(seed)

    def floats(self, *shape, dtype=torch.float32, low=-3.0, high=3.0):
        x = torch.rand(shape, generator=self._generator, dtype=torch.float64)
        return (x * (high - low) + low).to(dtype)

    def integers(self, *shape, low=-5, high=6, dtype=torch.int64):
        return torch.randint(low, high, shape, generator=self._generator).to(dtype)

    def booleans(self, *shape):
        return self.integers(*shape, low=0, high=2).bool()

    def distinct(self, *shape, dtype=torch.float32):
        count = math.prod(shape)
        return torch.randperm(count, generator=self._generator).to(dtype).reshape(shape)


SAMPLES = {}


def sample(name, *functions):
    SAMPLES.setdefault(name, []).extend(functions)
