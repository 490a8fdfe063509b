"""CPU quota: the number of processors that this process can keep busy.

It is the smaller of its affinity mask and the bandwidth limit of its control groups.

Source: Linux manual, sched_getaffinity(2); Linux kernel documentation, cgroup-v2, cpu.max.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from weft.plugin import let_through

GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")


def available() -> int:
    """At least 1. Affinity and the limits of control groups (of both kinds) count."""
    try:
        usable = len(os.sched_getaffinity(0))
    except (AttributeError, OSError) as error:
        let_through(error)
        usable = os.cpu_count() or 1
    return min([usable, *(max(1, -(-quota // period)) for quota, period in _limits())])


def _limits() -> Iterator[tuple[int, int]]:
    """(time it may take, of which time) of the groups that this process is in, where they say."""
    rows = re.findall(r"^\d+:(.*?):(/.*)$", _text(GROUPS), re.MULTILINE)
    for kinds, path in rows or [("", "/")]:
        one = MOUNT if not kinds else MOUNT / kinds
        if kinds and "cpu" not in kinds.split(","):
            continue
        for folder in _and_around(path):
            if kinds:
                texts = [_text(one / folder / f"cpu.cfs_{word}_us") for word in ("quota", "period")]
            else:
                texts = _text(one / folder / "cpu.max").split()
            words = [text.strip() for text in texts]
            if len(words) == 2 and all(word.isdecimal() and int(word) for word in words):
                yield int(words[0]), int(words[1])


def _and_around(path: str) -> Iterator[str]:
    """A group and those around it; inside a container its own is the root."""
    parts = [part for part in path.split("/") if part]
    for count in range(len(parts), -1, -1):
        yield "/".join(parts[:count])


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError) as error:
        let_through(error)
        return ""
