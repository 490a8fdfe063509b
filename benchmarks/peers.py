"""The same small jobs, written for each peer.

A peer class is made once per worker process. `cases()` names what it can do; each entry makes its
inputs, and gives a function without arguments that does the job once, completely (everything is
computed when it returns), and gives a number by which the peers' results are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Job = Callable[[], Callable[[], float]]

BATCH = 128
CHANNELS = (16, 32)
RATE = 1e-3
TRAINING_STEPS_UNTIL_COMPARED = 4


def matrix(size: int, seed: int) -> np.ndarray:
    """A (size, size) float32 matrix, the same for every peer."""
    return np.random.default_rng(seed).standard_normal((size, size), dtype=np.float32)


def vector(size: int, seed: int) -> np.ndarray:
    """A (size,) float32 vector, the same for every peer."""
    return np.random.default_rng(seed).standard_normal(size, dtype=np.float32)


def network() -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """(first weights, images, labels) of the training step: the demo's network on random images."""
    rng = np.random.default_rng(7)

    def draw(*shape: int) -> np.ndarray:
        bound = 1.0 / np.sqrt(np.prod(shape[1:]))
        return rng.uniform(-bound, bound, shape).astype(np.float32)

    weights = {
        "first": draw(CHANNELS[0], 1, 3, 3),
        "second": draw(CHANNELS[1], CHANNELS[0], 3, 3),
        "last": draw(10, CHANNELS[1] * 16),
    }
    images = rng.random((BATCH, 1, 8, 8), dtype=np.float32)
    return weights, images, rng.integers(0, 10, BATCH).astype(np.int32)


class NumPy:
    """Computes at once, through whichever BLAS its wheel brings."""

    def __init__(self) -> None:
        self.version = np.__version__
        self.notes = ""

    def cases(self) -> dict[str, Job]:
        return {
            "matmul 512": lambda: self.matmul(512),
            "matmul 1024": lambda: self.matmul(1024),
            "elementwise chain, 4 M": self.chain,
            "sum, 16 M": self.sum,
        }

    def matmul(self, size: int) -> Callable[[], float]:
        a, b = matrix(size, 1), matrix(size, 2)
        return lambda: float((a @ b)[3, 5])

    def chain(self) -> Callable[[], float]:
        a, b, c = (vector(1 << 22, seed) for seed in (1, 2, 3))
        return lambda: float((np.maximum(a * b + c, 0) * 0.5 - a / (c * c + 1))[12345])

    def sum(self) -> Callable[[], float]:
        a = vector(1 << 24, 1)
        return lambda: float(a.sum())


class Torch:
    """Computes at once; the training step uses its own modules and optimiser, not compiled."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch = torch
        self.version = torch.__version__
        self.notes = ""

    def cases(self) -> dict[str, Job]:
        return {
            "matmul 512": lambda: self.matmul(512),
            "matmul 1024": lambda: self.matmul(1024),
            "elementwise chain, 4 M": self.chain,
            "sum, 16 M": self.sum,
            "training step": self.training,
        }

    def matmul(self, size: int) -> Callable[[], float]:
        a, b = (self.torch.from_numpy(matrix(size, seed)) for seed in (1, 2))
        return lambda: float((a @ b)[3, 5])

    def chain(self) -> Callable[[], float]:
        a, b, c = (self.torch.from_numpy(vector(1 << 22, seed)) for seed in (1, 2, 3))
        return lambda: float(((a * b + c).relu() * 0.5 - a / (c * c + 1))[12345])

    def sum(self) -> Callable[[], float]:
        a = self.torch.from_numpy(vector(1 << 24, 1))
        return lambda: float(a.sum())

    def training(self) -> Callable[[], float]:
        functional = self.torch.nn.functional
        arrays, images, labels = network()
        weights = {
            name: self.torch.nn.Parameter(self.torch.from_numpy(w)) for name, w in arrays.items()
        }
        x, y = self.torch.from_numpy(images), self.torch.from_numpy(labels).long()
        optimiser = self.torch.optim.Adam(weights.values(), lr=RATE)

        def step() -> float:
            optimiser.zero_grad()
            h = functional.conv2d(x, weights["first"], padding=1).relu()
            h = functional.conv2d(h, weights["second"], padding=1).relu()
            h = functional.max_pool2d(h, 2).flatten(1) @ weights["last"].T
            loss = functional.cross_entropy(h, y)
            loss.backward()
            optimiser.step()
            return loss.item()

        return step


class _Lazy:
    """weft and tinygrad name these things alike."""

    Tensor: Any
    version: str
    notes: str

    def cases(self) -> dict[str, Job]:
        return {
            "matmul 512": lambda: self.matmul(512),
            "matmul 1024": lambda: self.matmul(1024),
            "elementwise chain, 4 M": self.chain,
            "sum, 16 M": self.sum,
            "training step": self.training,
        }

    def own(self, array: np.ndarray) -> Any:
        """A realised tensor in the peer's own memory."""
        return self.Tensor(array).contiguous().realize()

    def one(self, result: Any, *index: int) -> float:
        """Compute all of `result`, then read one number of it."""
        result = result.contiguous().realize()
        return float(result.numpy()[index])

    def matmul(self, size: int) -> Callable[[], float]:
        a, b = (self.own(matrix(size, seed)) for seed in (1, 2))
        return lambda: self.one(a @ b, 3, 5)

    def chain(self) -> Callable[[], float]:
        a, b, c = (self.own(vector(1 << 22, seed)) for seed in (1, 2, 3))
        return lambda: self.one((a * b + c).relu() * 0.5 - a / (c * c + 1), 12345)

    def sum(self) -> Callable[[], float]:
        a = self.own(vector(1 << 24, 1))
        return lambda: float(a.sum().item())

    def training(self) -> Callable[[], float]:
        arrays, images, labels = network()
        weights = {name: self.own(w) for name, w in arrays.items()}
        x, y = self.own(images), self.own(labels)
        optimiser = self.adam(list(weights.values()))

        def forward() -> Any:
            h = x.conv2d(weights["first"], padding=1).relu()
            h = h.conv2d(weights["second"], padding=1).relu()
            h = h.max_pool2d((2, 2)).flatten(1) @ weights["last"].transpose(0, 1)
            return h.sparse_categorical_crossentropy(y)

        return self.stepper(forward, optimiser)

    def adam(self, parameters: list[Any]) -> Any:
        raise NotImplementedError

    def stepper(self, forward: Callable[[], Any], optimiser: Any) -> Callable[[], float]:
        raise NotImplementedError


class Weft(_Lazy):
    """Builds, schedules and looks up every step again."""

    def __init__(self) -> None:
        from importlib.metadata import version

        from weft import Tensor

        self.Tensor = Tensor
        self.version = version("weft")
        self.notes = "every call builds, schedules and looks up its graph"

    def adam(self, parameters: list[Any]) -> Any:
        from weft.nn import optim

        return optim.Adam(parameters, lr=RATE)

    def stepper(self, forward: Callable[[], Any], optimiser: Any) -> Callable[[], float]:
        def step() -> float:
            with self.Tensor.train():
                optimiser.zero_grad()
                loss = forward()
                loss.backward()
                optimiser.step()
            return float(loss.item())

        return step


class Tinygrad(_Lazy):
    """The training step is captured by its TinyJit, as its users do."""

    def __init__(self) -> None:
        from importlib.metadata import version

        from tinygrad import Tensor

        self.Tensor = Tensor
        self.version = version("tinygrad")
        self.notes = "training step under TinyJit; same compiler as weft"

    def adam(self, parameters: list[Any]) -> Any:
        from tinygrad.nn import optim

        return optim.Adam(parameters, lr=RATE)

    def stepper(self, forward: Callable[[], Any], optimiser: Any) -> Callable[[], float]:
        from tinygrad import TinyJit
        from tinygrad.helpers import Context

        @TinyJit
        def captured() -> Any:
            optimiser.zero_grad()
            loss = forward()
            loss.backward()
            return loss.realize(*optimiser.schedule_step())

        def step() -> float:
            with Context(TRAINING=1):
                return float(captured().item())

        return step


PEERS: dict[str, Callable[[], Any]] = {
    "weft": Weft,
    "NumPy": NumPy,
    "PyTorch": Torch,
    "tinygrad": Tinygrad,
}
