"""Replay records: one captured item as a text file of facts and sections.

    weft replay 1 kernel
    name: "E_4"
    ==== ast 3
    (three lines)
    ==== source 12
    (twelve lines)

The lengths tell a whole file from a damaged one, and let sections hold any text. A record's file is
named by its content, so that the same thing captured twice, or by several processes, is one file.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.base.errors import FileError, FormatError
from weft.base.interrupts import let_through

VERSION = 1
KINDS = ("schedule", "kernel")
_HEAD = "weft replay"


@dataclass(frozen=True)
class Record:
    """kind: "schedule" or "kernel"; facts: plain values by name; sections: texts by name."""

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """The file's content."""
        lines = [f"{_HEAD} {VERSION} {self.kind}"]
        lines += [f"{name}: {json.dumps(v, sort_keys=True)}" for name, v in self.facts.items()]
        for name, text in self.sections.items():
            inside = text.split("\n")
            lines += [f"==== {name} {len(inside)}", *inside]
        return "\n".join(lines) + "\n"

    @property
    def file_name(self) -> str:
        """Named by its content."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()[:24] + ".txt"

    def section(self, name: str) -> str:
        """A section; FormatError where there is none."""
        if name not in self.sections:
            raise FormatError(
                f"this record has no section {name!r}",
                asked=f"a captured {self.kind}",
                because="it ends too early, or was captured by another version",
                try_="capture again",
            )
        return self.sections[name]

    def fact(self, name: str) -> Any:
        """A fact; FormatError where there is none."""
        if name not in self.facts:
            raise FormatError(
                f"this record does not say its {name}",
                asked=f"a captured {self.kind}",
                because="it is damaged, or was captured by another version",
                try_="capture again",
            )
        return self.facts[name]


def from_text(text: str) -> Record:
    """The record that `to_text` wrote; FormatError for anything else."""
    lines = text.split("\n")
    words = lines[0].split()
    if len(words) != 4 or " ".join(words[:2]) != _HEAD:
        raise _damaged("its first line is not that of a record", lines[0])
    if words[2] != str(VERSION):
        raise FormatError(
            "this record was captured by another version",
            asked=f"version {words[2]}",
            because=f"this checkout reads version {VERSION}",
            try_="capture again",
        )
    if words[3] not in KINDS:
        raise _damaged("it is neither a schedule nor a kernel", lines[0])
    record, at = Record(words[3]), 1
    while at < len(lines) - 1:
        at = _read_one(record, lines, at)
    if lines[-1] or len(lines) < 2:
        raise _damaged("it does not end with a whole line", lines[-1])
    return record


def _read_one(record: Record, lines: list[str], at: int) -> int:
    """Read the fact or section that begins at a line; where the next one begins."""
    line = lines[at]
    if not line.startswith("==== "):
        name, _, value = line.partition(": ")
        try:
            record.facts[name] = json.loads(value)
        except ValueError:
            raise _damaged(f"line {at + 1} is no fact", line) from None
        return at + 1
    words = line.split()
    if len(words) != 3 or not words[2].isdigit():
        raise _damaged(f"line {at + 1} begins no section", line)
    end = at + 1 + int(words[2])
    # the last piece of a split text is what follows the last line's end
    if end > len(lines) - 1:
        raise _damaged(f"section {words[1]!r} ends too early", line)
    record.sections[words[1]] = "\n".join(lines[at + 1 : end])
    return end


def _damaged(because: str, line: str) -> FormatError:
    return FormatError(
        "this file is not a whole record",
        asked=f"reading {line[:80]!r}",
        because=because,
        try_="capture again",
    )


def write(record: Record, folder: Path) -> Path:
    """Put a record into a folder, whole or not at all; FileError where that cannot be done."""
    path = folder / record.kind / record.file_name
    if path.exists():
        return path
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".part-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(record.to_text())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        let_through(error)
        raise FileError.of(
            error,
            f"a {record.kind} could not be kept for replay",
            path=path,
            asked=f"write {path}",
            try_="free some space, or point WEFT_PROCESS_REPLAY to a folder that can be written",
        ) from error
    return path


def read(path: Path) -> Record:
    """The record in a file; FileError (FormatError for a damaged one) otherwise."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return from_text(file.read())
    except UnicodeDecodeError as error:
        raise _damaged(f"it is not text: {error}", path.name) from error
    except OSError as error:
        let_through(error)
        raise FileError.of(error, "a record cannot be read", path=path, asked=str(path)) from error
