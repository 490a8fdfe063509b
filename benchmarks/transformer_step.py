"""A training step of small transformers, not captured: weft and PyTorch run the same model code.

`python benchmarks/transformer_step.py` asks both, round by round in turn, each in a process of its
own on one thread, and prints milliseconds of CPU time (the least of all rounds) and their ratio.
Small models show what Python costs around the kernels, large ones the kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

SIZES = {"64 x 16": (64, 16), "128 x 32": (128, 32), "256 x 64": (256, 64)}
"""By name the width of the model and the length of the sequences."""
BATCH, HEADS, LAYERS, WORDS = 4, 4, 2, 100
PEERS = ("weft", "torch")
SECONDS = 2.0


def model(nn: Any, functional: Any, width: int) -> Any:
    """A decoder, written once for both."""

    class Block(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            heads = self.qkv(self.before_attention(x))
            heads = heads.reshape(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
            query, key, value = heads[0], heads[1], heads[2]
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
            hidden = functional.gelu(self.up(self.before_network(x)), approximate="tanh")
            return x + self.down(hidden)

    class Decoder(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(WORDS, width)
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.last = nn.Linear(width, WORDS)

        def forward(self, words: Any) -> Any:
            x = self.words(words)
            for block in self.blocks:
                x = block(x)
            return self.last(x)

    return Decoder()


def step_of(peer: str, width: int, length: int) -> Callable[[], float]:
    """A function that does one step of training and returns the loss."""
    random = np.random.default_rng(0)
    words = random.integers(0, WORDS, (BATCH, length))
    following = random.integers(0, WORDS, BATCH * length)
    if peer == "torch":
        import torch
        from torch.nn import functional

        torch.set_num_threads(1)
        nn, optim = torch.nn, torch.optim
        given, wanted = torch.from_numpy(words), torch.from_numpy(following)
    else:
        from weft import Tensor, nn, optim  # type: ignore[assignment]
        from weft.nn import functional  # type: ignore[assignment]

        given, wanted = Tensor(words).realize(), Tensor(following).realize()  # type: ignore
    decoder = model(nn, functional, width)
    decoder.train()
    optimiser = optim.Adam(decoder.parameters(), lr=1e-3)

    def step() -> float:
        optimiser.zero_grad()
        loss = functional.cross_entropy(decoder(given).reshape(-1, WORDS), wanted)
        loss.backward()
        optimiser.step()
        return float(loss.item())

    return step


def serve(peer: str) -> None:
    """The least CPU time of a step for each size; JSON on standard output."""
    found = {}
    for name, (width, length) in SIZES.items():
        step = step_of(peer, width, length)
        losses = [step() for _ in range(5)]
        times = []
        until = perf_counter() + SECONDS
        while perf_counter() < until or len(times) < 3:
            began = process_time()
            losses.append(step())
            times.append(process_time() - began)
        if not losses[-1] < losses[0]:
            raise SystemExit(f"the loss of {peer} does not fall: {losses[0]} to {losses[-1]}")
        found[name] = min(times)
    print(json.dumps(found))


def main() -> None:
    """Ask both in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer", choices=PEERS, help="serve one peer (used by the script itself)")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.peer:
        serve(chosen.peer)
        return
    environment = {**os.environ, "WEFT_CPU_THREADS": "1", "OMP_NUM_THREADS": "1"}
    least: dict[str, dict[str, float]] = {peer: {} for peer in PEERS}
    for _ in range(chosen.rounds):
        for peer in PEERS:
            command = [sys.executable, __file__, "--peer", peer]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr.strip()[-500:] or f"{peer} failed")
            for name, seconds in json.loads(done.stdout.splitlines()[-1]).items():
                least[peer][name] = min(seconds, least[peer].get(name, seconds))
    print("| width x length | weft | PyTorch | ratio |\n|---|---|---|---|")
    for name in SIZES:
        mine, theirs = least["weft"][name], least["torch"][name]
        print(f"| {name} | {mine * 1e3:.2f} ms | {theirs * 1e3:.2f} ms | {mine / theirs:.2f} |")


if __name__ == "__main__":
    main()
