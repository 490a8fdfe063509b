import sys
import xml.etree.ElementTree as xml

import pytest

from weft.base.errors import CapabilityError
from weft.device.program import Estimates, LinearProgram
from weft.tools.bench import roofline
from weft.tools.bench.meter import Measured
from weft.tools.bench.peaks import Peaks

SVG = "{http://www.w3.org/2000/svg}"
PEAKS = [Peaks(1e11, 1e10), Peaks(2e11, 2e10, True)]


def kernel(name, seconds, ops, moved):
    program = LinearProgram(name, (), estimates=Estimates(ops, moved, moved))
    return Measured(program, "X", 1, [seconds])


def drawn(kernels, peaks=PEAKS, title="a & b"):
    return xml.fromstring(roofline.svg(kernels, peaks, title))


def discs(picture):
    found = {}
    for circle in picture.iter(f"{SVG}circle"):
        name = circle.find(f"{SVG}title").text.partition(":")[0]
        found[name] = tuple(float(circle.get(key)) for key in ("cx", "cy", "r"))
    return found


def test_places_and_sizes():
    kernels = [
        kernel("costly", 1e-2, 10**8, 10**6),
        kernel("dense", 1e-3, 10**8, 10**5),
        kernel("slow", 1e-3, 10**6, 10**4),
    ]
    found = discs(drawn(kernels))
    assert found["dense"][0] > found["costly"][0] == found["slow"][0]
    assert found["dense"][1] < found["costly"][1] < found["slow"][1]  # up is less
    assert found["costly"][2] > found["dense"][2] == found["slow"][2]


def test_all_of_it_lies_inside():
    kernels = [kernel(f"k{n}", 10.0**-n, 10 ** (n + 1), 10 ** (7 - n)) for n in range(8)]
    picture = drawn(kernels)
    for x, y, r in discs(picture).values():
        assert r < x < roofline.WIDTH - r and r < y < roofline.HEIGHT - r
    for text in picture.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= roofline.WIDTH
    assert len(discs(picture)) == 8


def test_a_kernel_as_fast_as_the_device_touches_its_roof():
    picture = drawn([kernel("best", 1e-3, 2 * 10**8, 10**3)], PEAKS[1:])
    roof = next(p for p in picture.iter(f"{SVG}path"))
    level = float(roof.get("d").split()[-1])
    assert abs(discs(picture)["best"][1] - level) < 0.2


def test_names_are_text_and_nothing_else():
    picture = drawn([kernel("<b>&", 1.0, 10, 10)], title="</svg><script>")
    assert picture.find(f"{SVG}text").text == "</svg><script>"
    assert picture.find(f".//{SVG}script") is None
    assert "<b>&" in discs(picture)


def test_the_picture_itself(golden):
    kernels = [
        kernel("r_512_512_512", 1.2e-3, 268_435_456, 3_145_728),
        kernel("E_4096", 5e-6, 8192, 49152),
        kernel("r_768_128", 4e-5, 98304, 393_728),
    ]
    picture = roofline.svg(kernels, PEAKS, "model.py")
    assert picture == golden.file("unit/tools/bench/test_roofline/picture.svg")


def test_nothing_to_show_is_a_picture_too():
    assert not discs(drawn([]))
    assert not discs(drawn([kernel("copy", 1.0, 0, 10)], []))


def test_a_png_needs_a_converter(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(CapabilityError, match="Pillow or CairoSVG"):
        roofline.png(roofline.svg([], [], ""))
