"""Training on the digits that travel with weft, for any network from images to ten classes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from models.progress import Progress
from weft import Tensor, dtypes, jit
from weft.nn.datasets import Digits, load_digits
from weft.nn.optim import Optimizer

SIDE = 8
CLASSES = 10
DARKEST = 16


def images_of(digits: Digits) -> Tensor:
    """(n, 1, 8, 8) float32 from 0 to 1."""
    values = numpy.frombuffer(digits.images, dtype=numpy.uint8).astype(numpy.float32) / DARKEST
    return Tensor(values.reshape(-1, 1, SIDE, SIDE))


def labels_of(digits: Digits) -> Tensor:
    """(n,) int32."""
    return Tensor(list(digits.labels), dtype=dtypes.int32)


def train(
    network: Callable[[Tensor], Tensor],
    optimiser: Optimizer,
    epochs: int,
    batch: int = 96,
    examples: int | None = None,
    seed: int = 0,
) -> list[float]:
    """Train on four fifths of the digits, or on so many of them; gives the loss of every step."""
    training, _ = load_digits().split()
    if examples is not None:
        training = training.take(list(range(examples)))
    images, labels = images_of(training).realize(), labels_of(training).realize()
    batch = min(batch, len(training))

    @jit
    def step(chosen: Tensor) -> Tensor:
        with Tensor.train():
            optimiser.zero_grad()
            loss = network(images[chosen]).sparse_categorical_crossentropy(labels[chosen])
            loss.backward()
            optimiser.step()
        return loss

    chance = random.Random(seed)
    losses: list[float] = []
    with Progress("learning", epochs * (len(training) // batch)) as bar:
        for _ in range(epochs):
            order = chance.sample(range(len(training)), len(training))
            for first in range(0, len(order) - batch + 1, batch):
                loss = step(Tensor(order[first : first + batch], dtype=dtypes.int32)).item()
                losses.append(loss)
                bar.step(f"loss {loss:.3f}")
    return losses


def accuracy(network: Callable[[Tensor], Tensor], examples: int | None = None) -> float:
    """The share of the held-out digits that are read right."""
    _, held_out = load_digits().split()
    if examples is not None:
        held_out = held_out.take(list(range(examples)))
    guesses: Sequence[Any] = network(images_of(held_out)).argmax(1).tolist()
    return sum(g == label for g, label in zip(guesses, held_out.labels)) / len(held_out)
