"""Every example runs from its first line to its last, at a small size, and learns."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mlp_digits", ["--epochs", "4", "--examples", "96"]),
        ("resnet_digits", ["--epochs", "3", "--examples", "48"]),
        ("vit_block", ["--epochs", "3", "--examples", "48"]),
    ],
)
def test_digits_are_learnt(name: str, arguments: list[str], capsys) -> None:
    right = importlib.import_module(name).main(arguments)
    shown = capsys.readouterr().out
    assert 0 <= right <= 1
    assert "learning: " in shown and "held-out digits are read right" in shown


def test_gpt2_says_something(capsys) -> None:
    sizes = ["--vocabulary", "40", "--positions", "16", "--features", "16", "--layers", "1"]
    said = importlib.import_module("gpt2").main([*sizes, "--count", "5"])
    assert len(said) == 5 and all(0 <= token < 40 for token in said)
    assert "ms a token" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("lstm", ["--steps", "60", "--hidden", "8", "--length", "3"]),
        (
            "nanogpt",
            [
                "--steps",
                "12",
                "--layers",
                "1",
                "--features",
                "16",
                "--block",
                "16",
                "--heads",
                "2",
                "--characters",
                "4000",
                "--write",
                "5",
            ],
        ),
        ("unet_block", ["--steps", "5", "--channels", "4", "--batch", "4"]),
    ],
)
def test_the_loss_falls(name: str, arguments: list[str]) -> None:
    losses = importlib.import_module(name).main(arguments)
    assert min(losses[-3:]) < losses[0]
