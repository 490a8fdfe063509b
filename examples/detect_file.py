"""Detect the type of files: python examples/detect_file.py FILE...

The network of the package magika reads the first and the last kilobyte of a file:

    python -m pip install "weft[cpu,onnx]"
    python -m pip install --no-deps magika
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from models.wheels import file_of

import weft.onnx

MODEL = "models/standard_v3_3/"


class Detector:
    """The network and what its configuration says about inputs and outputs."""

    def __init__(self) -> None:
        self.network = weft.onnx.load(file_of("magika", MODEL + "model.onnx", "magika"))
        text = file_of("magika", MODEL + "config.min.json", "magika").read_text(encoding="utf-8")
        self.config: dict[str, Any] = json.loads(text)

    def label(self, path: Path) -> tuple[str, float]:
        """Return the type of a file and the probability of it."""
        if path.stat().st_size == 0:
            return "empty", 1.0
        first, last = self._read(path)
        if len(first) < self.config["min_file_size_for_dl"]:
            return _text_or_unknown(first), 1.0
        [probabilities] = self.network(self._bytes(first, last))[0].numpy()
        best = int(probabilities.argmax())
        label, probability = self.config["target_labels_space"][best], float(probabilities[best])
        default = self.config["medium_confidence_threshold"]
        if probability < self.config["thresholds"].get(label, default):
            return _text_or_unknown(first), probability
        return self.config["overwrite_map"].get(label, label), probability

    def _read(self, path: Path) -> tuple[bytes, bytes]:
        """Return what the file starts and ends with, without white space around it."""
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            first = file.read(self.config["block_size"])
            file.seek(max(0, size - self.config["block_size"]))
            last = file.read()
        first, last = first.lstrip(), last.rstrip()
        if size <= self.config["block_size"]:
            first, last = first.rstrip(), last.lstrip()
        return first[: self.config["beg_size"]], last[-self.config["end_size"] :]

    def _bytes(self, first: bytes, last: bytes) -> np.ndarray:
        """Return the input of the network: both ends, with a padding token between them."""
        size = self.config["beg_size"] + self.config["end_size"]
        row = np.full(size, self.config["padding_token"], np.int32)
        row[: len(first)] = list(first)
        row[size - len(last) :] = list(last)
        return row[None]


def _text_or_unknown(content: bytes) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data"  # in the middle of a character
        return "txt" if is_cut and error.start >= len(content) - 3 > 0 else "unknown"
    return "txt"


def main(arguments: list[str] | None = None) -> dict[str, str]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    detector = Detector()
    labels = {}
    for path in options.files:
        label, probability = detector.label(path)
        labels[str(path)] = label
        print(f"{path}: {label} ({probability:.0%})")
    return labels


if __name__ == "__main__":
    main()
