"""Read the text of an image: python examples/ocr.py IMAGE [--draw RESULT.png]

One network of the package rapidocr-onnxruntime detects lines of text, another one reads them:

    python -m pip install "weft[cpu,onnx]" pillow
    python -m pip install --no-deps rapidocr-onnxruntime
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from models.components import Box, boxes_of
from models.wheels import file_of
from PIL import Image, ImageDraw

import weft.onnx

DETECTION = "models/ch_PP-OCRv4_det_infer.onnx"
RECOGNITION = "models/ch_PP-OCRv4_rec_infer.onnx"
WHEEL = "rapidocr-onnxruntime"
HEIGHT = 48
"""Of the lines that are read."""
BUCKET = 160
"""Widths are filled up to a multiple: each new shape is traced once."""


@dataclass(frozen=True)
class Line:
    """A line of text. :ivar confidence: the mean probability of its characters."""

    text: str
    confidence: float
    box: Box


class Detector:
    """Finds lines of text.

    :param longest: an image is reduced until no side is longer.
    :param threshold: the least probability of a pixel, and the least mean of a line.
    :param margin: the networks are trained with boxes that are larger than the detected core by
        margin * area / perimeter.
    """

    def __init__(self, longest: int, threshold: float = 0.3, margin: float = 1.6) -> None:
        self.network = weft.onnx.load(file_of("rapidocr_onnxruntime", DETECTION, WHEEL))
        self.longest, self.threshold, self.margin = longest, threshold, margin

    def boxes(self, image: Image.Image) -> list[Box]:
        """Return the boxes of all lines, in pixels of the image, from top to bottom."""
        scale = min(1.0, self.longest / max(image.size))
        width, height = (max(32, 32 * round(side * scale / 32)) for side in image.size)
        small = image.resize((width, height), Image.Resampling.BILINEAR)
        probability = self.network(_numbers(small))[0].numpy()[0, 0]
        found = boxes_of(probability > self.threshold, probability)
        grown = [
            box.grown(self.margin).scaled(image.width / width, image.height / height)
            for box, mean in found
            if mean > 0.5 and min(box.width, box.height) >= 3
        ]
        return sorted(
            (box.clipped(*image.size) for box in grown), key=lambda box: (box.top, box.left)
        )


class Reader:
    """Reads one line of text. Classes are a blank, the characters, and a space."""

    def __init__(self) -> None:
        self.network = weft.onnx.load(file_of("rapidocr_onnxruntime", RECOGNITION, WHEEL))
        self.characters = ["", *self.network.metadata["character"].split("\n"), " "]

    def read(self, line: Image.Image) -> tuple[str, float]:
        """Return the text and its confidence."""
        width = max(1, round(line.width * HEIGHT / line.height))
        numbers = _numbers(line.resize((width, HEIGHT), Image.Resampling.BILINEAR))
        filled = np.pad(numbers, ((0, 0), (0, 0), (0, 0), (0, -width % BUCKET)))
        probabilities = self.network(filled)[0].numpy()[0]
        return decode(probabilities, self.characters)


def decode(probabilities: np.ndarray, characters: list[str]) -> tuple[str, float]:
    """Return the best text of a connectionist temporal classification, and its confidence.

    Repeated classes are one character. Class 0 is a blank between characters.
    """
    classes = probabilities.argmax(1)
    is_new = np.insert(classes[1:] != classes[:-1], 0, True) & (classes != 0)
    if not is_new.any():
        return "", 0.0
    text = "".join(characters[each] for each in classes[is_new])
    return text, float(probabilities.max(1)[is_new].mean())


def read_lines(image: Image.Image, longest: int = 960) -> list[Line]:
    """Return all lines of text in an image, from top to bottom."""
    reader, lines = Reader(), []
    for box in Detector(longest).boxes(image):
        text, confidence = reader.read(image.crop(box))
        if confidence > 0.5:
            lines.append(Line(text, confidence, box))
    return lines


def draw(image: Image.Image, lines: list[Line]) -> Image.Image:
    """Return the image with a box around each line."""
    drawn = image.copy()
    pen = ImageDraw.Draw(drawn)
    for line in lines:
        pen.rectangle(line.box, outline=(220, 30, 30), width=2)
    return drawn


def _numbers(image: Image.Image) -> np.ndarray:
    """Return the channels in the order blue, green, red, from -1 to 1: (1, 3, height, width)."""
    array = np.asarray(image, np.float32)[:, :, ::-1] / 127.5 - 1
    return np.ascontiguousarray(array.transpose(2, 0, 1)[None])


def main(arguments: list[str] | None = None) -> list[Line]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("image", type=Path)
    parser.add_argument("--draw", type=Path, help="write the image with boxes around the lines")
    parser.add_argument("--longest", type=int, default=960, help="side of the detected image")
    options = parser.parse_args(arguments)
    image = Image.open(options.image).convert("RGB")
    lines = read_lines(image, options.longest)
    for line in lines:
        print(f"{line.confidence:4.0%}  {line.text}")
    if options.draw is not None:
        draw(image, lines).save(options.draw)
    return lines


if __name__ == "__main__":
    main()
