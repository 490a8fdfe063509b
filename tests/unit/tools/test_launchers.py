"""Launchers: the entry point of a plugin starts programs of several processes."""

from types import SimpleNamespace

import pytest

from weft.base.errors import CapabilityError
from weft.tools import launchers
from weft.tools.cli import main


def test_the_launcher_of_a_plugin_is_called(monkeypatch):
    calls = []
    found = SimpleNamespace(name="one", load=lambda: lambda *given: calls.append(given) or 3)
    monkeypatch.setattr(launchers, "entry_points", lambda group: [found])
    assert main(["run", "-n", "4", "train.py", "--", "--steps", "5"]) == 3
    assert calls == [(4, ["train.py", "--steps", "5"])]


def test_without_a_launcher_there_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(launchers, "entry_points", lambda group: [])
    with pytest.raises(CapabilityError, match="several processes"):
        launchers.launch(2, ["train.py"])
    assert main(["run", "-n", "2", "train.py"]) == 1
    assert "weft.launchers" in capsys.readouterr().err


def test_a_model_has_no_arguments(capsys):
    assert main(["run", "model.onnx", "more"]) == 1
    assert "only a program has arguments" in capsys.readouterr().err
