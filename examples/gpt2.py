"""Continue a sequence with GPT-2, seeded weights, a cache of keys and values:

python examples/gpt2.py [--layers 4 --features 128 --count 64]
"""

from __future__ import annotations

import argparse
from time import perf_counter

from models.gpt2 import GPT2, Config, Decoder
from models.progress import Progress

from weft import Tensor


def main(arguments: list[str] | None = None) -> list[int]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=int, default=1000)
    parser.add_argument("--positions", type=int, default=256)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--count", type=int, default=64, help="tokens to be said")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    Tensor.manual_seed(options.seed)
    sizes = (options.positions, options.features, options.heads, options.layers)
    model = GPT2(Config(options.vocabulary, *sizes))
    print(f"{model.parameters():,} parameters")
    said, times = [], []
    with Progress("saying", options.count) as bar:
        began = perf_counter()
        for token in Decoder(model).continued([1, 2, 3], options.count):
            said.append(token)
            times.append(perf_counter() - began)
            bar.step(f"token {token}")
            began = perf_counter()
    late = sorted(times[len(times) // 2 :])
    print(f"{said}\n{late[len(late) // 2] * 1000:.2f} ms a token once all is compiled")
    return said


if __name__ == "__main__":
    main()
