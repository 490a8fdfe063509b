"""Visualization: one page for a browser, by `WEFT_VIZ=1 python program.py` or `weft viz`."""

from __future__ import annotations

from weft.tools.viz.page import write_page
from weft.tools.viz.recorder import Recorder

__all__ = ["Recorder", "write_page"]
