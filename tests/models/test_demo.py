"""The demo from end to end: it learns, and what it saved reads as it did."""

import re

import pytest

from weft.nn.datasets import load_digits
from weft.nn.state import safe_load, safe_load_metadata
from weft.tools import cli
from weft.tools.commands import demo


def test_the_tiny_demo_runs_through(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "digits.safetensors"
    assert cli.main(["demo", "--small", "--save", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "the same with the weights loaded back" in shown.splitlines()[-1]
    kernels = re.search(r"(\d+) kernels ran", shown)
    assert kernels and int(kernels.group(1)) > 0
    assert safe_load_metadata(path).metadata == {"made by": "weft demo"}
    assert safe_load(path)["last.bias"].shape == (10,)


def test_a_few_epochs_already_read_most_digits() -> None:
    if demo._probe() > demo.SLOW_PROBE_SECONDS:
        pytest.skip("this device is too slow to train on the whole set")
    from weft import Tensor

    Tensor.manual_seed(0)
    training, held_out = load_digits().split()
    net = demo.DigitNet((8, 8))
    epochs = list(demo.train(net, training, held_out, demo.FULL, 4, 0, demo.PlainScreen()))
    assert epochs[-1].loss < epochs[0].loss
    assert epochs[-1].accuracy > 0.75
