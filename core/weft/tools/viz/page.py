"""Page: one self-contained HTML file with its style, its program and its data.

Data are JSON in a script element that is not executed; large data are compressed with gzip, which
browsers unpack. No content of a recording can end that element or become markup.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
from pathlib import Path
from typing import Any

from weft.base.atomic_write import replaced
from weft.base.errors import FileError
from weft.base.interrupts import let_through

FOLDER = Path(__file__).parent
SCRIPTS = (
    "model.js",
    "layout.js",
    "elements.js",
    "graph_view.js",
    "tree.js",
    "details.js",
    "timeline.js",
    "page.js",
)
LARGE = 200_000


def page(data: dict[str, Any], title: str) -> str:
    """The whole page as text."""
    script = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    parts = {
        "@STYLE@": (FOLDER / "page.css").read_text(encoding="utf-8"),
        "@SCRIPT@": script,
        "@DATA@": data_element(data),
    }
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    # line by line, so that inserted text is not searched for marks
    return "\n".join(
        parts.get(line.strip()) or line.replace("@TITLE@", html.escape(title))
        for line in template.split("\n")
    )


def data_element(data: dict[str, Any], large: int = LARGE) -> str:
    """The script element that holds the data."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    if len(text) <= large:
        # the only characters by which an element, a comment or an entity could begin or end
        for character in "<>&":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return f'<script id="data" type="application/json">{text}</script>'
    packed = base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
    return f'<script id="data" type="application/gzip+base64">{packed}</script>'


def write_page(data: dict[str, Any], path: str | os.PathLike[str], title: str = "weft") -> Path:
    """Write the page whole or not at all; the path it has then. Raises FileError."""
    target = Path(path).expanduser().absolute()
    text = page(data, title)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replaced(target) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error,
            "the page cannot be written",
            path=target,
            asked=f"write {len(text):,} characters to {target}",
            try_="WEFT_VIZ=path of a file that can be written",
        ) from error
    return target
