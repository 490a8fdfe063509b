"""Observers of WEFT_VIZ and WEFT_PROCESS_REPLAY: subscribe to the trace for the whole process.

`import weft` calls `start` if one of them is set, and imports this module only then.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from pathlib import Path

from weft.base import trace
from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.tools.replay.capture import EVENTS as CAPTURED
from weft.tools.replay.capture import Capture
from weft.tools.viz import Recorder, write_page
from weft.tools.viz.recorder import EVENTS as RECORDED

DEFAULT_PAGE = "weft-viz.html"
OFF = ("", "0")


def start() -> list[Callable[[], None]]:
    """Start the recordings that the settings turn on. The result ends them; so does the process."""
    endings = []
    if settings.VIZ not in OFF:
        endings.append(_record(DEFAULT_PAGE if settings.VIZ == "1" else settings.VIZ))
    if settings.PROCESS_REPLAY not in OFF:
        capture = Capture(settings.PROCESS_REPLAY)
        endings.append(trace.subscribe(capture, only=CAPTURED))
    return endings


def _record(asked: str) -> Callable[[], None]:
    # where it is to go is settled now: the program may change its folder
    path = Path(asked).expanduser().absolute()
    recorder = Recorder()
    stop = trace.subscribe(recorder, only=RECORDED)
    process = os.getpid()

    def finish() -> None:
        atexit.unregister(finish)
        stop()
        # a forked child has a copy of the recording, which is not its own; a parent that only
        # started others must not overwrite what they wrote
        if os.getpid() == process and not recorder.empty:
            save(recorder, path)

    atexit.register(finish)
    return finish


def save(recorder: Recorder, path: Path) -> bool:
    """Write the page and say where it is. What goes wrong is said too, and raises nothing: the
    program's own result matters more."""
    title = " ".join(["weft:", *(Path(arg).name for arg in sys.argv[:1]), *sys.argv[1:]])[:120]
    try:
        written = write_page(recorder.as_json(), path, title)
    except WeftError as error:
        print(f"weft: {error}", file=sys.stderr)
        return False
    size = written.stat().st_size
    print(f"weft: recorded to {written} ({size / 1e6:.1f} MB)", file=sys.stderr)
    return True
