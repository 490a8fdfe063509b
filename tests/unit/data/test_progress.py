"""The progress bar passes through what it iterates over, shown or not."""

import io
import sys

import pytest

from weft import data


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    bar = data.Progress([1, 2, 3], "counting")
    assert len(bar) == 3 and list(bar) == [1, 2, 3]
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = data.Progress(iter([1, 2]), "counting", total=2)
    for number in bar:
        bar.note(f"loss {number}")
    assert "counting" in screen.getvalue() and "2/2" in screen.getvalue()
    assert "loss 2" in screen.getvalue()


def test_a_loader_with_a_bar(monkeypatch):
    pytest.importorskip("rich")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    loader = data.DataLoader(range(4), batch_size=2, progress="epoch")
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]
    assert "epoch" in screen.getvalue() and "2/2" in screen.getvalue()
    assert loader.state_dict()["epoch"] == 1
