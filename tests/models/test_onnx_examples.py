"""The examples that run the networks of other packages read a rendered text, and detect files."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

LINES = ("Tensor compilers", "in 27 seconds")


def _example(name: str, package: str):
    pytest.importorskip("onnx", reason="the package onnx parses the networks")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the wheel with the networks is not installed: {package}")
    return importlib.import_module(name)


@pytest.fixture
def page(tmp_path):
    """An image with two lines of text."""
    image = pytest.importorskip("PIL.Image", reason="pillow renders the text")
    from PIL import ImageDraw, ImageFont

    made = image.new("RGB", (480, 160), "white")
    for row, text in enumerate(LINES):
        place = (40, 20 + 70 * row)
        ImageDraw.Draw(made).text(place, text, fill="black", font=ImageFont.load_default(40))
    made.save(tmp_path / "page.png")
    return tmp_path / "page.png"


def test_a_rendered_text_is_read(page, capsys):
    from PIL import Image

    drawn = page.with_name("drawn.png")
    lines = _example("ocr", "rapidocr_onnxruntime").main([str(page), "--draw", str(drawn)])
    assert tuple(line.text for line in lines) == LINES
    assert all(line in capsys.readouterr().out for line in LINES[:1])
    assert (np.asarray(Image.open(drawn)) != np.asarray(Image.open(page))).any()
    first, second = (line.box for line in lines)
    assert 20 <= first.left <= 45 and first.bottom < 80 < second.bottom <= 160


def test_files_are_detected(tmp_path, capsys):
    detect = _example("detect_file", "magika")
    contents = {
        "a": ("python", b"import os\n\n\ndef main():\n    print(os.getcwd())\n" * 5),
        "b": ("jsonl", b'{"name": "weft", "sizes": [1, 2, 3], "nested": {"a": null}}\n' * 3),
        "c": ("html", b"<!DOCTYPE html><html><head><title>t</title></head><body>x</body></html>"),
        "d": ("empty", b""),
        "e": ("txt", "täg".encode()),
        "f": ("unknown", b"\xff\xfe\xfd"),
    }
    for name, (_, content) in contents.items():
        (tmp_path / name).write_bytes(content)
    found = detect.main([str(tmp_path / name) for name in contents])
    assert list(found.values()) == [label for label, _ in contents.values()]
    assert capsys.readouterr().out.count("%)") == len(contents)


def test_ends_of_a_file_are_the_first_and_the_last_bytes(tmp_path):
    detect = _example("detect_file", "magika")
    path = tmp_path / "large"
    path.write_bytes(b"  a" + b"b" * 9000 + b"z\n\n")
    first, last = detect.Detector()._read(path)
    assert first == b"a" + b"b" * 1023 and last == b"b" * 1023 + b"z"


def test_components_are_connected_in_eight_directions():
    components = importlib.import_module("models.components")
    mask = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]], bool)
    found = sorted(components.boxes_of(mask, np.arange(20.0).reshape(4, 5)))
    assert found == [((0, 0, 3, 2), 8 / 3), ((0, 3, 1, 4), 15.0), ((4, 1, 5, 3), 11.5)]


def test_two_branches_that_meet_below_are_one_component():
    components = importlib.import_module("models.components")
    mask = np.array([[1, 0, 1, 0, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]], bool)
    [(box, mean)] = components.boxes_of(mask, mask * 1.0)
    assert box == (0, 0, 5, 3) and mean == 1.0


def test_repeated_classes_and_blanks_are_dropped():
    pytest.importorskip("PIL", reason="the example draws")
    pytest.importorskip("onnx", reason="the package onnx parses the networks")
    ocr = importlib.import_module("ocr")
    rows = np.eye(4, dtype=np.float32)[[0, 1, 1, 0, 1, 2, 3, 3]]
    assert ocr.decode(rows, ["", "a", "b", " "]) == ("aab ", 1.0)
    assert ocr.decode(rows[:1], ["", "a", "b", " "]) == ("", 0.0)
