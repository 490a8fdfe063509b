"""Process replay: store schedules and kernels as text, and make them again in another checkout."""

from __future__ import annotations

from weft.tools.replay.capture import Capture
from weft.tools.replay.compare import Report, compare

__all__ = ["Capture", "Report", "compare"]
