"""Helper process: `python -m weft.engine.worker_main` answers requests until its input ends.

The process opens a device, builds kernels and measures them. Slow compilers and kernels that crash
or hang therefore do not affect the program. It reads requests from standard input and writes
answers to standard output, each as a length and a pickle. Output of kernels and compilers is
dropped.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, BinaryIO

from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.text import failure_text
from weft.codegen.opt.search_space import Plan
from weft.device import OpenDevice, registry
from weft.engine.candidate_measurement import Built, Measurement, build
from weft.uop import UOp

LENGTH = struct.Struct("<Q")


def read_message(stream: BinaryIO) -> Any:
    """One message. :raises EOFError: where there is none any more."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return pickle.loads(body)


def write_message(stream: BinaryIO, message: Any) -> None:
    """Write one message. :raises OSError: where the reader is gone."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


class Server:
    """Answers questions: the name of a method, then its arguments.

    ("ok", value), or ("failed", message) for errors of weft or of a device.

    :param device: of this process, where no other is opened; what is built is then not packed.
    """

    def __init__(self, device: OpenDevice | None = None) -> None:
        self.device = device
        self.packs = device is None
        self.trial: Measurement | None = None

    def answer(self, question: tuple[Any, ...]) -> tuple[str, Any]:
        """The answer to one question."""
        verb, *arguments = question
        try:
            return "ok", getattr(self, f"do_{verb}")(*arguments)
        except (WeftError, ArithmeticError, OSError, RuntimeError, MemoryError) as error:
            let_through(error)
            return "failed", failure_text(error)
        except Exception as error:  # a fault of ours in one candidate is no reason to end the rest
            let_through(error)
            return "failed", f"fault: {failure_text(error)}"

    def do_open(self, name: str) -> str:
        """Open a device; returns its fingerprint."""
        self.device = registry.open(name)
        return self.device.capabilities.fingerprint

    def do_build(self, ast: UOp, plan: Plan) -> tuple[bytes, Any]:
        """The digest of a kernel's source, and the built kernel, packed."""
        built = build(ast, plan, self._opened())
        return built.digest, pickle.dumps(built, -1) if self.packs else built

    def do_begin(self, ast: UOp) -> None:
        """Memory for a kernel, in place of the memory of the last one."""
        self.trial = None
        self.trial = Measurement(ast, self._opened())

    def do_expect(self, packed: Any) -> float:
        """Take the results of this kernel as right; the seconds that it took."""
        return self._begun().expect(_unpacked(packed))

    def do_time(self, packed: Any, most_seconds: float, good: float | None) -> Any:
        """The outcome of a measurement."""
        return self._begun().time(_unpacked(packed), most_seconds, good)

    def do_time_interleaved(self, packed: Sequence[Any], most_seconds: float) -> list[float]:
        """The shortest run of each kernel."""
        return self._begun().time_interleaved([_unpacked(one) for one in packed], most_seconds)

    def do_end(self) -> None:
        """Free the memory."""
        self.trial = None

    def _opened(self) -> OpenDevice:
        assert self.device is not None, "open comes first"
        return self.device

    def _begun(self) -> Measurement:
        assert self.trial is not None, "begin comes first"
        return self.trial


def _unpacked(packed: Any) -> Built:
    return pickle.loads(packed) if isinstance(packed, bytes) else packed


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more questions."""
    server = Server()
    while True:
        try:
            question = read_message(questions)
            write_message(answers, server.answer(question))
        except (EOFError, OSError):
            return


def _end_with_parent(parent: int) -> None:
    """End this process with its parent: a kernel that hangs would outlive it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _prefer_to_be_killed() -> None:
    """Configure the system: out of memory, it kills this process first; a crash dumps no core."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("1000")
    except OSError:  # a system without it
        pass
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass


def main() -> None:
    """Serve on the standard streams."""
    _prefer_to_be_killed()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
