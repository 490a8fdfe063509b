"""Devices that never free memory, or leave resources of the system behind at their end."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

from liars import Honest, Memory

from weft.plugin import Device, hookimpl
from weft.testing.reference.runner import PythonCompiler


class NeverFrees(Honest):
    class allocator(Memory):
        def __init__(self):
            self.kept = []

        def free(self, handle, nbytes):
            self.kept.append(handle)


class CountsWrong(Honest):
    """Frees, and says that it does not."""

    class allocator(Memory):
        used = 0

        def allocate(self, nbytes, hints):
            self.used += nbytes
            return super().allocate(nbytes, hints)

        def used_bytes(self):
            return self.used


class Segments(Honest):
    """An honest device whose memory is shared with others: each allocation is a segment, whose name
    goes as soon as it is mapped. It has a process that ends when its input is closed."""

    unlinks = True
    helper = ("-c", "import sys; sys.stdin.read()")

    def __init__(self):
        self.process = None

    @hookimpl
    def weft_open(self, id):
        if self.process is None:
            words = [sys.executable, *self.helper]
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE)
        return super().weft_open(id)

    @hookimpl
    def weft_allocator(self, device):
        return self.allocator(self.unlinks)

    class allocator(Memory):
        def __init__(self, unlinks):
            self.unlinks = unlinks

        def allocate(self, nbytes, hints):
            file, name = tempfile.mkstemp(prefix="weft_liar_", dir="/dev/shm")
            os.truncate(file, nbytes)
            mapped = mmap.mmap(file, nbytes)
            os.close(file)
            if self.unlinks:
                os.unlink(name)
            return memoryview(mapped)


class LeavesSegments(Segments):
    unlinks = False


class LeavesAProcess(Segments):
    helper = ("-c", "import time; time.sleep(1000)")


class LeavesFiles(Honest):
    class compiler(PythonCompiler):
        def compile(self, source, name):
            tempfile.mkstemp(prefix="weft_liar_")
            return super().compile(f"{source}# {os.getpid()}\n", name)


class CrashesAtExit(Honest):
    """Ends the process where it is closed."""

    class device(Device):
        def close(self):
            if "WEFT_MARK" in os.environ:  # not the process of the tests
                os._exit(5)


INSTALLED = SimpleNamespace(
    **{
        kind.__name__: kind()
        for kind in (Honest, Segments, LeavesSegments, LeavesAProcess, LeavesFiles, CrashesAtExit)
    }
)
"""Those that a process of their own has to find: entry points name their attributes."""
