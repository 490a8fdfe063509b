"""docs/onnx_operators.md is what the table of operators says."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the page lists the schemas of the package onnx")
sys.path.insert(0, str(Path(__file__).parent))

from operators_page import PAGE, page


def test_the_page_is_written():
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(), "run: python tests/onnx/operators_page.py --write"
