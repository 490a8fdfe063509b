"""`weft run`: inputs, times, differences from another runtime."""

import numpy as np
import pytest

from helpers.onnx_models import constant, model, node, value
from weft import settings
from weft.tools import cli
from weft.tools.bench import peaks
from weft.tools.commands.run import difference


@pytest.fixture
def path(tmp_path):
    """A model: a product, then a softmax."""
    weight = np.random.default_rng(0).standard_normal((4, 4))
    path = tmp_path / "model.onnx"
    path.write_bytes(
        model(
            [node("MatMul", ["x", "w"], ["y"]), node("Softmax", ["y"], ["p"])],
            [value("x", ["batch", 4])],
            [value("p", ["batch", 4])],
            [constant("w", weight)],
        )
    )
    return path


def test_outputs_are_described_and_compared(path, capsys):
    words = ["run", str(path), "--size", "batch=3", "--repeat", "2", "--compare", "reference"]
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    for text in ("input   x: float32 [3, 4]", "output  p: float32 [3, 4]", "median of 2",
                 "reference  p: largest difference"):  # fmt: skip
        assert text in shown


def test_inputs_and_outputs_are_files(path, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.zeros((2, 4), np.float32))
    words = ["run", str(path), "--input", f"x={tmp_path / 'x.npy'}", "--repeat", "0"]
    assert cli.main([*words, "--save", str(tmp_path / "out")]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "out" / "p.npy"), np.full((2, 4), 0.25))
    assert "first call" in capsys.readouterr().out


def test_kernels_are_timed(path, capsys, monkeypatch, tmp_path):
    for name, least in (("_ENOUGH", 0.0), ("_ENOUGH_COPIED", 0.0), ("_TIMES", 1)):
        monkeypatch.setattr(peaks, name, least)  # what the device can do takes seconds to measure
    with settings.override(CACHE_DIR=str(tmp_path)):
        assert cli.main(["run", str(path), "--bench", "--repeat", "3"]) == 0
    assert "GFLOP/s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--input", "z=a.npy"], "--input names nothing of the model"),
        (["--input", "x"], "--input has no value"),
        (["--input", "x=missing.npy"], "an input cannot be read"),
        (["--size", "batch=many"], "a size is a number"),
    ],
)
def test_wrong_options_are_refused(words, message, path, capsys):
    assert cli.main(["run", str(path), *words]) == 1
    assert message in capsys.readouterr().err


def test_a_missing_model_is_refused(capsys):
    assert cli.main(["run", "missing.onnx"]) == 1
    assert "the model cannot be read" in capsys.readouterr().err


def test_differences_are_measured():
    ones = np.ones(3, np.float32)
    text = "largest difference 0.5, 0.333 of the largest value"
    assert difference(ones, ones * 1.5) == (text, False)
    assert difference(ones, ones[:2])[1] is False
    assert difference(ones, ones)[1] is True
