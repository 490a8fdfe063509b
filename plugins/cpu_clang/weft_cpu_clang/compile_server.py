"""Compile server: one process of clang compiles many sources, one after the other.
Also: persistent worker.

A small kernel takes clang 20 ms, and 13 ms of them are the start of the program. A server is
started once for `_SOURCES` sources: its inputs are pipes, of which it reads one to its end before
it opens the next, and it writes each object to its standard output. It is clang's front end
(``-cc1``), which takes several inputs and is told all that the driver finds out.

A process compiles its first source without a server: many compile no other. A server that answers
with anything but an object is ended, and the source is compiled by a run of its own, whose messages
and time limit are the usual ones. The pipes of a process that ends are closed, which ends its
servers.

Source: Bazel manual, "Persistent workers".
"""

from __future__ import annotations

import json
import os
import select
import shlex
import struct
import subprocess
import time
import weakref
from collections.abc import Callable

from weft.plugin import CompileError, DiskCache, let_through
from weft_cpu_clang.process import PROBE_SECONDS, run_with_messages
from weft_cpu_clang.toolchain import Toolchain, on_path

_SOURCES = 24
"""Sources of one server: it keeps the memory of all of them until it ends."""
_IDLE = 2
"""Servers that a process keeps while nothing is compiled, of 15 MB each."""
_PATIENCE = 20.0
"""Seconds until a server is ended that does not answer."""
_FAILURES = 4
"""Sources that a server fails to compile, and a run compiles, until a process starts no more."""
_CHUNK = 1 << 20

_running: set[_Server] = set()


class CompileServers:
    """The servers of one compiler.

    :param toolchain: which clang.
    :param flags: for every compilation, after those of the toolchain.
    """

    def __init__(self, toolchain: Toolchain, flags: tuple[str, ...] = ()) -> None:
        self._toolchain, self._flags = toolchain, flags
        self._idle: list[_Server] = []
        self._is_first = True
        self._failed = 0
        self._command: tuple[str, ...] | None = None
        weakref.finalize(self, _end_all, self._idle)

    def compile(self, source: str, run: Callable[[], bytes]) -> bytes:
        """The object of a source.

        :param run: compiles it by a run of the compiler.
        :raises CompileError: what `run` raises.
        """
        if self._is_first:
            self._is_first = False
            return run()
        if self._failed >= _FAILURES or (server := self._take()) is None:
            return run()
        if (answer := self._answer(server, source.encode())) is None:
            answer = run()
            self._failed += 1  # and it was not the source
        return answer

    def _answer(self, server: _Server, source: bytes) -> bytes | None:
        """What a server gives, which is idle then, or ended."""
        try:
            answer = server.compile(source)
        except BaseException:
            server.end()
            raise
        if answer is None or not server.has_inputs or len(self._idle) >= _IDLE:
            server.end()
        else:
            self._idle.append(server)
        return answer

    def _take(self) -> _Server | None:
        """An idle server, or a new one; None if none can be started."""
        try:
            return self._idle.pop()  # one operation, so that no other thread takes it
        except IndexError:
            pass
        if self._command is None:
            self._command = _front_end(self._toolchain, self._flags)
        if not self._command:
            self._failed = _FAILURES
            return None
        try:
            return _Server(self._command)
        except OSError as error:  # too many open files, no memory
            let_through(error)
            self._failed += 1
            return None


class _Server:
    """A process of the front end.

    :raises OSError: if it cannot be started.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        readers: list[int] = []
        self._writers: list[int] = []
        try:
            for _ in range(_SOURCES):
                reader, writer = os.pipe()
                readers.append(reader)
                self._writers.append(writer)
            self._process = subprocess.Popen(
                (*command, *(f"/dev/fd/{reader}" for reader in readers)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=readers,
                start_new_session=True,  # Ctrl-C is for this process
            )
        except BaseException:
            self._close()
            raise
        finally:
            for reader in readers:
                os.close(reader)
        self._writers.reverse()
        _running.add(self)

    @property
    def has_inputs(self) -> bool:
        """Whether there is an input that it has not read."""
        return bool(self._writers)

    def compile(self, source: bytes) -> bytes | None:
        """The object of a source; None if there is none."""
        try:
            return self._exchange(source)
        except OSError as error:  # it ended
            let_through(error)
            return None

    def _exchange(self, source: bytes) -> bytes | None:
        """Write the source and read the object, whichever is possible."""
        assert self._process.stdout is not None and self._process.stderr is not None
        output, messages = self._process.stdout.fileno(), self._process.stderr.fileno()
        writer, answer, until = self._writers[-1], bytearray(), time.monotonic() + _PATIENCE
        os.set_blocking(writer, False)
        poll = select.poll()
        for file in (output, messages):
            poll.register(file, select.POLLIN)
        poll.register(writer, select.POLLOUT)
        while ready := dict(poll.poll(max(0.0, until - time.monotonic()) * 1e3)):
            if writer in ready:
                source = source[os.write(writer, source[:_CHUNK]) :]
                if not source:
                    poll.unregister(writer)
                    os.close(self._writers.pop())  # the end of the input
            if output in ready:
                part = os.read(output, _CHUNK)
                answer += part
                length = _length(answer)
                if not part or (length and len(answer) > length):
                    return None
                if len(answer) == length:
                    return bytes(answer)
            elif messages in ready:  # after its last source, a server ends while it is read
                return None
        return None

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self.forget()

    def forget(self) -> None:
        """Close this end of its pipes: in a forked child, those of its parent would stay open."""
        _running.discard(self)
        self._close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        if self._process.returncode is None:
            self._process.returncode = 0  # its parent waits for it

    def _close(self) -> None:
        while self._writers:
            os.close(self._writers.pop())


def _end_all(servers: list[_Server]) -> None:
    while servers:
        servers.pop().end()


def _forget_all() -> None:
    for server in tuple(_running):
        server.forget()


def _length(answer: bytearray) -> int:
    """The bytes of an object whose table of sections is at its end, as clang writes it; 0 if its
    header is not there yet."""
    if len(answer) < 64:
        return 0
    if not answer.startswith(b"\x7fELF\x02\x01"):
        return 1  # no object: there is more than that
    (start,) = struct.unpack_from("<Q", answer, 40)
    size, count = struct.unpack_from("<HH", answer, 58)
    return start + size * count


def _front_end(toolchain: Toolchain, flags: tuple[str, ...]) -> tuple[str, ...]:
    """The command of the front end, without inputs; empty if the driver does not say it, or would
    run another program than itself."""
    kept = DiskCache("cpu_clang_front_end", 1)
    key = "\n".join((toolchain.fingerprint, *toolchain.command, *flags))
    if known := kept.get(key):
        return tuple(json.loads(known))
    arguments = (*toolchain.arguments, *flags, "-c", "-x", "c", "-", "-o", "-", "-###")
    try:
        said = run_with_messages(arguments, seconds=PROBE_SECONDS)[1]
        words = tuple(shlex.split(said.strip().splitlines()[-1]))
        is_known = words[1] == "-cc1" and words[-5:] == ("-o", "-", "-x", "c", "-")
        is_known = is_known and os.path.samefile(words[0], on_path(toolchain.command[0]) or "")
    except (CompileError, OSError, ValueError, IndexError) as error:
        let_through(error)
        is_known, words = False, ()
    # a folder that is the present one today
    unused = ("-fdebug-compilation-dir=", "-fcoverage-compilation-dir=")
    command = [word for word in words[:-1] if not word.startswith(unused)] if is_known else []
    if command:
        kept.put(key, json.dumps(command).encode())
    return tuple(command)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
