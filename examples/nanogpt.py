"""Train a small GPT on text, character by character, and let it write:

python examples/nanogpt.py [--steps 500 --bf16 --checkpoint gpt.safetensors --resume]

The text comes with Python itself (the pages of `help()`): nothing is downloaded. A checkpoint holds
all that the run is: weights, optimiser, schedule, random numbers, order of the data. Training that
is resumed from it goes on bit by bit as if it had not been interrupted.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weft
import weft.nn.functional as F
from weft import Tensor, nn
from weft.data import DataLoader, Dataset, Progress
from weft.io import safe_load, safe_load_metadata, safe_save
from weft.tensor import rng

Batch = tuple[Tensor, Tensor]


# ---- the model ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    """How large the model is."""

    vocabulary: int
    block: int = 64
    layers: int = 4
    heads: int = 4
    features: int = 128
    dropout: float = 0.1


class Attention(nn.Module):
    """Causal attention with several heads."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout
        self.into = nn.Linear(config.features, 3 * config.features, bias=False)
        self.out = nn.Linear(config.features, config.features, bias=False)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, features) for the same."""
        batch, length, features = x.shape
        shape = (batch, length, self.heads, features // self.heads)
        query, key, value = (
            part.reshape(*shape).transpose(1, 2) for part in self.into(x).chunk(3, dim=-1)
        )
        dropout = self.dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        return self.drop(self.out(seen.transpose(1, 2).reshape(batch, length, features)))


class Block(nn.Module):
    """Attention and a small network, each added to what it was given."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(config.features)
        self.attention = Attention(config)
        self.norm_2 = nn.LayerNorm(config.features)
        self.wide = nn.Linear(config.features, 4 * config.features, bias=False)
        self.narrow = nn.Linear(4 * config.features, config.features, bias=False)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, features) for the same."""
        x = x + self.attention(self.norm_1(x))
        return x + self.drop(self.narrow(F.gelu(self.wide(self.norm_2(x)))))


class GPT(nn.Module):
    """Characters (batch, length) to logits (batch, length, vocabulary)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.characters = nn.Embedding(config.vocabulary, config.features)
        self.places = nn.Embedding(config.block, config.features)
        self.drop = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.features)
        self.head = nn.Linear(config.features, config.vocabulary, bias=False)
        for name, weight in self.named_parameters():
            if len(weight.shape) > 1:  # as in GPT-2, smaller where residuals are added up
                ends = name.endswith(("out.weight", "narrow.weight"))
                scale = 0.02 / math.sqrt(2 * config.layers) if ends else 0.02
                weight.assign(Tensor.randn(*weight.shape) * scale)

    def forward(self, characters: Tensor) -> Tensor:
        """The logits of what follows each character."""
        places = Tensor.arange(characters.shape[1], device=characters.device)
        x = self.drop(self.characters(characters) + self.places(places))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


# ---- the data -----------------------------------------------------------------------------------


class Windows(Dataset[tuple[np.ndarray, np.ndarray]]):
    """Pieces of `block` characters, each with the character that follows each of its own."""

    def __init__(self, codes: np.ndarray, block: int) -> None:
        self.codes, self.block = codes, block

    def __len__(self) -> int:
        return (len(self.codes) - 1) // self.block

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        start = index * self.block
        piece = self.codes[start : start + self.block + 1]
        return piece[:-1], piece[1:]


def endless(loader: DataLoader) -> Iterator[Batch]:
    """One epoch after the other."""
    while True:
        yield from loader


# ---- training -----------------------------------------------------------------------------------


@dataclass
class Options:
    """How it is trained."""

    steps: int = 500
    batch: int = 16
    learning_rate: float = 1e-3
    warm_up: int = 20
    weight_decay: float = 0.1
    seed: int = 0
    bf16: bool = False
    evaluate_every: int = 100


def loss_of(model: GPT, x: Tensor, y: Tensor, bf16: bool) -> Tensor:
    """Cross entropy of the characters that follow; with `bf16` under autocast."""
    with weft.autocast(dtype="bfloat16", enabled=bf16):
        logits = model(x)
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))


class Trainer:
    """A model, and all that changes while it learns."""

    def __init__(self, model: GPT, train: DataLoader, test: DataLoader, options: Options) -> None:
        self.model, self.train, self.test, self.options = model, train, test, options
        self.optimizer = nn.optim.AdamW(
            list(model.parameters()), lr=options.learning_rate, betas=(0.9, 0.95),
            weight_decay=options.weight_decay,
        )  # fmt: skip
        self.schedule = nn.optim.LambdaLR(self.optimizer, self.rate)
        self.batches = endless(train)
        self.steps_done = 0
        self.losses: list[float] = []

        # Recorded twice, and replayed from then on. What they reach stays the same from call to
        # call: the model and the optimiser, and not the trainer, which counts.
        optimizer, bf16 = self.optimizer, options.bf16

        @weft.jit
        def step(x: Tensor, y: Tensor) -> Tensor:
            optimizer.zero_grad()
            loss = loss_of(model, x, y, bf16)
            loss.backward()
            optimizer.step()
            return loss.realize()

        @weft.jit
        def test_loss(x: Tensor, y: Tensor) -> Tensor:
            with Tensor.no_grad():
                return loss_of(model, x, y, bf16).realize()

        self.step, self.test_loss = step, test_loss

    def rate(self, step: int) -> float:
        """The factor of the learning rate at a step: a warm-up, then a cosine down to a tenth."""
        options = self.options
        if step < options.warm_up:
            return (step + 1) / options.warm_up
        done = (step - options.warm_up) / max(options.steps - options.warm_up, 1)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * min(done, 1.0)))

    def evaluate(self, most: int = 8) -> float:
        """The mean loss of some batches that are not learnt from."""
        self.model.eval()
        losses = [self.test_loss(x, y).item() for (x, y), _ in zip(self.test, range(most))]
        self.model.train()
        return float(np.mean(losses))

    def run(self, steps: int) -> None:
        """Train until so many steps are done."""
        self.model.train()
        bar = Progress(range(self.steps_done, steps), "training")
        for _ in bar:
            self.losses.append(float(self.step(*next(self.batches)).item()))
            self.schedule.step()
            self.steps_done += 1
            bar.note(f"loss {self.losses[-1]:.3f}")
            if self.steps_done % self.options.evaluate_every == 0 or self.steps_done == steps:
                print(f"step {self.steps_done}: loss {self.losses[-1]:.4f}, "
                      f"held out {self.evaluate():.4f}", flush=True)  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Save all that the run is: tensors by name, and plain numbers as JSON in its metadata."""
        tensors = nn.state.get_state_dict({"model": self.model, "optimizer": self.optimizer})
        facts: dict[str, Any] = {
            "steps_done": self.steps_done,
            "schedule": self.schedule.state_dict(),
            "data": self.train.state_dict(),
            "random": rng.state(),
        }
        safe_save(tensors, path, {name: json.dumps(value) for name, value in facts.items()})

    def load(self, path: str | Path) -> None:
        """Go on from what was saved."""
        together = {"model": self.model, "optimizer": self.optimizer}
        nn.state.load_state_dict(together, safe_load(path))
        saved: Mapping[str, str] = safe_load_metadata(path).metadata
        facts = {name: json.loads(text) for name, text in saved.items()}
        self.steps_done = facts["steps_done"]
        self.schedule.load_state_dict(facts["schedule"])
        self.train.load_state_dict(facts["data"])
        self.batches = endless(self.train)
        rng.restore(facts["random"])


def write(model: GPT, codes: Sequence[int], count: int, temperature: float = 0.8) -> list[int]:
    """`codes`, and `count` more, drawn one by one."""

    @weft.jit  # always the same shapes, so one recording serves all places
    def following(window: Tensor, place: Tensor) -> Tensor:
        with Tensor.no_grad():  # positions after `place` are not used
            logits = model(window.unsqueeze(0))[0].index_select(0, place).squeeze(0)
            return (logits / temperature).softmax(-1).multinomial(1).realize()

    model.eval()
    written, block = list(codes), model.config.block
    for _ in Progress(range(count), "writing"):
        last = written[-block:]
        window = Tensor(last + [0] * (block - len(last)))
        written.append(int(following(window, Tensor([len(last) - 1])).item()))
    model.train()
    return written


def prepare(config: Config, options: Options, codes: np.ndarray) -> Trainer:
    """A trainer at its first step; the last tenth of the text is held out."""
    Tensor.manual_seed(options.seed)
    cut = len(codes) * 9 // 10
    train, test = Windows(codes[:cut], config.block), Windows(codes[cut:], config.block)
    batches = DataLoader(train, options.batch, shuffle=True, drop_last=True, seed=options.seed)
    return Trainer(GPT(config), batches, DataLoader(test, options.batch, drop_last=True), options)


def main(arguments: Sequence[str] | None = None) -> list[float]:
    """Train, save, write; the losses of all steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    numbers = {"layers": 4, "heads": 4, "features": 128, "block": 64, "dropout": 0.1}
    numbers |= {n: v for n, v in vars(Options()).items() if not isinstance(v, bool)}
    for name, value in numbers.items():
        kind = float if isinstance(value, float) else int
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=value)
    parser.add_argument("--bf16", action="store_true", help="products in bfloat16")
    parser.add_argument("--text", default="topics", help=f"one of {nn.datasets.texts()}, or a file")
    parser.add_argument("--characters", type=int, help="how much of the text is used")
    parser.add_argument("--checkpoint", type=Path, help="where the run is saved at its end")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--write", type=int, default=200, help="characters written at the end")
    given = parser.parse_args(arguments)

    known = given.text in nn.datasets.texts()
    text = nn.datasets.load_text(given.text) if known else Path(given.text).read_text("utf-8")
    text = text[: given.characters]
    alphabet = sorted(set(text))
    codes = np.array([alphabet.index(each) for each in text], dtype=np.int32)
    sizes = (given.block, given.layers, given.heads, given.features, given.dropout)
    options = Options(**{name: getattr(given, name) for name in vars(Options())})
    trainer = prepare(Config(len(alphabet), *sizes), options, codes)
    learnt = sum(weight.numel() for weight in trainer.model.parameters())
    print(f"{len(text):,} characters, {len(alphabet)} different; {learnt:,} parameters")
    if given.resume:
        trainer.load(given.checkpoint)
    trainer.run(options.steps)
    if given.checkpoint is not None:
        trainer.save(given.checkpoint)
    written = write(trainer.model, [0], given.write)
    print("".join(alphabet[code] for code in written))
    return trainer.losses


if __name__ == "__main__":
    main()
