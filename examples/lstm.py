"""Teach an LSTM to say what it saw two steps ago: python examples/lstm.py [--steps 150]"""

from __future__ import annotations

import argparse
import random

from models.lstm import SequenceLSTM
from models.progress import Progress

from weft import Tensor, dtypes, jit
from weft.nn.optim import Adam
from weft.nn.state import get_parameters

WORDS, BACK = 3, 2


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--length", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    Tensor.manual_seed(options.seed)
    network = SequenceLSTM(WORDS, options.hidden, WORDS)
    optimiser = Adam(get_parameters(network), lr=1e-2)

    @jit
    def step(words: Tensor) -> Tensor:
        with Tensor.train():
            optimiser.zero_grad()
            guesses = network(words.one_hot(WORDS).float())[:, BACK:]
            loss = guesses.reshape(-1, WORDS).sparse_categorical_crossentropy(
                words[:, :-BACK].reshape(-1)
            )
            loss.backward()
            optimiser.step()
        return loss

    chance = random.Random(options.seed)
    losses: list[float] = []
    with Progress("learning", options.steps) as bar:
        for _ in range(options.steps):
            words = [[chance.randrange(WORDS) for _ in range(options.length)] for _ in range(16)]
            losses.append(step(Tensor(words, dtype=dtypes.int32)).item())
            bar.step(f"loss {losses[-1]:.3f}")
    return losses


if __name__ == "__main__":
    main()
