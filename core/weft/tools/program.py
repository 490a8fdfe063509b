"""Program start: run a user's program with other settings, for `weft viz` and `weft replay`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Unpack

from weft.base.errors import ArgumentError
from weft.base.interrupts import let_through
from weft.base.settings import SettingValues, settings

USAGE = "FILE.py [arguments], -m MODULE [arguments], or any command"


def command_line(words: Sequence[str]) -> list[str]:
    """What to start for the words after a command's own options: Python where a file of it, or a
    module of it, is named. ArgumentError where nothing is named."""
    rest = list(words)
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if not rest:
        raise ArgumentError("no program was named", asked="nothing", try_=USAGE)
    if rest[0].endswith(".py") or rest[0] == "-m":
        return [sys.executable, *rest]
    return rest


def run(words: Sequence[str], **changes: Unpack[SettingValues]) -> int:
    """Run a program with settings changed for it, and wait; its exit code. ArgumentError where it
    cannot be started."""
    line = command_line(words)
    try:
        return subprocess.run(line, env=settings.environment(**changes)).returncode
    except OSError as error:
        let_through(error)
        raise ArgumentError(
            "this program cannot be started", asked=" ".join(line), because=str(error), try_=USAGE
        ) from error
