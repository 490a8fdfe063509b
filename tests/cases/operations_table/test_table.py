"""The table of operations: what is missing is found, and the page reads back as written."""

import pytest

from weft import Tensor, dtypes

pytest.importorskip("torch", reason="PyTorch is what much of the table is compared with")
pytest.importorskip("ml_dtypes", reason="it gives NumPy the short floats of the table")

from cases.operations_table import networks, shapes, table, torch_names
from cases.operations_table.cells import SIGNS
from cases.operations_table.elementwise import CHECKS
from cases.operations_table.reasons import REASONS, WORDS


def test_a_method_without_a_line_is_missing(monkeypatch):
    monkeypatch.setattr(Tensor, "frobnicate", lambda self: self, raising=False)
    assert "frobnicate" in table.missing()
    assert table.main(["REF", "--quiet"]) == 1


def test_a_line_without_a_method_is_stale(monkeypatch):
    monkeypatch.setitem(REASONS, "frobnicate", "none")
    assert table.stale() == ["frobnicate"]


def test_every_module_of_checks_enters_its_own():
    for module, name in (
        (torch_names, "vstack"),
        (networks, "matmul"),
        (shapes, "gather"),
    ):
        assert name in CHECKS and module.__doc__


def test_the_page_says_the_worst_of_the_devices_and_reads_back():
    names = [d.name for d in dtypes.all]
    one = {name: dict.fromkeys(names, "=") for name in CHECKS}
    other = {name: dict.fromkeys(names, "=") for name in CHECKS}
    one["exp"]["float"], other["exp"]["float"] = "0.9", "1.4"
    one["exp"]["double"] = "1.0"
    other["exp"]["double"] = "-"
    text = table.page({"ONE": one, "TWO": other}, {"exp": one["exp"]}, {"exp": False, "T": True})
    cells = table.read_page(text)
    assert set(cells) == set(CHECKS)
    assert cells["exp"]["float"] == "1.4" and cells["exp"]["double"] == "1.0"
    assert "- `-`:" in text and "- `f`:" not in text


def test_every_sign_of_a_refusal_has_its_words():
    assert set(SIGNS.values()) | {"-"} == set(WORDS)


def test_one_cell_by_the_command(capsys):
    assert table.main(["REF", "--only", "relu"]) == 0
    assert "relu" in capsys.readouterr().out


def test_a_wrong_cell_fails_the_command(monkeypatch, capsys):
    monkeypatch.setattr(Tensor, "relu", lambda self: self)
    assert table.main(["REF", "--only", "relu", "--quiet"]) == 1
    assert "relu of" in capsys.readouterr().err
