"""Pictures drawn without a browser: the PNG has the contents of the SVG."""

import io

import pytest

from weft.tools.bench import raster, roofline
from weft.tools.bench.peaks import Peaks


def test_the_corners_of_a_path():
    assert list(raster.corners("M 1.0 2.0 L 3 4 L 5 6")) == [(1, 2), (3, 4), (5, 6)]
    assert list(raster.corners("M96 72 h 28")) == [(96, 72), (124, 72)]
    with pytest.raises(ValueError, match="C"):
        list(raster.corners("M 0 0 C 1 2 3 4 5 6"))


def test_a_broken_line_ends_where_it_should():
    parts = list(raster.dashes((0.0, 0.0), (0.0, 25.0)))
    assert parts == [((0, 0), (0, 6)), ((0, 10), (0, 16)), ((0, 20), (0, 25))]
    assert list(raster.dashes((1.0, 1.0), (1.0, 1.0))) == []


def test_a_picture_shows_its_roof_and_its_kernels():
    image = pytest.importorskip("PIL.Image", reason="Pillow draws the pictures")
    peaks = [Peaks(1e9, 1e9), Peaks(4e9, 2e9, True)]
    empty = roofline.svg([], peaks, "a program")
    disc = '<circle class="kernel" cx="500.0" cy="300.0" r="9.0"/>'
    with_one = empty.replace("</svg>", disc + "</svg>")
    without, with_it = (image.open(io.BytesIO(raster.png(one))) for one in (empty, with_one))
    assert without.size == (2 * roofline.WIDTH, 2 * roofline.HEIGHT)
    assert with_it.getpixel((1000, 600)) != without.getpixel((1000, 600))
    colours = {colour for _, colour in without.getcolors(1 << 24)}
    assert {(255, 255, 255), (0xB3, 0x37, 0x2F), (0xE4, 0xE4, 0xE8)} <= colours
