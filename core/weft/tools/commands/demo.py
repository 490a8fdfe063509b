"""`weft demo`: learn real handwritten digits, save the weights, load them back, show what was read.

A small convolutional network is trained on 1,442 of the 1,797 digits of the package, and tested on
the other fifth. On a slow device, such as an interpreter, a smaller version runs, and the output
says so.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.engine import stats
from weft.nn import Conv2d, Linear, optim
from weft.nn.datasets import Digits, load_digits
from weft.nn.datasets.digits import CLASSES, DARKEST, PIXELS, SIDE
from weft.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save
from weft.tensor import Tensor

GOAL = 0.98
"""The share of held-out digits that the full demo must read."""

PROBE_SIZE = 262_144
SLOW_PROBE_SECONDS = 0.1
"""Adding up that many numbers takes a device that compiles its kernels far less than this."""


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    training: int
    held_out: int
    channels: tuple[int, int]
    batch: int
    epochs: int
    rate: float
    tiny: bool


FULL = Plan(1442, 355, (16, 32), batch=128, epochs=16, rate=8e-3, tiny=False)
TINY = Plan(24, 8, (2, 2), batch=12, epochs=1, rate=8e-3, tiny=True)


class DigitNet:
    """Two 3 x 3 convolutions, a 2 x 2 maximum, one linear layer: (n, 1, 8, 8) to (n, 10)."""

    def __init__(self, channels: tuple[int, int]) -> None:
        self.first = Conv2d(1, channels[0], 3, padding=1)
        self.second = Conv2d(channels[0], channels[1], 3, padding=1)
        self.last = Linear(channels[1] * (SIDE // 2) ** 2, CLASSES)

    def __call__(self, x: Tensor) -> Tensor:
        x = self.second(self.first(x).relu()).relu()
        return self.last(x.max_pool2d((2, 2)).flatten(1))


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training images came to."""

    number: int
    loss: float
    accuracy: float
    seconds: float


class Screen(Protocol):
    """Where progress is shown."""

    def start(self, epochs: int, steps: int) -> AbstractContextManager[Any]: ...
    def step(self, loss: float) -> None: ...
    def epoch(self, result: Epoch) -> None: ...


class PlainScreen:
    """A line per epoch."""

    def start(self, epochs: int, steps: int) -> AbstractContextManager[Any]:
        print(f"{epochs} epochs of {steps} steps")
        return nullcontext()

    def step(self, loss: float) -> None:
        pass

    def epoch(self, result: Epoch) -> None:
        print(_epoch_line(result), flush=True)


class RichScreen:
    """A line per epoch above a progress bar."""

    def __init__(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps  loss {task.fields[loss]:.3f} "),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )

    def start(self, epochs: int, steps: int) -> AbstractContextManager[Any]:
        self._task = self._progress.add_task("learning", total=epochs * steps, loss=0.0)
        return self._progress

    def step(self, loss: float) -> None:
        self._progress.update(self._task, advance=1, loss=loss)

    def epoch(self, result: Epoch) -> None:
        self._progress.console.print(_epoch_line(result), highlight=False)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `weft demo`."""
    parser.add_argument("--device", help="where to compute (default: WEFT_DEVICE, or the best)")
    parser.add_argument("--epochs", type=int, help=f"passes over the images ({FULL.epochs})")
    parser.add_argument("--seed", type=int, default=0, help="of weights, order and shifts (0)")
    parser.add_argument("--save", type=Path, help="keep the weights in this safetensors file")
    parser.add_argument("--small", action="store_true", help="the tiny version, for slow devices")


def run(arguments: argparse.Namespace) -> int:
    """Train, save, load, compare, draw. Gives 0 when the loaded weights read as the saved ones."""
    if arguments.device is None:
        return _demo(arguments)
    with settings.override(DEVICE=arguments.device):
        return _demo(arguments)


def _demo(arguments: argparse.Namespace) -> int:
    began = perf_counter()
    plan = _choose_plan(arguments)
    training, held_out = _data(plan)
    print(f"{len(training)} handwritten digits to learn from, {len(held_out)} held out")
    Tensor.manual_seed(arguments.seed)
    net = DigitNet(plan.channels)
    epochs = arguments.epochs if arguments.epochs is not None else plan.epochs
    with _counted():
        for _ in train(net, training, held_out, plan, epochs, arguments.seed, _screen()):
            pass
    guesses = predict(net, held_out)
    with _kept_or_temporary(arguments.save) as path:
        safe_save(get_state_dict(net), path, {"made by": "weft demo"})
        again = DigitNet(plan.channels)
        load_state_dict(again, safe_load(path))
        same = predict(again, held_out) == guesses
        kept = f"; kept in {path}" if arguments.save else ""
        print(f"weights: {path.stat().st_size} bytes saved and loaded lazily{kept}")
    print(draw(held_out, guesses, _chosen(held_out, guesses)))
    return _verdict(held_out, guesses, same, plan, perf_counter() - began)


def train(
    net: DigitNet,
    training: Digits,
    held_out: Digits,
    plan: Plan,
    epochs: int,
    seed: int,
    screen: Screen,
) -> Iterator[Epoch]:
    """Adam with a rate that falls linearly to nothing; gives an Epoch after each pass."""
    chance = random.Random(seed)
    optimiser = optim.Adam(get_parameters(net), lr=plan.rate)
    steps = len(training) // plan.batch
    done = 0
    with screen.start(epochs, steps):
        for number in range(1, epochs + 1):
            started, losses = perf_counter(), []
            order = chance.sample(range(len(training)), len(training))
            for first in range(0, steps * plan.batch, plan.batch):
                chosen = training.take(order[first : first + plan.batch])
                optimiser.lr = plan.rate * (1 - done / (epochs * steps))
                losses.append(_step(net, optimiser, chosen, chance))
                screen.step(losses[-1])
                done += 1
            loss, right = sum(losses) / len(losses), accuracy(held_out, predict(net, held_out))
            result = Epoch(number, loss, right, perf_counter() - started)
            screen.epoch(result)
            yield result


def predict(net: DigitNet, digits: Digits) -> list[int]:
    """The digit that the network sees in each image."""
    return net(_images(digits.images)).argmax(1).tolist()


def accuracy(digits: Digits, guesses: list[int]) -> float:
    """The share of right guesses."""
    return _right(digits, guesses) / len(digits)


def draw(digits: Digits, guesses: list[int], chosen: list[int]) -> str:
    """Some images side by side, each with what was read, and what it is where that differs."""
    shades = " .:-=+*#@"
    if "utf" in (getattr(sys.stdout, "encoding", None) or "").lower():
        shades = " ░▒▓█"
    rows = []
    for row in range(SIDE):
        cells = []
        for index in chosen:
            pixels = digits.image(index)[row * SIDE : (row + 1) * SIDE]
            cells.append("".join(shades[p * (len(shades) - 1) // DARKEST] * 2 for p in pixels))
        rows.append("  ".join(cells).rstrip())
    captions = []
    for index in chosen:
        truth, guess = digits.labels[index], guesses[index]
        caption = f"read as {guess}" if guess == truth else f"read as {guess}, is {truth}"
        captions.append(f"{caption:^{2 * SIDE}}")
    return "\n".join([*rows, "  ".join(captions).rstrip()])


def _step(
    net: DigitNet, optimiser: optim.Optimizer, digits: Digits, chance: random.Random
) -> float:
    with Tensor.train():
        optimiser.zero_grad()
        labels = Tensor(list(digits.labels), dtype=dtypes.int32)
        loss = net(_images(_shifted(digits.images, chance))).sparse_categorical_crossentropy(labels)
        loss.backward()
        Tensor.realize(loss, *optimiser.schedule_step())
    return loss.item()


def _shifted(images: bytes, chance: random.Random) -> bytes:
    """Every image moved by up to a pixel each way, so that shapes are learnt and not places."""
    moved = bytearray(len(images))
    for start in range(0, len(images), PIXELS):
        down, right = (max(-1, min(1, round(chance.gauss(0, 0.55)))) for _ in range(2))
        for row in range(max(0, down), SIDE + min(0, down)):
            source = start + (row - down) * SIDE
            line = images[source : source + SIDE]
            line = b"\0" * right + line[: SIDE - right] if right >= 0 else line[-right:] + b"\0"
            moved[start + row * SIDE : start + (row + 1) * SIDE] = line
    return bytes(moved)


def _images(pixels: bytes) -> Tensor:
    """Bytes 0..16 as float32 (n, 1, 8, 8) from 0 to 1."""
    import numpy

    values = numpy.frombuffer(pixels, dtype=numpy.uint8).astype(numpy.float32) / DARKEST
    return Tensor(values.reshape(-1, 1, SIDE, SIDE))


def _choose_plan(arguments: argparse.Namespace) -> Plan:
    if arguments.small:
        return TINY
    seconds = _probe()
    if seconds < SLOW_PROBE_SECONDS:
        return FULL
    print(
        f"adding up {PROBE_SIZE:,} numbers took {seconds:.2f} s here: this device is slow, so a "
        "tiny version runs, to show that everything works; it learns little"
    )
    return TINY


def _probe() -> float:
    """Seconds that a small sum takes once it has been compiled."""
    seconds = 0.0
    for number in range(2):
        values = Tensor.full((PROBE_SIZE,), float(number + 1)).contiguous().realize()
        started = perf_counter()
        (values * 2.0).sum().item()
        seconds = perf_counter() - started
    return seconds


def _data(plan: Plan) -> tuple[Digits, Digits]:
    training, held_out = load_digits().split()
    if plan.tiny:
        return training.take(list(range(plan.training))), held_out.take(list(range(plan.held_out)))
    return training, held_out


def _screen() -> Screen:
    try:
        return RichScreen()
    except ImportError:
        return PlainScreen()


@contextmanager
def _counted() -> Iterator[None]:
    """Say how many kernels ran inside, and how long they took."""
    kernels, seconds, timing = stats.kernels, stats.seconds, stats.timing
    stats.timing = True
    try:
        yield
    finally:
        stats.timing = timing
    print(f"{stats.kernels - kernels} kernels ran, {stats.seconds - seconds:.2f} s in them")


def _kept_or_temporary(path: Path | None) -> AbstractContextManager[Path]:
    return nullcontext(path) if path is not None else _TemporaryFile()


class _TemporaryFile(tempfile.TemporaryDirectory):  # type: ignore[type-arg]
    def __enter__(self) -> Path:  # type: ignore[override]
        return Path(super().__enter__(), "digits.safetensors")


def _chosen(digits: Digits, guesses: list[int], count: int = 5) -> list[int]:
    """Images worth showing: one that was misread if there is any, then the first ones."""
    wrong = [i for i, guess in enumerate(guesses) if guess != digits.labels[i]][:1]
    return [*wrong, *(i for i in range(len(digits)) if i not in wrong)][:count]


def _right(digits: Digits, guesses: list[int]) -> int:
    return sum(guess == label for guess, label in zip(guesses, digits.labels, strict=True))


def _epoch_line(result: Epoch) -> str:
    return (
        f"epoch {result.number:2}   loss {result.loss:.4f}   "
        f"held-out accuracy {result.accuracy * 100:6.2f} %   {result.seconds:.2f} s"
    )


def _verdict(digits: Digits, guesses: list[int], same: bool, plan: Plan, seconds: float) -> int:
    right = _right(digits, guesses)
    loaded = "the same" if same else "NOT the same"
    if not plan.tiny and right / len(digits) < GOAL:
        print(f"that is below the {GOAL:.0%} that more epochs reach")
    print(
        f"held-out accuracy {right / len(digits) * 100:.2f} % ({right} of {len(digits)}), "
        f"{loaded} with the weights loaded back; {seconds:.1f} s"
    )
    return 0 if same else 1
