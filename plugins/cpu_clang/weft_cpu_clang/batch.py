"""Several sources in one run of the compiler, an object file of each.

clang's driver starts a process for every source; the compiler proper, which it runs with `-cc1`,
takes several in one and writes an object beside each. Its command line is asked of the driver once
and kept on disk. A compiler that does not do so is found out by its first run, whose sources it
compiles one by one then, as all later ones of this process.
"""

from __future__ import annotations

import json
import os
import shlex
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from weft.plugin import CompileError, DiskCache
from weft_cpu_clang.toolchain import Toolchain, run

_FROM_INPUT = ("-c", "-x", "c", "-", "-o", "-")
_OBJECT = b"\x7fELF"

_one_asks = threading.Lock()
_given_up: set[str] = set()  # fingerprints


def _after_fork() -> None:
    global _one_asks  # it may have been held by a thread that is not here
    _one_asks = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def compiler_proper(toolchain: Toolchain) -> tuple[str, ...]:
    """The command that takes several sources; empty where this compiler has none that serves.

    Threads that want it at once wait for the one that asks.
    """
    if toolchain.fingerprint in _given_up:
        return ()
    with _one_asks:
        return _known_or_asked(toolchain)


@cache
def _known_or_asked(toolchain: Toolchain) -> tuple[str, ...]:
    kept = DiskCache("cpu_clang_batch", 3)
    known = kept.get(toolchain.fingerprint)
    if known is not None:
        try:
            return tuple(map(str, json.loads(known)))
        except ValueError:
            pass
    asked = (*toolchain.arguments, *_FROM_INPUT, "-###")
    found = _without_files(_said(asked))
    kept.put(toolchain.fingerprint, json.dumps(found).encode())
    return found


def give_up(toolchain: Toolchain) -> None:
    """Take every source by itself from now on: the compiler did not do with several what it does
    with one. Of this process only, since its disk may have been full."""
    _given_up.add(toolchain.fingerprint)


def compile_all(command: tuple[str, ...], sources: Sequence[str]) -> list[bytes]:
    """An object file of each source.

    :raises CompileError: if one of them is refused, or has no object afterwards.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        # The name stands in the object: that of standard input, as if there were only one source.
        files = [Path(folder, str(number), "-") for number in range(len(sources))]
        for file, source in zip(files, sources, strict=True):
            file.parent.mkdir()
            file.write_text(source)
        run((*command, *map(str, files)))
        return [_object(file.with_name("-.o"), command) for file in files]


def _object(file: Path, command: tuple[str, ...]) -> bytes:
    try:
        found = file.read_bytes()
    except OSError as error:
        found, why = b"", str(error)
    else:
        why = "what it wrote is no object file"
    if found.startswith(_OBJECT):
        return found
    raise CompileError("the compiler wrote no object", asked=shlex.join(command), because=why)


def _said(command: tuple[str, ...]) -> tuple[str, ...]:
    """The one line of what the driver would run that is the compiler proper."""
    import subprocess

    try:
        done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()  # every source is a run of its own
    lines = done.stderr.decode(errors="replace").splitlines()
    found = [line for line in lines if '"-cc1"' in line]
    return tuple(shlex.split(found[0])) if len(found) == 1 else ()


def _without_files(command: tuple[str, ...]) -> tuple[str, ...]:
    """Without input and output, which the compiler proper names after the inputs."""
    if command[-1:] != ("-",) or "-o" not in command:
        return ()
    place = command.index("-o")
    rest = command[:place] + command[place + 2 : -1]
    # Where the driver was run is of no concern to code without debugging information.
    return tuple(word for word in rest if "-compilation-dir=" not in word)
