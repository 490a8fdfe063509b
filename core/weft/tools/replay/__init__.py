"""Process replay: how schedules and kernels came about, kept as text, and made again elsewhere."""

from __future__ import annotations

from weft.tools.replay.capture import Capture
from weft.tools.replay.compare import Report, compare

__all__ = ["Capture", "Report", "compare"]
