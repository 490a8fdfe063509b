"""The other end: ``python -m weft_remote.server PORT`` keeps the memory and runs the kernels.

It executes the commands of every client with the key. Use it only in networks that you trust.
"""

import ctypes
import itertools
import os
import platform
import signal
import subprocess
import sys
import tempfile
from multiprocessing.connection import Listener
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, socket
from time import perf_counter

FLAGS = "-O2 -fwrapv -ffp-contract=off -fno-math-errno -w -shared -fPIC -x c - -lm -o".split()


class CompileError(Exception):
    """What the compiler said."""


class Machine:
    """Allocations and loaded kernels by number; one for each connection."""

    def __init__(self):
        self.memory, self.kernels, self.numbers = {}, {}, itertools.count(1)
        self.folder = tempfile.TemporaryDirectory()

    def machine(self):
        return f"{platform.machine()} {' '.join(FLAGS)}"

    def allocate(self, nbytes):
        self.memory[number := next(self.numbers)] = bytearray(nbytes)
        return number

    def window(self, handle):
        number, offset, nbytes = handle
        return (ctypes.c_char * nbytes).from_buffer(self.memory[number], offset)

    def write(self, handle, data):
        memoryview(self.window(handle)).cast("B")[:] = data

    def read(self, handle):
        return bytes(self.window(handle))

    def compile(self, source):
        library = Path(self.folder.name, f"{next(self.numbers)}.so")
        done = subprocess.run(["cc", *FLAGS, library], input=source.encode(), capture_output=True)
        if done.returncode:
            raise CompileError(done.stderr.decode())
        return library.read_bytes()

    def load(self, binary, name, sizes):
        library = Path(self.folder.name, f"{(number := next(self.numbers))}.so")
        library.write_bytes(binary)
        words = [getattr(ctypes, f"c_int{size}") for size in sizes]
        self.kernels[number] = ctypes.CDLL(str(library))[name], words
        return number

    def launch(self, number, handles, values):
        started = perf_counter()
        kernel, words = self.kernels[number]
        kernel(*map(self.window, handles), *map(lambda word, n: word(n), words, values))
        return perf_counter() - started


def serve(connection):
    """Until the other end hangs up. The failure of an asynchronous command is the next answer."""
    machine, failed = Machine(), None
    while True:
        try:
            asked, what, arguments, freed = connection.recv()
        except EOFError:
            return
        for number in freed:
            del machine.memory[number]
        try:
            answer = getattr(machine, what)(*arguments)
        except Exception as error:
            failed = failed or (type(error).__name__, str(error))
        if asked:
            connection.send(failed or (None, answer))
            failed = None


if __name__ == "__main__":
    key, own = os.environ.get("WEFT_REMOTE_KEY", "weft").encode(), sys.argv[1] == "0"
    with Listener(("127.0.0.1", int(sys.argv[1])), authkey=key) as listener:
        print(listener.address[1], flush=True)
        for _ in [0] if own else itertools.count():
            signal.alarm(60 if own else 0)  # its parent may have ended
            with listener.accept() as connection:
                signal.alarm(0)
                socket(fileno=os.dup(connection.fileno())).setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
                serve(connection)
