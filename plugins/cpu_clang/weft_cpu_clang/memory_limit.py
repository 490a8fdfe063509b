"""Memory limit: the bytes that this process may still allocate, from the system and its groups.

Linux would grant more, and end the process once the pages are touched.

Source: Linux kernel documentation, cgroup-v2, memory.max; Linux manual, proc_meminfo(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from weft.plugin import let_through

SYSTEM = Path("/proc/meminfo")
GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")
_FILES = (
    # most, used, and of that what the system may drop: of both kinds of groups
    ("", "memory.max", "memory.current", r"(?:in)?active_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", r"total_(?:in)?active_file"),
)


def available_memory() -> int | None:
    """The bytes that this process may still allocate; None if the system gives no limit."""
    found = [*_of_system(), *_of_groups()]
    return min(found) if found else None


def _of_system() -> Iterator[int]:
    lines = dict(re.findall(r"^(\w+):\s+(\d+) kB$", _text(SYSTEM), re.MULTILINE))
    if "MemAvailable" in lines:
        yield 1024 * (int(lines["MemAvailable"]) + int(lines.get("SwapFree", 0)))


def _of_groups() -> Iterator[int]:
    own = set(re.findall(r"^\d+:(?:|.*\bmemory\b.*):(/.*)$", _text(GROUPS), re.MULTILINE))
    for kind, most, used, droppable in _FILES:
        for path in sorted({"/", *own}):
            folder = MOUNT / kind / path.lstrip("/")
            limit, taken = _text(folder / most).strip(), _text(folder / used).strip()
            if not (limit.isdigit() and taken.isdigit()):
                continue  # no such group, or "max"
            kept = _text(folder / "memory.stat")
            files = re.findall(rf"^{droppable} (\d+)$", kept, re.MULTILINE)
            yield max(0, int(limit) - int(taken) + sum(map(int, files)))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        let_through(error)
        return ""
