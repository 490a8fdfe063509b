"""Roofline plot: operations per second over operations per byte, as SVG.

The roof is what the device reached when it was measured: bandwidth, up to the limit of arithmetic.
Each kernel is a disc whose size is its share of the time; both axes are logarithmic.

Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures", CACM 52, 2009.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.base.errors import CapabilityError
from weft.base.interrupts import let_through
from weft.base.text import cut, human_count, human_time
from weft.tools.bench import raster
from weft.tools.bench.meter import Measured
from weft.tools.bench.peaks import Peaks

WIDTH, HEIGHT = 960, 600
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 56, 64
_NAMED = 12  # the costliest kernels have their names beside them
_LONGEST = 24  # characters of such a name
_STYLE = """
svg { font: 13px system-ui, sans-serif; background: #fff }
.grid { stroke: #e4e4e8; stroke-width: 1 }
.axis { stroke: #555; stroke-width: 1.2 }
.roof { stroke: #b3372f; stroke-width: 2.2; fill: none }
.inner { stroke-dasharray: 6 4; stroke-width: 1.4 }
.kernel { fill: #2f6db3; fill-opacity: .55; stroke: #1d4a7d; stroke-width: 1 }
.name { font-size: 11px; fill: #222 }
.title { font-size: 17px; font-weight: 600 }
.small { fill: #555 }
@media (prefers-color-scheme: dark) {
  svg { background: #16181d } text { fill: #ddd } .name { fill: #ccc } .small { fill: #aaa }
  .grid { stroke: #2b2e36 } .axis { stroke: #999 } .kernel { fill: #6fa8e8; stroke: #a9cdf5 }
  .roof { stroke: #ef7a70 }
}
"""


@dataclass(frozen=True)
class _Scale:
    """A logarithmic axis: from values to places on the picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    @property
    def powers(self) -> list[float]:
        """The powers of ten on it."""
        return [10.0**n for n in range(math.ceil(self.low), math.floor(self.high) + 1)]


def svg(kernels: Iterable[Measured], peaks: Sequence[Peaks], title: str) -> str:
    """The picture of the kernels of one device.

    peaks: as `peaks_of` gives them. Kernels that compute nothing, or whose costs depend on a
    variable, have no place in it.
    """
    shown = [k for k in kernels if k.ops and k.bytes and k.each]
    shown.sort(key=lambda kernel: -kernel.total)
    x, y = _scales(shown, peaks)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{_LEFT}" y="28">{html.escape(title)}</text>',
        *_axes(x, y),
        *(part for number, one in enumerate(peaks) for part in _roof(one, x, y, number, peaks)),
        *_discs(shown, x, y),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def png(picture: str) -> bytes:
    """An SVG text of ours as a PNG, by Pillow or by CairoSVG, whichever is installed.

    :raises CapabilityError: where neither is.
    """
    try:
        return raster.png(picture)
    except ImportError as error:
        because = str(error)
    try:
        import cairosvg
    except (ImportError, OSError) as error:
        let_through(error)
        raise CapabilityError(
            "a PNG needs Pillow or CairoSVG",
            asked="the roofline as a PNG",
            because=f"{because}; {error}",
            try_="pip install pillow; the SVG is written in any case",
        ) from error
    data: bytes = cairosvg.svg2png(bytestring=picture.encode(), scale=2)
    return data


def _scales(kernels: Sequence[Measured], peaks: Sequence[Peaks]) -> tuple[_Scale, _Scale]:
    across = [k.ops / k.bytes for k in kernels if k.ops and k.bytes]
    across += [one.flops / one.bandwidth for one in peaks]
    up = [k.ops / k.each for k in kernels if k.ops] + [one.flops for one in peaks]
    low, high = _round(across or [1.0], 0.5)
    bottom, top = _round(up or [1e9], 0.3)
    return (
        _Scale(low, high, _LEFT, WIDTH - _RIGHT),
        _Scale(bottom, top, HEIGHT - _BOTTOM, _TOP),
    )


def _round(values: Sequence[float], margin: float) -> tuple[float, float]:
    """Whole powers of ten around all values, with a margin."""
    low, high = math.log10(min(values)) - margin, math.log10(max(values)) + margin
    return math.floor(low), max(math.floor(low) + 1, math.ceil(high))


def _axes(x: _Scale, y: _Scale) -> list[str]:
    lines = []
    for value in x.powers:
        place = x(value)
        lines.append(_line("grid", place, _TOP, place, HEIGHT - _BOTTOM))
        lines.append(_text(place, HEIGHT - _BOTTOM + 20, f"{value:g}", "small", "middle"))
    for value in y.powers:
        place = y(value)
        lines.append(_line("grid", _LEFT, place, WIDTH - _RIGHT, place))
        lines.append(_text(_LEFT - 8, place + 4, human_count(value), "small", "end"))
    lines.append(_line("axis", _LEFT, HEIGHT - _BOTTOM, WIDTH - _RIGHT, HEIGHT - _BOTTOM))
    lines.append(_line("axis", _LEFT, _TOP, _LEFT, HEIGHT - _BOTTOM))
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    lines.append(_text(middle, HEIGHT - 18, "operations for each byte moved", "", "middle"))
    lines.append(_text(_LEFT, _TOP - 10, "operations a second", "", "start"))
    return lines


def _roof(one: Peaks, x: _Scale, y: _Scale, number: int, peaks: Sequence[Peaks]) -> list[str]:
    """Bandwidth as a slope, arithmetic as a line; that of one thread is inside that of all."""
    bend = one.flops / one.bandwidth
    left, right = 10.0**x.low, 10.0**x.high
    bottom = 10.0**y.low
    start = max(left, bottom / one.bandwidth)
    points = [(start, start * one.bandwidth), (bend, one.flops), (right, one.flops)]
    path = " L ".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)
    inner = " inner" if number < len(peaks) - 1 else ""
    who = "" if len(peaks) == 1 else " all threads" if one.threads else " one thread"
    label = f"{human_count(one.flops)} operations/s, {human_count(one.bandwidth)} bytes/s{who}"
    row = _TOP + 20 + 18 * number
    return [
        f'<path class="roof{inner}" d="M {path}"/>',
        f'<path class="roof{inner}" d="M {_LEFT + 12} {row - 4} h 28"/>',
        _text(_LEFT + 48, row, label, "small", "start"),
    ]


def _discs(kernels: Sequence[Measured], x: _Scale, y: _Scale) -> list[str]:
    whole = sum(kernel.total for kernel in kernels) or 1.0
    parts, taken = [], []
    for number, kernel in enumerate(kernels):
        assert kernel.ops and kernel.bytes
        across, up = x(kernel.ops / kernel.bytes), y(kernel.ops / kernel.each)
        size = 3 + 16 * math.sqrt(kernel.total / whole)
        title = (
            f"{kernel.name}: {human_time(kernel.each)}, {kernel.total / whole:.1%} of the time, "
            f"{kernel.ops / kernel.each / 1e9:.1f} GFLOP/s, "
            f"{kernel.bytes / kernel.each / 1e9:.1f} GB/s"
        )
        parts.append(
            f'<circle class="kernel" cx="{across:.1f}" cy="{up:.1f}" r="{size:.1f}">'
            f"<title>{html.escape(title)}</title></circle>"
        )
        place = _free(up + 4, across, taken) if number < _NAMED else None
        if place is not None:
            end = across > WIDTH - _RIGHT - 180
            beside = across - size - 4 if end else across + size + 4
            name = cut(kernel.name, _LONGEST)
            parts.append(_text(beside, place, name, "name", "end" if end else "start"))
    return parts


def _free(place: float, across: float, taken: list[tuple[float, float]]) -> float | None:
    """A free line for a name; None where all lines nearby are taken."""
    for step in (0, -12, 12, -24, 24):
        line = place + step
        if not any(abs(line - up) < 12 and abs(across - other) < 170 for other, up in taken):
            taken.append((across, line))
            return line
    return None


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{html.escape(text)}</text>"
    )
