"""The parts of the demo that need no training."""

import argparse
import builtins
import random

import pytest

from weft.nn.datasets import Digits, load_digits
from weft.tools.commands import demo


def one_image(*dark: tuple[int, int]) -> bytes:
    pixels = bytearray(64)
    for row, column in dark:
        pixels[row * 8 + column] = 16
    return bytes(pixels)


class FixedChance(random.Random):
    """Moves every image by the given steps."""

    def __init__(self, *steps: float) -> None:
        super().__init__(0)
        self.steps = list(steps)

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return self.steps.pop(0)


@pytest.mark.parametrize("down", [-1, 0, 1])
@pytest.mark.parametrize("right", [-1, 0, 1])
def test_shifting_moves_every_pixel_and_fills_with_paper(down: int, right: int) -> None:
    moved = demo._shifted(one_image((3, 4), (0, 0), (7, 7)), FixedChance(down, right))
    expected = {(3 + down, 4 + right), (down, right), (7 + down, 7 + right)}
    inside = {(r, c) for r, c in expected if 0 <= r < 8 and 0 <= c < 8}
    assert moved == one_image(*inside)


def test_shifts_never_exceed_a_pixel() -> None:
    assert demo._shifted(one_image((4, 4)), FixedChance(5.0, -9.0)) == one_image((5, 3))


def test_drawing_shows_ink_and_the_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = Digits(one_image((0, 0)) + one_image((7, 7)), bytes([3, 4]))
    lines = demo.draw(digits, [3, 5], [0, 1]).splitlines()
    assert len(lines) == 9
    assert lines[0].strip() and lines[0].startswith(lines[0][0] * 2)
    assert lines[0][0] != " " and not lines[1].strip()
    assert "read as 3" in lines[8] and "read as 5, is 4" in lines[8]


def test_misread_digits_are_shown_first() -> None:
    digits = load_digits().take(list(range(10)))
    guesses = list(digits.labels)
    guesses[7] = (guesses[7] + 1) % 10
    assert demo._chosen(digits, guesses)[0] == 7
    assert len(demo._chosen(digits, guesses)) == 5


def test_accuracy_is_the_share_of_right_guesses() -> None:
    digits = Digits(bytes(64 * 4), bytes([1, 2, 3, 4]))
    assert demo.accuracy(digits, [1, 2, 3, 0]) == 0.75


def test_without_rich_there_are_plain_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without_rich(name: str, *rest):
        if name.partition(".")[0] == "rich":
            raise ImportError("no rich here")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    screen = demo._screen()
    assert isinstance(screen, demo.PlainScreen)
    with screen.start(1, 2):
        screen.step(0.5)
        screen.epoch(demo.Epoch(1, 0.25, 0.5, 1.0))
    shown = capsys.readouterr().out
    assert "0.2500" in shown and "50.00 %" in shown


def test_options_have_the_promised_defaults() -> None:
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    options = parser.parse_args([])
    assert (options.device, options.epochs, options.seed, options.save) == (None, None, 0, None)


def test_a_slow_device_gets_the_tiny_version_and_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_probe", lambda: 3.0)
    assert demo._choose_plan(argparse.Namespace(small=False)) is demo.TINY
    assert "tiny" in capsys.readouterr().out
    monkeypatch.setattr(demo, "_probe", lambda: 0.0001)
    assert demo._choose_plan(argparse.Namespace(small=False)) is demo.FULL
    assert demo._choose_plan(argparse.Namespace(small=True)) is demo.TINY


def test_plans_use_images_that_exist() -> None:
    training, held_out = load_digits().split()
    assert len(training) == demo.FULL.training
    assert len(held_out) == demo.FULL.held_out
    assert demo.TINY.training % demo.TINY.batch == 0
