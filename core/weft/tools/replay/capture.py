"""Capture: a subscriber to the trace that stores every schedule and kernel as a text file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from weft.base.settings import settings
from weft.base.trace import Event
from weft.device import registry
from weft.tools.capabilities import plain
from weft.tools.replay.record import Record, write
from weft.tools.replay.texts import devices_in, numbered, schedule_text, settings_that_matter
from weft.uop import to_text

EVENTS = ("schedule", "source")


class Capture:
    """`trace.subscribe(Capture(folder), only=EVENTS)`. Several processes may share the folder.

    Kernels that were searched for (WEFT_BEAM) are left out. A record that cannot be written raises
    FileError. The trace reports it once, and the program continues.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        # settled now: the program may change its folder
        self.folder = Path(folder).expanduser().absolute()

    def __call__(self, event: Event) -> None:
        if event.name == "source" and settings.BEAM > 0:
            return  # a search on another machine has another result: no change to report
        record = kernel_record(event.facts) if event.name == "source" else None
        write(record or schedule_record(event.facts), self.folder)


def kernel_record(facts: dict[str, Any]) -> Record:
    """From a "source" event."""
    opened = registry.open(facts["device"])
    program = facts["program"]
    return Record(
        "kernel",
        {
            "name": facts["name"],
            "device": facts["device"],
            "fingerprint": opened.capabilities.fingerprint,
            "settings": settings_that_matter(),
            "opts": [str(opt) for opt in program.applied],
            "compute": plain(opened.compute),
        },
        {"ast": to_text(facts["ast"]), "source": facts["source"]},
    )


def schedule_record(facts: dict[str, Any]) -> Record:
    """From a "schedule" event."""
    sink, context = facts["sink"], facts["context"]
    same, renamed = numbered(sink)
    capabilities = {
        name: {"memory": plain(caps.memory), "compute": plain(caps.compute)}
        for name in devices_in(sink.toposort())
        if (caps := context.capabilities(name))
    }
    return Record(
        "schedule",
        {
            "settings": settings_that_matter(),
            "shared": [renamed[buffer.src[1]].arg for buffer in facts["shared"]],
            "capabilities": capabilities,
        },
        {"sink": to_text(same), "kernels": schedule_text(sink, facts["becomes"])},
    )
