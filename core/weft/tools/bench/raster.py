"""Rasterization: draw the pictures of `roofline.py` as PNG with Pillow.

It supports only what those pictures contain: lines, discs, texts, and paths of straight strokes,
coloured by their class.

in: an SVG text as `roofline.svg` makes it    out: the bytes of a PNG
"""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Point = tuple[float, float]
_SCALE = 2  # pixels for each unit of the picture
_STROKES = {
    "grid": ("#e4e4e8", 1.0), "axis": ("#555555", 1.2), "roof": ("#b3372f", 2.2),
    "inner": ("#b3372f", 1.4),
}  # fmt: skip
_TEXTS = {"title": (17.0, "#000000"), "name": (11.0, "#222222"), "small": (13.0, "#555555")}
_DISC = (47, 109, 179, 140)
_RIM = (29, 74, 125, 255)
_DASH = (6.0, 4.0)


def png(picture: str) -> bytes:
    """An SVG text as a PNG, twice as large. :raises ImportError: where Pillow is not installed."""
    from PIL import Image, ImageDraw

    root = xml.fromstring(picture)
    width, height = (round(float(root.attrib[side]) * _SCALE) for side in ("width", "height"))
    size = (width, height)
    image = Image.new("RGBA", size, "#ffffff")
    for element in root:
        layer = Image.new("RGBA", size, (0, 0, 0, 0))  # so that discs show what is below them
        _drawn(element, ImageDraw.Draw(layer))
        image.alpha_composite(layer)
    held = io.BytesIO()
    image.convert("RGB").save(held, "PNG", optimize=True)
    return held.getvalue()


def _drawn(element: xml.Element, draw: Any) -> None:
    kind = element.tag.rpartition("}")[2]
    get = element.attrib.get
    classes = get("class", "").split()
    if kind == "line":
        ends = [(float(get(f"x{n}", 0)), float(get(f"y{n}", 0))) for n in (1, 2)]
        _stroke(draw, ends, classes)
    elif kind == "path":
        _stroke(draw, list(corners(get("d", ""))), classes)
    elif kind == "circle":
        x, y, radius = (float(get(name, 0)) for name in ("cx", "cy", "r"))
        box = [(value * _SCALE) for value in (x - radius, y - radius, x + radius, y + radius)]
        draw.ellipse(box, fill=_DISC, outline=_RIM, width=_SCALE)
    elif kind == "text":
        _written(draw, element, classes)


def corners(path: str) -> Iterator[Point]:
    """The corners of a path of M, L and h.

    :raises ValueError: for any other command.
    """
    words = iter(path.split())
    x = y = 0.0
    for word in words:
        if word in ("M", "L"):
            x = float(next(words))
        elif word.startswith(("M", "L")):
            x = float(word[1:])
        elif word == "h":
            x += float(next(words))
            yield x, y
            continue
        else:
            raise ValueError(f"a path with {word!r}")
        y = float(next(words))
        yield x, y


def dashes(start: Point, end: Point) -> Iterator[tuple[Point, Point]]:
    """The strokes of a line that is broken."""
    length = math.dist(start, end)
    step = sum(_DASH)
    for number in range(math.ceil(length / step) if length else 0):
        parts = (number * step / length, min(1.0, (number * step + _DASH[0]) / length))
        first, second = (
            (start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]))
            for part in parts
        )
        yield first, second


def _stroke(draw: Any, points: list[Point], classes: list[str]) -> None:
    colour, width = next((_STROKES[c] for c in reversed(classes) if c in _STROKES), ("#000", 1.0))
    for start, end in pairwise(points):
        for first, second in dashes(start, end) if "inner" in classes else [(start, end)]:
            ends = [(x * _SCALE, y * _SCALE) for x, y in (first, second)]
            draw.line(ends, fill=colour, width=max(1, round(width * _SCALE)))


def _written(draw: Any, element: xml.Element, classes: list[str]) -> None:
    from PIL import ImageFont

    size, colour = next((_TEXTS[c] for c in classes if c in _TEXTS), (13.0, "#000000"))
    anchor = {"middle": "ms", "end": "rs"}.get(element.attrib.get("text-anchor", ""), "ls")
    place = tuple(float(element.attrib[name]) * _SCALE for name in ("x", "y"))
    font = ImageFont.load_default(size * _SCALE)
    draw.text(place, element.text or "", fill=colour, font=font, anchor=anchor)
