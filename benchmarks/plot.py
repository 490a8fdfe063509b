"""Draw the comparison of the README: weft's time over the best peer's, a bar for each workload.

    python benchmarks/plot.py

It reads results/limits.md and results/limits-2-threads.md beside it and writes
docs/images/comparison.svg; nothing is measured.
"""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

from quote import by_name, number

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "docs" / "images" / "comparison.svg"
LEFT, WIDTH, ROW, TOP = 300, 420, 16, 48
LOWEST, HIGHEST = 0.05, 2.0
COLOURS = ("#1f77b4", "#9ecae1")  # one core, two cores


def place(ratio: float) -> float:
    """Horizontal position of a ratio on the logarithmic axis, in pixels."""
    share = math.log(min(max(ratio, LOWEST), HIGHEST) / LOWEST) / math.log(HIGHEST / LOWEST)
    return LEFT + WIDTH * share


def comparison() -> str:
    """The picture as SVG."""
    one, two = (by_name(f"results/limits{suffix}.md") for suffix in ("", "-2-threads"))
    names = [name for name, cells in one.items() if number(cells[-2]) > 0]
    height = TOP + ROW * len(names) + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 60} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="100%" height="{height}" fill="white"/>',
        '<text x="8" y="16" font-size="13">weft\'s time / best peer\'s time '
        "(below 1: weft is faster)</text>",
        f'<text x="8" y="34" fill="{COLOURS[0]}">one core</text>',
        f'<text x="70" y="34" fill="{COLOURS[1]}">two cores</text>',
    ]
    for tick in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0):
        x = place(tick)
        stroke = "black" if tick == 1.0 else "#dddddd"
        parts.append(f'<path d="M{x:.1f} {TOP - 4}V{height - 22}" stroke="{stroke}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>')
    for row, name in enumerate(names):
        y = TOP + ROW * row
        parts.append(f'<text x="{LEFT - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>')
        ratios = (number(one[name][-2]), number(two[name][-2]) if name in two else 0.0)
        for bar, ratio in enumerate(ratios):
            if ratio > 0:
                x, end = sorted((place(1.0), place(ratio)))
                parts.append(
                    f'<rect x="{x:.1f}" y="{y + 2 + 6 * bar}" width="{max(end - x, 1):.1f}" '
                    f'height="6" fill="{COLOURS[bar]}"/>'
                )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(comparison(), encoding="utf-8")
