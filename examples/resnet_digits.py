"""Train a residual network on the digits: python examples/resnet_digits.py [--epochs 6]"""

from __future__ import annotations

import argparse

from models.digits import accuracy, train
from models.resnet import ResNet

from weft import Tensor
from weft.nn.optim import Adam
from weft.nn.state import get_parameters


def main(arguments: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--examples", type=int, help="of the 1,442 to learn from")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    Tensor.manual_seed(options.seed)
    network = ResNet()
    optimiser = Adam(get_parameters(network), lr=5e-3)
    train(network, optimiser, options.epochs, examples=options.examples, seed=options.seed)
    right = accuracy(network, options.examples)
    print(f"{right:.1%} of the held-out digits are read right")
    return right


if __name__ == "__main__":
    main()
