"""Teach a small U-Net to find the noise in noisy digits: python examples/unet_block.py"""

from __future__ import annotations

import argparse
import math

from models.digits import images_of
from models.progress import Progress
from models.unet import UNet

from weft import Tensor, jit
from weft.nn.datasets import load_digits
from weft.nn.optim import Adam
from weft.nn.state import get_parameters


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--channels", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    Tensor.manual_seed(options.seed)
    network = UNet(options.channels)
    optimiser = Adam(get_parameters(network), lr=3e-3)
    images = (images_of(load_digits()) * 2 - 1).realize()

    @jit
    def step(clean: Tensor) -> Tensor:
        with Tensor.train():
            optimiser.zero_grad()
            times = Tensor.rand(options.batch)
            kept = (times * (math.pi / 2)).cos().reshape(-1, 1, 1, 1)
            noise = Tensor.randn(*clean.shape)
            noisy = clean * kept + noise * (1 - kept * kept).sqrt()
            loss = (network(noisy, times * 1000) - noise).square().mean()
            loss.backward()
            optimiser.step()
        return loss

    losses: list[float] = []
    with Progress("learning", options.steps) as bar:
        for number in range(options.steps):
            first = number * options.batch % (images.shape[0] - options.batch)
            clean = images[first : first + options.batch].contiguous().realize()
            losses.append(step(clean).item())
            bar.step(f"loss {losses[-1]:.3f}")
    return losses


if __name__ == "__main__":
    main()
